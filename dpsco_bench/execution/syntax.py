"""Read a Python file: the digest of what computes in it, and its imports.

The digest is of the syntax tree without docstrings, import lines, names of modules, texts of errors and meanings of
options: neither layout nor words nor the place of a module changes a result.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from dpsco_bench.jsonio import kept_beside
from dpsco_bench.plain import Plain


def source_digest(path: Path) -> str:
    """Sha256 of the reduced syntax tree of a Python file; of what cannot be parsed, of its bytes."""
    return _source_digest(path, path.stat().st_mtime_ns)


@cache
def _source_digest(path: Path, changed: int) -> str:
    return str(_read(path)["digest"])


def read_imports(path: Path) -> list[Any]:
    """(level, module or None, names) of each import statement in a Python file, function bodies included."""
    return _imports(path, path.stat().st_mtime_ns) if path.is_file() else []


@cache
def _imports(path: Path, changed: int) -> list[Any]:
    return list(_read(path)["imports"])


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
    reduced = ast.dump(_Reduced().visit(tree))
    return {"digest": hashlib.sha256(reduced.encode()).hexdigest(), "imports": imports}


class _Reduced(ast.NodeTransformer):
    """Take out of a tree what no result depends on."""

    def visit_Import(self, node: ast.AST) -> None:  # noqa: N802 (names are those of `ast`)
        return None

    visit_ImportFrom = visit_Import  # noqa: N815

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:  # noqa: N802
        return None if _is_word(node.value) else self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:  # noqa: N802
        _blank(node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:  # noqa: N802
        for value in _raised_only(node):
            _blank(value)
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:  # noqa: N802
        for part in node.body:
            _drop_meaning(part)
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:  # noqa: N802
        named = isinstance(node.value, str) and node.value.startswith("dpsco_bench.")
        return ast.Constant("") if named else node


def _raised_only(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Values that a function assigns to names which nothing but its ``raise`` statements read."""
    raised = {name for part in ast.walk(function) if isinstance(part, ast.Raise) for name in _loads(part)}
    counts = [name for part in ast.walk(function) if isinstance(part, ast.Raise) for name in _loads(part)]
    every = list(_loads(function))
    alone = {name for name in raised if counts.count(name) == every.count(name)}
    for part in ast.walk(function):
        if isinstance(part, ast.Assign) and all(isinstance(to, ast.Name) and to.id in alone for to in part.targets):
            yield part.value


def _loads(tree: ast.AST) -> Iterator[str]:
    return (n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))


def _blank(tree: ast.AST) -> None:
    """Empty the texts below a node."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            node.values = []
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""


def _drop_meaning(part: ast.AST) -> None:
    """Take out the words that say what an option of a problem means."""
    call = part.value if isinstance(part, ast.Assign | ast.AnnAssign) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "option":
        call.args[1:] = [word for word in call.args[1:] if not _is_word(word)]


def _is_word(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
