"""The view model as HTML: a page that stands alone, and a fragment that survives an LMS's comment field."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from grader.errors import CourseError
from grader.render.view import ReportView

if TYPE_CHECKING:
    import jinja2

__all__ = ["fragment", "prepare", "report"]


def report(view: ReportView, template_dirs: Sequence[Path]) -> str:
    """Return the whole page: one file, no script, nothing loaded from elsewhere.

    Args:
        view: What to show.
        template_dirs: Folders with templates; the first that has one wins.
    """
    return _render("report.html.j2", view, template_dirs)


def fragment(view: ReportView, template_dirs: Sequence[Path]) -> str:
    """Return what the comment field of an LMS lets through: headings, lists, tables and inline styles."""
    return _render("fragment.html.j2", view, template_dirs)


def prepare(template_dirs: Sequence[Path]) -> None:
    """Load and compile the templates, so that the first report needn't wait for it."""
    with contextlib.suppress(Exception):  # rendering says what is wrong with a template
        for name in ("report.html.j2", "fragment.html.j2"):
            _environment(tuple(str(folder) for folder in template_dirs)).get_template(name)


def _render(name: str, view: ReportView, template_dirs: Sequence[Path]) -> str:
    import jinja2  # late: it costs more than many a run needs

    try:
        template = _environment(tuple(str(folder) for folder in template_dirs)).get_template(name)
        return template.render(view=view, words=view.words)
    except jinja2.TemplateNotFound as error:
        raise CourseError(str(error), "", "the template is missing") from error
    except jinja2.TemplateSyntaxError as error:
        raise CourseError(error.name or name, f"line {error.lineno}", f"{error.message}") from error
    except jinja2.TemplateError as error:
        raise CourseError(name, "", f"{error.message}") from error


@cache
def _environment(folders: tuple[str, ...]) -> jinja2.Environment:
    """Return what templates are compiled in, once for all reports of a process."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folders),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.tests["grid"] = lambda item: hasattr(item, "rows")
    environment.tests["chart"] = lambda item: hasattr(item, "picture")
    environment.tests["orders"] = lambda item: hasattr(item, "tracks")
    return environment
