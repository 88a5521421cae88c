"""The view model as HTML: a page that stands alone, and a fragment that survives an LMS's comment field."""

from __future__ import annotations

import base64
import contextlib
import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from grader.core.catalogue import Catalogue
from grader.errors import CourseError
from grader.render.view import ReportView

if TYPE_CHECKING:
    import jinja2

    from grader.render.class_page import ClassView

MOST_BYTES = 200_000
"""Of a report and of a fragment."""

__all__ = ["class_page", "fragment", "inline", "prepare", "report"]


def report(view: ReportView, template_dirs: Sequence[Path]) -> str:
    """Return the whole page: one file, no script, nothing loaded from elsewhere.

    Args:
        view: What to show.
        template_dirs: Folders with templates; the first that has one wins, and the last is the engine's own.
    """
    return _small("report.html.j2", template_dirs, view)


def fragment(view: ReportView, template_dirs: Sequence[Path]) -> str:
    """Return what the comment field of an LMS lets through: headings, lists, tables and inline styles."""
    return _small("fragment.html.j2", template_dirs, view)


def class_page(view: ClassView, template_dirs: Sequence[Path]) -> str:
    """Return the class page: one file for the instructor, whole without its script, nothing loaded from elsewhere.

    The page's own policy allows this very script, by its hash, and no other.
    """
    import markupsafe

    script = _source("class.js", template_dirs)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return _render(
        "class.html.j2",
        template_dirs,
        view=view,
        say=view.say,
        script=markupsafe.Markup(script),  # noqa: S704 - ours or the course's, as the templates are
        script_hash=f"sha256-{digest}",
    )


def inline(view: ReportView, page: str, template_dirs: Sequence[Path], *, options: str = "") -> str:
    """Return what a notebook shows below a cell.

    It is the fragment, which takes the notebook's colours and survives the filters of notebooks that aren't trusted,
    and below it ``page`` in a frame: a page's style would else reach all of the notebook.

    Args:
        view: What to show at once.
        page: The whole report.
        template_dirs: As for ``report``.
        options: What belongs to a call that may be typed again: ``""``, or ``", name='value'"`` for each.
    """
    arguments = [*(["hints=1"] if view.open and not view.full else []), f"seed={view.seed}"]
    call = Catalogue({"": view.words["notebook_call"]})
    again = [call.render("", (("arguments", argument + options),)) for argument in arguments]
    return _render("notebook.html.j2", template_dirs, view=view, words=view.words, page=page, again=again)


def prepare(template_dirs: Sequence[Path]) -> None:
    """Load a page's templates, so that the first report needn't wait for it."""
    with contextlib.suppress(Exception):  # rendering says what is wrong with a template
        for name in ("report.html.j2", "macros.html.j2", "style.css"):
            _environment(tuple(str(folder) for folder in template_dirs)).get_template(name)


def _small(name: str, template_dirs: Sequence[Path], view: ReportView) -> str:
    """Render all of a view, or as much as makes a page of a size that every mail and LMS takes."""
    text = _render(name, template_dirs, view=view, words=view.words)
    if len(text.encode()) < MOST_BYTES:
        return text
    from grader.render.fit import LEVELS, leaner

    for level in range(1, LEVELS + 1):
        less = leaner(view, level)
        text = _render(name, template_dirs, view=less, words=less.words)
        if len(text.encode()) < MOST_BYTES:
            break
    return text


def _source(name: str, template_dirs: Sequence[Path]) -> str:
    """Return a file of the templates as it is, with the line ends that a browser reads."""
    for folder in template_dirs:
        if (folder / name).is_file():
            return (folder / name).read_text(encoding="utf-8")
    raise CourseError(name, "", "the template is missing")


def _render(name: str, template_dirs: Sequence[Path], **context: object) -> str:
    import jinja2  # late: it costs more than many a run needs

    try:
        template = _environment(tuple(str(folder) for folder in template_dirs)).get_template(name)
        return template.render(context)
    except jinja2.TemplateNotFound as error:
        raise CourseError(str(error), "", "the template is missing") from error
    except jinja2.TemplateSyntaxError as error:
        raise CourseError(error.name or name, f"line {error.lineno}", f"{error.message}") from error
    except Exception as error:
        # Whatever goes wrong in a template of the course's, or in one of ours that uses one of them, is told as theirs.
        theirs = _templates_of_course(template_dirs)
        if not theirs and not isinstance(error, jinja2.TemplateError):
            raise
        place, line = _place(error, template_dirs) or (name, 0)
        raise CourseError(
            place,
            f"line {line}" if line else "",
            f"{error}".rstrip(".") + ".",
            hint=f"The course has pages of its own: compare {', '.join(theirs)} with ours." if theirs else "",
        ) from error


def _templates_of_course(template_dirs: Sequence[Path]) -> list[str]:
    return sorted({path.name for folder in template_dirs[:-1] for path in folder.glob("*.j2")})


def _place(error: BaseException, template_dirs: Sequence[Path]) -> tuple[str, int] | None:
    """Return file and line of the innermost template that an error went through; a course's own before ours."""
    import traceback

    own = {str(folder) for folder in template_dirs[:-1]}
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.endswith(".j2")]
    chosen = [frame for frame in frames if str(Path(frame.filename).parent) in own] or frames
    return (chosen[-1].filename, chosen[-1].lineno or 0) if chosen else None


@cache
def _environment(folders: tuple[str, ...]) -> jinja2.Environment:
    """Return what templates are compiled in, once for all reports of a process."""
    import jinja2

    from grader.render.compiled import Compiled

    environment = jinja2.Environment(
        # A course's template of the same name wins; by its longer name it can build on ours.
        loader=jinja2.ChoiceLoader(
            [jinja2.FileSystemLoader(folders), jinja2.PrefixLoader({"engine": jinja2.FileSystemLoader(folders[-1:])})]
        ),
        bytecode_cache=Compiled(),
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
