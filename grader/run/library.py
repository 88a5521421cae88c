"""What student code may read: Python's own library and named packages, one by one. Never all of site-packages."""

from __future__ import annotations

import base64
import functools
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from grader.model._data import data
from grader.run.filter import program

__all__ = ["COMMON", "DEVICES", "Library", "is_packages", "library", "paths_of", "policy", "search_path"]

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
_KNOWN = frozenset([*COMMON, *_NEEDED_BY, *(need for needs in _NEEDED_BY.values() for need in needs)])
"""Of these, nobody has to be asked what they need, which takes 30 ms."""

_REQUIREMENT = re.compile(r"[A-Za-z0-9._-]+")
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


@functools.cache
def search_path() -> tuple[str, ...]:
    """Return where a worker looks for modules: the library, then packages.

    A virtual environment has no library of its own; the first paths are those of the base interpreter.
    """
    paths = sysconfig.get_paths()
    places = [paths["stdlib"], paths["platstdlib"]]
    places += [str(Path(folder) / "lib-dynload") for folder in places]
    places += [str(Path(sys.base_prefix) / "DLLs")]
    packages = [paths["purelib"], paths["platlib"], *(folder for folder in sys.path if is_packages(folder))]
    return tuple(folder for folder in dict.fromkeys([*places, *packages]) if Path(folder).is_dir())


def is_packages(path: str) -> bool:
    """Whether a folder holds installed packages, by its name."""
    return os.path.basename(path) in _PACKAGE_FOLDERS


@functools.cache
def library() -> Library:
    """Return what this Python consists of; looked at once."""
    folders = search_path()
    readable: list[str] = []
    for folder in folders:
        if not is_packages(folder):
            readable += _without_packages(folder)
    packages = {name: paths_of((name,)) for name in COMMON}
    return Library(
        readable=tuple(dict.fromkeys([*readable, *_loader()])),
        folders=folders,
        packages={name: paths for name, paths in packages.items() if paths},
    )


@functools.cache
def paths_of(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the files and folders of these packages and of all that they need, as far as they are installed."""
    wanted = {need for name in names for need in _with_needs(name)}
    return tuple(path for stem, path in _entries() if stem in wanted)


@functools.cache
def _entries() -> tuple[tuple[str, str], ...]:
    """Return what packages are made of: the module's name, and the path of it, of its libraries or of what is said."""
    return tuple(
        (entry.partition(".")[0].partition("-")[0], f"{folder}/{entry}")
        for folder, entries in _installed()
        for entry in entries
        if not entry.endswith((".pth", ".egg-link"))
    )


@functools.cache
def _installed() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the names in each folder of packages; one look, whatever the number of packages."""
    return tuple((folder, tuple(sorted(os.listdir(folder)))) for folder in search_path() if is_packages(folder))


def _without_packages(folder: str) -> Iterable[str]:
    """Return the folder, or what is in it if packages are in it too."""
    entries = os.listdir(folder)
    if not any(is_packages(entry) for entry in entries):
        return [folder]
    return sorted(f"{folder}/{entry}" for entry in entries if not is_packages(entry) and entry != "__pycache__")


def _with_needs(name: str) -> frozenset[str]:
    found, todo = {name}, [name]
    while todo:
        asked = todo.pop()
        needs = _NEEDED_BY.get(asked, ()) if asked in _KNOWN else _required(asked)
        new = set(needs) - found
        found |= new
        todo += new
    return frozenset(found)


def _required(name: str) -> Iterator[str]:
    """Yield what an installed package says that it needs, as names of modules; most are spelt as the package is."""
    if _plain(name) not in _described():
        return
    # Late, since importing it takes 30 ms: most of the names that an assignment allows aren't installed.
    from importlib import metadata

    try:
        requirements = metadata.requires(name) or []
    except (metadata.PackageNotFoundError, ValueError):
        return
    for requirement in requirements:
        match = _REQUIREMENT.match(requirement)
        if match is not None and "extra ==" not in requirement:
            yield match[0].replace("-", "_").replace(".", "_")


@functools.cache
def _described() -> frozenset[str]:
    """Return the names of all packages that something is said about."""
    entries = (entry for _, entries in _installed() for entry in entries)
    return frozenset(
        _plain(entry.rpartition(".")[0].partition("-")[0])
        for entry in entries
        if entry.endswith((".dist-info", ".egg-info"))
    )


def _plain(name: str) -> str:
    return name.lower().replace("-", "_").replace(".", "_")


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


def policy(*, strict: bool, namespaces: bool = False, packages: Sequence[str] = ()) -> dict[str, Any]:
    """Return what a worker needs to lock itself down; see ``inside/lockdown.py``.

    Args:
        packages: To be known beside the common ones.
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
        "packages": {**known.packages, **{name: paths_of((name,)) for name in packages}},
        "devices": list(DEVICES),
        "filter": base64.b64encode(program() or b"").decode(),
    }
