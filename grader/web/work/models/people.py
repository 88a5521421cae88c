"""A course of an LMS, the links in it and its people."""

from __future__ import annotations

import uuid

from django.db import models

__all__ = ["DEMO_PLATFORM", "Course", "Link", "Member"]

DEMO_PLATFORM = 0
"""In place of an LMS: the demo's course."""


class Course(models.Model):
    """A course as one deployment of the tool in one LMS knows it: nothing of it is seen from another one."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    platform_id = models.IntegerField()
    deployment_id = models.CharField(max_length=255)
    context_id = models.CharField(max_length=255)
    title = models.CharField(max_length=500, blank=True)
    memberships = models.CharField(max_length=2000, blank=True)
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("platform_id", "deployment_id", "context_id"), name="one_course_each"),
        )

    def __str__(self) -> str:
        return self.title or self.context_id


class Link(models.Model):
    """An assignment as it was placed in a course, with what holds there."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    course = models.ForeignKey(Course, on_delete=models.CASCADE, related_name="links")
    resource_link_id = models.CharField(max_length=255)
    title = models.CharField(max_length=500, blank=True)
    assignment = models.CharField(max_length=100)
    attempts = models.PositiveIntegerField(default=0, help_text="how many may be handed in; 0: as many as they like")
    deadline = models.DateTimeField(null=True, blank=True)
    counts = models.CharField(max_length=10, default="last", choices=(("last", "last"), ("best", "best")))
    lineitem = models.CharField(max_length=2000, blank=True)
    lineitems = models.CharField(max_length=2000, blank=True)
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("course", "resource_link_id"), name="one_link_each"),)

    def __str__(self) -> str:
        return self.title or self.assignment


class Member(models.Model):
    """A person in one course; the same person in another course is another row."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    course = models.ForeignKey(Course, on_delete=models.CASCADE, related_name="members")
    user = models.CharField(max_length=255)
    name = models.CharField(max_length=500, blank=True)
    email = models.CharField(max_length=500, blank=True)
    learner = models.BooleanField(default=False)
    instructor = models.BooleanField(default=False)
    active = models.BooleanField(default=True)
    seen_at = models.DateTimeField(null=True, blank=True)
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("course", "user"), name="one_member_each"),)

    def __str__(self) -> str:
        return self.name or f"Participant {str(self.id)[:8]}"
