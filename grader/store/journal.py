"""A run's journal: one SQLite file that is true at every moment, whatever ends the process that writes it.

It lies in ``.grade`` below the run's output folder, with all else that is not for learners: the files that were
handed in, by their content, and the transcripts. A row is written when everything that it speaks of lies on the disk.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from grader.errors import OutputError, UsageError
from grader.model._data import data
from grader.model.attempt import Attempt, HandedFile, Learner
from grader.store.files import make_folder, write_file
from grader.store.layout import FOLDER, PLACES, transcript_path

__all__ = ["Ended", "Entry", "Facts", "Journal", "Kept"]

VERSION = 1
"""Of the tables and of what stands in them."""

_TABLES = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS entry (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, folder TEXT NOT NULL UNIQUE, content TEXT NOT NULL,
    entry TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS ended (number INTEGER PRIMARY KEY REFERENCES entry, row TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS named (failure TEXT PRIMARY KEY, sentence TEXT NOT NULL, by TEXT NOT NULL) WITHOUT ROWID;
"""


@data
class Facts:
    """What holds for a whole run.

    Attributes:
        source: Where the submissions came from; ``kind`` is how it was read, ``title`` what it calls the assignment.
        seed: Of the run; each submission's own follows from it.
        hidden: Key of the inputs of hidden criteria, hexadecimal. It is never printed.
        course: Folder of the course; None is the one that we ship.
        digest: Of the course, as it was when the run began or was judged again.
        hints: Up to which level they stand in the reports; None: as the assignment has it.
        tasks: Id and title of each.
    """

    source: str
    kind: str
    title: str
    seed: int
    hidden: str
    course: str | None
    assignment: str
    version: str
    digest: str
    max_cents: int
    isolation: str
    hints: int | None
    tasks: tuple[tuple[str, str], ...] = ()


@data
class Kept:
    """A file that was handed in, kept by its content.

    Attributes:
        name: As the learner gave it, without folders.
        whole: Its bytes are kept; those of a file that is too large aren't.
    """

    name: str
    sha256: str
    whole: bool = True


@data
class Entry:
    """An attempt in a run.

    Attributes:
        number: Its place.
        folder: Name of the folder that its results go to: made by us, whatever the source's names are.
        main: The file that is graded; None if there is none, or if it isn't known yet which.
        choices: The files that could be the one, if only what they define can tell.
        companions: Files that lie beside it when it runs.
        content: SHA-256 over all of these; the same for attempts that are the same. ``""`` with ``trouble``.
        trouble: Why it isn't even opened, or ``""``.
    """

    number: int
    attempt: Attempt
    folder: str
    main: Kept | None = None
    choices: tuple[Kept, ...] = ()
    companions: tuple[Kept, ...] = ()
    content: str = ""
    trouble: str = ""


@data
class Ended:
    """How an entry ended: a row of the batch, as its JSON text."""

    number: int
    row: str


class Journal:
    """The journal of one run, open for one process at a time; a context manager.

    Args:
        out: The run's output folder.
        new: Begin a run; else one has to be there.

    Raises:
        UsageError: If another process has it open, there is none, or (``new``) there is one already.
        OutputError: If it can't be written.
    """

    def __init__(self, out: Path, *, new: bool) -> None:
        self.out, self.root = out, out / FOLDER
        path = self.root / "journal.sqlite"
        if new:
            make_folder(self.root)
            with contextlib.suppress(OSError):
                self.root.chmod(0o700)
        elif not path.is_file():
            raise UsageError(
                f"There is no run in '{out}'.", hint="Name the folder that grade batch wrote its results to."
            )
        for place in (self.root, path, *(self.root / name for name in PLACES)):
            if place.is_symlink():
                raise OutputError(f"{place} is a link, and nothing is written through links.", hint="Remove it.")
        self._lock = _locked(self.root / "lock.sqlite", out)
        self._own: set[str] = set()
        try:
            with _told(path):
                self._database = sqlite3.connect(path, isolation_level=None)
                self._check_version()
                self._database.execute("PRAGMA journal_mode=WAL")
                # A transaction may be lost with the power, never torn: what it told of is then done again.
                self._database.execute("PRAGMA synchronous=NORMAL")
                self._database.executescript(_TABLES)
                self._database.execute(f"PRAGMA user_version={VERSION}")
            if new and self._fact("facts") is not None:
                raise UsageError(
                    f"'{out}' holds a run already.",
                    hint="Go on with it by --resume, or choose another folder with --out.",
                )
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _check_version(self) -> None:
        (version,) = self._database.execute("PRAGMA user_version").fetchone()
        (tables,) = self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables and version != VERSION:
            raise UsageError(
                f"The run in '{self.out}' was written by another version of the grader.",
                hint="Use that version, or grade again into another folder with --out.",
            )

    def close(self) -> None:
        """Let other processes have it."""
        for connection in (getattr(self, "_database", None), self._lock):
            if connection is not None:
                connection.close()

    @property
    def path(self) -> Path:
        """The file itself: nothing that student code may read."""
        return self.root / "journal.sqlite"

    # ---------------------------------------------------------------- what holds for the run

    @property
    def facts(self) -> Facts:
        """What holds for the whole run. Raises UsageError if it never began."""
        text = self._fact("facts")
        if text is None:
            raise UsageError(f"The run in '{self.out}' never began.", hint="Remove the folder and start again.")
        with _understood(self.path):
            fields = json.loads(text)
            return Facts(**{**fields, "tasks": tuple((id_, title) for id_, title in fields["tasks"])})

    @facts.setter
    def facts(self, facts: Facts) -> None:
        fields = {field.name: getattr(facts, field.name) for field in dataclasses.fields(facts)}
        self._set_fact("facts", json.dumps(fields))

    @property
    def unfinished(self) -> str:
        """What was begun for the whole run and hasn't come to its end, or ``""``."""
        return self._fact("unfinished") or ""

    @unfinished.setter
    def unfinished(self, what: str) -> None:
        self._set_fact("unfinished", what)

    @property
    def revision(self) -> int:
        """How often results of this run have changed. Files for an LMS may be of an earlier one."""
        text = self._fact("revision") or "0"
        with _understood(self.path):
            return int(text)

    def changed(self) -> None:
        """Note that results have changed."""
        self._set_fact("revision", str(self.revision + 1))

    def exported(self) -> dict[str, int]:
        """Return, for each LMS that files were made for, the revision that they hold."""
        return self._named("exported")

    def note_export(self, to: str) -> None:
        """Note that files for an LMS hold the results as they are now."""
        self._set_fact("exported", json.dumps({**self.exported(), to: self.revision}, sort_keys=True))

    def picked(self) -> dict[str, str]:
        """Return which file of an attempt an instructor named, by the attempt's key."""
        return self._named("picked")

    def note_picks(self, picks: Mapping[str, str]) -> None:
        """Keep what an instructor named, also for when the run is gone on with."""
        if picks:
            self._set_fact("picked", json.dumps({**self.picked(), **picks}, sort_keys=True))

    @property
    def begun(self) -> bool:
        """Whether the facts are known."""
        return self._fact("facts") is not None

    def _fact(self, name: str) -> str | None:
        with _told(self.path):
            found = self._database.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if found is None else str(found[0])

    def _named(self, name: str) -> dict[str, Any]:
        text = self._fact(name) or "{}"
        with _understood(self.path):
            return dict(json.loads(text))

    def _set_fact(self, name: str, value: str) -> None:
        with _told(self.path):
            self._database.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    # ---------------------------------------------------------------- what was handed in

    def keep(self, content: bytes) -> str:
        """Keep the bytes of a file and return their SHA-256. Raises OutputError."""
        sha256 = hashlib.sha256(content).hexdigest()
        if sha256 not in self._own:
            path = self._kept(sha256)
            if not path.is_file() or path.stat().st_size != len(content):
                make_folder(path.parent)
                write_file(path, content, lasting=False)
            self._own.add(sha256)
        return sha256

    def content(self, sha256: str) -> bytes:
        """Return bytes that were kept. Raises OutputError if they are gone or aren't the same any more."""
        path = self._kept(sha256)
        try:
            content = path.read_bytes()
        except OSError as error:
            raise OutputError(f"{path} can't be read ({error.strerror or error}).") from error
        if hashlib.sha256(content).hexdigest() != sha256:
            raise OutputError(f"{path} isn't what was handed in any more.")
        return content

    def _kept(self, sha256: str) -> Path:
        return self.root / "files" / sha256[:2] / sha256

    def transcript(self, folder: str) -> Path:
        """Return where the transcript of the entry with this folder lies."""
        return transcript_path(self.out, folder)

    def plan(self, entries: Sequence[Entry]) -> None:
        """Take entries in, all or none. One with another content than before has to be graded again."""
        with self._whole():
            for entry in entries:
                known = self._database.execute("SELECT content FROM entry WHERE number = ?", (entry.number,)).fetchone()
                if known is not None and (known[0] != entry.content or not entry.content):
                    self._database.execute("DELETE FROM ended WHERE number = ?", (entry.number,))
                self._database.execute(
                    "INSERT INTO entry VALUES (?, ?, ?, ?, ?) ON CONFLICT (number) DO UPDATE "
                    "SET content = excluded.content, entry = excluded.entry",
                    # JSON text, since a file's name may be no text that SQLite takes.
                    (entry.number, json.dumps(entry.attempt.key), entry.folder, entry.content, _dump(entry)),
                )

    def entries(self) -> tuple[Entry, ...]:
        """Return all entries, in order."""
        with _told(self.path):
            found = self._database.execute("SELECT entry FROM entry ORDER BY number").fetchall()
        with _understood(self.path):
            return tuple(_load(text) for (text,) in found)

    # ---------------------------------------------------------------- how they ended

    def end(self, number: int, row: str) -> None:
        """Note how an entry ended: from here on it is done, whatever happens."""
        with _told(self.path):
            self._database.execute("INSERT OR REPLACE INTO ended VALUES (?, ?)", (number, row))

    def ended(self) -> Iterator[Ended]:
        """Yield how entries ended, in order."""
        with _told(self.path):
            for number, row in self._database.execute("SELECT number, row FROM ended ORDER BY number"):
                yield Ended(number=number, row=row)

    # ---------------------------------------------------------------- what instructors called failures

    def name_failure(self, failure: str, sentence: str, by: str) -> None:
        """Keep the sentence for all learners whose failure is this one; an empty one takes it back."""
        with _told(self.path):
            if sentence:
                self._database.execute("INSERT OR REPLACE INTO named VALUES (?, ?, ?)", (failure, sentence, by))
            else:
                self._database.execute("DELETE FROM named WHERE failure = ?", (failure,))

    def named_failures(self) -> dict[str, str]:
        """Return the sentences by failure."""
        with _told(self.path):
            return dict(self._database.execute("SELECT failure, sentence FROM named ORDER BY failure").fetchall())

    @contextlib.contextmanager
    def _whole(self) -> Iterator[None]:
        with _told(self.path):
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")


def _locked(path: Path, out: Path) -> sqlite3.Connection:
    """Hold a lock that goes with the process, however it ends. SQLite knows how on every system."""
    with _told(path):
        connection = sqlite3.connect(path, timeout=0, isolation_level=None)
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            connection.close()
            if "locked" in str(error):
                raise UsageError(
                    f"Another run is writing to '{out}'.",
                    hint="Wait until it ends, or choose another folder with --out.",
                ) from error
            raise
    return connection


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turn what SQLite says into one sentence."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise OutputError(
            f"The run's journal {path} can't be used ({error}).",
            hint="Look whether that disk has free space and may be written to.",
        ) from error
    except sqlite3.Error as error:
        raise _damaged(path, str(error)) from error


@contextlib.contextmanager
def _understood(path: Path) -> Iterator[None]:
    """Turn what reading a damaged text brings about into one sentence."""
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise _damaged(path, "what stands in it makes no sense") from error


def _damaged(path: Path, why: str) -> OutputError:
    return OutputError(
        f"The run's journal {path} is damaged ({why}).",
        hint="Grade again into another folder with --out; what was decided stands in overrides.toml.",
    )


def _dump(entry: Entry) -> str:
    return json.dumps(_tree(entry))


def _tree(item: Any) -> Any:
    if dataclasses.is_dataclass(item):
        return {field.name: _tree(getattr(item, field.name)) for field in dataclasses.fields(item)}
    if isinstance(item, tuple):
        return [_tree(part) for part in item]
    # Names may hold odd bytes as lone surrogates; they come back the same.
    return os.fspath(item) if isinstance(item, Path) else item


def _load(text: str) -> Entry:
    fields = json.loads(text)
    attempt = fields.pop("attempt")
    learners = tuple(
        Learner(name=one["name"], ids=tuple((kind, value) for kind, value in one["ids"]))
        for one in attempt.pop("learners")
    )
    files = tuple(HandedFile(name=one["name"], path=Path(one["path"])) for one in attempt.pop("files"))
    remarks = tuple(attempt.pop("remarks"))
    main = fields.pop("main")
    return Entry(
        attempt=Attempt(learners=learners, files=files, remarks=remarks, **attempt),
        main=None if main is None else Kept(**main),
        choices=tuple(Kept(**one) for one in fields.pop("choices")),
        companions=tuple(Kept(**one) for one in fields.pop("companions")),
        **fields,
    )
