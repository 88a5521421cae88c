"""The Django app ``lti``."""

from __future__ import annotations

from django.apps import AppConfig

__all__ = ["LtiConfig"]


class LtiConfig(AppConfig):
    """Platforms, their launches and their services."""

    name = "grader.web.lti"
    label = "lti"
    verbose_name = "LTI"
    default_auto_field = "django.db.models.BigAutoField"
