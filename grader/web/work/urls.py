"""Addresses of the pages."""

from __future__ import annotations

from django.urls import path

from grader.web.work.views import instructor, learner, site

app_name = "work"
COURSE = "c/<uuid:course_id>"
LINK = f"{COURSE}/a/<uuid:link_id>"
ATTEMPT = f"{COURSE}/attempt/<uuid:attempt_id>"

urlpatterns = [
    path("", site.home, name="home"),
    path("demo/", site.demo, name="demo"),
    path("verify/", site.verify, name="verify"),
    path("healthz", site.healthz, name="healthz"),
    path(f"{LINK}/", learner.student, name="student"),
    path(f"{LINK}/hand-in", learner.hand_in_file, name="hand_in"),
    path(f"{LINK}/starter/<str:name>", learner.starter, name="starter"),
    path(f"{ATTEMPT}/", learner.attempt, name="attempt"),
    path(f"{ATTEMPT}/state", learner.attempt_state, name="state"),
    path(f"{ATTEMPT}/report", learner.report, name="report"),
    path(f"{ATTEMPT}/receipt", learner.receipt, name="receipt"),
    path(f"{ATTEMPT}/file", instructor.handed_in_file, name="file"),
    path(f"{ATTEMPT}/override", instructor.override, name="override"),
    path(f"{LINK}/class", instructor.roster, name="roster"),
    path(f"{LINK}/class/refresh", instructor.refresh, name="refresh"),
    path(f"{LINK}/class/regrade", instructor.regrade, name="regrade"),
    path(f"{LINK}/class/send", instructor.send_again, name="send_again"),
    path(f"{LINK}/class/download", instructor.download, name="download"),
    path(f"{COURSE}/log", instructor.log, name="log"),
]
