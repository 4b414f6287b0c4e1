"""Code as it was when keys were made: nothing is kept under a key that other code has made.

A key digests code. Whoever makes what it names has read that code at another moment, maybe after an edit. So digests of
all files go with the plan, and those that a process has loaded are compared before it writes anything.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from dpsco_bench.errors import DpscoError
from dpsco_bench.execution.digest import DEVICE_ONLY, ROOT
from dpsco_bench.execution.helpers import INIT, OWN, code_files, with_helpers
from dpsco_bench.execution.own_code import own_files
from dpsco_bench.execution.syntax import source_digest
from dpsco_bench.registry import paper_folders, roots

KERNELS = (".cu", ".cuh")
READ_BY = "python"
"""Key of the interpreter: syntax trees of another one may differ."""


class CodeChanged(DpscoError):
    """Code that a process has loaded is not that of its plan.

    Parameters
    ----------
    file : Path
    """

    def __init__(self, file: Path) -> None:
        here = next((place for place in (Path.cwd(), ROOT.parent) if file.is_relative_to(place)), None)
        shown = file.relative_to(here) if here else file
        super().__init__(f"code: {shown} changed since the plan was made; run it again, what is finished stays")


class Sources:
    """Digests of code files as some keys were made from them.

    Parameters
    ----------
    known : mapping of str to str, optional
        As `digests` gives them; by default nothing is known, and nothing refused.
    """

    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        self._known = dict(known or {})

    def check(self) -> None:
        """Compare the files of all that this process has loaded, which takes milliseconds.

        Raises
        ------
        CodeChanged
            Naming the first that differs in more than comments, layout or docstrings.
        """
        if self._known.get(READ_BY) != _interpreter():
            return
        for path in _loaded():
            known = self._known.get(_name(path))
            if known is not None and known != (_digest(path) if path.is_file() else ""):
                raise CodeChanged(path)


def digests(own: Iterable[Path] = ()) -> dict[str, str]:
    """Name -> digest of every code file of this package, of papers, of one's own, and of helpers.

    Files of this package are named by their place in it, others by their path.

    Parameters
    ----------
    own : iterable of Path
    """
    folders = [ROOT, *(folder for folder in paper_folders().values() if not folder.is_relative_to(ROOT))]
    suffixes = (".py", *KERNELS)
    files = [path for folder in folders for path in code_files(folder, suffixes)]
    files += own_code(path.resolve() for path in own)
    return {READ_BY: _interpreter(), **{_name(path): _digest(path) for path in files}}


def own_code(own: Iterable[Path] = ()) -> list[Path]:
    """One's own files, with their helpers and those of papers that do not ship."""
    outside = [folder for folder in paper_folders().values() if not folder.is_relative_to(ROOT)]
    return with_helpers(own, [path for folder in outside for path in code_files(folder)])


def check_files(known: Mapping[str, str], own: Iterable[Path] = ()) -> None:
    """Compare all code files with what `digests` gave before: nobody edited one meanwhile. Raises CodeChanged."""
    for name, found in digests(own).items():
        if known.get(name) != found:
            raise CodeChanged(ROOT.parent / name)


@cache
def of_process() -> Sources:
    """Code as this process has found it when it first asked: for verbs that make keys and results in one go."""
    return Sources(digests(map(Path, own_files())))


def _loaded() -> Iterator[Path]:
    """Files of the modules that this process has loaded; kernels too where it has loaded what runs them."""
    tops, papers = roots(), list[Path]()
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and file.endswith(".py") and name.split(".")[0] in tops:
            path = _resolved(file)
            if path.name != INIT or not path.is_relative_to(ROOT):  # those of this package say nothing of results
                yield path
            if not path.is_relative_to(ROOT):
                papers.append(path)
    yield from with_helpers(map(_resolved, own_files()), papers)
    if DEVICE_ONLY & sys.modules.keys():
        yield from (path for path in sorted(ROOT.rglob("*")) if path.suffix in KERNELS)


@cache
def _resolved(file: str) -> Path:
    return Path(file).resolve()


@cache
def _name(path: Path) -> str:
    return f"{OWN}/{path.relative_to(ROOT).as_posix()}" if path.is_relative_to(ROOT) else str(path)


def _digest(path: Path) -> str:
    return source_digest(path)[:16]


def _interpreter() -> str:
    return str(sys.implementation.cache_tag)
