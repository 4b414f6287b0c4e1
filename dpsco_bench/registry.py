"""A registry. Papers and plug-ins use the same decorators; entries are imported on first use.

A paper is a package. Those that are installed name themselves under the entry-point group ``dpsco_bench.papers``; a
folder joins for one process by `add_paper`. A paper's ``__init__`` may import whatever registers something. What it
leaves out is found by its place: algorithms in modules of ``<paper>/algorithms``, problems in ``<paper>/problems``, and
so on for every `Registry`, in a file that is called like the name, or whose text has it in quotes.
"""

from __future__ import annotations

import importlib
import sys
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, TypeVar

from dpsco_bench.errors import BrokenPaper, DpscoError, InputError, nearest

GROUP = "dpsco_bench.papers"
PLUGIN = "dpsco_plugin_"
"""Prefix of the names of plug-ins' modules."""
T = TypeVar("T")
_ADDED: dict[str, str] = {}
_SAID: set[str] = set()
REGISTRIES: list[Registry] = []
"""All of this process, in the order in which they were made."""


class Registry(Generic[T]):
    """Entries of one kind by name.

    Parameters
    ----------
    kind : str, what an entry is called in errors
    folder : str, package or module, of this name in a paper's own, where papers register such entries
    core : str, the same for entries that belong to no paper: a module of this package; empty if there are none
    listed : bool, whether the verb ``list`` shows them
    """

    def __init__(self, kind: str, folder: str, core: str = "", listed: bool = False) -> None:
        self.kind, self.folder, self.core, self.listed = kind, folder, core, listed
        self._entries: dict[str, T] = {}
        self._modules: dict[str, str] = {}
        REGISTRIES.append(self)

    def add(self, name: str, entry: T, module: str) -> T:
        """Register an entry that a module defines. Raises InputError if another one has registered the name."""
        if module.split(".")[0] not in roots():  # what others define must not hide what a paper has
            for likely in self._likely(name):
                attempt(likely)
        if self._modules.get(name, module) != module:
            key = "id" if self.kind == "algorithm" else "name"
            raise InputError(f"{self.kind} {key}", name, f"one that no other {self.kind} has")
        self._entries[name], self._modules[name] = entry, module
        return entry

    def forget(self, *names: str) -> None:
        """Drop entries, of a file whose import failed, say."""
        for name in names:
            self._entries.pop(name, None)
            self._modules.pop(name, None)

    def find(self, name: str) -> T | None:
        """Find the entry of a name, or None; loads no more than it must, core entries before those of papers.

        Raises BrokenPaper for a name of a paper that cannot be imported.
        """
        likely = self._likely(name)
        while name not in self._entries and (module := next(likely, "")):
            attempt(module)
        if name not in self._entries:
            self.load()
        return self._entries.get(name)

    def get(self, name: str) -> T:
        """Get the entry of a name. Raises InputError for an unknown one, with the nearest names."""
        found = self.find(name)
        if found is None:
            listing = f"dpsco list {self.folder}" if self.listed else ""
            gone = f"; not installed: {', '.join(sorted(absent_papers()))}" if absent_papers() else ""
            own = "; one of your own needs --plugin FILE" * ("." in name and name.partition(".")[0] not in papers())
            raise InputError(self.kind, name, nearest(name, self.names(), listing) + gone + own)
        return found

    def names(self) -> list[str]:
        self.load()
        return sorted(self._entries)

    def of(self, paper: str) -> dict[str, T]:
        """List the entries whose names begin with a paper's, in the order in which they were registered."""
        self.load()
        return {name: entry for name, entry in self._entries.items() if name.startswith(f"{paper}.")}

    def registered(self) -> dict[str, str]:
        """Names that have been registered so far, and the modules that did."""
        return dict(self._modules)

    def module(self, name: str) -> str:
        """Name of the module that registered an entry. Raises InputError for an unknown name."""
        self.get(name)
        return self._modules[name]

    def load(self) -> None:
        """Import every module that may register an entry."""
        for package in self._packages():
            for module in modules_in(package):
                attempt(module)

    def _packages(self) -> Iterator[str]:
        if self.core:
            yield f"dpsco_bench.{self.core}"
        for package in papers().values():
            attempt(package)
            yield f"{package}.{self.folder}"

    def _likely(self, name: str) -> Iterator[str]:
        """Modules called like the name or else holding it in quotes, of the paper in its prefix alone if it has one."""
        prefix, _, last = name.rpartition(".")
        known = papers()
        paper = next((paper for paper in known if paper in (prefix, name) or prefix.startswith(f"{paper}_")), "")
        if paper:
            attempt(known[paper])
        for package in [f"{known[paper]}.{self.folder}"] if paper else self._packages():
            modules = modules_in(package)
            own = [module for module in modules if module.rpartition(".")[2] == last]
            for text in (f'"{name}"', f'"{last}"'):
                own = own or [module for module in modules if text in source(module)]
            yield from own or (modules if paper else ())


def attempt(module: str) -> None:
    """Import a module. Raises BrokenPaper for one of a paper that cannot be imported, with the reason."""
    package = next((package for package in papers().values() if f"{module}.".startswith(f"{package}.")), "")
    try:
        importlib.import_module(module)
    except BrokenPaper:
        raise
    except (Exception, SystemExit) as error:
        if not package:
            raise
        reason = str(error) if isinstance(error, DpscoError) else f"{type(error).__name__}: {error}"
        raise BrokenPaper(package, " ".join(reason.split())) from error


def say_once(error: DpscoError) -> None:
    """Print an error as a line on stderr, once per process."""
    if str(error) not in _SAID:
        print(f"dpsco: {error}", file=sys.stderr, flush=True)
    _SAID.add(str(error))


def papers() -> dict[str, str]:
    """Name of each paper -> its package; a paper that is declared but whose package is gone is left out."""
    installed = {name: package for name, package in _declared().items() if _location(package) is not None}
    return installed | _ADDED


def absent_papers() -> set[str]:
    """Papers that are declared but whose packages are gone: what names them elsewhere is left out."""
    return _declared().keys() - papers().keys()


def absent_paper(*names: object, of: Registry[Any] | None = None, left_out: str = "") -> str:
    """Find the first absent paper among some names, as ``paper.name`` or ``paper/name``; empty if none is absent.

    With ``of``, what the names stand for, they are of a file that came with the house or with a paper that is here:
    there a paper is absent too that nothing declares. Elsewhere such a name is a slip, for whoever looks it up to
    refuse. ``left_out`` says what is left out where a paper is absent, in a line on stderr.
    """
    gone, known = absent_papers(), papers()
    for name in map(str, names):
        paper, dot, _ = name.replace("/", ".").partition(".")
        undeclared = of is not None and dot and paper not in known and of.find(name) is None
        if paper in gone or undeclared:
            if left_out:
                say_once(DpscoError(f"left out: {left_out}: paper {paper} is not installed"))
            return paper
    return ""


def add_paper(folder: Path) -> str:
    """Make the package in a folder a paper of this process; returns its name.

    Raises InputError for a folder that is no package, or a name that another package has.
    """
    folder = folder.resolve()
    name = folder.name
    if not (folder / "__init__.py").is_file() or not name.isidentifier():
        raise InputError("paper", str(folder), "the folder of a Python package (with an __init__.py)")
    package = papers().get(name, name)
    if _location(package) not in (None, folder):
        raise InputError("paper", str(folder), f"a folder with another name: {name} is an installed package")
    if _location(package) is None:
        sys.path.insert(0, str(folder.parent))
        importlib.invalidate_caches()
        _location.cache_clear()
    _ADDED[name] = package
    return name


def paper_folders() -> dict[str, Path]:
    """Name of each paper -> the folder of its package."""
    return {name: folder for name, package in papers().items() if (folder := _location(package))}


def roots() -> set[str]:
    """Top-level packages of this project and of all papers."""
    return {"dpsco_bench", *(package.split(".")[0] for package in papers().values())}


@cache
def modules_in(package: str) -> list[str]:
    """Names of the modules of a package, or of a module that is none; empty where there is neither."""
    spec = None
    with suppress(ModuleNotFoundError):
        spec = find_spec(package)
    if spec is None:
        return []
    places = [Path(place) for place in spec.submodule_search_locations or ()]
    if not places:
        return [package]
    stems = sorted(path.stem for place in places for path in place.glob("*.py"))
    return [f"{package}.{stem}" for stem in stems if not stem.startswith(("_", "."))]


@cache
def source(module: str) -> str:
    """Text of a module that `modules_in` names, without importing it."""
    spec = find_spec(module)
    return Path(spec.origin).read_text(encoding="utf-8") if spec and spec.origin else ""


@cache
def _declared() -> dict[str, str]:
    """Papers of installed packages, and of the checkout that this package may run from."""
    project = Path(__file__).resolve().parent.parent / "pyproject.toml"
    declared = tomllib.loads(project.read_text(encoding="utf-8")).get("project", {}) if project.is_file() else {}
    found = {entry.name: entry.value for entry in entry_points(group=GROUP)}
    found |= declared.get("entry-points", {}).get(GROUP, {})
    return dict(sorted(found.items()))


@cache
def _location(package: str) -> Path | None:
    """Folder of a package, without importing it; None if there is none."""
    with suppress(ModuleNotFoundError):
        spec = find_spec(package)
        for place in spec.submodule_search_locations or () if spec else ():
            return Path(place).resolve()
    return None
