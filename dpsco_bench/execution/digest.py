"""Code digests by import closure: a result depends on the modules it really uses, and on no others.

This package's own ``__init__`` files are left out: they say nothing of results. Those of other packages count, and what
they import. Registries find modules by name and import none of them, so that they pull in nothing but their own logic.
What is digested of a module is its syntax tree (`syntax`). Helpers that one's own files import count with these
(`helpers`).
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from dpsco_bench.execution.syntax import read_imports, source_digest
from dpsco_bench.registry import roots

OWN, INIT = "dpsco_bench", "__init__.py"
ROOT = Path(__file__).resolve().parent.parent
DEVICE_ONLY = frozenset({"dpsco_bench.backend.device", "dpsco_bench.fused.device", "dpsco_bench.rng.cuda"})
"""Modules that nothing loads unless a run is on a device."""


@cache
def module_path(name: str) -> Path | None:
    """Source file of a module of this package or of a paper, or None for this one's packages and foreign modules."""
    top, *parts = name.split(".")
    home = _home(top)
    if home is None:
        return None
    places = [home.joinpath(*parts).with_suffix(".py")] if parts else []
    if top != OWN:
        places.append(home.joinpath(*parts, INIT))
    return next((path for path in places if path.is_file()), None)


@cache
def imported_modules(name: str) -> frozenset[str]:
    """Modules of this package and of papers that a module imports anywhere in its text, function bodies included.

    The packages that it lies in are imported before it.
    """
    path = module_path(name)
    if path is None:
        return frozenset()
    package, parts = name if path.name == INIT else name.rpartition(".")[0], name.split(".")
    found = _imported(path, package)
    found |= {".".join(parts[:end]) for end in range(1, len(parts))}
    return frozenset(m for m in found if module_path(m) is not None)


def _imported(path: Path, package: str = "") -> set[str]:
    """Names that may be modules, of what the text of a file imports; it lies in a package, or in none.

    Names that this package exports itself stand for the modules that define them.
    """
    homes = {name: f"{OWN}.{home}" for name, home in vars(sys.modules[OWN]).get("_HOMES", {}).items()}
    found: set[str] = set()
    for level, module, names in read_imports(path):
        above = package.split(".")[: len(package.split(".")) - level + 1] if level else []
        base = ".".join([*above, *([module] if module else [])])
        found |= {base} | {f"{base}.{name}" for name in names}
        everything = names == ["*"] or (not names and not package.startswith(OWN))
        if base == OWN:
            found |= set(homes.values()) if everything else {homes[name] for name in names if name in homes}
    return found


def closure(modules: Iterable[str], without: frozenset[str] = frozenset()) -> list[str]:
    """All modules of this package and of papers that are reachable by imports other than of ``without``, sorted."""
    return list(_closure(frozenset(modules), without))


@cache
def _closure(modules: frozenset[str], without: frozenset[str]) -> tuple[str, ...]:
    todo, seen = list(modules), set()
    while todo:
        name = todo.pop()
        if name in seen or name in without or module_path(name) is None:
            continue
        seen.add(name)
        todo.extend(imported_modules(name))
    return tuple(sorted(seen))


def code_digest(modules: Iterable[str], files: Iterable[Path] = (), without: frozenset[str] = frozenset()) -> str:
    """Sha256 over the closure's code and further files, 16 hexadecimal digits; ``without`` as of `closure`.

    One's own files count by their content, and not by their place. So do their helpers, and those of papers
    (`helpers`). Modules that these import count like all others.
    """
    digest, named = hashlib.sha256(), set(modules)
    own = [path for name in sorted(named) for path in _own_file(name)]
    names = closure(named.union(*map(_imported, own)), without)
    for name in names:
        path = module_path(name)
        assert path is not None
        digest.update(f"{name}\0{source_digest(path)}\0".encode())
    for path in (*own, *files):
        digest.update(f"{path.name}\0{source_digest(path)}\0".encode())
    return digest.hexdigest()[:16]


def _own_file(name: str) -> list[Path]:
    """File of a module of one's own: of a plugin, or of a helper in which something was registered."""
    file = getattr(sys.modules.get(name), "__file__", None)
    ours = name.split(".")[0] == OWN or module_path(name) is not None
    return [] if ours or not file else [Path(file)]


def kernels_beside(modules: Iterable[str]) -> list[Path]:
    """CUDA files in the folders of the closure's modules."""
    folders = {path.parent for name in closure(modules) if (path := module_path(name)) is not None}
    return sorted(file for folder in folders for file in (*folder.glob("*.cu"), *folder.glob("*.cuh")))


def _home(top: str) -> Path | None:
    """Folder of a top-level package of this project or of a paper."""
    if top == OWN:
        return ROOT
    spec = find_spec(top) if top in roots() else None
    return Path(next(iter(spec.submodule_search_locations))) if spec and spec.submodule_search_locations else None
