"""Rows that the admin shows and nobody changes there."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

__all__ = ["Shown"]


class Shown(admin.ModelAdmin):  # type: ignore[type-arg]  # Django's own class takes no arguments at run time
    """Rows that the server keeps: to be looked at, not to be changed behind its back."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nothing is added by hand."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nothing is changed by hand."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nothing is deleted by hand: commands do that, such as ``grade web purge``."""
        return False
