"""What ``pytest --submission FILE`` collects, runs and reports."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.errors import GraderError
from grader.pytest_plugin.grading import Graded, Wanted, criteria_of, grade, seed_of

__all__ = ["Criteria", "Criterion", "Plugin"]

GIVEN = "numgrade"
"""Key of what a worker of pytest-xdist is given by its controller."""


class Plugin:
    """One run of pytest with one submission, which is graded once: by whoever needs its result first.

    With pytest-xdist the controller grades before the workers start, and hands the verdicts to them.
    """

    def __init__(self, config: pytest.Config) -> None:
        """Check what was asked for. Raises pytest.UsageError."""
        option = config.option
        self._graded: Graded | None = None
        self._failed = ""
        try:
            self.wanted = Wanted(
                path=Path(config.invocation_params.dir, option.submission),
                course=Path(config.invocation_params.dir, option.course) if option.course else None,
                assignment=option.assignment,
                seed=seed_of(option.grade_seed),
                isolation=option.isolation,
            )
            given = getattr(config, "workerinput", {}).get(GIVEN)
            if given is not None:
                self._graded, self._failed = Graded.from_plain(given["graded"]), given["failed"]
            self.ids = criteria_of(self.wanted)
        except GraderError as error:
            raise pytest.UsageError(str(error)) from None
        if config.args_source is not pytest.Config.ArgsSource.ARGS:
            config.args = []  # no path was given, so nothing but the submission is meant
        if not getattr(option, "junitprefix", None):
            option.junitprefix = re.sub(r"[^\w-]+", "_", self.wanted.path.stem)[:100]

    def graded(self) -> Graded:
        """Return the verdicts. Fails the item that asks, without a traceback, if grading isn't possible."""
        if self._graded is None and not self._failed:
            try:
                self._graded = grade(self.wanted)
            except GraderError as error:
                self._failed = str(error)
        if self._graded is None:
            pytest.fail(f"Not graded: {self._failed}", pytrace=False)
        return self._graded

    # ------------------------------------------------------------ hooks

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, Any, Any]:
        """Put the submission beside whatever else the session collects."""
        report = yield
        if isinstance(collector, pytest.Session):
            report.result.insert(0, Criteria.from_parent(collector, name=self.wanted.path.name, plugin=self))
        return report

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Give a worker of pytest-xdist the verdicts."""
        if self._graded is None and not self._failed:
            try:
                self._graded = grade(self.wanted)
            except GraderError as error:
                self._failed = str(error)
        plain = None if self._graded is None else self._graded.plain()
        node.workerinput[GIVEN] = {"graded": plain, "failed": self._failed}

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say the points, and how to get the same inputs again."""
        if self._graded is not None:
            terminalreporter.section("submission")
            for line in self._graded.lines:
                terminalreporter.write_line(line)


class Criteria(pytest.Collector):
    """The submission as pytest sees it: a node with one item for each criterion. Nothing of it is imported."""

    def __init__(self, *, plugin: Plugin, **more: Any) -> None:
        super().__init__(nodeid="submission", **more)
        self.plugin = plugin

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the criteria in the assignment's order."""
        for criterion in self.plugin.ids:
            yield Criterion.from_parent(self, name=criterion, nodeid=criterion, plugin=self.plugin)


class Criterion(pytest.Item):
    """One criterion. Its id is that of the course: ``attention/weights``."""

    def __init__(self, *, plugin: Plugin, **more: Any) -> None:
        super().__init__(**more)
        self.plugin = plugin

    def setup(self) -> None:
        """Grade, if nobody has yet. What could not be graded is an error, never a failure."""
        graded = self.plugin.graded()
        said = graded.verdicts[self.name]
        self.user_properties += [
            *(("criterion", self.name), ("status", said.status)),
            *(("points", said.points), ("max_points", said.max_points)),
            *(("seed", graded.seed), ("isolation", graded.isolation)),
        ]
        if said.status == "not_graded":
            pytest.fail(said.text, pytrace=False)

    def runtest(self) -> None:
        """Fail with our message unless the criterion has all its points."""
        said = self.plugin.graded().verdicts[self.name]
        if said.status != "passed":
            pytest.fail(said.text, pytrace=False)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the message alone: a traceback would be of the grader's code."""
        if isinstance(excinfo.value, pytest.fail.Exception):
            return excinfo.value.msg or ""
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the heading of a failure."""
        return self.plugin.wanted.path, None, self.name
