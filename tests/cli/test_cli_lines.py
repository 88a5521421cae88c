"""What commands print fits a terminal of 80 columns; into a pipe each line is one."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.cli.case import asked
from grader.core.values import to_value
from grader.model import Array, Call, Failure, Opaque, Outcome, Seq
from grader.render import clean
from tests.batch.course import write_course
from tests.cli.shell import LINUX, command, environment, grade

Golden = Callable[[str, str], None]

NUMBERS = {
    "nothing": None,
    "a long text": "x y " * 200,
    "a word without end": "w" * 300,
    "hostile": "\x1b[31m\u202e\n\tred",
    "a table": to_value(np.arange(12.0).reshape(3, 4) / 7),
    "two tables": to_value((np.ones((2, 2, 3)) / 3, [np.float64(1.5), np.float64(2.25)])),
    "orders": to_value((np.arange(11), np.arange(11)[::-1].copy())),
    "a large one": to_value(np.zeros((40, 50), dtype=np.float32)),
    "many": to_value(tuple(range(9))),
    "deep": Seq(kind="list", items=(Seq(kind="tuple", items=(Seq(kind="list", items=(1, "a" * 90)),)),)),
    "clipped": Array(dtype="<f8", shape=(9, 9), data=b"", clipped=True),
    "unknown": Opaque(kind="\x1b]0;title\x07 module.Class"),
}


def test_cases_as_lines(golden: Golden) -> None:
    """Arrays stand below what they are of, row by row; the rest on one line, if it fits."""
    lines = []
    for number, (title, value) in enumerate(NUMBERS.items()):
        call = Call(
            id=f"task/{number}",
            kind="function",
            name="solve",
            args=(value,),
            kwargs=(("axis", -1), ("seed", 7)),
            seed=number,
            session="a",
        )
        lines += [
            f"# {title}",
            *asked(call, Outcome(call=call.id, kind="returned", value=value, stdout="a\nb" * number)),
        ]
    failed = Outcome(call="x", kind="raised", failure=Failure(kind="ValueError", message="no " * 60, line=3))
    lines += ["# raised", *asked(Call(id="task/x", kind="function", name="solve", seed=1, session="a"), failed)]
    golden("cases.txt", "\n".join([*lines, ""]))


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=200) | st.binary(max_size=0).map(str),
    lambda inner: st.builds(lambda kind, items: Seq(kind=kind, items=tuple(items)), st.sampled_from(["list", "tuple"]),
                            st.lists(inner, max_size=9)),
    max_leaves=20,
)  # fmt: skip


@given(value=ANY)
def test_any_case_fits(value: object) -> None:
    """Whatever came back, no line is wider than the terminal or holds a control character."""
    call = Call(id="a/b", kind="function", name="solve", args=(value,), kwargs=(("x", value),), seed=1, session="a")  # type: ignore[arg-type]  # a plain value
    for line in asked(call, Outcome(call="a/b", kind="returned", value=value)):  # type: ignore[arg-type]  # see above
        assert clean.width(line) <= 80
        assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e]", line)


def on_terminal(*words: object) -> list[str]:
    """Run a command in a terminal of 80 columns, and return the lines that stand there at last."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen(command(*words), env=environment({}), stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    said = b""
    try:
        while part := os.read(ours, 1 << 16):
            said += part
    except OSError:
        pass  # the other side has gone
    os.close(ours)
    process.wait(60)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said.decode()).replace("\r\n", "\n")
    return [line.rpartition("\r")[2] for line in text.splitlines()]


@pytest.fixture(scope="module")
def hand_ins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a course and a class of people with trouble."""
    root = tmp_path_factory.mktemp("lines")
    write_course(root / "course")
    for name in [*(f"nobody {number:02}" for number in range(30)), "n" * 200, "\x1b[31mred\nline", "名前" * 30]:
        (root / "class" / name).mkdir(parents=True)
    for name in ("n" * 200, "\x1b[31mred\nline", "名前" * 30):
        (root / "class" / name / "hw.py").write_text("def say():\n    return 'look'\n", encoding="utf-8")
        (root / "class" / name / f"{'data ' * 20}.bin").symlink_to("/dev/null")
    (root / "class" / "ada").mkdir()
    for number in range(9):
        (root / "class" / "ada" / f"part{number}.py").write_text(f"# {number}\n", encoding="utf-8")
    return root


@LINUX
def test_a_batch_at_a_terminal(hand_ins: Path) -> None:
    """Lines are broken and go on further in; three hundred of whom the same is said are one line of the list."""
    run = hand_ins / "run"
    words = ("batch", hand_ins / "class", "--course", hand_ins / "course", "--isolation", "process", "--out", run)
    lines = on_terminal(*words, "--seed", 1)
    assert [line for line in lines if clean.width(line) > 80 and str(run) not in line] == []
    assert "to look at (34):" in lines
    begin = next(number for number, line in enumerate(lines) if line.startswith("  ada: "))
    assert lines[begin : begin + 2] == [
        "  ada: not graded: which file is the submission: part0.py, part1.py, part2.py,",
        "    part3.py, part4.py, or one of 4 more? Say it with --pick",
    ]
    assert "  nobody 00, nobody 01, nobody 02 and 27 more: not graded: no file was handed" in lines

    piped = grade(*words, "--resume").stdout.splitlines()
    assert "  nobody 00, nobody 01, nobody 02 and 27 more: not graded: no file was handed in" in piped
    assert not any("\x1b" in line for line in piped)

    lines = on_terminal("override", run, "名前" * 30, "say/word", "3", "--reason", "because " * 40)
    assert [line for line in lines if clean.width(line) > 80 and str(run) not in line] == []
    assert "say/word: 1 changed" in lines
