"""The worker: loads a submission, calls its functions, tells what came back."""

from __future__ import annotations
import __future__

import ast
import builtins
import functools
import io
import os
import sys
import time
import types
from typing import Any, NoReturn

import numpy as np

from . import imports, inert, limits, lockdown, magics, tape, watch, wire

_FUTURE = functools.reduce(
    int.__or__, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)

_TAKES_ANY_NAME = 0x08
"""The flag of a code object with ``**kwargs``."""

MAX_CALLABLES = 1_000
MAX_NAMES = 256
MAX_REMARKS = 20

_chdir, _mkdir, _chmod, _exit = os.chdir, os.mkdir, os.chmod, os._exit
_setrecursionlimit = sys.setrecursionlimit
_process_time, _compile, _callable, _decode = time.process_time, compile, callable, bytes.decode
_KEEP = (np, io)
"""Referred to, so that emptying ``sys.modules`` doesn't take them away."""


class Output(io.TextIOBase):
    """Takes what is printed, keeps the beginning, counts nothing twice and never fails."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.reset()

    def reset(self) -> None:
        """Forget what was printed."""
        self._parts: list[str] = []
        self._size = 0
        self.cut = False

    def write(self, text: str, /) -> int:
        """Keep ``text`` while there is room."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        room = self._limit - self._size
        if len(text) > room:
            self.cut = True
        if room > 0:
            kept = text[:room]
            self._parts.append(kept)
            self._size += len(kept)
        return len(text)

    def getvalue(self) -> str:
        """Return what was kept."""
        return "".join(self._parts)

    def writable(self) -> bool:
        """A stream that can be written to."""
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]  # a plain attribute in the base class
        """Of a terminal: UTF-8."""
        return "utf-8"


class Worker:
    """One life: one module, one record of draws, one pair of pipes."""

    def __init__(self, requests: int, replies: int, start: dict[str, Any]) -> None:
        self._requests, self._replies = requests, replies
        self._folder: str = start["folder"]
        self._notebook = bool(start["notebook"])
        self._name: str = start["name"]
        self._out = Output(int(start["stdout"]))
        self._files: dict[str, int] = {}
        self._recursion = sys.getrecursionlimit()
        self._module = types.ModuleType("__main__" if self._notebook else "submission")
        self._module.__dict__["__builtins__"] = builtins
        self._module.__dict__["__file__"] = os.path.join(self._folder, self._name)
        sys.modules[self._module.__name__] = self._module
        sys.argv = [self._name]
        self._globals = self._module.__dict__
        self._stand_ins: dict[str, Any] = {}
        for name, source in start["stand_ins"].items():
            space: dict[str, Any] = {"__name__": "stand_in"}
            exec(compile(source, "<stand-in>", "exec", dont_inherit=True), space)
            self._stand_ins[name] = space[name]
        self._prepare()
        self._compared: set[str] = set()
        self._watch = watch.Watch(self._folder, self._files.__contains__)

    def _prepare(self) -> None:
        def no_input(prompt: object = "", /) -> str:
            raise EOFError("input() cannot be answered here")

        def leave(code: object = None) -> None:
            raise SystemExit(code)

        # What `site` adds for people at a prompt, and some scripts use.
        vars(builtins).update(input=no_input, exit=leave, quit=leave, help=inert.Inert())
        sys.stdin = io.StringIO("")
        # For scripts too: many were notebooks once.
        shell = inert.Inert()
        vars(builtins)["get_ipython"] = lambda: shell
        vars(builtins)["display"] = lambda *things, **_: print(*things)

    def serve(self) -> None:
        """Answer requests until the parent closes the pipe."""
        while True:
            try:
                head, payload = wire.read_frame(self._requests)
            except EOFError:
                return
            began = _process_time()
            reply, buffers = self._answer(head, payload)
            reply["id"] = head["id"]
            reply["cpu"] = int((_process_time() - began) * 1e6)
            wire.write_all(self._replies, wire.frame(reply, buffers))

    def _answer(self, head: dict[str, Any], payload: bytes) -> tuple[dict[str, Any], list[bytes]]:
        encoder = wire.Encoder()
        self._out.reset()
        sys.stdout = sys.stderr = self._out
        tape.seed_everything(int(head["seed"]))
        reply: dict[str, Any] = {"kind": "returned"}
        before = dict(self._globals)
        watched: list[Any] = []
        tape.TAPE.start(int(head["seed"]), wanted=str(head.get("draws", "values")))
        try:
            self._enter_folder()
            self._watch.armed = True
            value = self._run_cell(head, payload, reply) if head["op"] == "cell" else self._call(head, payload, watched)
            # A generator draws while it is read.
            reply["value"] = encoder.encode(value)
            self._watch.armed = False
            tape.TAPE.stop()
        except BaseException as error:
            self._watch.armed = False
            tape.TAPE.stop()
            reply["kind"] = "out_of_memory" if issubclass(type(error), MemoryError) else "raised"
            _setrecursionlimit(self._recursion)
            reply["failure"] = self._failure(error)
        _setrecursionlimit(self._recursion)
        if head.get("watch"):
            reply["after"] = [encoder.encode(item) for item in watched]
        if head["op"] == "cell":
            reply["callables"] = self._callables()
            reply["names"] = self._new_names(before, encoder)
        reply["events"] = self._events(str(head.get("name", "")))
        reply["draws"] = draws_reply(encoder) if head.get("draws") != "none" else None
        reply["stdout"], reply["cut"] = wire.text(self._out.getvalue(), 1 << 17), self._out.cut
        reply["arrays"] = encoder.arrays
        return reply, encoder.buffers

    def _events(self, name: str) -> list[list[str]]:
        """Return what was noted; functions are compared once for each that is called, and after each cell."""
        if not name or name not in self._compared:
            self._compared.add(name)
            self._watch.compare()
        return self._watch.take()

    def _enter_folder(self) -> None:
        """Begin in the scratch folder, also where an earlier call removed it or closed it."""
        for prepare in (None, _mkdir, _chmod):
            try:
                if prepare is not None:
                    prepare(self._folder, 0o700)
                _chdir(self._folder)
            except OSError:
                continue
            return

    def _run_cell(self, head: dict[str, Any], payload: bytes, reply: dict[str, Any]) -> object:
        """Run a cell; return the value of a notebook cell's last line, which a notebook would show."""
        number = int(head["number"])
        source = _decode(payload, str(head["encoding"]), "replace").removeprefix("\ufeff")
        plain, skipped = magics.transform(source)
        # A notebook that was saved as a script may have kept its magics; other wrong Python is left as it is.
        if self._notebook or (skipped and magics.is_python(plain)):
            source = plain
            reply["remarks"] = [wire.text(item, 80) for item in skipped[:MAX_REMARKS]]
        filename = f"<{self._name}:{number}>"
        self._files[filename] = number
        # dont_inherit: this module's own __future__ must not reach the student's code.
        shown: object = None
        try:
            if head.get("stepwise") or head.get("before"):
                self._run_stepwise(head, source, filename)
            elif self._notebook:
                shown = self._run_and_show(source, filename)
            else:
                exec(_compile(source, filename, "exec", dont_inherit=True), self._globals)
        finally:
            # Put back after each cell, so that a later definition doesn't take its place.
            self._globals.update(self._stand_ins)
        return shown

    def _run_and_show(self, source: str, filename: str) -> object:
        whole: Any = _compile(source, filename, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        if not whole.body or not isinstance(whole.body[-1], ast.Expr):
            exec(_compile(source, filename, "exec", dont_inherit=True), self._globals)
            return None
        last = ast.Expression(whole.body.pop().value)
        exec(_compile(whole, filename, "exec", dont_inherit=True), self._globals)
        return eval(_compile(last, filename, "eval", dont_inherit=True), self._globals)

    def _run_stepwise(self, head: dict[str, Any], source: str, filename: str) -> None:
        """Run statement by statement, telling each one's line beforehand, up to the line ``before``.

        For a source that ended the process when it ran in one go: so that what it defined before is still judged.
        """
        whole: Any = _compile(source, filename, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        future = _compile(source, filename, "exec", dont_inherit=True).co_flags & _FUTURE
        for statement in whole.body:
            if head.get("before") and statement.lineno >= head["before"]:
                return
            if head.get("stepwise"):
                progress = {"id": head["id"], "kind": "progress", "at": statement.lineno}
                wire.write_all(self._replies, wire.frame(progress))
            module = ast.Module([statement], [])
            exec(_compile(module, filename, "exec", future, dont_inherit=True), self._globals)

    def _call(self, head: dict[str, Any], payload: bytes, watched: list[Any]) -> Any:
        def rebuild(tree: Any) -> Any:
            return wire.decode(tree, head["arrays"], payload, readonly=bool(head["readonly"]))

        args = [rebuild(tree) for tree in head["args"]]
        watched += args
        function = self._globals[head["name"]]
        kwargs = {name: rebuild(tree) for name, tree in head["kwargs"]}
        return function(*args, **by_place(function, len(args), kwargs))

    def _callables(self) -> list[str]:
        found = []
        for name, item in list(self._globals.items()):
            if type(name) is str and len(name) <= wire.MAX_NAME and not name.startswith("_") and _callable(item):
                found.append(wire.text(name))
                if len(found) == MAX_CALLABLES:
                    break
        return found

    def _new_names(self, before: dict[str, object], encoder: wire.Encoder) -> list[list[object]]:
        """Plain values under new or newly bound names, for answers that stand in a cell without a function."""
        found: list[list[object]] = []
        if not self._notebook:
            return found
        for name, item in list(self._globals.items()):
            if type(name) is not str or len(name) > wire.MAX_NAME or name.startswith("_"):
                continue
            if before.get(name) is item:
                continue
            if type(item) in (bool, int, float, list, tuple, dict) or issubclass(type(item), (np.ndarray, np.generic)):
                if getattr(item, "nbytes", 0) <= 4096:
                    found.append([wire.text(name), encoder.encode(item)])
                if len(found) == MAX_NAMES:
                    break
        return found

    def _failure(self, error: BaseException) -> dict[str, object]:
        kind = wire.type_name(error)
        try:
            message = wire.text(str(error), 500)
        except BaseException:
            message = ""
        cell, line = None, None
        trace = error.__traceback__
        while trace is not None:
            number = self._files.get(trace.tb_frame.f_code.co_filename)
            if number is not None:
                cell, line = number, trace.tb_lineno
            trace = trace.tb_next
        if cell is None and issubclass(type(error), SyntaxError):
            message = wire.text(getattr(error, "msg", ""), 500)
            name, line = getattr(error, "filename", None), getattr(error, "lineno", None)
            cell = self._files.get(name) if type(name) is str else None
        if type(line) is not int or type(cell) is not int:
            cell = line = None
        return {"kind": kind, "message": message, "cell": cell, "line": line}


def by_place(function: object, positional: int, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return ``kwargs`` under the function's own names, where it has others for some of them.

    What it has no parameter for goes, in order, to the parameters that nothing else goes to; if those don't suffice,
    everything stays as it is, and the call fails.
    """
    if type(function) is not types.FunctionType:
        return kwargs
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    unknown = [name for name in kwargs if name not in names]
    free = [name for name in names[code.co_posonlyargcount :][max(0, positional - code.co_posonlyargcount) :]
            if name not in kwargs]  # fmt: skip
    if not unknown or code.co_flags & _TAKES_ANY_NAME or len(unknown) > len(free):
        return kwargs
    own = dict(zip(unknown, free, strict=False))
    return {own.get(name, name): value for name, value in kwargs.items()}


def draws_reply(encoder: wire.Encoder, *, values: bool = True) -> dict[str, object]:
    """Describe the record; ``values`` sends the numbers along where they were kept."""
    record = tape.TAPE
    others = record.others
    if not record.steps and record.complete:
        return {"sources": [], "steps": [], "values": None, "complete": True, "others": others}
    kept = record.values
    if kept is not None and values:
        encoder.arrays.append(["<f8", [len(kept) // 8], "ndarray", False])
        encoder.buffers.append(bytes(kept))
    sources = [
        [
            kind,
            name,
            None if kept is not None or not record.digests else _state(state, encoder),
            digest.hexdigest() if record.digests else "",
        ]
        for kind, name, state, digest in record.sources
    ]
    return {
        "sources": sources,
        "steps": record.steps,
        "values": len(encoder.arrays) - 1 if kept is not None and values else None,
        "complete": record.complete,
        "others": others,
    }


def _state(state: object, encoder: wire.Encoder) -> object:
    if isinstance(state, dict):
        return {"q": ["dict", [{"q": ["tuple", [_state(k, encoder), _state(v, encoder)]]} for k, v in state.items()]]}
    return encoder.encode(state)


def begin(requests: int, replies: int, start: dict[str, Any]) -> NoReturn:
    """Say hello and serve, in a process that has given up what it can; never returns."""
    imports.install()
    inert.install(start["inert"])
    if start["companions"]:
        # Last: the library and the packages come first, so nothing of a submission can shadow them.
        sys.path.append(start["folder"])
    worker = Worker(requests, replies, start)
    hello = {"id": "hello", "kind": "returned", "environment": limits.environment()}
    wire.write_all(replies, wire.frame(hello))
    try:
        worker.serve()
    finally:
        # No atexit handlers, no waiting for threads that student code left behind.
        _exit(0)


def main() -> None:
    """Take over the standard streams' pipes, lock what can be locked, say hello, serve."""
    requests, replies = os.dup(0), os.dup(1)
    if os.name == "nt":
        import msvcrt

        for fd in (requests, replies):
            msvcrt.setmode(fd, os.O_BINARY)  # type: ignore[attr-defined,unused-ignore]  # exists on Windows only
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.close(null)
    tape.install()
    policy, _ = wire.read_frame(requests)
    locks = lockdown.Lockdown(policy)
    start, _ = wire.read_frame(requests)
    locks.apply(start, (requests, replies))
    begin(requests, replies, start)
