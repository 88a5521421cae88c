"""Texts of the catalogue, ready to be shown: filled in once, cleaned, and cut into plain and code spans.

The text is cut at its backticks before its parameters are put in, so what a learner's file says can't turn
the rest of a sentence into code or back, and nothing is ever read twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from grader.core.catalogue import Catalogue
from grader.model import Param, Params
from grader.model._data import data
from grader.render import clean

__all__ = ["Paragraph", "Rich", "Span", "Words", "bare", "inline", "marked", "spans_of"]


MOST_LETTERS = 1_000
"""Of a text that is filled into another."""


@data
class Span:
    """A run of text, or of code."""

    text: str
    code: bool = False


@data
class Paragraph:
    """Spans that belong together."""

    spans: tuple[Span, ...]

    @property
    def block(self) -> bool:
        """Whether it is nothing but code, and shown as a block."""
        return len(self.spans) == 1 and self.spans[0].code


Rich = tuple[Paragraph, ...]


def bare(rich: Rich) -> str:
    """Return the words alone, as one line."""
    return " ".join("".join(span.text for span in paragraph.spans) for paragraph in rich)


def marked(rich: Rich) -> str:
    """Return the words with their marks: code in backticks, a blank line between paragraphs."""
    return "\n\n".join(
        "".join(f"`{span.text}`" if span.code else span.text for span in paragraph.spans) for paragraph in rich
    )


def inline(rich: Rich) -> tuple[Span, ...]:
    """Return the spans of all paragraphs in a row."""
    spans: list[Span] = []
    for number, paragraph in enumerate(rich):
        if number:
            spans.append(Span(text=" "))
        spans += paragraph.spans
    return tuple(spans)


class Words:
    """Looks texts up, fills them in, and cuts them into spans."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def __contains__(self, key: str) -> bool:
        return key in self._texts

    def rich(self, key: str, params: Params = ()) -> Rich:
        """Return the text of ``key``; nothing if the catalogue doesn't have it."""
        return _filled(self._texts.get(key, ""), params)

    def own(self, key: str, params: Params = ()) -> Rich:
        """As ``rich`` for a text of ours. Raises KeyError when it is missing."""
        return _filled(self._texts[key], params)

    def plain(self, key: str, params: Params = ()) -> str:
        """Return a text of ours as one line without marks. Raises KeyError when it is missing."""
        return bare(self.own(key, params))

    def around(self, key: str, name: str, inner: Iterable[Span]) -> Rich:
        """Return a text of ours with ready spans in the place of ``{name}``."""
        before, _, after = self._texts[key].partition("{" + name + "}")
        return _paragraphs((*spans_of(before), *inner, *spans_of(after)))

    def titled(self, key: str, fallback: str) -> Rich:
        """Return the text of ``key``, or ``fallback`` as code."""
        return self.rich(key) or (Paragraph(spans=(Span(text=clean.html(fallback), code=True),)),)


def _filled(template: str, params: Params) -> Rich:
    """Most texts have nothing to fill in, or an index, and are the same in every report."""
    if "{" not in template:
        return _remembered(template, ())
    if all(type(value) is int for _, value in params):
        return _remembered(template, params)
    return _paragraphs(spans_of(template, params))


@lru_cache(maxsize=2048)
def _remembered(template: str, params: Params) -> Rich:
    return _paragraphs(spans_of(template, params))


def spans_of(template: str, params: Params = ()) -> tuple[Span, ...]:
    """Cut ``template`` at its backticks and fill each piece in."""
    params = tuple((name, _short(value)) for name, value in params)
    pieces = template.split("`")
    if len(pieces) % 2 == 0:  # a backtick without a partner is a character like any other
        pieces[-2:] = ["`".join(pieces[-2:])]
    spans: list[Span] = []
    for number, piece in enumerate(pieces):
        filled = clean.html(Catalogue({"": piece}).render("", params))
        spans += [Span(text=filled, code=True)] if number % 2 else _marked(filled, piece)
    return _merged(spans)


def _short(value: Param) -> Param:
    """Cut what is filled in: it may be what a submission said when it failed."""
    return f"{value[:MOST_LETTERS]}…" if isinstance(value, str) and len(value) > MOST_LETTERS else value


def _marked(filled: str, piece: str) -> list[Span]:
    """Cut what parameters marked as code themselves, if their backticks are paired."""
    parts = filled.split("`")
    if "`" in piece or len(parts) % 2 == 0:
        return [Span(text=filled)]
    return [Span(text=part, code=bool(number % 2)) for number, part in enumerate(parts)]


def _merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    merged: list[Span] = []
    for span in spans:
        if not span.text:
            continue
        if merged and not span.code and not merged[-1].code:
            merged[-1] = Span(text=merged[-1].text + span.text)
        else:
            merged.append(span)
    return tuple(merged)


def _paragraphs(spans: tuple[Span, ...]) -> Rich:
    """A blank line outside code begins a paragraph."""
    groups: list[list[Span]] = [[]]
    for span in spans:
        if span.code:
            groups[-1].append(span)
            continue
        first, *others = re.split(r"\n\s*\n", span.text)
        groups[-1].append(Span(text=first))
        groups += [[Span(text=other)] for other in others]
    return tuple(Paragraph(spans=tidy) for tidy in (_trimmed(group) for group in groups) if tidy)


def _trimmed(group: list[Span]) -> tuple[Span, ...]:
    """Drop the white space around a paragraph, and the newlines around a block of code."""
    spans = [span if span.code else Span(text=re.sub(r"\s+", " ", span.text)) for span in group]
    if spans and not spans[0].code:
        spans[0] = Span(text=spans[0].text.lstrip())
    if spans and not spans[-1].code:
        spans[-1] = Span(text=spans[-1].text.rstrip())
    spans = [span for span in spans if span.text]
    if len(spans) == 1 and spans[0].code:
        return (Span(text=spans[0].text.strip("\n"), code=True),)
    return tuple(spans)
