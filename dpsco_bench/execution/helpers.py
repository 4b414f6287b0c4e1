"""Helpers: files that one's own files and papers import, wherever they lie, unless they are installed.

They are followed by import statements, function bodies included, and through one another. What is loaded is where it
was loaded from; the rest is looked for where Python would, without importing it. Not followed are the standard library,
installed distributions and this package. Of a distribution that brings a paper everything is followed.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from dpsco_bench.execution.syntax import read_imports
from dpsco_bench.registry import GROUP, roots

OWN, INIT = "dpsco_bench", "__init__.py"
INSTALLED = frozenset({"site-packages", "dist-packages"})
LIBRARY = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))
Found = tuple[Path | None, Sequence[str]]
"""File of a module, None for a namespace; and the folders that its modules lie in."""


def code_files(folder: Path, suffixes: Collection[str] = (".py",)) -> list[Path]:
    """Code below a folder, sorted; no hidden files, such as the locks of editors, and none that cannot be read."""
    found = (path for path in folder.rglob("*") if path.suffix in suffixes and not path.name.startswith("."))
    return sorted(path for path in found if path.is_file() and os.access(path, os.R_OK))


def with_helpers(paths: Iterable[Path], papers: Collection[Path] = ()) -> list[Path]:
    """One's own files, and the helpers of these and of modules of papers, directly or through one another.

    Parameters
    ----------
    paths : iterable of Path
        One's own files.
    papers : collection of Path
        Modules of papers; they are not among the result themselves.
    """
    known, found = {*papers}, dict[Path, None]()
    todo = [*paths, *(file for path in papers for file in _named(path))]
    while todo:
        path = todo.pop(0)
        if path in found or path in known:
            continue
        found[path] = None
        todo += [*_beside(path), *_named(path), *_relative(path)]
    return list(found)


def _beside(path: Path) -> Iterator[Path]:
    """Files of the same folder that a file imports; a package there counts as a whole."""
    if _is_installed(path.parent):  # what stands there is no more beside it than all others
        return
    imports = [(module.split("."), names) for level, module, names in read_imports(path) if module and not level]
    for parts, names in sorted(imports):
        folder = path.parent / parts[0]
        if parts[0] in _followed_otherwise():
            continue
        if (folder / INIT).is_file():
            yield from code_files(folder)
        yield from _files_at(path.parent, parts, names)


def _relative(path: Path) -> Iterator[Path]:
    """Files that relative imports of a file name."""
    for level, module, names in read_imports(path):
        if 0 < level <= len(path.parents):
            yield from _files_at(path.parents[level - 1], module.split(".") if module else [], names)


def _files_at(folder: Path, parts: Sequence[str], names: Iterable[str]) -> Iterator[Path]:
    """Files of a module below a folder, of the packages around it, and of what is imported from it."""
    base = folder.joinpath(*parts)
    for place in [*(folder.joinpath(*parts[:end]) for end in range(1, len(parts) + 1)), *map(base.joinpath, names)]:
        yield from (file for file in (place.with_suffix(".py"), place / INIT) if file.is_file())


def _named(path: Path) -> Iterator[Path]:
    """Files of the modules that absolute imports of a file name, of the packages around them, and of what they hold."""
    for level, module, names in read_imports(path):
        parts = module.split(".") if module and not level else []
        if not parts or parts[0] in _followed_otherwise():
            continue
        found = _top(parts[0])
        if not _is_own(parts[0], found):
            continue
        for part in (*parts[1:], None):
            if found[0] is not None:
                yield found[0]
            inside = names if part is None else [part]
            below = [_below(found[1], name) for name in inside]
            if part is None:
                yield from (file for file, _ in below if file is not None)
            else:
                found = below[0]


def _followed_otherwise() -> set[str]:
    """Packages whose modules are followed by name (`digest.closure`)."""
    return {OWN, *roots()}


def _top(name: str) -> Found:
    """A top-level module or package, loaded or not."""
    module = sys.modules.get(name)
    if module is not None:
        file, places = getattr(module, "__file__", None), getattr(module, "__path__", None) or ()
    else:
        try:
            spec = find_spec(name)
        except (ImportError, ValueError):
            spec = None
        file = spec.origin if spec and spec.has_location else None
        places = (spec.submodule_search_locations if spec else None) or ()
    return Path(os.path.abspath(file)) if file else None, [os.path.abspath(place) for place in places]


def _below(places: Sequence[str], name: str) -> Found:
    """A module in a package that lies in some folders."""
    for place in places:
        package, file = Path(place, name, INIT), Path(place, f"{name}.py")
        if package.is_file():
            return package, [str(package.parent)]
        if file.is_file():
            return file, []
    return None, [folder for place in places if os.path.isdir(folder := os.path.join(place, name))]


def is_somebodys(top: str) -> bool:
    """Whether a top-level module or package is neither installed nor of the standard library."""
    return bool(top) and _is_own(top, _top(top))


def _is_own(top: str, found: Found) -> bool:
    """Whether a top-level module is somebody's own Python code, or comes with a paper that is installed."""
    file, places = found
    if file is None and not places or file is not None and file.suffix != ".py":
        return False
    folder = Path(places[0]).parent if places else file.parent if file else Path()
    return not _is_installed(folder) or (top in _beside_papers() and not _is_library(folder))


@cache
def _is_installed(folder: Path) -> bool:
    """Whether distributions are installed into a folder, or it is of the standard library."""
    recorded = any(info.joinpath("RECORD").is_file() for info in folder.glob("*.dist-info"))
    return recorded or bool(INSTALLED.intersection(folder.parts)) or _is_library(folder)


def _is_library(folder: Path) -> bool:
    return not INSTALLED.intersection(folder.parts) and any(map(folder.is_relative_to, LIBRARY))


@cache
def _beside_papers() -> frozenset[str]:
    """Top-level modules and packages of the distributions that bring papers, other than this one."""
    brings = [entry.dist for entry in entry_points(group=GROUP) if entry.value.split(".")[0] != OWN]
    files = [file for dist in brings if dist is not None for file in dist.files or () if file.suffix == ".py"]
    return frozenset(file.parts[0].removesuffix(".py") for file in files) - {OWN}
