"""What student code may read: Python's own library and named packages, one by one. Never all of site-packages."""

from __future__ import annotations

import base64
import functools
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

from grader.model._data import data
from grader.run.filter import program

__all__ = ["COMMON", "DEVICES", "Library", "is_packages", "library", "policy", "search_path"]

COMMON = ("numpy", "scipy", "matplotlib", "pandas", "sympy", "seaborn", "tqdm", "IPython", "ipywidgets", "plotly")
"""Packages that a backend can offer before the assignment is known; each worker reads those of its assignment."""

DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")

_PACKAGE_FOLDERS = ("site-packages", "dist-packages")
_NEEDED_BY: dict[str, tuple[str, ...]] = {
    "scipy": ("numpy",),
    "matplotlib": (
        *("numpy", "mpl_toolkits", "pylab", "contourpy", "cycler", "dateutil", "six", "fontTools", "kiwisolver"),
        *("packaging", "PIL", "pillow", "pyparsing"),
    ),
    "pandas": ("numpy", "dateutil", "python_dateutil", "six", "pytz", "tzdata"),
    "seaborn": ("matplotlib", "pandas"),
    "sympy": ("mpmath", "isympy"),
    "plotly": ("_plotly_utils", "packaging", "narwhals"),
}
_LIBRARIES = (
    *("stdc++", "gcc_s", "gfortran", "quadmath", "gomp", "z", "bz2", "lzma", "ffi", "ssl", "crypto", "sqlite3"),
    *("openblas", "blas", "cblas", "lapack", "python", "expat", "uuid", "m", "dl", "pthread", "rt", "util", "c"),
)
"""Shared libraries that Python and its packages load late, where their folder holds other things too."""


@data
class Library:
    """Paths of a Python installation.

    Attributes:
        readable: Files and folders of the standard library and what the dynamic loader needs.
        folders: Where modules are looked for; their lists of names can be read.
        packages: For each package that is there, the files and folders that make it up.
    """

    readable: tuple[str, ...]
    folders: tuple[str, ...]
    packages: dict[str, tuple[str, ...]]


def search_path() -> list[str]:
    """Return where a worker looks for modules: the library, then packages.

    A virtual environment has no library of its own; the first paths are those of the base interpreter.
    """
    paths = sysconfig.get_paths()
    places = [paths["stdlib"], paths["platstdlib"]]
    places += [str(Path(folder) / "lib-dynload") for folder in places]
    places += [str(Path(sys.base_prefix) / "DLLs")]
    packages = [paths["purelib"], paths["platlib"], *(folder for folder in sys.path if is_packages(folder))]
    return [folder for folder in dict.fromkeys([*places, *packages]) if Path(folder).is_dir()]


def is_packages(path: str) -> bool:
    """Whether a folder holds installed packages, by its name."""
    return Path(path).name in _PACKAGE_FOLDERS


@functools.cache
def library() -> Library:
    """Return what this Python consists of; looked at once."""
    folders = search_path()
    readable: list[str] = []
    for folder in folders:
        if not is_packages(folder):
            readable += _without_packages(folder)
    # One look at each folder, whatever the number of packages.
    names = {folder: sorted(os.listdir(folder)) for folder in folders if is_packages(folder)}
    packages = {}
    for name in COMMON:
        wanted = _with_needs(name)
        packages[name] = tuple(
            f"{folder}/{entry}" for folder, entries in names.items() for entry in entries if _belongs(entry, wanted)
        )
    return Library(
        readable=tuple(dict.fromkeys([*readable, *_loader()])),
        folders=tuple(folders),
        packages={name: paths for name, paths in packages.items() if paths},
    )


def _without_packages(folder: str) -> Iterable[str]:
    """Return the folder, or what is in it if packages are in it too."""
    entries = os.listdir(folder)
    if not any(is_packages(entry) for entry in entries):
        return [folder]
    return sorted(f"{folder}/{entry}" for entry in entries if not is_packages(entry) and entry != "__pycache__")


def _with_needs(name: str) -> frozenset[str]:
    found, todo = {name}, [name]
    while todo:
        new = set(_NEEDED_BY.get(todo.pop(), ())) - found
        found |= new
        todo += new
    return frozenset(found)


def _belongs(entry: str, names: frozenset[str]) -> bool:
    """Whether an entry of site-packages is a package, its shared libraries or what is said about it."""
    stem = entry.partition(".")[0].partition("-")[0]
    return stem in names and not entry.endswith((".pth", ".egg-link"))


def _loader() -> Iterator[str]:
    """Yield what the dynamic loader, time zones and the like need."""
    # sysconfig knows it too, and takes 20 ms to say so.
    multiarch = getattr(sys.implementation, "_multiarch", "")
    for place in dict.fromkeys(["/usr/lib64", "/lib64", *(f"{base}/{multiarch}" for base in ("/usr/lib", "/lib"))]):
        folder = os.path.realpath(place)
        if folder in ("/usr/lib", "/lib") or not os.path.isdir(folder):
            continue
        if any(entry.startswith("python") for entry in os.listdir(folder)):
            yield from _shared_libraries(folder)
        else:
            yield folder
    yield from _shared_libraries(os.path.join(sys.base_prefix, "lib"))
    yield from (path for path in ("/etc/ld.so.cache", "/usr/share/zoneinfo") if os.path.exists(path))


def _shared_libraries(folder: str) -> Iterator[str]:
    starts = tuple(f"lib{name}" for name in _LIBRARIES)
    if os.path.isdir(folder):
        for entry in sorted(os.listdir(folder)):
            if ".so" in entry and entry.startswith(starts):
                yield f"{folder}/{entry}"


def policy(*, strict: bool, namespaces: bool = False) -> dict[str, object]:
    """Return what a worker needs to lock itself down; see ``inside/lockdown.py``.

    Args:
        strict: Whether it ends rather than going on with less.
        namespaces: Whether each worker gets namespaces of its own.
    """
    known = library()
    return {
        "strict": strict,
        "landlock": True,
        "namespaces": namespaces,
        "hide": [],
        "library": list(known.readable),
        "folders": list(known.folders),
        "packages": {name: list(paths) for name, paths in known.packages.items()},
        "devices": list(DEVICES),
        "filter": base64.b64encode(program() or b"").decode(),
    }
