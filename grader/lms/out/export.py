"""What every writer is given beside the gradebook, and what it gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from grader.model._data import data, field

__all__ = ["Export", "Options"]


@data
class Options:
    """What somebody asked for. Each writer looks at its own fields only.

    Attributes:
        sheet: Content of the file that was downloaded from the platform, to be filled.
        sheet_name: Its name, for messages.
        latest: Content of the same sheet, downloaded again; shows who was graded meanwhile (Moodle).
        columns: Which header means what, where it can't be told: ``{"grade": "Bewertung"}`` (Moodle).
        column: The gradebook's column: ``"HW1 (123)"``, ``"HW1 [Total Pts: 100 Score] |456"`` or the item's name.
        comments: Whether comments go along with the grades.
        update_modified: Whether Moodle's box for records that changed since will be ticked.
        upload_limit: The largest file that the site takes, in bytes.
    """

    sheet: bytes | None = None
    sheet_name: str = "the sheet"
    latest: bytes | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    column: str = ""
    comments: bool = True
    update_modified: bool = False
    upload_limit: int = 50_000_000


@data
class Export:
    """Files for a platform, and what they leave out.

    Attributes:
        files: Name (with ``/`` below a folder) and content, made one by one as they are asked for.
        unplaced: Whose grade or file isn't in them, each a sentence with the learner. It is complete once ``files`` has
            been read to its end.
        notes: What to know before they are uploaded, each a sentence.
    """

    files: Iterable[tuple[str, bytes]]
    unplaced: list[str]
    notes: tuple[str, ...] = ()
