"""Markdown for a job summary of GitHub Actions, where text of a learner stays text.

https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands : a step's summary is at most 1 MiB,
and a longer one is dropped as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from grader.model import Status
from grader.render.platforms.told import Told, Verdict
from grader.render.task_view import ICONS
from grader.render.words import Paragraph, Rich

__all__ = ["MAX_BYTES", "github"]

MAX_BYTES = 1_000_000
"""A little below GitHub's limit of 1,024 kB, since a step may write other lines too."""

_PLAIN = frozenset(" ,;?%()'\"/")
"""Punctuation that means nothing in Markdown inside a paragraph or a cell of a table."""


def github(told: Told) -> str:
    """Return a summary of at most ``MAX_BYTES``; where it would be longer, the last messages are left out."""
    view = told.view
    title = f"## {escaped(view.heading)}\n\n**{_inline(view.title)}**, {_code(view.name[:200])}"
    table, footer = _table(told.verdicts), escaped(view.footer)
    room = MAX_BYTES - sum(len(part.encode()) + 2 for part in (title, table, footer, "…"))
    said = _fit((*_paragraphs(told.summary), *_details(told)), room)
    return "\n\n".join((title, table, *said, footer)) + "\n"


def escaped(text: str) -> str:
    """Write ``text`` so that Markdown and HTML see nothing but words: as one line, punctuation as references.

    A numeric reference never opens or closes anything (CommonMark 0.31, 2.5), so no look at the context is needed.
    """
    words = " ".join(text.split())
    return "".join(
        char if char.isalnum() or char in _PLAIN or ord(char) > 0x7F else f"&#{ord(char)};" for char in words
    )


def _table(verdicts: Iterable[Verdict]) -> str:
    rows = ["| | function | criterion | points | |", "|---|---|---|---:|---|"]
    rows += [
        f"| {ICONS[verdict.status]} | {_code(verdict.function)} | {escaped(verdict.title)} "
        f"| {escaped(verdict.score)} | {escaped(verdict.word)} |"
        for verdict in verdicts
    ]
    return "\n".join(rows)


def _details(told: Told) -> Iterator[str]:
    """Yield what is said of each criterion that isn't right; what several share is said once."""
    said: set[Rich] = set()
    for verdict in told.verdicts:
        if verdict.status is Status.PASSED or not verdict.message or verdict.message in said:
            continue
        said.add(verdict.message)
        blocks = [f"### {_code(verdict.function)}: {escaped(verdict.title)}", *_paragraphs(verdict.message)]
        if verdict.next:
            first, *others = _paragraphs(verdict.next)
            blocks += [f"**{escaped(told.next_word)}** {first}", *others]
        for level, hint in enumerate(verdict.hints, 1):
            title = escaped(told.view.words[f"hint{level}"])
            blocks.append(f"<details><summary>{title}</summary>\n\n{escaped(hint)}\n\n</details>")
        yield "\n\n".join(blocks)


def _fit(blocks: Iterable[str], room: int) -> Iterator[str]:
    """Yield blocks as long as they fit; the last line says that some didn't."""
    for block in blocks:
        room -= len(block.encode()) + 2
        if room < 0:
            yield "…"
            return
        yield block


def _paragraphs(rich: Rich) -> list[str]:
    return [_block(paragraph) if paragraph.block else _inline((paragraph,)) for paragraph in rich]


def _block(paragraph: Paragraph) -> str:
    # A blank line ends most kinds of HTML blocks, but not this one.
    lines = paragraph.spans[0].text.split("\n")
    return "<pre>" + "\n".join(_verbatim(line) for line in lines) + "</pre>"


def _inline(rich: Rich) -> str:
    spans = [span for paragraph in rich for span in paragraph.spans]
    return "".join(_code(span.text) if span.code else _spaced(span.text) for span in spans)


def _spaced(text: str) -> str:
    """Escape a part of a line; the spaces around it are kept."""
    start, end = (" " if text[:1].isspace() else ""), (" " if text[-1:].isspace() else "")
    return f"{start}{escaped(text)}{end}" if text.strip() else " "


def _code(text: str) -> str:
    return f"<code>{escaped(text)}</code>"


def _verbatim(line: str) -> str:
    return "".join(char if char.isalnum() or char == " " or ord(char) > 0x7F else f"&#{ord(char)};" for char in line)
