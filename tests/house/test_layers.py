"""The rooms of the grader: who may import whom."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

COLUMNS: tuple[frozenset[str], ...] = (
    frozenset({"errors", "kept", "model"}),
    frozenset({"core"}),
    frozenset({"api"}),
    frozenset({"course", "intake", "run", "render", "lms", "store"}),
    frozenset({"pipeline"}),
    frozenset({"batch", "checkcourse", "gradescope"}),
    frozenset({"web"}),
    frozenset({"cli", "notebook", "pytest_plugin"}),
    frozenset({"__main__"}),
)
"""Each room may import what stands to its left; rooms of one column don't import each other."""

STANDARD = frozenset(sys.stdlib_module_names)
IMPURE = frozenset(
    {"asyncio", "datetime", "logging", "multiprocessing", "os", "pathlib", "random", "shutil", "socket", "subprocess"}
    | {"sys", "tempfile", "threading", "time", "urllib", "uuid"}
)
"""Modules that reach files, clocks, processes, the network or global random state."""


def files(folder: str) -> list[Path]:
    """Return all Python files below ``folder`` of the checkout."""
    return sorted((ROOT / folder).rglob("*.py"))


def parts_of(path: Path) -> tuple[str, ...]:
    """Return the dotted name of a file as parts: ``grader/run/wire.py`` is ``("grader", "run", "wire")``."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and absolute dotted name of everything that a file imports, wherever in the file.

    ``from a import b`` gives ``a.b``: whether b is a module or a name in it, a's room is the same.
    """
    package = parts_of(path) if path.name == "__init__.py" else parts_of(path)[:-1]
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            stem = ".".join((*base, *((node.module,) if node.module else ())))
            for alias in node.names:
                yield node.lineno, f"{stem}.{alias.name}"


def where(path: Path, line: int) -> str:
    """Return a place as people write it."""
    return f"{path.relative_to(ROOT)}:{line}"


def column_of(room: str) -> int:
    """Return the column that a room stands in."""
    for index, rooms in enumerate(COLUMNS):
        if room in rooms:
            return index
    pytest.fail(f"grader/{room} stands in no column of tests/house/test_layers.py: which rooms may it import?")


def test_arrows_point_left() -> None:
    """A room imports itself and what stands to its left, also inside functions and under TYPE_CHECKING."""
    wrong = []
    for path in files("grader"):
        parts = parts_of(path)
        if len(parts) == 1:
            continue
        room = parts[1]
        for line, name in imports(path):
            target = name.split(".")
            if target[0] != "grader" or target[1:] == ["__version__"]:
                continue
            if len(target) == 1:
                wrong.append(f"{where(path, line)} imports all of grader")
            elif target[1] != room and column_of(target[1]) >= column_of(room):
                wrong.append(f"{where(path, line)}: {room} imports {target[1]}")

    assert wrong == []


def test_the_package_itself_imports_nothing() -> None:
    """``import grader`` is free, whoever does it: what ``grader.check`` needs is loaded when it is called.

    Only where IPython is there already, the cells are followed from then on; that loads the standard library only.
    """
    body = ast.parse((ROOT / "grader" / "__init__.py").read_bytes()).body
    names = [ast.unparse(node) for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    follow = {name.split(".")[0] for _, name in imports(ROOT / "grader" / "notebook" / "follow.py")}

    assert names == ["from __future__ import annotations", "import sys"]
    assert follow <= STANDARD


def test_the_worker_imports_nothing_of_ours() -> None:
    """What lives beside student code knows the standard library, NumPy and itself, by relative imports only."""
    wrong = []
    for path in files("grader/run/inside"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                # One dot is the folder itself; two would be `grader.run`, which the worker can't import.
                names = ["(parent)"] if node.level > 1 else [] if node.level == 1 else [node.module or ""]
            else:
                continue
            wrong += [
                f"{where(path, node.lineno)}: {name}"
                for name in names
                if name.split(".")[0] not in STANDARD | {"numpy"}
            ]

    assert wrong == []


def test_the_core_is_pure() -> None:
    """No module of the core imports what reaches a file, a clock, a process or global random state, nor prints."""
    wrong = []
    for path in files("grader/core") + files("grader/model"):
        # In the vocabulary a path is data: where something lies, for whoever opens it.
        impure = IMPURE - {"pathlib"} if path.parent.name == "model" else IMPURE
        wrong += [f"{where(path, line)}: {name}" for line, name in imports(path) if name.split(".")[0] in impure]
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("open", "print"):
                wrong.append(f"{where(path, node.lineno)}: {node.func.id}()")

    assert wrong == []


RUNS_CODE = frozenset(
    {"ast", "code", "codeop", "compileall", "dill", "marshal", "pickle", "py_compile", "runpy", "shelve", "tokenize"}
)
"""Modules that parse or run source, or build whatever objects some bytes ask for."""

OWN_SOURCES = (("grader", "run", "inside"), ("grader", "course", "grounds"))


def test_the_grader_never_parses_or_unpickles() -> None:
    """Only the worker parses source; a hostile one may end the process that does. Nothing is evaluated or unpickled."""
    wrong = []
    for path in files("grader"):
        # The worker; and what reads a course's own modules, which are no submission.
        if parts_of(path)[:3] in OWN_SOURCES or parts_of(path)[:2] == ("grader", "checkcourse"):
            continue
        wrong += [f"{where(path, line)}: {name}" for line, name in imports(path) if name.split(".")[0] in RUNS_CODE]
        for node in ast.walk(ast.parse(path.read_bytes())):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in ("eval", "exec", "compile")
            ):
                wrong.append(f"{where(path, node.lineno)}: {node.func.id}()")
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                wrong.append(f"{where(path, node.value.lineno)}: allow_pickle")

    assert wrong == []


def test_a_course_sees_only_the_api() -> None:
    """What a course imports is ``grader.api``, the standard library, NumPy and itself, so that it can live anywhere."""
    wrong = []
    for path in files("reference"):
        own = ".".join(parts_of(path)[:2])
        for line, name in imports(path):
            if name == own or name.startswith((f"{own}.", "grader.api.")) or name == "grader.api":
                continue
            if name.split(".")[0] not in STANDARD | {"numpy"}:
                wrong.append(f"{where(path, line)}: {name}")

    assert wrong == []


def test_a_course_names_itself_relatively() -> None:
    """A course is loaded under a private name, so ``import reference`` would find nothing or another one."""
    wrong = [
        f"{where(path, node.lineno)}"
        for path in files("reference")
        for node in ast.walk(ast.parse(path.read_bytes()))
        if (isinstance(node, ast.Import) and any(alias.name.split(".")[0] == "reference" for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] == "reference")
    ]

    assert wrong == []


def test_the_engine_knows_no_assignment() -> None:
    """No name of the lesson's functions stands in the engine's code; a docstring may take one as an example."""
    names = ("softmax", "scaled_dot_product_attention", "measure_variance", "entropy_sweep", "compare_rankings")
    found = []
    for path in files("grader"):
        tree = ast.parse(path.read_bytes())
        said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        words = [
            word
            for node in ast.walk(tree)
            for word in (getattr(node, "id", ""), getattr(node, "attr", ""), getattr(node, "value", ""))
            if isinstance(word, str) and id(node) not in said
        ]
        found += [f"{path.relative_to(ROOT)}: {name}" for name in names if any(name in word for word in words)]

    assert found == []
