"""The view model as terminal text: at most 80 columns, the same words as on the page and nothing more."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from grader.model import Status
from grader.render import clean
from grader.render.comparison import ComparisonView
from grader.render.lines import COLUMNS, split
from grader.render.task_view import ICONS, FindingView, TaskView
from grader.render.view import ReportView
from grader.render.words import Rich, bare

__all__ = ["brief", "summary"]

_ASCII_ICONS = {
    Status.PASSED: "[+]",
    Status.PARTIAL: "[~]",
    Status.FAILED: "[x]",
    Status.BLOCKED: "[=]",
    Status.MISSING: "[ ]",
    Status.NOT_GRADED: "[!]",
}
_COLOURS = {
    Status.PASSED: "32",
    Status.PARTIAL: "33",
    Status.FAILED: "31",
    Status.BLOCKED: "33",
    Status.MISSING: "33",
    Status.NOT_GRADED: "35",
}
_BOLD = "1"


def summary(
    view: ReportView,
    *,
    colour: bool,
    unicode: bool,
    hints: int = 0,
    report: str = "",
    path: str = "",
    options: str = "",
    notebook: bool = False,
) -> str:
    """Return what ``grade FILE`` prints.

    Args:
        view: What to show.
        colour: Whether escape sequences for colour may be written.
        unicode: Whether the terminal shows more than ASCII.
        hints: How many levels of hints to print; a line says how to see the next one.
        report: Where the page was written, as it should be shown; ``""`` for none.
        options: Options that belong to lines that may be typed again, ready for a shell.
        path: The submission as it was typed, for lines that may be typed again; its name if it isn't known.
        notebook: Whether what may be typed again is a line of a notebook, in place of a command.
    """
    writer = _Writer(view, colour=colour, unicode=unicode, path=path, options=options, notebook=notebook)
    return writer.summary(hints, report)


def brief(view: ReportView, *, colour: bool, unicode: bool) -> str:
    """Return what ``grade FILE --watch`` prints after a change: the points, what turned, and the next step."""
    return _Writer(view, colour=colour, unicode=unicode).brief()


def _padded(text: str, columns: int) -> str:
    return text + " " * (columns - clean.width(text))


class _Writer:
    def __init__(
        self,
        view: ReportView,
        *,
        colour: bool,
        unicode: bool,
        path: str = "",
        options: str = "",
        notebook: bool = False,
    ) -> None:
        self._options = options
        self._notebook = notebook
        self._path = path or view.name
        self._view = view
        self._words = view.words
        self._colour = colour
        self._unicode = unicode

    def summary(self, hints: int, report: str) -> str:
        since = self._since()
        lines = [*self._head(), *self._audience(), "", *since, *([""] if since else []), *self._rows()]
        for text in self._view.notes:
            lines += ["", *self._labelled("note", text, indent=2)]
        for task in self._view.in_order:
            if task.status.id is Status.PASSED:
                for text in task.notes[:1]:
                    lines += ["", *self._labelled("note", text, indent=2)]
        for task in self._view.in_order:
            if task.id != self._view.focus:
                lines += self._told(task, named=True)
        focus = next((task for task in self._view.tasks if task.id == self._view.focus), None)
        if focus is not None:
            lines += ["", self._styled(self._clean(focus.function), _BOLD), *self._details(focus)]
        if self._view.after:
            first = self._view.works if self._view.full else ()
            lines += ["", *self._paragraphs(first + self._view.after)]
        if self._view.next:
            lines += ["", *self._labelled("next", self._view.next, indent=2)]
        if focus is not None:
            lines += self._hints(focus, hints)
        lines += ["", *self._isolation(), *self._foot(report)]
        return "\n".join(line.rstrip() for line in lines) + "\n"

    def brief(self) -> str:
        lines = [*self._head(), *self._since()]
        for text in self._view.notes[:1]:
            lines += self._labelled("note", text, indent=2)
        if self._view.full or not self._view.graded:
            lines += self._paragraphs(self._view.works or self._view.after)
        if self._view.next:
            lines += self._labelled("next", self._view.next, indent=2)
        return "\n".join(line.rstrip() for line in lines) + "\n"

    def _audience(self) -> list[str]:
        return self._wrapped(self._word("audience")) if self._view.audience == "instructor" else []

    def _since(self) -> list[str]:
        """Say what changed since an earlier result, if there was one."""
        since = self._view.since
        if since is None:
            return []
        lines = self._paragraphs(since.score)
        for status, label, criteria in (
            (Status.PASSED, self._word("since_right"), since.right),
            (Status.FAILED, self._word("since_wrong"), since.wrong),
        ):
            icon = self._styled(self._icon(status), _COLOURS[status])
            start = clean.width(self._icon(status)) + 3
            for criterion in criteria:
                text = f"{label} {self._clean(bare(criterion))}"
                first, *more = split(text, COLUMNS - start)
                lines += [f"  {icon} {first}", *(" " * start + line for line in more)]
        return lines

    def _icon(self, status: Status) -> str:
        return ICONS[status] if self._unicode else _ASCII_ICONS[status]

    def _head(self) -> list[str]:
        left = self._clean(f"{bare(self._view.title)}: {self._view.name}")
        right = self._clean(self._view.heading)
        gap = COLUMNS - clean.width(left) - clean.width(right)
        if gap >= 2:
            return [left + " " * gap + self._styled(right, _BOLD)]
        return [*self._wrapped(left, indent=0), self._styled(right, _BOLD)]

    def _rows(self) -> list[str]:
        tasks = self._view.in_order
        names = [self._clipped(self._clean(task.function), 36) for task in tasks]
        name_width = max(map(clean.width, names), default=0)
        scores = [(self._clean(task.score), self._clean(task.max_score)) for task in tasks]
        score_width = max((len(score) for score, _ in scores), default=0)
        max_width = max((len(top) for _, top in scores), default=0)
        lines: list[str] = []
        for task, name, (score, top) in zip(tasks, names, scores, strict=True):
            icon = task.status.icon if self._unicode else _ASCII_ICONS[task.status.id]
            padded = _padded(name, name_width)
            numbers = f"{score:>{score_width}} / {top:>{max_width}}"
            start = f"  {icon} {padded}   {numbers}"
            remark = self._remark(task)
            first, *more = split(remark, COLUMNS - clean.width(start) - 3) or [""]
            lines.append(f"  {self._styled(icon, _COLOURS[task.status.id])} {padded}   {numbers}   {first}")
            lines += [" " * (clean.width(start) + 3) + line for line in more]
        return lines

    def _remark(self, task: TaskView) -> str:
        """Say what is not right yet of a task; nothing of one that is correct."""
        if task.status.id is Status.PASSED:
            return ""
        if task.status.id not in (Status.FAILED, Status.PARTIAL):
            return self._clean(task.status.word)
        wrong = [c for c in task.criteria if c.status.id is Status.FAILED] or [
            c for c in task.criteria if c.status.id is Status.PARTIAL
        ]
        return f"{self._clean(task.status.word)}: {self._clean(bare(wrong[0].title))}" if wrong else task.status.word

    def _details(self, task: TaskView) -> list[str]:
        lines = [*self._paragraphs(task.message), *(line for text in task.stopped for line in self._paragraphs(text))]
        lines += self._told(task)
        for finding in task.findings[:1]:
            lines += self._evidence(finding)
            lines += self._paragraphs(finding.cause)
        for behind in (finding.behind for finding in task.findings if finding.behind):
            lines += self._wrapped(f"{self._word('instructor')} {bare(behind)}")
        for note in task.notes:
            lines += self._labelled("note", note, indent=2)
        return lines

    def _told(self, task: TaskView, *, named: bool = False) -> list[str]:
        """Say what the instructor says of a task, under its name unless that stands above."""
        lines: list[str] = []
        for text in task.told:
            lines += ["", self._styled(self._clean(task.function), _BOLD)] if named and not lines else []
            lines += self._paragraphs(text)
        return lines

    def _evidence(self, finding: FindingView) -> list[str]:
        for item in finding.evidence:
            if isinstance(item, ComparisonView):
                return self._comparison(item)
        return []

    def _comparison(self, item: ComparisonView) -> list[str]:
        spots = [item.worst] if item.first is None or item.first == item.worst else [item.first, item.worst]
        cells = [(self._clean(s.at), self._clean(s.yours), self._clean(s.expected)) for s in spots]
        widths = [max(clean.width(row[column]) for row in cells) for column in range(3)]
        remarks = [self._word("terminal_count", differing=str(item.differing), total=str(item.total))]
        remarks += [self._word("terminal_largest")] if len(spots) == 2 else []
        lines = []
        for (at, yours, expected), remark in zip(cells, remarks, strict=True):
            line = (
                f"    {_padded(at, widths[0])}   {self._word('yours')} {_padded(yours, widths[1])}"
                f"   {self._word('expected')} {_padded(expected, widths[2])}"
            )
            fits = clean.width(line) + 3 + clean.width(remark) <= COLUMNS
            lines += [f"{line}   {remark}"] if fits else [*split(line, COLUMNS, "    "), f"      {remark}"]
        return lines

    def _hints(self, task: TaskView, level: int) -> list[str]:
        finding = next((found for found in task.findings if found.hint_levels), None)
        if finding is None:
            return []
        lines: list[str] = []
        for hint in finding.hints[:level]:
            lines += self._labelled("hint", hint.text, indent=2)
        following = level + 1
        if following <= finding.hint_levels:
            if self._notebook:
                command = self._word("notebook_call", arguments=f"hints={following}{self._options}")
            else:
                command = self._word("terminal_hints", name=self._quoted(), level=str(following))
            lines += self._hanging(self._word("terminal_hint"), command, 2)
        return lines

    def _foot(self, report: str) -> list[str]:
        seed = str(self._view.seed)
        if self._notebook:
            again = self._word("notebook_call", arguments=f"seed={seed}{self._options}")
        else:
            again = self._word("terminal_again", name=self._quoted(), seed=seed)
        replay = f"{self._word('terminal_replay')}  {again}"
        if not report:
            return split(replay, COLUMNS)
        where = f"{self._word('terminal_report')}  {self._clean(report)}"
        gap = COLUMNS - clean.width(where) - clean.width(replay)
        if gap >= 2:
            column = 39  # where the second half of a line begins, if both halves have room
            pad = column - clean.width(where) if clean.width(where) <= column - 2 and clean.width(replay) <= 41 else gap
            return [where + " " * pad + replay]
        return [*split(where, COLUMNS), *split(replay, COLUMNS)]

    def _isolation(self) -> list[str]:
        """Name how the code was kept apart; nothing if none of it ran."""
        name = self._view.isolation
        return [f"{self._word('terminal_isolation')}  {self._clean(name)}"] if name else []

    def _quoted(self) -> str:
        return shlex.quote(self._clean(self._path)) + (f" {self._clean(self._options)}" if self._options else "")

    def _word(self, key: str, **params: str) -> str:
        """A word of ours; what is put in is never read again."""
        pieces: Iterable[str] = self._words[key].split("{")
        first, *rest = pieces
        filled = first + "".join(params[name] + tail for name, _, tail in (piece.partition("}") for piece in rest))
        return self._clean(filled)

    def _labelled(self, label: str, text: Rich, *, indent: int) -> list[str]:
        lines: list[str] = []
        for paragraph in text:
            words = "".join(span.text for span in paragraph.spans)
            for line in words.split("\n") if paragraph.block else [words]:
                lines += self._hanging(self._word(f"terminal_{label}") if not lines else "", line, indent)
        return lines

    def _hanging(self, label: str, text: str, indent: int) -> list[str]:
        first = " " * indent + f"{label:<5}  "
        lines = split(self._clean(text), COLUMNS - clean.width(first))
        return [(first if number == 0 else " " * clean.width(first)) + line for number, line in enumerate(lines)]

    def _paragraphs(self, text: Rich) -> list[str]:
        return [line for paragraph in text for line in self._wrapped(bare((paragraph,)))]

    def _wrapped(self, text: str, indent: int = 2) -> list[str]:
        return [" " * indent + line for line in split(self._clean(text), COLUMNS - indent)]

    def _clean(self, text: str) -> str:
        return clean.terminal(text, unicode=self._unicode)

    def _styled(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour and text else text

    def _clipped(self, text: str, columns: int) -> str:
        if clean.width(text) <= columns:
            return text
        dots = "…" if self._unicode else "..."
        while text and clean.width(text) > columns - len(dots):
            text = text[:-1]
        return text + dots
