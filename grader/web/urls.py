"""All addresses of the server."""

from __future__ import annotations

from django.conf import settings
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("admin/", admin.site.urls),
    path("", include("grader.web.work.urls")),
]
if settings.HAS_LTI:
    urlpatterns.append(path("lti/", include("grader.web.lti.urls")))

handler404 = "grader.web.work.failures.not_found"
handler500 = "grader.web.work.failures.failed"
