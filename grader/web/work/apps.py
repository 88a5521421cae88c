"""The app, as Django sees it."""

from __future__ import annotations

from django.apps import AppConfig

__all__ = ["WorkConfig"]


class WorkConfig(AppConfig):
    """Courses, attempts, reports, scores and the pages that show them."""

    name = "grader.web.work"
    label = "work"
    verbose_name = "Courses and attempts"
    default_auto_field = "django.db.models.BigAutoField"
