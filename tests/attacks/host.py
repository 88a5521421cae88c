"""A grader in a process of its own, which attacks may try to hurt: one line of JSON in, one out.

It grades as the command line does, makes every document that there is, and looks for harm in them and in itself.
"""

from __future__ import annotations

import gc
import json
import os
import re
import resource
import signal
import sys
import threading
import time
import traceback
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from grader.core.redact import redact
from grader.course import find_course, load_assignment
from grader.intake import read_submission
from grader.model import Limits, Result, TaskResult, Transcript
from grader.pipeline import grade, judge_transcript
from grader.render.document import to_json
from grader.render.html import fragment, report
from grader.render.terminal import summary
from grader.render.view import build
from grader.run import replay
from grader.run.backend import Backend
from grader.run.isolation import NAMES, Purpose, open_backend
from grader.run.runner import Scratch
from grader.store import dump_transcript, load_transcript
from grader.store.files import write_file

TIGHT = {"load_seconds": 0.6, "call_seconds": 0.25, "asleep_seconds": 0.25, "submission_seconds": 5.0}
MAX_CPU = 6.0
"""Seconds of the grader's own for one submission: it is judged in a small part of one."""
MAX_GROWTH = 300 << 20
SIGNALS = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGWINCH, signal.SIGURG)

_TAG = re.compile(r"<(\w+)")
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
_CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class _Tags(HTMLParser):
    """Collects what a page is made of."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag and the attributes that could act."""
        self.found.add(tag)
        for name, value in attrs:
            if name.startswith("on") or name == "srcdoc" or "javascript:" in (value or "").lower():
                self.found.add(f"{tag}[{name}]")


class Host:
    """The grader, its course and what must stay secret."""

    def __init__(self, arena: Path, made: Backend, secrets: dict[str, str]) -> None:
        self.made, self.secrets = made, secrets
        self.course = find_course(arena / "course")
        self.assignment = load_assignment(self.course, "attention")
        self.signals: list[int] = []
        for number in SIGNALS:
            signal.signal(number, lambda got, _: self.signals.append(got))
        templates = "".join(path.read_text() for path in (arena / "course" / "reports").glob("*.j2"))
        self.tags = _Tags(page_of(self, read_submission(arena / "plain.py"))).found | set(_TAG.findall(templates))

    def grade(self, path: Path, *, roomy: bool) -> dict[str, Any]:
        """Grade a file; return the score, what the attack told and the harm that is seen from here."""
        self.signals.clear()
        gc.collect()
        before = self._self()
        began = time.process_time()
        submission = read_submission(path)
        limits = self.assignment.limits if roomy else _tight(self.assignment.limits)
        assignment = replace(self.assignment, limits=limits)
        scratch = Scratch(self.made, submission)
        try:
            transcript, result = grade(assignment, submission, 1234, scratch)
        finally:
            scratch.close()
        documents = self.documents(result)
        kept = dump_transcript(transcript)
        beside = path.with_name(f"{path.stem}-report.html")
        write_file(beside, documents["learner.html"])
        cpu = time.process_time() - began
        harms = self.seen(documents, transcript, result)
        if beside.is_symlink():
            harms.add("leads the grader to another file")
        # Texts, since a number that is none equals nothing.
        if repr(judge_transcript(assignment, load_transcript(kept))) != repr(result):
            harms.add("differs when judged again")
        # The grader's own process for draws is kept from one submission to the next: here it isn't what is looked for.
        replay.close()
        if cpu > MAX_CPU:
            harms.add("keeps the grader busy")
        peak = _peak()
        if peak - before["memory"] > MAX_GROWTH:
            harms.add("fills the grader's memory")
        harms |= self._changes(before)
        told = "".join(outcome.stdout for outcome in transcript.outcomes)
        kinds = sorted({outcome.kind for outcome in transcript.outcomes})
        return {
            "harms": sorted(harms | set(re.findall(r"^HARM (.{1,40})$", told, re.MULTILINE))),
            "points": result.cents / 100,
            "tasks": {task.id: task.cents / 100 for task in result.tasks},
            "status": result.status,
            "reviewed": sorted(task.id for task in result.tasks if _is_reviewed(task)),
            "kinds": kinds,
            "ran": "ATTACK RUNS" in told or bool(set(kinds) - {"returned", "not_run"}),
            "told": told[:2000],
            "cpu": cpu,
            "growth": peak - before["memory"],
        }

    def documents(self, result: Result) -> dict[str, str]:
        """Return all that can be made of a result."""
        made = {}
        for audience in ("learner", "instructor"):
            seen = redact(result, audience)
            view = build(seen, self.assignment, hints=3)
            made[f"{audience}.html"] = report(view, self.course.template_dirs)
            made[f"{audience}.json"] = to_json(seen, self.assignment, hints=3)
            if audience == "instructor":
                continue
            made[f"{audience}.fragment.html"] = fragment(view, self.course.template_dirs)
            for colour in (False, True):
                made[f"{audience}.{colour}.txt"] = summary(
                    view, colour=colour, unicode=colour, hints=3, report="r.html", path="submission.py", options=""
                )
        return made

    def seen(self, documents: dict[str, str], transcript: Transcript, result: Result) -> set[str]:
        """Look for harm in what was made."""
        harms = set()
        everything = "".join(documents.values()) + repr(transcript) + repr(result)
        if any(secret in everything for secret in self.secrets.values()):
            harms.add("tells a secret")
        if result.status != "graded" or "not_graded" in documents["learner.json"]:
            harms.add("is not graded")
        for name, text in documents.items():
            if name.endswith(".html") and _Tags(text).found - self.tags:
                harms.add(f"puts tags into a page: {sorted(_Tags(text).found - self.tags)}")
            if name.endswith(".txt") and _CONTROL.search(
                _ESCAPES.sub("", text) if ".True." in name else text.replace("\n", "")
            ):
                harms.add("controls the terminal")
            if name.endswith(".json"):
                json.loads(text, parse_constant=lambda constant: harms.add(f"writes {constant} into JSON"))
            try:
                text.encode()
            except UnicodeEncodeError:
                harms.add("writes text that isn't text")
            if "\x00" in text or "\\u0000" in text:
                harms.add("writes NUL")
        return harms

    def _self(self) -> dict[str, Any]:
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
        return {
            "memory": _peak(),
            "descriptors": sum(1 for _ in Path("/proc/self/fd").iterdir()),
            "threads": threading.active_count(),
            "manners": (
                os.getpriority(os.PRIO_PROCESS, 0),
                os.sched_getaffinity(0),
                os.sched_getscheduler(0),
                [resource.getrlimit(which) for which in range(16)],
                Path.cwd(),
            ),
        }

    def _changes(self, before: dict[str, Any]) -> set[str]:
        after = self._self()
        harms = set()
        if after["manners"] != before["manners"]:
            harms.add("changes the grader's process")
        if self.signals:
            harms.add("signals the grader")
        if after["descriptors"] > before["descriptors"]:
            harms.add("leaves descriptors open")
        if after["threads"] > before["threads"]:
            harms.add("leaves a thread waiting")
        return harms


def page_of(host: Host, submission: Any) -> str:
    """Return the report of an ordinary submission: its tags are the ones that belong there."""
    scratch = Scratch(host.made, submission)
    try:
        result = grade(host.assignment, submission, 1, scratch)[1]
    finally:
        scratch.close()
    return host.documents(result)["learner.html"]


def _is_reviewed(task: TaskResult) -> bool:
    notes = [*task.notes, *(note for criterion in task.criteria for note in criterion.finding.notes)]
    return any(note.kind == "review" for note in notes)


def _tight(limits: Limits) -> Limits:
    return replace(limits, **TIGHT)  # type: ignore[arg-type]  # names of seconds only


def _peak() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def main() -> None:
    """Serve until the input ends."""
    name, arena = sys.argv[1], Path(sys.argv[2])
    first = json.loads(sys.stdin.readline())
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(**answer: object) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    planted = ("course/reference/attention/solution.py", "others/alice.py", "home/.netrc", "results/results.json")
    known = next(one for one in NAMES if one == name)
    purpose: Purpose = "own file" if known == "process" else "others' files"
    with open_backend(known, purpose=purpose, secrets=[arena / path for path in planted]) as made:
        host = Host(arena, made, first["secrets"])
        say(ready=made.name)
        for line in sys.stdin:
            job = json.loads(line)
            try:
                say(**host.grade(Path(job["path"]), roomy=job["roomy"]))
            except BaseException:  # noqa: BLE001  # whatever it is, no submission may be able to raise it
                say(harms=["raises in the grader"], error=traceback.format_exc())


if __name__ == "__main__":
    main()
