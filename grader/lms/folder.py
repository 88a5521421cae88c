"""No platform: files in one folder, or a folder for each learner."""

from __future__ import annotations

from grader.lms.junk import is_archive, is_gradable, is_junk
from grader.lms.reading import Handed, Reader, Reading
from grader.lms.tree import Entry, View, quoted
from grader.model.attempt import Learner

__all__ = ["FOLDER", "FOLDERS", "has_several"]


def _parts(view: View) -> tuple[list[Entry], dict[str, list[tuple[str, Entry]]]]:
    """Return the files of the top, and by folder of the top what lies in it."""
    files: list[Entry] = []
    folders: dict[str, list[tuple[str, Entry]]] = {
        name.partition("/")[0]: [] for name in view.folders if not is_junk(name.partition("/")[0])
    }
    for entry in view.entries:
        top, slash, rest = entry.name.partition("/")
        if is_junk(top):
            continue
        if slash:
            folders.setdefault(top, []).append((rest, entry))
        else:
            files.append(entry)
    return files, dict(sorted(folders.items()))


def _can_be(name: str) -> bool:
    return not is_junk(name) and (is_gradable(name) or is_archive(name))


def has_several(view: View) -> bool:
    """Whether this looks like a class inside: nothing to grade at the top, and two or more folders that have."""
    files, folders = _parts(view)
    return not any(is_gradable(entry.name) for entry in files) and (
        sum(any(_can_be(name) for name, _ in inside) for inside in folders.values()) > 1
    )


def _of_file(entry: Entry) -> Handed:
    return Handed(key=entry.name, learners=(Learner(name=entry.name.rpartition(".")[0]),),
                  files=((entry.name, entry),))  # fmt: skip


def _of_folder(view: View, name: str, inside: list[tuple[str, Entry]]) -> Handed:
    why = view.why_closed(name)
    trouble = f"this folder can't be read ({why})" if why else ""
    return Handed(key=name, learners=(Learner(name=name),), files=tuple(inside), label=name, trouble=trouble)


def _read_flat(view: View, _assignment: str) -> Reading:
    files, folders = _parts(view)
    others = [f"{quoted(name)} is a folder, and wasn't looked into." for name in folders]
    return Reading(title="", attempts=_files(files, others), others=tuple(others))


def _files(files: list[Entry], others: list[str]) -> tuple[Handed, ...]:
    for entry in files:
        if entry.trouble and not _can_be(entry.name):
            others.append(f"{quoted(entry.name)} can't be used: {entry.trouble}.")
        elif not _can_be(entry.name):
            others.append(f"{quoted(entry.name)} is no .py or .ipynb file.")
    return tuple(_of_file(entry) for entry in sorted(files, key=lambda entry: entry.name) if _can_be(entry.name))


def _read_folders(view: View, _assignment: str) -> Reading:
    files, folders = _parts(view)
    others: list[str] = []
    # What lies at the top counts too: whoever handed it in shouldn't be lost for the others' folders.
    attempts = [*(_of_folder(view, name, inside) for name, inside in folders.items()), *_files(files, others)]
    return Reading(title="", attempts=tuple(attempts), others=tuple(others))


def _share_folders(view: View) -> float:
    _, folders = _parts(view)
    return float(any(_can_be(name) for inside in folders.values() for name, _ in inside))


FOLDERS = Reader(kind="folders", name="a folder for each learner", share=_share_folders, read=_read_folders)
FOLDER = Reader(kind="folder", name="a folder of files", share=lambda _view: 1.0, read=_read_flat)
