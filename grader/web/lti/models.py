"""What LTI keeps: the platforms, our keys, and what a launch or a token needs for minutes."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from django.db import models

__all__ = ["AccessToken", "Deployment", "Invitation", "LineItem", "LoginState", "Platform", "ToolKey"]


class Platform(models.Model):
    """One registration of us in one LMS: an issuer and the client id that it gave us.

    Canvas's cloud has one issuer for all its customers, so that only both together name a registration.
    """

    id: int
    name: models.CharField[str, str] = models.CharField(max_length=200)
    issuer: models.CharField[str, str] = models.CharField(max_length=500, help_text="Exactly as in its tokens (iss).")
    client_id: models.CharField[str, str] = models.CharField(max_length=255)
    auth_url: models.CharField[str, str] = models.CharField("authentication request URL", max_length=1000)
    token_url: models.CharField[str, str] = models.CharField("access token URL", max_length=1000)
    jwks_url: models.CharField[str, str] = models.CharField("public keyset URL", max_length=1000)
    audience: models.CharField[str, str] = models.CharField(
        max_length=1000, blank=True, help_text="Whom our requests for tokens are for; the access token URL if empty."
    )
    private_network: models.BooleanField[bool, bool] = models.BooleanField(
        default=False, help_text="It stands in our own network: http and private addresses are allowed."
    )
    active: models.BooleanField[bool, bool] = models.BooleanField(default=True)
    created_at: models.DateTimeField[datetime, datetime] = models.DateTimeField(auto_now_add=True)
    jwks: models.JSONField[Any, Any] = models.JSONField(null=True, editable=False)
    jwks_asked_at: models.DateTimeField[datetime | None, datetime | None] = models.DateTimeField(
        null=True, editable=False
    )
    jwks_done_at: models.DateTimeField[datetime | None, datetime | None] = models.DateTimeField(
        null=True, editable=False
    )

    objects: ClassVar[models.Manager[Platform]] = models.Manager()

    class Meta:
        """One row for each registration."""

        constraints: ClassVar = [
            models.UniqueConstraint(fields=["issuer", "client_id"], name="lti_platform_once"),
        ]

    def __str__(self) -> str:
        return self.name or self.issuer


class Deployment(models.Model):
    """A place in a platform where we are installed; launches from any other one are refused."""

    id: int
    platform_id: int
    platform: models.ForeignKey[Platform, Platform] = models.ForeignKey(
        Platform, on_delete=models.CASCADE, related_name="deployments"
    )
    deployment_id: models.CharField[str, str] = models.CharField(max_length=255)

    objects: ClassVar[models.Manager[Deployment]] = models.Manager()

    class Meta:
        """One row for each place."""

        constraints: ClassVar = [
            models.UniqueConstraint(fields=["platform", "deployment_id"], name="lti_deployment_once"),
        ]

    def __str__(self) -> str:
        return self.deployment_id


class ToolKey(models.Model):
    """A key of ours. One signs, one stands ready so that platforms know it before it signs, old ones stay a while."""

    CURRENT, NEXT, OLD = "current", "next", "old"

    kid: models.CharField[str, str] = models.CharField(max_length=64, primary_key=True)
    role: models.CharField[str, str] = models.CharField(
        max_length=10, choices=[(CURRENT, "signs"), (NEXT, "signs next"), (OLD, "signed before")]
    )
    sealed: models.TextField[str, str] = models.TextField(editable=False)
    public: models.JSONField[Any, Any] = models.JSONField(editable=False)
    created_at: models.DateTimeField[datetime, datetime] = models.DateTimeField()
    retired_at: models.DateTimeField[datetime | None, datetime | None] = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[models.Manager[ToolKey]] = models.Manager()

    class Meta:
        """Never two that sign."""

        constraints: ClassVar = [
            models.UniqueConstraint(fields=["role"], condition=~models.Q(role="old"), name="lti_key_role_once"),
        ]

    def __str__(self) -> str:
        return self.kid


class LoginState(models.Model):
    """A login that we sent to a platform: its answer is taken once, from the same browser, within minutes."""

    state: models.CharField[str, str] = models.CharField(max_length=64, primary_key=True)
    nonce: models.CharField[str, str] = models.CharField(max_length=64, unique=True)
    browser: models.CharField[str, str] = models.CharField(max_length=64)
    platform_id: int
    platform: models.ForeignKey[Platform, Platform] = models.ForeignKey(Platform, on_delete=models.CASCADE)
    login_hint: models.TextField[str, str] = models.TextField()
    message_hint: models.TextField[str | None, str | None] = models.TextField(null=True)
    created_at: models.DateTimeField[datetime, datetime] = models.DateTimeField()
    expires_at: models.DateTimeField[datetime, datetime] = models.DateTimeField(db_index=True)
    used_at: models.DateTimeField[datetime | None, datetime | None] = models.DateTimeField(null=True)

    objects: ClassVar[models.Manager[LoginState]] = models.Manager()

    def __str__(self) -> str:
        return self.state[:8]


class AccessToken(models.Model):
    """A token of a platform's services, shared by all our processes until it ends."""

    id: int
    platform_id: int
    platform: models.ForeignKey[Platform, Platform] = models.ForeignKey(Platform, on_delete=models.CASCADE)
    scope: models.CharField[str, str] = models.CharField(max_length=500)
    sealed: models.TextField[str, str] = models.TextField()
    expires_at: models.DateTimeField[datetime, datetime] = models.DateTimeField()

    objects: ClassVar[models.Manager[AccessToken]] = models.Manager()

    class Meta:
        """One token for each set of rights."""

        constraints: ClassVar = [
            models.UniqueConstraint(fields=["platform", "scope"], name="lti_token_once"),
        ]

    def __str__(self) -> str:
        return f"{self.platform_id}: {self.scope}"


class LineItem(models.Model):
    """A line item that was found or made: creating one isn't idempotent, so who may create it is decided here."""

    key: models.CharField[str, str] = models.CharField(max_length=64, primary_key=True)
    platform_id: int
    platform: models.ForeignKey[Platform, Platform] = models.ForeignKey(Platform, on_delete=models.CASCADE)
    url: models.CharField[str, str] = models.CharField(max_length=2000, blank=True)
    claimed_at: models.DateTimeField[datetime | None, datetime | None] = models.DateTimeField(null=True)

    objects: ClassVar[models.Manager[LineItem]] = models.Manager()

    def __str__(self) -> str:
        return self.url


class Invitation(models.Model):
    """A secret address with which an LMS's administrator may register the LMS, once."""

    id: int
    secret: models.CharField[str, str] = models.CharField(max_length=64, unique=True)
    private_network: models.BooleanField[bool, bool] = models.BooleanField(default=False)
    expires_at: models.DateTimeField[datetime, datetime] = models.DateTimeField()
    tries: models.PositiveIntegerField[int, int] = models.PositiveIntegerField(default=0)
    used_at: models.DateTimeField[datetime | None, datetime | None] = models.DateTimeField(null=True)

    objects: ClassVar[models.Manager[Invitation]] = models.Manager()

    def __str__(self) -> str:
        return f"until {self.expires_at:%Y-%m-%d}"
