"""Which codec a source is written in, and its text for showing lines.

Student source is never parsed here: no ``ast``, no ``compile``, no ``tokenize``; only ``bytes.decode`` and patterns.
"""

from __future__ import annotations

import codecs
import re
from encodings.aliases import aliases

from grader.model import Cell, Note
from grader.model._data import data

__all__ = ["ALLOWED", "Sniffed", "allowed_codec", "clean", "decode", "sniff"]

_NAMES = """
    ascii utf_8 utf_8_sig utf_16 utf_16_le utf_16_be latin_1 tis_620 cp874 mac_roman mac_latin2 mac_cyrillic
    mac_greek mac_turkish mac_iceland koi8_r koi8_u koi8_t kz1048 ptcp154 gb2312 gbk gb18030 big5 big5hkscs
    shift_jis shift_jis_2004 shift_jisx0213 euc_jp euc_jis_2004 euc_jisx0213 euc_kr johab cp437 cp720 cp737 cp775
    cp850 cp852 cp855 cp857 cp858 cp860 cp861 cp862 cp863 cp865 cp866 cp869 cp932 cp949 cp950 cp1125
"""
ALLOWED = frozenset(_NAMES.split()).union(
    (f"iso8859_{part}" for part in range(2, 17) if part != 12), (f"cp{page}" for page in range(1250, 1259))
)
"""Codecs (by Python's module names) that turn bytes into letters and do nothing else.

Left out on purpose: what computes (unicode_escape, punycode, idna, utf-7, rot13, base64 ...), what changes its meaning
in mid-text (iso-2022, hz), and what doesn't contain ASCII (EBCDIC).
"""

_COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_COMMENT_OR_BLANK = re.compile(rb"[ \t\f]*(?:#.*)?\Z")
_NEWLINE = re.compile(rb"\r\n|\r|\n")
_UNSHOWABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")


@data
class Sniffed:
    """What a file's bytes say of its codec.

    Attributes:
        encoding: A name from the allow-list.
        note: What the learner should know, such as that the codec is a guess.
        trouble: Why the bytes can't be read as text at all.
    """

    encoding: str = "utf-8"
    note: Note | None = None
    trouble: Note | None = None


def clean(text: str, limit: int = 60) -> str:
    """Make a few words of a submission fit to stand in a sentence: no controls, no backticks, capped."""
    shown = _UNSHOWABLE.sub("\ufffd", text).replace("`", "'")
    return shown if len(shown) <= limit else shown[: limit - 3] + "..."


def allowed_codec(name: str) -> str | None:
    """Return the codec's one name if it is on the allow-list, else None. Nothing is looked up or imported."""
    plain = re.sub(r"[-_. ]+", "_", name[:40].lower()).strip("_")
    # As Python reads a cookie: editors append the kind of line ends (utf-8-unix, latin-1-dos).
    plain = re.sub(r"_(?:unix|dos|mac)\Z", "", plain)
    module = aliases.get(plain, plain)
    return module.replace("_", "-") if module in ALLOWED else None


def sniff(content: bytes, *, cookie: bool = True) -> Sniffed:
    """Say which codec ``content`` is written in: byte order mark, else coding line, else UTF-8, else a guess."""
    marked = _by_mark(content)
    if marked is not None:
        return marked
    if b"\0" in content:
        return _utf_16_without_mark(content) or Sniffed(trouble=Note(text="intake.binary"))
    declared = _cookie(content) if cookie else None
    if declared is not None:
        codec = allowed_codec(declared)
        if codec is None:
            return Sniffed(trouble=Note(text="intake.encoding.refused", params=(("codec", clean(declared, 40)),)))
        # A coding line that could be read as ASCII can't stand in a UTF-16 file.
        if not codec.startswith("utf-16") and _decodes(content, codec):
            return Sniffed(encoding=codec)
    if _decodes(content, "utf-8"):
        return Sniffed()
    guess = "cp1252" if _decodes(content, "cp1252") else "latin-1"
    return Sniffed(encoding=guess, note=Note(text="intake.encoding.guessed", params=(("codec", guess),)))


def decode(cell: Cell) -> str:
    r"""Return the text of a cell for showing its lines: no byte order mark, every line ends with ``\n``."""
    codec = allowed_codec(cell.encoding) or "utf-8"
    text = cell.source.decode(codec, errors="replace").removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _by_mark(content: bytes) -> Sniffed | None:
    # UTF-32 first: its little-endian mark begins with that of UTF-16.
    if content.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return Sniffed(trouble=Note(text="intake.encoding.utf32"))
    if content.startswith(codecs.BOM_UTF8):
        codec, note = "utf-8-sig", None
    elif content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        codec, note = "utf-16", Note(text="intake.encoding.utf16")
    else:
        return None
    if "\0" in content.decode(codec, errors="replace"):
        return Sniffed(trouble=Note(text="intake.binary"))
    if not _decodes(content, codec):
        note = Note(text="intake.encoding.damaged", params=(("codec", codec),))
    return Sniffed(encoding=codec, note=note)


def _utf_16_without_mark(content: bytes) -> Sniffed | None:
    """Recognise UTF-16 by its NUL bytes, which in Western text are every second byte."""
    half = len(content) // 2
    even, odd = content[0::2].count(0), content[1::2].count(0)
    codec = "utf-16-le" if not even and odd * 5 >= half * 2 else "utf-16-be" if not odd and even * 5 >= half * 2 else ""
    if not codec or len(content) % 2 or not _decodes(content, codec):
        return None
    return Sniffed(encoding=codec, note=Note(text="intake.encoding.utf16"))


def _cookie(content: bytes) -> str | None:
    """Return the codec that a coding line (PEP 263) in the first two lines names."""
    for line in _NEWLINE.split(content[:4096], maxsplit=2)[:2]:
        match = _COOKIE.match(line)
        if match:
            return match[1].decode("ascii", "replace")
        if not _COMMENT_OR_BLANK.match(line):
            return None
    return None


def _decodes(content: bytes, codec: str) -> bool:
    try:
        content.decode(codec)
    except UnicodeError:
        return False
    return True
