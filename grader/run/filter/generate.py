"""Makes the programs from ``syscalls.txt``, with libseccomp; at development time only.

Usage: ``python -m grader.run.filter.generate``. Needs libseccomp 2.5 or later (Debian: libseccomp2).
"""

from __future__ import annotations

import ctypes
import errno
import re
import tempfile
from pathlib import Path
from typing import Any

from grader.model._data import data
from grader.run.inside.seccomp import PLACEHOLDER

__all__ = ["Rule", "generate", "main", "read_rules"]

FOLDER = Path(__file__).parent
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_LINE = re.compile(
    r"(?P<name>\w+)(?:\s+(?P<arg>[0-5])(?:\s*&\s*(?P<mask>\w+))?\s*==\s*(?P<value>\w+)|\s*=\s*(?P<answer>\w+))?"
)
_KILL_PROCESS, _ALLOW, _ERRNO = 0x80000000, 0x7FFF0000, 0x00050000
_MASKED_EQUAL = 7
_BAD_ARCHITECTURE, _OPTIMISE = 2, 8
_LOW_WORD = 0xFFFFFFFF


@data
class Rule:
    """One line: a call, and perhaps what one of its arguments must be, or what is answered in place of the call."""

    name: str
    argument: int | None = None
    mask: int = _LOW_WORD
    value: int = 0
    answer: int | None = None


class _Comparison(ctypes.Structure):
    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operator", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


def read_rules(text: str) -> tuple[Rule, ...]:
    """Read the list. Raises ValueError with the line that can't be read."""
    rules = []
    for line in text.splitlines():
        said = line.partition("#")[0].strip()
        if not said:
            continue
        match = _LINE.fullmatch(said)
        if match is None:
            raise ValueError(line)
        value, answer = match["value"], match["answer"]
        rules.append(
            Rule(
                name=match["name"],
                argument=None if match["arg"] is None else int(match["arg"]),
                mask=int(match["mask"], 0) if match["mask"] else _LOW_WORD,
                value=PLACEHOLDER if value == "PID" else int(value or "0", 0),
                answer=None if answer is None else 0 if answer == "OK" else int(getattr(errno, answer)),
            )
        )
    return tuple(rules)


def generate(architecture: str) -> bytes:
    """Return the program for ``architecture``. Raises OSError where libseccomp isn't there or refuses a rule."""
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_arch_native.restype = ctypes.c_uint32

    def ask(name: str, *arguments: Any) -> None:
        result = getattr(library, name)(ctypes.c_void_p(context), *arguments)
        if result < 0 and result != -errno.EEXIST:
            raise OSError(-result, f"{name}{arguments}")

    context = library.seccomp_init(ctypes.c_uint32(_ERRNO | errno.EPERM))
    try:
        token = ctypes.c_uint32(ARCHITECTURES[architecture])
        if library.seccomp_arch_native() != ARCHITECTURES[architecture]:
            ask("seccomp_arch_add", token)
            ask("seccomp_arch_remove", ctypes.c_uint32(library.seccomp_arch_native()))
        # Calls of another kind (32 bits on x86-64): no honest program makes one here.
        ask("seccomp_attr_set", ctypes.c_int(_BAD_ARCHITECTURE), ctypes.c_uint32(_KILL_PROCESS))
        ask("seccomp_attr_set", ctypes.c_int(_OPTIMISE), ctypes.c_uint32(2))
        for rule in read_rules((FOLDER / "syscalls.txt").read_text(encoding="utf-8")):
            number = library.seccomp_syscall_resolve_name(rule.name.encode())
            if number == -1:
                raise OSError(errno.ENOSYS, f"libseccomp knows no call {rule.name}")
            action = _ALLOW if rule.answer is None else _ERRNO | rule.answer
            if rule.argument is None:
                ask("seccomp_rule_add_array", ctypes.c_uint32(action), number, 0, None)
                continue
            # The lower half only: these arguments are 32 bits wide, and the kernel ignores the rest.
            comparison = _Comparison(rule.argument, _MASKED_EQUAL, rule.mask, rule.value)
            ask("seccomp_rule_add_array", ctypes.c_uint32(action), number, 1, ctypes.byref(comparison))
        with tempfile.TemporaryFile() as out:
            ask("seccomp_export_bpf", out.fileno())
            out.seek(0)
            return out.read()
    finally:
        library.seccomp_release(ctypes.c_void_p(context))


def main() -> None:
    """Write a program for each architecture beside the list."""
    for architecture in ARCHITECTURES:
        (FOLDER / f"{architecture}.bpf").write_bytes(generate(architecture))


if __name__ == "__main__":
    main()
