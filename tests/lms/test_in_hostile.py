"""Archives that mean no good, are broken, or were made by odd programs: one learner's never stops another's."""

from __future__ import annotations

import io
import os
import stat
import struct
import tarfile
import zipfile
from pathlib import Path
from typing import Literal

import pytest

from grader.errors import ArchiveError, UsageError
from grader.lms import gather, zipped
from grader.lms.sources import Source, read_source
from tests.lms.made import CODE, moodle, names, read, zip_of

ANN, BEN = moodle("Ann", 1), moodle("Ben", 2)
GOOD = {f"{ANN}a.py": CODE, f"{BEN}b.py": CODE}


def inside(tmp_path: Path) -> set[str]:
    """Return what lies below the test's folder, apart from the archive and what was unpacked in its place."""
    return {path.name for path in tmp_path.iterdir()} - {"got.zip", "got.tar", "into"}


def patched(tmp_path: Path, change: bytes, to: bytes, where: int = 0) -> Source:
    """Read an archive in which some bytes were changed, counting from one end."""
    path = zip_of(tmp_path / "got.zip", GOOD)
    raw = path.read_bytes()
    at = raw.rfind(change) if where else raw.find(change)
    assert at >= 0
    path.write_bytes(raw[:at] + to + raw[at + len(change) :])
    return read_source(path, tmp_path / "into")


@pytest.mark.parametrize("name, said", [
    ("../evil.py", "leads out"), (f"{ANN}../../evil.py", "leads out"), ("/etc/evil.py", "absolute"),
    ("C:/evil.py", "absolute"), ("c:evil.py", "absolute"), (f"{ANN}a\\..\\evil.py", "backslash"),
    (f"{ANN}/evil.py", "empty part"), (f"{ANN}./evil.py", "empty part"), (f"{ANN}{'a' * 3000}.py", "too long"),
])  # fmt: skip
def test_names_that_lead_elsewhere(name: str, said: str, tmp_path: Path) -> None:
    """Such an entry is left out, with a sentence, and nothing is written anywhere but in our own folder."""
    source = read(tmp_path, GOOD | {name: b"evil"})

    assert names(source) == {"1": ["a.py"], "2": ["b.py"]}
    assert len(source.others) == 1
    assert said in source.others[0]
    assert len(source.others[0]) < 200
    assert inside(tmp_path) == set()


def test_a_nul_in_a_name(tmp_path: Path) -> None:
    """Zip tools stop reading a name there; nobody is to take it for another one."""
    name = f"{ANN}a.py".encode()
    raw = zip_of(tmp_path / "got.zip", GOOD).read_bytes()
    (tmp_path / "got.zip").write_bytes(raw.replace(name, name[:-3] + b"\0py"))
    source = read_source(tmp_path / "got.zip", tmp_path / "into")

    assert names(source) == {"2": ["b.py"]}
    assert "NUL" in source.others[0]


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFSOCK], ids=hex)
def test_links_and_devices(kind: int, tmp_path: Path) -> None:
    """What is no ordinary file is never made, and its owner isn't graded by another file."""
    path = zip_of(tmp_path / "got.zip", GOOD)
    info = zipfile.ZipInfo(f"{ANN}link.py")
    info.create_system, info.external_attr = 3, (kind | 0o777) << 16
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(info, "/etc/passwd")
    ann, ben = read_source(path, tmp_path / "into").attempts

    assert ann.trouble.startswith("'link.py' can't be used: it is ")
    assert ben.trouble == ""
    assert not any(found.is_symlink() for found in (tmp_path / "into").rglob("*"))


def test_a_wrong_checksum(tmp_path: Path) -> None:
    """Damage in one file is its owner's trouble only."""
    path = tmp_path / "got.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, content in GOOD.items():
            archive.writestr(name, content)
    path.write_bytes(path.read_bytes().replace(CODE, CODE[::-1], 1))
    ann, ben = read_source(path, tmp_path / "into").attempts

    assert (ann.trouble, ann.files) == ("'a.py' can't be used: its content is damaged", ())
    assert ben.files[0].path.read_bytes() == CODE


def test_encrypted(tmp_path: Path) -> None:
    """An encrypted entry says so."""
    mark = b"PK\x01\x02\x14\x03\x14\x00"
    ann, ben = patched(tmp_path, mark + b"\x00\x00", mark + b"\x01\x00").attempts

    assert (ann.trouble, ben.trouble) == ("'a.py' can't be used: it is encrypted", "")


def test_an_unknown_method(tmp_path: Path) -> None:
    """So does one that is compressed in another way."""
    mark = b"PK\x01\x02\x14\x03\x14\x00\x00\x00"
    ann, ben = patched(tmp_path, mark + b"\x08\x00", mark + b"\x0e\x00").attempts

    assert "method" in ann.trouble
    assert ben.trouble == ""


@pytest.mark.parametrize("part", [0, 1, 4, 20, 100, 0.5, 0.9, 0.99], ids=str)
def test_cut_short(part: int | float, tmp_path: Path) -> None:
    """A download that stopped is one sentence with what to do."""
    path = zip_of(tmp_path / "got.zip", GOOD)
    raw = path.read_bytes()
    path.write_bytes(raw[: int(part * len(raw)) if isinstance(part, float) else part])
    with pytest.raises(ArchiveError, match=r"^'got.zip' is not a whole zip archive.*Download it again") as caught:
        read_source(path, tmp_path / "into")

    assert caught.value.exit_code == 3


def test_a_login_page(tmp_path: Path) -> None:
    """What a browser saves when the session is over."""
    (tmp_path / "got.zip").write_text("\n<!DOCTYPE html><title>Log in</title>")
    with pytest.raises(ArchiveError, match=r"web page.*Log in"):
        read_source(tmp_path / "got.zip", tmp_path / "into")


def test_a_bomb_in_one_hand_in(tmp_path: Path) -> None:
    """A file of any size takes no more room than a file may, and others go on."""
    ann, ben = read(tmp_path, GOOD | {f"{ANN}big.py": bytes(50_000_000), f"{ANN}big.csv": bytes(50_000_000)}).attempts

    assert ann.trouble == "'big.py' can't be used: it is larger than 5 MB"
    assert "'big.csv' can't be used: it is larger than 5 MB." in ann.remarks
    assert ben.trouble == ""
    assert sum(path.stat().st_size for path in (tmp_path / "into").rglob("*")) < 100_000


def test_a_size_that_lies(tmp_path: Path) -> None:
    """What a header says of a size isn't believed: bytes are counted."""
    path = zip_of(tmp_path / "got.zip", GOOD | {f"{ANN}big.py": bytes(20_000_000)})
    raw = path.read_bytes()
    path.write_bytes(raw.replace(struct.pack("<L", 20_000_000), struct.pack("<L", 10)))
    ann, ben = read_source(path, tmp_path / "into").attempts

    assert ann.trouble.startswith("'big.py' can't be used: ")
    assert ben.trouble == ""


def test_too_much_in_one_hand_in(tmp_path: Path) -> None:
    """Many files of one attempt are cut where a class needs no more; what can be graded is taken first."""
    many = {f"{ANN}{number}.csv": bytes(4_000_000) for number in range(20)} | {
        f"{BEN}{number}.txt": b"" for number in range(300)
    }
    ann, ben = read(tmp_path, many | {f"{ANN}z.py": CODE, f"{BEN}z.py": CODE}).attempts

    assert (ann.trouble, ben.trouble) == ("", "")
    assert len(ann.files) == gather.MAX_BYTES // 4_000_000 + 1
    assert len(ben.files) == gather.MAX_FILES
    assert "together" in ann.remarks[0]


def test_too_much_of_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An archive doesn't unpack to more than a hundred times its size and 1 GiB; here less, to be quick."""
    monkeypatch.setattr(zipped, "FREE_BYTES", 1)
    monkeypatch.setattr(zipped, "MAX_RATIO", 10)
    ann, ben = read(tmp_path, {f"{ANN}a.py": b"", f"{ANN}z.csv": bytes(4_000_000), f"{BEN}b.py": CODE * 99999}).attempts

    assert (ann.trouble, len(ann.files)) == ("", 1)
    assert "archive of this size" in ben.trouble


def test_overlapping_entries(tmp_path: Path) -> None:
    """Entries that share their data make a small archive a huge one."""
    path = zip_of(tmp_path / "got.zip", {f"{ANN}a.py": CODE, f"{ANN}b.py": CODE, f"{BEN}b.py": CODE})
    raw = bytearray(path.read_bytes())
    # The second record of the directory gets the first one's offset.
    second = raw.find(b"PK\1\2", raw.find(b"PK\1\2") + 1)
    raw[second + 42 : second + 46] = bytes(4)
    path.write_bytes(raw)
    ann, ben = read_source(path, tmp_path / "into").attempts

    assert ann.trouble == "'a.py' can't be used: its data is another entry's too"
    assert ben.trouble == ""


@pytest.mark.parametrize("claimed", [0xFFFFFFF0, 0x10000000])
def test_a_huge_directory(claimed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An archive with more entries than a class has is refused, before its directory is read if it is huge."""
    path = zip_of(tmp_path / "got.zip", GOOD)
    raw = path.read_bytes()
    at = raw.rfind(b"PK\5\6") + 12
    path.write_bytes(bytes(50_000_000) + raw[:at] + struct.pack("<L", claimed) + raw[at + 4 :])
    with pytest.raises(ArchiveError, match="more than 200,000 entries"):
        read_source(path, tmp_path / "into")


def test_too_many_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a hand-in's own archive it is that learner's trouble."""
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        for number in range(10_001):
            archive.writestr(f"{number}.py", b"")
    ann, ben = read(tmp_path, {f"{ANN}a.zip": inner.getvalue(), f"{BEN}b.py": CODE}).attempts

    assert ann.trouble == "'a.zip' can't be used: it is no whole zip archive"
    assert ben.trouble == ""


def test_archives_that_were_handed_in(tmp_path: Path) -> None:
    """They are looked into one level deep, as carefully as the outer one."""
    inner = zip_of(tmp_path / "i.zip", {
        "hw/submission.py": CODE, "hw/data.csv": b"1", "../evil.py": b"", "__MACOSX/hw/._submission.py": b"",
        "hw/venv/lib/x.py": b"", "env/pyvenv.cfg": b"", "env/lib/y.py": b"", "deep.zip": b"PK",
        "hw/bomb.bin": bytes(9_000_000),
    }).read_bytes()  # fmt: skip
    outer = zip_of(tmp_path / "o.zip", {"inner.zip": inner}).read_bytes()
    for name in ("i.zip", "o.zip"):
        (tmp_path / name).unlink()
    source = read(tmp_path, {f"{ANN}hw.zip": inner, f"{BEN}b.py": CODE, f"{BEN}broken.ZIP": b"PK\3\4",
                             f"{moodle('Cy', 3)}only.zip": b"no zip", f"{moodle('Dee', 4)}outer.zip": outer,
                             })  # fmt: skip
    ann, ben, cy, dee = source.attempts

    assert [file.name for file in ann.files] == ["hw.zip/hw/data.csv", "hw.zip/hw/submission.py"]
    assert ann.remarks == (
        "'../evil.py' was left out: its name leads out of the archive.",
        "'hw.zip/hw/bomb.bin' can't be used: it is larger than 5 MB.",
        "'deep.zip' in 'hw.zip' isn't looked into: it is an archive in an archive.",
    )
    assert (ben.trouble, ben.remarks) == ("", ("'broken.ZIP' can't be used: it is no whole zip archive.",))
    assert cy.trouble == "'only.zip' can't be used: it is no whole zip archive"
    assert dee.trouble == "'inner.zip' in 'outer.zip' isn't looked into: it is an archive in an archive"
    assert inside(tmp_path) == set()


def test_names_in_utf8_without_the_flag(tmp_path: Path) -> None:
    """Canvas and others write UTF-8 and don't say so; what isn't UTF-8 is read as old zip programs wrote it."""
    path = zip_of(tmp_path / "got.zip", {f"{ANN}XXXX.py": CODE, f"{BEN}YY.py": CODE})
    raw = path.read_bytes().replace(b"XXXX", "éü".encode()).replace(b"YY", "éü".encode("cp437"))
    path.write_bytes(raw)

    assert names(read_source(path, tmp_path / "into")) == {"1": ["éü.py"], "2": ["éü.py"]}


def test_zip64_and_data_descriptors(tmp_path: Path) -> None:
    """Archives that were streamed have sizes behind the data, and large ones have longer numbers."""

    class Pipe(io.RawIOBase):
        """What can't be seeked, so that the writer has to stream."""

        def __init__(self, file: io.BufferedWriter) -> None:
            self.file = file

        def writable(self) -> bool:
            return True

        def write(self, data: object) -> int:
            return self.file.write(bytes(data))  # type: ignore[call-overload]  # a file of bytes, whichever

    with (tmp_path / "got.zip").open("wb") as file, zipfile.ZipFile(Pipe(file), "w") as archive:
        for name, content in GOOD.items():
            with archive.open(name, "w", force_zip64=True) as entry:
                entry.write(content)

    assert names(read_source(tmp_path / "got.zip", tmp_path / "into")) == {"1": ["a.py"], "2": ["b.py"]}


@pytest.mark.parametrize(
    "entries", [{}, {"a.txt": b"x"}, {f"{ANN}a.pdf": b"x"}, {"__MACOSX/._a.py": b"", ".b.py": b""}]
)
def test_nothing_to_grade(entries: dict[str, bytes], tmp_path: Path) -> None:
    """An archive without a .py or .ipynb file is the wrong one."""
    with pytest.raises(ArchiveError, match=r"^There is no \.py or \.ipynb file in 'got\.zip'\."):
        read(tmp_path, entries)


def test_only_texts(tmp_path: Path) -> None:
    """Where all answers were typed in, the hint says so."""
    with pytest.raises(ArchiveError, match="1 answers are texts typed into the LMS"):
        read(tmp_path, {f"{moodle('Ann', 1, 'onlinetext')}onlinetext.html": b""})


@pytest.mark.parametrize("name, content, said", [
    ("a.py", CODE, "Use: grade"), ("a.rar", b"Rar!", "Unpack it"), ("a.txt", b"", "neither a folder nor"),
    ("a.tar.gz", b"\x1f\x8bx", "not a whole tar"), ("a.tar", b"x" * 1024, "not a whole tar"), ("a.tgz", b"", "tar"),
])  # fmt: skip
def test_no_archive(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    """Other files are refused in one sentence."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises((ArchiveError, UsageError), match=said):
        read_source(tmp_path / name, tmp_path / "into")


@pytest.mark.parametrize("path", ["nowhere", "no\0where"])
def test_no_such_path(path: str, tmp_path: Path) -> None:
    """So is what isn't there."""
    with pytest.raises(UsageError, match="no folder or archive"):
        read_source(tmp_path / path, tmp_path / "into")


def test_tar_is_not_trusted_either(tmp_path: Path) -> None:
    """Links, devices and names that lead elsewhere are left out; sizes and headers have their limits."""
    path = tmp_path / "got.tar"
    with tarfile.open(path, "w") as archive:
        for name, kind in [("ann/l.py", tarfile.SYMTYPE), ("ben/h.py", tarfile.LNKTYPE), ("cy/d.py", tarfile.CHRTYPE),
                           ("../evil.py", tarfile.REGTYPE), ("/evil.py", tarfile.REGTYPE),
                           ("dee/a.py", tarfile.REGTYPE), ("eve/big.py", tarfile.REGTYPE)]:  # fmt: skip
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            info.size = 6_000_000 if "big" in name else 3 if kind == tarfile.REGTYPE else 0
            archive.addfile(info, io.BytesIO(bytes(info.size)))
    source = read_source(path, tmp_path / "into")

    assert {attempt.key: attempt.trouble.partition(": ")[2] for attempt in source.attempts} == {
        "ann": "it is a symbolic link, and links aren't followed",
        "ben": "it is a symbolic link, and links aren't followed",
        "cy": "it is not an ordinary file", "dee": "", "eve": "it is larger than 5 MB",
    }  # fmt: skip
    assert len(source.others) == 2
    assert inside(tmp_path) == set()


@pytest.mark.parametrize("mode", ["w", "w:gz"])
@pytest.mark.parametrize("part", [0.2, 0.4, 0.6, 0.8, 0.95])
def test_tar_cut_short(mode: Literal["w", "w:gz"], part: float, tmp_path: Path) -> None:
    """What the end is missing isn't a smaller class."""
    path = tmp_path / "got.tar"
    with tarfile.open(path, mode, format=tarfile.USTAR_FORMAT) as archive:
        for name in ("ann", "ben", "cy", "dee"):
            info = tarfile.TarInfo(f"{name}/a.py")
            info.size = 2000
            archive.addfile(info, io.BytesIO(os.urandom(2000)))
        # Without the blocks that fill a record, so that each cut takes something.
        end = archive.offset + 1024
    raw = path.read_bytes()
    end = end if mode == "w" else len(raw)
    path.write_bytes(raw[: int(part * end) // 512 * 512])
    with pytest.raises(ArchiveError, match="not a whole tar"):
        read_source(path, tmp_path / "into")


def test_tar_with_a_huge_header(tmp_path: Path) -> None:
    """A header that would be read into memory as a whole is refused."""
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 1 << 33
    (tmp_path / "got.tar").write_bytes(info.tobuf(tarfile.GNU_FORMAT) + bytes(10_000))
    with pytest.raises(ArchiveError, match="not a whole tar"):
        read_source(tmp_path / "got.tar", tmp_path / "into")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no full device")
def test_no_room(tmp_path: Path) -> None:
    """What can't be written is said in one sentence."""
    (tmp_path / "into").write_text("in the way")
    with pytest.raises(Exception, match="can't be written") as caught:
        read(tmp_path, GOOD)

    assert caught.type.__name__ == "OutputError"
