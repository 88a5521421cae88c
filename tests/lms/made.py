"""Archives as each platform makes them, by its own rules for names, for the tests beside."""

from __future__ import annotations

import re
import tempfile
import unicodedata
import warnings
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from grader.lms.sources import Source, read_source

CODE = b"def f(x):\n    return x\n"


def zip_of(path: Path, entries: Mapping[str, bytes] | Iterable[tuple[str, bytes]]) -> Path:
    """Write a zip archive; pairs may hold a name twice."""
    pairs = entries.items() if isinstance(entries, Mapping) else entries
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")  # of names that are there twice
        for name, content in pairs:
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return path


def folder_of(path: Path, entries: Mapping[str, bytes]) -> Path:
    """Write the files below a folder."""
    path.mkdir(parents=True, exist_ok=True)
    for name, content in entries.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)
    return path


def read(tmp_path: Path, entries: Mapping[str, bytes] | Iterable[tuple[str, bytes]], **options: str) -> Source:
    """Zip the entries and read the archive back."""
    return read_source(zip_of(tmp_path / "got.zip", entries), tmp_path / "into", **options)


def names(source: Source) -> dict[str, list[str]]:
    """Return each attempt's files by its key."""
    return {attempt.key: [file.name for file in attempt.files] for attempt in source.attempts}


def moodle(name: str, number: int, plugin: str = "file", *, flat: bool = False, old: bool = False) -> str:
    """Return the beginning of an entry as Moodle's downloader makes it."""
    clean = re.sub(r"[\x00-\x1f\x7f-\x9f\\/:*?\"<>|&'`]", "", name.replace("_", " "))
    return f"{clean}_{number}_assignsubmission_{plugin}{'_' if flat else '_/' if old else '/'}"


def moodle_file(name: str) -> str:
    """Return a file's name as Moodle keeps it: without what a path could mean."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\\/:*?\"<>|&'`]", "", name).strip(".") or "file.py"


def ruby_words(text: str) -> str:
    """Return the letters that Ruby's ``[[:word:]]`` matches."""
    return "".join(
        letter
        for letter in text
        if unicodedata.category(letter)[0] in "LM" or unicodedata.category(letter) in ("Nd", "Pc")
    )


def canvas_name(sortable: str) -> str:
    """Return a sortable name as Canvas puts it into entries: digits between underscores lose these first."""
    return ruby_words(re.sub(r"_([0-9]+)_", r"\1", sortable).lower())


def canvas(sortable: str, user: int, attachment: int, file: str, *, late: bool = False) -> str:
    """Return an entry's name as Canvas's content zipper makes it."""
    stem = "_".join([canvas_name(sortable), *(["LATE"] if late else []), str(user)])
    return f"{stem}_{attachment}_" + re.sub(r'[\x00/\\:*?"<>|]+', "_", file)


def receipt(full: str, user: str, files: Mapping[str, str] = {}, typed: str = "") -> bytes:  # only read
    """Return Blackboard's text file about an attempt; ``files`` maps stored names to original ones."""
    nothing = "There is no student submission text data for this assignment."
    listed = "".join(f"\tOriginal filename: {original}\n\tFilename: {stored}\n\n" for stored, original in files.items())
    return (
        f"Name: {full} ({user})\nAssignment: HW_1\nDate Submitted: Monday, May 6, 2024 10:00:00 AM CEST\n"
        f"Current Grade: Not Yet Graded\n\nSubmission Field:\n{typed or nothing}\n\n"
        f"Comments:\nThere are no student comments for this assignment.\n\nFiles:\n{listed}"
    ).encode()


def read_once(entries: Mapping[str, bytes] | Iterable[tuple[str, bytes]], **options: str) -> Source:
    """Zip the entries and read them back in a folder that is gone afterwards: for properties."""
    with tempfile.TemporaryDirectory() as folder:
        return read(Path(folder), entries, **options)
