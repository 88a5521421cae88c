"""Results in the shape that other grading platforms read, one module a platform."""

from __future__ import annotations

from grader.render.platforms.autolab import autolab
from grader.render.platforms.github import github
from grader.render.platforms.gradescope import gradescope
from grader.render.platforms.prairielearn import prairielearn
from grader.render.platforms.told import Told, Verdict, tell

__all__ = ["WRITERS", "Told", "Verdict", "autolab", "github", "gradescope", "prairielearn", "tell"]

WRITERS = {"gradescope": gradescope, "prairielearn": prairielearn, "autolab": autolab, "github": github}
"""What each platform reads, by the name that is typed for it."""
