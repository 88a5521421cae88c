"""Makes attempts of what a reader said: fetches the files, looks into archives, and says what is amiss."""

from __future__ import annotations

import io

from grader.errors import ArchiveError
from grader.lms.junk import is_archive, is_gradable, without_junk
from grader.lms.reading import Handed
from grader.lms.shelf import Shelf
from grader.lms.tree import MAX_FILE, Entry, Tree, Unreadable, nfc, quoted
from grader.lms.zipped import ZipTree
from grader.model.attempt import Attempt, HandedFile

__all__ = ["gather"]

MAX_ARCHIVE = 20_000_000
MAX_FILES = 200
MAX_BYTES = 50_000_000
"""Of one attempt: an archive in it, how many files, and how many bytes together."""

_MAX_REMARKS = 20


def gather(handed: Handed, tree: Tree, shelf: Shelf) -> Attempt:
    """Return the attempt with all of its files that can be had.

    A file that could be the submission and can't be had is a trouble of the whole attempt: else another one would be
    graded in its place.

    Raises:
        OutputError: If a file can't be written below the shelf.
    """
    return _Gathering(handed, tree, shelf).attempt()


class _Gathering:
    def __init__(self, handed: Handed, tree: Tree, shelf: Shelf) -> None:
        self._handed, self._tree, self._shelf = handed, tree, shelf
        self._folder = shelf.folder(handed.key)
        self._files: list[HandedFile] = []
        self._left = MAX_BYTES
        self._broken: list[str] = []
        self._broken_archives: list[str] = []
        self._nested: list[str] = []
        self._remarks: list[str] = list(handed.remarks)

    def attempt(self) -> Attempt:
        """Fetch everything: first what can be graded, so that nothing else takes its room."""
        archives = []
        for name, entry in sorted(self._counting(), key=lambda item: (not is_gradable(item[0]), *_order(item[0]))):
            if is_archive(name):
                archives.append((name, entry))
            else:
                self._take(self._tree, name, entry)
        for name, entry in archives:
            self._look_into(name, entry)
        handed = self._handed
        trouble, more = self._trouble()
        files = sorted(self._files, key=lambda file: _order(file.name))
        return Attempt(
            key=handed.key,
            learners=handed.learners,
            files=tuple(files),
            label=handed.label,
            submitted=handed.submitted,
            late=handed.late,
            number=handed.number,
            trouble=trouble,
            remarks=tuple((self._remarks + more)[:_MAX_REMARKS]),
        )

    def _counting(self) -> list[tuple[str, Entry]]:
        """Leave out what nobody meant to hand in; of several entries with one name, the last counts."""
        kept = without_junk(name for name, _ in self._handed.files)
        last: dict[str, Entry] = {}
        for name, entry in self._handed.files:
            if name in kept:
                if name in last:
                    self._remarks.append(f"{quoted(name)} is there more than once; the last one counts.")
                last[name] = entry
        forms: dict[str, str] = {}
        for name in last:
            alike = forms.setdefault(nfc(name).casefold(), name)
            if alike != name:
                self._remarks.append(f"{quoted(name)} and {quoted(alike)} differ in capitals or accents only.")
        return list(last.items())

    def _take(self, tree: Tree, name: str, entry: Entry) -> None:
        """Fetch one file, and note why if it can't be had."""
        try:
            if len(self._files) >= MAX_FILES:
                raise Unreadable(f"more than {MAX_FILES} files were handed in")
            place = tree.place(entry)
            if place is None:
                content = tree.read(entry, MAX_FILE)
                if len(content) > self._left:
                    raise Unreadable(f"all files together are larger than {MAX_BYTES / 1e6:g} MB")
                self._left -= len(content)
                place = self._shelf.put(self._folder, name, content)
            self._files.append(HandedFile(name=name, path=place))
        except Unreadable as error:
            why = f"{quoted(name)} can't be used: {error}"
            if is_gradable(name):
                self._broken.append(why)
            else:
                self._remarks.append(f"{why}.")

    def _look_into(self, name: str, entry: Entry) -> None:
        """Fetch the files of an archive that was handed in, one level deep."""
        try:
            content = self._tree.read(entry, MAX_ARCHIVE)
            tree = ZipTree(io.BytesIO(content), name, max_entries=10_000)
        except (Unreadable, ArchiveError) as error:
            why = str(error) if isinstance(error, Unreadable) else "it is no whole zip archive"
            self._broken_archives.append(f"{quoted(name)} can't be used: {why}")
            return
        self._remarks += tree.others[:3]
        kept = without_junk(inner.name for inner in tree.entries)
        last = {inner.name: inner for inner in tree.entries if inner.name in kept and not is_archive(inner.name)}
        self._nested += [
            f"{quoted(inner)} in {quoted(name)} isn't looked into: it is an archive in an archive"
            for inner in sorted(kept)
            if is_archive(inner)
        ]
        for inner in sorted(last.values(), key=lambda inner: (not is_gradable(inner.name), *_order(inner.name))):
            self._take(tree, f"{name}/{inner.name}", inner)

    def _trouble(self) -> tuple[str, list[str]]:
        """Return why there is nothing to grade, if so, and what else to say."""
        if self._handed.trouble:
            return self._handed.trouble, [f"{why}." for why in self._broken + self._broken_archives]
        if self._broken:
            return self._broken[0], [f"{why}." for why in self._broken[1:] + self._broken_archives]
        if any(is_gradable(file.name) for file in self._files):
            return "", [f"{why}." for why in self._broken_archives + self._nested]
        if self._handed.reason:
            return self._handed.reason, []
        if self._broken_archives:
            return self._broken_archives[0], [f"{why}." for why in self._broken_archives[1:] + self._nested]
        if self._nested:
            return self._nested[0], [f"{why}." for why in self._nested[1:]]
        names = list(dict.fromkeys(name for name, _ in self._handed.files))
        if not names:
            return "no file was handed in", []
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        if any(map(is_gradable, names)):
            return f"only hidden files were handed in: {', '.join(map(quoted, names[:3]))}{more}", []
        return f"no .py or .ipynb file was handed in, only {', '.join(map(quoted, names[:3]))}{more}", []


def _order(name: str) -> tuple[str, str]:
    return nfc(name).casefold(), name
