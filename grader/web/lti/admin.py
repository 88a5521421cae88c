"""Platforms, their deployments and our keys in Django's admin."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from grader.web.lti.addresses import split
from grader.web.lti.models import Deployment, Platform, ToolKey
from grader.web.shown import Shown

__all__: list[str] = []


class Deployments(admin.TabularInline):  # type: ignore[type-arg]  # it takes no parameters when it runs
    """Places where a platform has us installed."""

    model = Deployment
    extra = 1


@admin.register(Platform)
class PlatformAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # it takes no parameters when it runs
    """A platform with its addresses."""

    list_display = ("name", "issuer", "client_id", "private_network", "active")
    list_filter = ("active",)
    search_fields = ("name", "issuer", "client_id")
    inlines = (Deployments,)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Return the form, which takes addresses only that can be used."""
        made = super().get_form(request, obj, change=change, **kwargs)

        class Checked(made):  # type: ignore[misc, valid-type]  # Django makes the class at run time
            def clean(self) -> dict[str, Any]:
                given: dict[str, Any] = super().clean()
                for name in ("auth_url", "token_url", "jwks_url"):
                    problem = url_problem(given.get(name, ""), private=bool(given.get("private_network")))
                    if given.get(name) and problem:
                        self.add_error(name, problem)
                return given

        return Checked


@admin.register(Deployment)
class DeploymentAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # it takes no parameters when it runs
    """All deployments, to be searched."""

    list_display = ("deployment_id", "platform")
    search_fields = ("deployment_id", "platform__name")


@admin.register(ToolKey)
class ToolKeyAdmin(Shown):
    """Our keys, to be looked at; the private parts are shown to nobody, and ``grade lti rotate-key`` changes them."""

    list_display = ("kid", "role", "created_at", "retired_at")
    fields = ("kid", "role", "created_at", "retired_at", "public")
    readonly_fields = fields


def url_problem(url: str, *, private: bool) -> str:
    """Return what is wrong with a platform's address, "" if nothing is."""
    parts = split(url)
    if parts is None:
        return "This is no address such as https://lms.example.edu/path."
    if parts.scheme != "https" and not private:
        return "Platforms are reached by https, unless they stand in our own network."
    return ""
