"""What is read of a Python file: a digest of its syntax tree, and its imports.

The tree is taken without docstrings and meanings of options: neither comments nor layout nor words change a result.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from functools import cache
from pathlib import Path
from typing import Any

from dpsco_bench.jsonio import kept_beside
from dpsco_bench.plain import Plain


def source_digest(path: Path) -> str:
    """Sha256 of a Python file's syntax tree without docstrings; of what cannot be parsed, of its bytes."""
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
