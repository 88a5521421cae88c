"""Notebook source to plain Python: magics and shell lines are skipped, every line keeps its number.

It follows tokens, not line starts: what stands inside a string, inside brackets or after a backslash stays as it is.
Python's own tokenizer can't be asked, as the source isn't Python yet; the small one below knows strings, comments,
brackets and line ends, which is all that decides where a statement begins. Standard library only, linear, never raises.
"""

from __future__ import annotations

import ast
import re
import warnings

__all__ = ["is_python", "transform"]

MAX_SHOWN = 80
"""Characters of a skipped line that are told."""
MAX_PARSED = 256_000
"""Characters. Of a longer source Python isn't asked first whether it is plain Python already: that takes seconds."""

# Bound once: student code may replace them, on purpose or not.
_compile, _quiet, _ignore = compile, warnings.catch_warnings, warnings.simplefilter
_AST_ONLY = ast.PyCF_ONLY_AST

_NAMES = """
    ! !! R ai bash bat bigquery cmd cpp css cu cuda cython dot file fish fortran go graphql html HTML java
    javascript js julia kotlin latex markdown mermaid nim node octave perl php powershell pwsh pypy python python2
    python3 ruby rust sass scala script sh shell sos spark sql SVG svg sx system tikz typescript ts verilog
    writefile yaml zsh
"""
_OTHER_LANGUAGES = frozenset(_NAMES.split())
"""Cell magics whose body isn't Python, or runs elsewhere than in the notebook (``%%python`` starts a process)."""
_WRAPPERS = frozenset({"capture", "lprun", "memit", "mprun", "prun", "pyinstrument", "scalene", "time", "timeit"})
"""Cell magics that run their body as it is: nothing of the learner's is skipped, so nothing is told."""

_WORTH_A_LOOK = re.compile(r"(?:^|\r)[ \t\f]*[%!?]|\?[ \t]*(?:#[^\r\n]*)?(?:\r|$)|=[ \t]*[!%](?!=)", re.MULTILINE)
_INSTALL = re.compile(r"(?:pip3?|conda|mamba)[ \t]+[a-z-][^\r\n]*\Z")
_LINE_END = re.compile(r"\r\n|\r|\n")
_NO_LINE_END = re.compile(r"[^\r\n]+")
_MARGIN = re.compile(r"[ \t]+(?=[^ \t\f\r\n])")
_INDENT = re.compile(r"[ \t\f]*")
_NO_CODE = re.compile(r"[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\r|\n)")
_CELL_MAGIC = re.compile(r"[ \t\f]*%%(!!?|[\w.]+)?[ \t]*")
_TIMED = re.compile(r"%time[ \t]+(?:--no-raise-error[ \t]+)?(?=[^ \t\r\n])")
_TIMEIT_OPTIONS = re.compile(r"(?:-(?:[nrp][ \t]*\d+|[tcqov]+)[ \t]*)*")
_TOKEN = re.compile(r"[#\"'()\[\]{}\\\r\n?=]")
_STRING_PART = {
    quote: re.compile(rf"\\(?:\r\n|[\s\S])|{quote}" + ("" if len(quote) == 3 else r"|(?=[\r\n])"))
    for quote in ("'", '"', "'''", '"""')
}
_HELP_ENDS = re.compile(r"(?<=[\w*\]])\?{1,2}[ \t]*(?:#[^\r\n]*)?(?=[\r\n]|\Z)")
_ASSIGNED = re.compile(r"(?<![=!<>+\-*/%&|^@~:])=[ \t]*(?=!(?!=)|%[^\W\d])")
_TARGETS = re.compile(r"[ \t\f]*[^\W\d][\w.]*(?:[ \t]*(?:,|=)[ \t]*[^\W\d][\w.]*)*[ \t]*,?[ \t]*\Z")


def transform(source: str) -> tuple[str, list[str]]:
    """Return ``source`` as plain Python of as many lines, and what of it was skipped.

    ``%time statement`` and the body of ``%%time`` and its like stay; a name that a magic is assigned to becomes None.
    """
    if _INSTALL.match(source.strip()) and not is_python(source):
        # A cell of this one line works without the % in a notebook.
        return _blank(source), [_shown(source)]
    source = _dedented(source)
    if not _WORTH_A_LOOK.search(source) or is_python(source):
        return source, []
    scan = _Scan(source)
    scan.run()
    return scan.text(), scan.skipped


class _Scan:
    """One pass over a source. ``at`` is where it stands, ``copied`` up to where the output is settled."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.skipped: list[str] = []
        self._out: list[str] = []
        self._copied = 0

    def run(self) -> None:
        """Go through the source, statement by statement."""
        at = self._cell_magics()
        while at < len(self.source):
            at = self._statement(at)

    def text(self) -> str:
        """Return the source with its replacements."""
        return "".join(self._out) + self.source[self._copied :]

    def _replace(self, start: int, end: int, text: str) -> None:
        """Put ``text`` in place of a stretch of source, and that stretch's line ends behind it."""
        self._out += self.source[self._copied : start], text, _blank(self.source[start:end])
        self._copied = end

    def _skip(self, start: int, end: int, text: str) -> None:
        self.skipped.append(_shown(self.source[start:end]))
        self._replace(start, end, text)

    def _cell_magics(self) -> int:
        """Deal with what begins with ``%%`` on the first line that holds code; return where Python begins."""
        source, at = self.source, 0
        while True:
            begin = _code_begins(source, at)
            match = _CELL_MAGIC.match(source, begin)
            if not match:
                return at
            name, end = match[1] or "", self._physical_end(match.end())
            if name in _OTHER_LANGUAGES:
                self.skipped.append(_shown(source[begin:end]))
                self._replace(begin, len(source), "")
                return len(source)
            if name == "timeit":
                # What stands behind it on the line is its set-up, and runs first.
                setup = _TIMEIT_OPTIONS.match(source, match.end())
                self._replace(begin, setup.end() if setup else match.end(), "")
                return self._copied
            if name in _WRAPPERS:
                self._replace(begin, end, "")
            else:
                self._skip(begin, end, "")
            at = end

    def _statement(self, start: int) -> int:
        """Deal with the statement that begins on the line at ``start``; return where the next line begins."""
        source = self.source
        indent = _INDENT.match(source, start)
        at = indent.end() if indent else start
        while source.startswith("%", at) and (timed := _TIMED.match(source, at)):
            self._replace(at, timed.end(), "")
            at = timed.end()
        if source.startswith(("%", "!", "?"), at):
            end = self._magic_end(at)
            # Without an indentation an empty line will do, and leaves `from __future__` the first statement.
            self._skip(at, end, "pass" if at > start else "")
            return self._next_line(end)
        return self._python(start, at)

    def _python(self, start: int, at: int) -> int:
        """Follow a statement to its end, over brackets, strings and backslashes."""
        source, depth = self.source, 0
        while match := _TOKEN.search(source, at):
            token, at = match[0], match.end()
            if token in "\r\n":
                if not depth:
                    return self._next_line(match.start())
            elif token == "#":
                at = self._physical_end(at)
            elif token in "\"'":
                at = self._string_end(match.start(), token)
            elif token in "([{":
                depth += 1
            elif token in ")]}":
                depth = max(0, depth - 1)
            elif token == "\\":
                at = self._next_line(at) if source.startswith(("\r", "\n"), at) else at
            elif depth:
                pass
            elif token == "?":
                if end := _HELP_ENDS.match(source, match.start()):
                    return self._help(start, end.end())
            elif assigned := _ASSIGNED.match(source, match.start()):
                if not (timed := _TIMED.match(source, assigned.end())):
                    return self._assigned(start, match.start(), assigned.end())
                self._replace(assigned.end(), timed.end(), "")
                at = timed.end()
        return len(source)

    def _help(self, start: int, end: int) -> int:
        """``obj?`` and ``obj??``: the whole statement goes."""
        indent = _INDENT.match(self.source, start)
        begin = indent.end() if indent else start
        self._skip(max(begin, self._copied), end, "pass" if begin > start else "")
        return self._next_line(end)

    def _assigned(self, start: int, equals: int, at: int) -> int:
        """``names = !command`` and ``names = %magic``: the names become None."""
        source = self.source
        end = self._magic_end(at)
        begin = max(start, self._copied)
        targets = source[begin:equals]
        self.skipped.append(_shown(source[begin:end]))
        if "," in targets and _TARGETS.match(targets):
            # `a, b = None` would not unpack.
            self._replace(begin, equals, targets.rstrip(", \t").replace(",", " =") + " ")
        self._replace(at, end, "None")
        return self._next_line(end)

    def _string_end(self, start: int, quote: str) -> int:
        """Return where the string that begins at ``start`` ends: at its line's end if it isn't closed there."""
        quote = quote * 3 if self.source.startswith(quote * 3, start) else quote
        at = start + len(quote)
        while part := _STRING_PART[quote].search(self.source, at):
            at = part.end()
            if not part[0].startswith("\\"):
                return at
        return len(self.source)

    def _physical_end(self, at: int) -> int:
        match = _LINE_END.search(self.source, at)
        return match.start() if match else len(self.source)

    def _magic_end(self, at: int) -> int:
        """Return where a magic's line ends; a backslash at its end takes the next line in."""
        end = self._physical_end(at)
        while end < len(self.source) and end > at and self.source[end - 1] == "\\":
            end = self._physical_end(self._next_line(end))
        return end

    def _next_line(self, at: int) -> int:
        match = _LINE_END.match(self.source, at)
        return match.end() if match else at


def is_python(source: str) -> bool:
    """Whether Python takes the source as it is: then there can be no magic in it."""
    if len(source) > MAX_PARSED:
        return False
    try:
        with _quiet():
            _ignore("ignore")
            _compile(source, "<cell>", "exec", _AST_ONLY, dont_inherit=True)
    except Exception:
        return False
    return True


def _code_begins(source: str, at: int) -> int:
    """Return where the first line from ``at`` on begins that is more than blank or a comment."""
    while empty := _NO_CODE.match(source, at):
        at = empty.end()
    return at


def _dedented(source: str) -> str:
    """Take the indentation of the first line that holds code from all lines, as a notebook does."""
    indent = _MARGIN.match(source, _code_begins(source, 0))
    if indent is None or source.startswith("#", indent.end()) or is_python(source):
        return source
    return re.sub(rf"^{re.escape(indent[0])}", "", source, flags=re.MULTILINE)


def _blank(text: str) -> str:
    return _NO_LINE_END.sub("", text)


def _shown(text: str) -> str:
    line = _LINE_END.split(text.strip(), maxsplit=1)[0].strip()
    return line[:MAX_SHOWN]
