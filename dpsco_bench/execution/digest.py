"""Code digests by import closure: a result depends on the modules it really uses, and on no others.

Packages' ``__init__`` files are left out. Registries find modules by name and import none of them, so that they pull in
nothing but their own logic.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

PACKAGE = "dpsco_bench"
ROOT = Path(__file__).resolve().parent.parent


@cache
def module_path(name: str) -> Path | None:
    """Source file of a module of this package, or None for packages and foreign modules."""
    parts = name.split(".")
    if parts[0] != PACKAGE:
        return None
    path = ROOT.joinpath(*parts[1:]).with_suffix(".py")
    return path if path.is_file() else None


@cache
def imported_modules(name: str) -> frozenset[str]:
    """Modules of this package that a module imports anywhere in its text, function bodies included."""
    path = module_path(name)
    if path is None:
        return frozenset()
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(m for m in found if module_path(m) is not None)


def closure(modules: Iterable[str]) -> list[str]:
    """All modules of this package reachable by imports, sorted."""
    todo, seen = list(modules), set()
    while todo:
        name = todo.pop()
        if name in seen or module_path(name) is None:
            continue
        seen.add(name)
        todo.extend(imported_modules(name))
    return sorted(seen)


def code_digest(modules: Iterable[str], files: Iterable[Path] = ()) -> str:
    """Sha256 over the closure's sources and further files (a user's own algorithm), 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for name in closure(modules):
        path = module_path(name)
        assert path is not None
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    for path in files:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
