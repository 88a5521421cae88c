"""What a source of submissions (a folder, an archive of an LMS) says of each: who handed in which files, and when."""

from __future__ import annotations

from pathlib import Path

from grader.model._data import data

__all__ = ["Attempt", "HandedFile", "Learner"]


@data
class Learner:
    """A person, or the pseudonym of one, as the source knows them. All of it is text from outside.

    Attributes:
        name: As shown to an instructor; ``""`` where marking is blind.
        ids: What else is known of them, as pairs of kind and value: ``("participant", "6")`` (Moodle's number in the
            assignment), ``("canvas", "1234")`` (Canvas's user id), ``("username", "doej")``, ``("email", ...)``,
            ``("sis", ...)`` (the institution's number).
    """

    name: str
    ids: tuple[tuple[str, str], ...] = ()

    def id(self, kind: str) -> str:
        """Return the id of this kind, or ``""``."""
        return dict(self.ids).get(kind, "")


@data
class HandedFile:
    """A file of an attempt: its name as the learner gave it (with ``/`` between folders), and where it lies now."""

    name: str
    path: Path


@data
class Attempt:
    """What a learner, or a group, handed in last.

    Attributes:
        key: Tells attempts of one source apart, and is the same when the source is read again: ``"6"``.
        learners: Who handed it in; several for group work.
        files: All that was handed in, in the order of their names.
        label: The source's own name of the folder or the beginning of the file's name, which files that go back
            must carry: ``"Alice Example_6_assignsubmission_file"``. ``""`` where there is no such rule.
        submitted: When, in the source's own words, or ``""``.
        late: Whether the source calls it late; None where it doesn't say.
        number: Which attempt of the learner's it is, from 1; 0 where the source doesn't say.
        trouble: Why there is nothing to grade, in words that follow "not graded:", or ``""``.
        remarks: What an instructor should know of it, each a sentence.
    """

    key: str
    learners: tuple[Learner, ...]
    files: tuple[HandedFile, ...]
    label: str = ""
    submitted: str = ""
    late: bool | None = None
    number: int = 0
    trouble: str = ""
    remarks: tuple[str, ...] = ()
