"""Code digests by import closure: a result depends on the modules it really uses, and on no others.

This package's own ``__init__`` files are left out: they say nothing of results. Those of other packages count, and what
they import. Registries find modules by name and import none of them, so that they pull in nothing but their own logic.
What is digested of a module is its syntax tree without docstrings and meanings of options: neither comments nor layout
nor words change a result.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dpsco_bench.jsonio import kept_beside
from dpsco_bench.plain import Plain
from dpsco_bench.registry import PLUGIN, roots

ROOT = Path(__file__).resolve().parent.parent
OWN, INIT = "dpsco_bench", "__init__.py"
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
    for level, module, names in _read(path)["imports"]:
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

    One's own files count by their content, and not by their place; so do files beside them that they import. Modules
    that these import count like all others.
    """
    digest, named = hashlib.sha256(), set(modules)
    own = with_files_beside(Path(str(sys.modules[name].__file__)) for name in sorted(named) if name.startswith(PLUGIN))
    for name in closure(named.union(*map(_imported, own)), without):
        path = module_path(name)
        assert path is not None
        digest.update(f"{name}\0{source_digest(path)}\0".encode())
    for path in (*own, *files):
        digest.update(f"{path.name}\0{source_digest(path)}\0".encode())
    return digest.hexdigest()[:16]


def kernels_beside(modules: Iterable[str]) -> list[Path]:
    """CUDA files in the folders of the closure's modules."""
    folders = {path.parent for name in closure(modules) if (path := module_path(name)) is not None}
    return sorted(file for folder in folders for file in (*folder.glob("*.cu"), *folder.glob("*.cuh")))


def with_files_beside(paths: Iterable[Path]) -> list[Path]:
    """One's own files, and those of the same folders that they import, directly or through one another."""
    found: dict[Path, None] = {}
    todo = list(paths)
    while todo:
        path = todo.pop(0)
        if path in found:
            continue
        found[path] = None
        tops = {module.split(".")[0] for _, module, _ in _read(path)["imports"] if module}
        for top in sorted(tops):
            folder = path.parent / top
            inside = sorted(folder.rglob("*.py")) if (folder / INIT).is_file() else []
            todo += [file for file in (folder.with_suffix(".py"), *inside) if file.is_file()]
    return list(found)


def source_digest(path: Path) -> str:
    """Sha256 of a Python file's syntax tree without docstrings; of what cannot be parsed, of its bytes."""
    return _source_digest(path, path.stat().st_mtime_ns)


@cache
def _source_digest(path: Path, changed: int) -> str:
    return str(_read(path)["digest"])


def _read(path: Path) -> Any:
    """Digest and imports of a Python file; parsed once for each content, interpreter and text of this module."""
    return kept_beside(path, f".{sys.implementation.cache_tag}.digest", _parsed, _own_text())


@cache
def _own_text() -> str:
    return Path(__file__).read_text(encoding="utf-8")


def _parsed(content: bytes) -> Plain:
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return {"digest": hashlib.sha256(content).hexdigest(), "imports": []}
    imports: list[list[Any]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports += [[0, alias.name, []] for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            imports.append([node.level, node.module, [alias.name for alias in node.names]])
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [part for part in body if not _is_text(part)]  # type: ignore[attr-defined]
        for part in node.body if isinstance(node, ast.ClassDef) else ():
            _drop_meaning(part)
    return {"digest": hashlib.sha256(ast.dump(tree).encode()).hexdigest(), "imports": imports}


def _drop_meaning(part: ast.AST) -> None:
    """Take out the words that say what an option of a problem means."""
    call = part.value if isinstance(part, ast.Assign | ast.AnnAssign) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "option":
        call.args[1:] = [word for word in call.args[1:] if not _is_word(word)]


def _is_text(node: ast.AST) -> bool:
    """Whether a statement is a bare string: a docstring, or the words below a constant."""
    return isinstance(node, ast.Expr) and _is_word(node.value)


def _is_word(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _home(top: str) -> Path | None:
    """Folder of a top-level package of this project or of a paper."""
    if top == OWN:
        return ROOT
    spec = find_spec(top) if top in roots() else None
    return Path(next(iter(spec.submodule_search_locations))) if spec and spec.submodule_search_locations else None
