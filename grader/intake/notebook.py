"""The code cells of a notebook, from its text.

The file's own JSON is made harmless first (depth, digits, number of cells, outputs, ids). Only then does ``nbformat``
see it, to bring formats 3 and 4 into one and to say whether the file follows its format. Cells are numbered by
position: ids are made up at random by whoever lacks them, and never used.
"""

from __future__ import annotations

import json
import re
import warnings
from typing import Any

from grader.intake.source import clean
from grader.model import Cell, Note
from grader.model._data import data

__all__ = ["MAX_CELLS", "MAX_DEPTH", "MAX_SOURCE", "NotebookRead", "read_notebook", "shape"]

MAX_CELLS = 500
MAX_SOURCE = 200_000
"""Bytes of one cell; a longer one is left out."""
MAX_DEPTH = 100
"""Of brackets in brackets: far above an honest notebook, far below what exhausts a stack."""
MAX_DIGITS = 300
"""Of a whole number: ``int()`` itself gives up at 4,300."""
MAX_TOLD = 3
"""More cells than these are counted, not told one by one."""

_PYTHONS = frozenset({"python", "python2", "python3", "ipython", "ipython2", "ipython3", "ipykernel"})
_OTHER_KERNELS = re.compile(r"(?:ir|julia|bash|javascript|tslab|deno|java|xcpp|scala|octave|matlab|sagemath|sql)\b")
# A string always matches to its end or, if it has none, to the end of the text: so the scan is linear.
_MARKS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[{\]}]', re.DOTALL)
_SURROGATE = re.compile(r"[\ud800-\udfff]")


@data
class NotebookRead:
    """What a notebook holds: cells that run, and notes; or why there is nothing."""

    cells: tuple[Cell, ...] = ()
    notes: tuple[Note, ...] = ()
    trouble: Note | None = None


class _AbsurdNumberError(ValueError):
    """A whole number of more digits than a notebook can have any use for."""


def read_notebook(text: str) -> NotebookRead:
    """Read the code cells of a notebook. Never raises, whatever ``text`` is."""
    if not text.lstrip().startswith("{"):
        return _trouble("not_json")
    depth, closed = shape(text)
    if not closed:
        return _trouble("cut_off")
    if depth > MAX_DEPTH:
        return _trouble("nested")
    try:
        document = json.loads(text, parse_int=_whole, parse_constant=lambda _: None, strict=False)
    except _AbsurdNumberError:
        return _trouble("number")
    except json.JSONDecodeError as error:
        return _trouble("damaged", ("line", error.lineno))
    cells = _cells_of(document)
    if cells is None:
        return _trouble("no_cells")
    if len(cells) > MAX_CELLS:
        return _trouble("too_many_cells", ("count", len(cells)), ("limit", MAX_CELLS))
    language = _other_language(document, cells)
    if language:
        return _trouble("language", ("language", clean(language, 40)))
    uniform, valid = _uniform(document, cells)
    return _code_cells(uniform, valid=valid)


def shape(text: str) -> tuple[int, bool]:
    """Return how deep the brackets of a JSON text go, and whether all of them and the last string are closed."""
    depth = deepest = 0
    for match in _MARKS.finditer(text):
        mark = match[0]
        if mark in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif mark in "]}":
            depth -= 1
        elif match.end() == len(text):
            return deepest, False
    return deepest, depth <= 0


def _whole(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise _AbsurdNumberError
    return int(digits)


def _cells_of(document: object) -> list[Any] | None:
    """Return all cells in order: format 4 has them at the top, formats 2 and 3 in worksheets."""
    if not isinstance(document, dict):
        return None
    if isinstance(document.get("cells"), list):
        return list(document["cells"])
    sheets = document.get("worksheets")
    if not isinstance(sheets, list):
        return None
    found: list[Any] = []
    for sheet in sheets:
        if isinstance(sheet, dict) and isinstance(sheet.get("cells"), list):
            found += sheet["cells"]
    return found


def _other_language(document: dict[str, Any], cells: list[Any]) -> str:
    """Return the notebook's language if it says one and no place says Python."""
    metadata = _mapping(document.get("metadata"))
    kernel = _mapping(metadata.get("kernelspec"))
    said = [_mapping(metadata.get("language_info")).get("name"), kernel.get("language")]
    said += [cell.get("language") for cell in cells if isinstance(cell, dict) and _is_code(cell)]
    names = [name for name in said if isinstance(name, str) and name.strip()]
    if not names and isinstance(kernel.get("name"), str) and _OTHER_KERNELS.match(kernel["name"].lower()):
        names = [str(kernel.get("display_name") or kernel["name"])]
    return "" if any(name.strip().lower() in _PYTHONS for name in names) else next(iter(names), "")


def _uniform(document: dict[str, Any], cells: list[Any]) -> tuple[list[Any], bool]:
    """Return the cells as format 4 has them and whether the notebook follows its own format."""
    has_ids = _has_ids(document)
    for number, cell in enumerate(cells, start=1):
        if isinstance(cell, dict):
            # Outputs are no part of what is graded, and an id from here keeps nbformat from making one up.
            if "outputs" in cell:
                cell["outputs"] = []
            cell.pop("attachments", None)
            cell.pop("id", None)
            if has_ids:
                cell["id"] = f"cell-{number}"
    if document.get("nbformat") not in (3, 4):
        return cells, False
    # Imported here: 100 ms that a script need not wait for.
    import nbformat
    from traitlets.log import get_logger

    logger: Any = get_logger()
    was_disabled, logger.disabled = logger.disabled, True
    problem: dict[str, object] = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reads: Any = nbformat.reads
            node = reads(json.dumps(document), as_version=4, capture_validation_error=problem)
        converted = _cells_of(node)
    except Exception:  # noqa: BLE001 - nbformat raises nearly anything for a document that isn't as it expects
        return cells, False
    finally:
        logger.disabled = was_disabled
    if converted is None or len(converted) != len(cells):
        return cells, False
    return converted, not problem


def _has_ids(document: dict[str, Any]) -> bool:
    """Whether cells of the notebook's format have ids; some editors write them into older formats too."""
    major, minor = document.get("nbformat"), document.get("nbformat_minor")
    return isinstance(major, int) and isinstance(minor, int) and (major, minor) >= (4, 5)


def _code_cells(cells: list[Any], *, valid: bool) -> NotebookRead:
    found: list[Cell] = []
    too_long: list[Note] = []
    seen = 0
    for number, cell in enumerate(cells, start=1):
        if not isinstance(cell, dict) or not _is_code(cell):
            continue
        seen += 1
        source = _source(cell)
        if source is None:
            valid = False
        elif len(source) > MAX_SOURCE:
            params = (("cell", number), ("limit", MAX_SOURCE // 1000))
            too_long.append(Note(text="intake.notebook.cell_too_long", params=params))
        elif source.strip():
            found.append(Cell(number=number, source=source))
    if not seen:
        return _trouble("no_code")
    if not found:
        return NotebookRead(trouble=too_long[0]) if too_long else _trouble("no_content")
    notes = [] if valid else [Note(text="intake.notebook.odd")]
    notes += too_long[:MAX_TOLD]
    if len(too_long) > MAX_TOLD:
        more = (("count", len(too_long) - MAX_TOLD), ("limit", MAX_SOURCE // 1000))
        notes.append(Note(text="intake.notebook.more_too_long", params=more))
    return NotebookRead(cells=tuple(found), notes=tuple(notes))


def _source(cell: dict[str, Any]) -> bytes | None:
    """Return a cell's source as UTF-8, or None if it is no text. Format 3 calls it ``input``, format 1 ``code``."""
    source = next((cell[key] for key in ("source", "input", "code") if key in cell), None)
    if isinstance(source, list) and all(isinstance(part, str) for part in source):
        source = "".join(source)
    return _SURROGATE.sub("\ufffd", source).encode() if isinstance(source, str) else None


def _is_code(cell: dict[str, Any]) -> bool:
    return cell.get("cell_type") == "code"


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _trouble(key: str, *params: tuple[str, str | int]) -> NotebookRead:
    return NotebookRead(trouble=Note(text=f"intake.notebook.{key}", params=params))
