"""Worksheets of a real Moodle, and a German one in their likeness."""

from __future__ import annotations

import csv
import io
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "data" / "lms"
HW1 = (DATA / "hw1_worksheet.csv").read_bytes()
AFTER = (DATA / "hw1_worksheet_after.csv").read_bytes()
BLIND = (DATA / "hw2_blind_worksheet.csv").read_bytes()
NAMES = {  # as the archive has them
    6: "Alice Example",
    4: "Bob OBrien-Smith",
    3: "Zoë Łukasiewicz",
    8: "小明 王",
    9: "Under score Family Name",
    2: "John Smith",
    5: "John Smith",
    7: "Late Comer",
}
GERMAN = (
    '\ufeffID,"Vollständiger Name",E-Mail-Adresse,Status,Bewertung,"Beste Bewertung","Bewertung kann geändert '
    'werden","Zuletzt geändert (Abgabe)",Texteingabe,"Zuletzt geändert (Bewertung)","Feedback als Kommentar"\n'
    '"Teilnehmer/in 6","Alice Example",a@example.invalid,"Zur Bewertung abgegeben -  - ",,"100,00",Ja,'
    '"Montag, 30. November 2026, 02:44","siehe Dateien",-,\n'
    '"Teilnehmer/in 4","Bob O\'Brien-Smith",b@example.invalid,"Zur Bewertung abgegeben - Bewertet -  - ","45,00",'
    '"100,00",Ja,"Montag, 30. November 2026, 02:44",,"Montag, 30. November 2026, 02:45",gut\n'
    '"Teilnehmer/in 3","Zoë Łukasiewicz",z@example.invalid,"Zur Bewertung abgegeben -  - ",,"100,00",Nein,'
    '"Montag, 30. November 2026, 02:44",,-,\n'
)


def table(content: bytes, separator: str = ",") -> list[list[str]]:
    """Read a file as any other program does."""
    text = content.decode("utf-8-sig")
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))


def sheet_with(content: bytes, number: int, column: str, text: str) -> bytes:
    """Change a cell of a worksheet."""
    rows = table(content)
    row = next(row for row in rows if row[0].endswith(f" {number}"))
    row[rows[0].index(column)] = text
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()


def with_column(content: bytes, header: str, cells: list[str]) -> bytes:
    """Put a column after the status."""
    rows = table(content)
    at = next(index for index, text in enumerate(rows[0]) if text == "Status") + 1
    out = io.StringIO(newline="")
    for row, text in zip(rows, [header, *cells], strict=True):
        row.insert(at, text)
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()
