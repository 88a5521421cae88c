"""``pytest --submission FILE``: a plugin of pytest that grades a file, one test item a criterion.

pytest loads this module in every run of whoever has us installed, so it imports nothing, and without
``--submission`` on the command line it adds no option, does nothing, and leaves no module behind.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

__all__ = ["pytest_addoption", "pytest_configure", "pytest_load_initial_conftests"]

OPTION = "--submission"


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Add our options, if the first of them was typed: another project's conftest.py may have some of their names."""
    if not _asked(pluginmanager):
        _leave()
        return
    group = parser.getgroup("submission", "grading a submission")
    group.addoption(OPTION, metavar="FILE", help="grade this .py or .ipynb file: one test a criterion")
    group.addoption("--course", metavar="DIR", help="grade with another course than the one built in")
    group.addoption("--assignment", metavar="ID", default="", help="the assignment, where a course has several")
    group.addoption("--grade-seed", metavar="N", help="seed of the random inputs; the report of a run names it")
    group.addoption(
        "--isolation",
        choices=("auto", "process", "landlock", "namespaces"),
        default="auto",
        help="how the file's code is kept apart; auto is the best that this machine offers",
    )


def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Load no conftest.py where no path was given: one that lies beside the submission may be the learner's."""
    known = early_config.known_args_namespace
    if getattr(known, "submission", None) is not None and not known.file_or_dir:
        known.noconftest = True


def pytest_configure(config: pytest.Config) -> None:
    """Bring in what grades, if there is something to grade."""
    if getattr(config.option, "submission", None) is not None:
        from grader.pytest_plugin.plugin import Plugin

        config.pluginmanager.register(Plugin(config), "numgrade-submission")


def _leave() -> None:
    """Take the two modules that pytest loaded away again, unless somebody else uses them.

    Whoever tests a package `grader` of their own, or a checkout of ours, means that one: it would be found in
    ``sys.modules`` before it is looked for.
    """
    loaded = {name for name in sys.modules if name == "grader" or name.startswith("grader.")}
    if loaded == {"grader", __name__}:
        for name in loaded:
            del sys.modules[name]


def _asked(pluginmanager: pytest.PytestPluginManager) -> bool:
    """Whether the command line, or what pytest adds to it from the environment, names our option."""
    config = pluginmanager.get_plugin("pytestconfig")
    words = list(config.invocation_params.args) if config is not None else []
    if any(str(word).partition("=")[0] == OPTION for word in words):
        return True
    import os
    import shlex

    added = os.environ.get("PYTEST_ADDOPTS", "")
    return OPTION in added and any(word.partition("=")[0] == OPTION for word in shlex.split(added))
