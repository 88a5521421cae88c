"""Addresses of LTI."""

from __future__ import annotations

from django.urls import path

from grader.web.lti.arriving import launch
from grader.web.lti.deep_linking import choose
from grader.web.lti.login import login, onward, window
from grader.web.lti.published import canvas, jwks
from grader.web.lti.registration import register

app_name = "lti"

urlpatterns = [
    path("login", login, name="login"),
    path("onward", onward, name="onward"),
    path("window", window, name="window"),
    path("launch", launch, name="launch"),
    path("choose", choose, name="choose"),
    path("jwks", jwks, name="jwks"),
    path("canvas.json", canvas, name="canvas"),
    path("register/<str:secret>", register, name="register"),
]
