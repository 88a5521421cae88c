"""What a WSGI server runs: ``grade serve``, or another one that a site prefers."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

from grader.web.environment import prepare

prepare(os.environ)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "grader.web.settings")

application = get_wsgi_application()
