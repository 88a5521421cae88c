"""What every page of ours has to keep: a small checker on the standard library's parser."""

from __future__ import annotations

import re
from html.parser import HTMLParser

__all__ = ["FRAGMENT_TAGS", "Page", "read"]

VOID = frozenset({"meta", "input", "rect", "br", "circle", "path", "line", "polyline", "polygon"})
FRAGMENT_TAGS = frozenset(
    "h3 h4 p table caption thead tbody tr th td strong em code pre ul ol li".split()  # noqa: SIM905
)


class Page(HTMLParser):
    """Reads a page and keeps what is wrong with it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.wrong: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.ids: list[str] = []
        self.headings: list[int] = []
        self.references: list[str] = []
        self.language = ""
        self.words: list[str] = []
        self._open: list[str] = []
        self._svg: dict[str, bool] = {}
        self._figure: dict[str, bool] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at a tag and its attributes."""
        given = {name: value or "" for name, value in attrs}
        self.tags.add(tag)
        self.attributes.update(given)
        if tag not in VOID:
            self._open.append(tag)
        if tag == "html":
            self.language = given.get("lang", "")
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "th" and given.get("scope") not in ("row", "col"):
            self.wrong.append("th without scope")
        if tag == "svg":
            self._svg = {"title": False, "desc": False}
            if given.get("role") != "img" or not given.get("aria-labelledby"):
                self.wrong.append("svg without role or label")
        if tag == "figure":
            self._figure = {"figcaption": False}
        if tag == "desc" or (tag == "title" and "svg" in self._open):
            self._svg[tag] = False
        if "id" in given:
            self.ids.append(given["id"])
        self.references += given.get("aria-labelledby", "").split()
        if given.get("href", "").startswith("#"):
            self.references.append(given["href"][1:])
        for name, value in given.items():
            if name.startswith("on") or (name in ("src", "href") and not value.startswith("#")):
                self.wrong.append(f"{tag} {name}={value}")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A tag of SVG that closes itself."""
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        """Keep the nesting honest."""
        if not self._open or self._open.pop() != tag:
            self.wrong.append(f"</{tag}> closes something else")
        if tag == "svg" and not all(self._svg.values()):
            self.wrong.append("svg without title and desc")
        if tag == "figure" and not all(self._figure.values()):
            self.wrong.append("figure without a caption")

    def handle_data(self, data: str) -> None:
        """Keep what people read."""
        if data.strip() and "svg" in self._open and self._open[-1] in self._svg:
            self._svg[self._open[-1]] = True
        if data.strip() and "figcaption" in self._open:
            self._figure["figcaption"] = True
        if not {"style", "script", "title"} & set(self._open[-1:]):
            self.words.append(data)

    def finish(self) -> Page:
        """Check what only the whole page shows."""
        self.close()
        if self._open:
            self.wrong.append(f"never closed: {self._open}")
        if len(self.ids) != len(set(self.ids)):
            self.wrong.append("an id twice")
        self.wrong += [f"nothing has the id {name}" for name in self.references if name not in self.ids]
        for before, after in zip(self.headings, self.headings[1:], strict=False):
            if after > before + 1:
                self.wrong.append(f"h{after} after h{before}")
        return self

    @property
    def text(self) -> str:
        """All words, with single spaces."""
        return " ".join(" ".join(self.words).split())


def read(html: str) -> Page:
    """Parse a page or a fragment."""
    page = Page()
    page.feed(html)
    return page.finish()
