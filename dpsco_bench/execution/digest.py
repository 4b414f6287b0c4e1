"""Digest the code that a result depends on: the import closure of its modules, by their syntax trees.

A key holds the code of mathematics alone, a keyed digest: the folders of `KEYED` and what papers and plug-ins bring.
The harness that plans, stores, judges and shows is not; where an edit of ``execution`` changes the bytes of a run,
`RUN_FORMAT` is raised by hand, and ``tests/same`` fails until it is.

This package's own ``__init__`` files are left out. Those of installed papers count, and what they import. Registries
find modules by name and import none of them. Of a plug-in its whole folder counts.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dpsco_bench.jsonio import kept_beside
from dpsco_bench.plain import Plain
from dpsco_bench.registry import roots

OWN, INIT = "dpsco_bench", "__init__.py"
ROOT = Path(__file__).resolve().parent.parent
RUN_FORMAT = 1
"""Raised by hand when ``execution`` or ``audit`` changes the bytes of a result; then every result is made anew."""
KEYED = frozenset(
    ("algorithms", "backend", "datasets", "fused", "geometry", "papers", "privacy", "problems", "rng", "samplers")
)
"""Folders whose code is in keys; the closure of a key does not go through others."""
_SHARED = ("dpsco_bench.algorithms.registry", "dpsco_bench.problems.registry", "dpsco_bench.rng.streams")
RUN_MODULES = (
    *(*_SHARED, "dpsco_bench.algorithms.info", "dpsco_bench.fused.registry", "dpsco_bench.fused.sparse"),
    *("dpsco_bench.privacy.mechanism", "dpsco_bench.problems.objective", "dpsco_bench.samplers.draws"),
)
CALIBRATION_MODULES = (
    *(*_SHARED, "dpsco_bench.privacy.attained", "dpsco_bench.privacy.calibrate"),
    *("dpsco_bench.privacy.fingerprint", "dpsco_bench.privacy.tree"),
)
"""Modules of the keyed folders that every run, and every calibration, uses."""
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
    assert path is not None
    package, parts = name if path.name == INIT else name.rpartition(".")[0], name.split(".")
    found = _imported(path, package)
    found |= {".".join(parts[:end]) for end in range(1, len(parts))}
    return frozenset(m for m in found if module_path(m) is not None)


def _imported(path: Path, package: str = "") -> set[str]:
    """Names that may be modules, of what the text of a file imports; it lies in a package, or in none.

    This package itself, imported by a paper or a plug-in, stands for all modules that define what it exports.
    """
    found: set[str] = set()
    for level, module, names in _read(path, path.stat().st_mtime_ns)["imports"] if path.is_file() else ():
        above = package.split(".")[: len(package.split(".")) - level + 1] if level else []
        base = ".".join([*above, *([module] if module else [])])
        found |= {base} | {f"{base}.{name}" for name in names}
    return found | {f"{OWN}.{home}" for home in vars(sys.modules[OWN])["_HOMES"].values() if OWN in found}


@cache
def closure(modules: frozenset[str], without: frozenset[str] = frozenset(), keyed: bool = False) -> tuple[str, ...]:
    """List all modules of this package and of papers that are reachable by imports other than of ``without``.

    A ``keyed`` closure has and goes through keyed ones alone.
    """
    todo, seen = list(modules), set()
    while todo:
        name = todo.pop()
        if name in seen or name in without or module_path(name) is None or (keyed and not is_keyed(name)):
            continue
        seen.add(name)
        todo.extend(imported_modules(name))
    return tuple(sorted(seen))


def code_digest(
    modules: Iterable[str], files: Iterable[Path] = (), without: frozenset[str] = frozenset(), keyed: bool = False
) -> str:
    """Digest the closure's code and further files, 16 hexadecimal digits; ``without`` and ``keyed`` as of `closure`.

    Neither names of modules nor their order counts: a module that moves leaves the digest as it is. Of a plug-in its
    folder counts, and its own file once more: another file beside it may have what is called the same.
    """
    named = set(modules)
    own = {name: found for name in named if (found := _own_files(name))}
    beside = sorted({path for found in own.values() for path in found})
    names = closure(frozenset(named.union(*map(_imported, beside))), without, keyed)
    given = [found[0] for found in own.values()]
    paths = [*(path for name in names for path in [module_path(name)] if path), *beside, *given, *files]
    return hashlib.sha256("".join(sorted(map(source_digest, paths))).encode()).hexdigest()[:16]


def is_keyed(name: str) -> bool:
    """Tell whether a module's code is in keys: of a `KEYED` folder, of an installed paper or a plug-in."""
    top, *parts = name.split(".")
    return top != OWN or (bool(parts) and parts[0] in KEYED)


def _own_files(name: str) -> list[Path]:
    """List the code in the folder of a plug-in, with packages in it; none for a module of this package or a paper."""
    file = getattr(sys.modules.get(name), "__file__", None)
    if name.split(".")[0] == OWN or module_path(name) is not None or not file:
        return []
    folder = Path(file).parent
    beside = [path for path in folder.iterdir() if (path / INIT).is_file()]
    return [Path(file), *folder.glob("*.py"), *(path for package in beside for path in package.rglob("*.py"))]


def kernels_beside(modules: Iterable[str]) -> list[Path]:
    """CUDA files in the folders of the closure's modules."""
    paths = map(module_path, closure(frozenset(modules), keyed=True))
    folders = {path.parent for path in paths if path is not None}
    return sorted(file for folder in folders for file in (*folder.glob("*.cu"), *folder.glob("*.cuh")))


def _home(top: str) -> Path | None:
    """Folder of a top-level package of this project or of a paper."""
    if top == OWN:
        return ROOT
    spec = find_spec(top) if top in roots() else None
    return Path(next(iter(spec.submodule_search_locations))) if spec and spec.submodule_search_locations else None


def source_digest(path: Path) -> str:
    """Sha256 of the reduced syntax tree of a Python file; of what cannot be parsed, of its bytes."""
    return str(_read(path, path.stat().st_mtime_ns)["digest"])


@cache
def _read(path: Path, changed: int) -> Any:
    """Digest of a Python file, and (level, module or None, names) of all its imports, function bodies included.

    Parsed once for each content, interpreter and text of this module.
    """
    own_text = Path(__file__).read_text(encoding="utf-8")
    return kept_beside(path, f".{sys.implementation.cache_tag}.digest", _parsed, own_text)


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
        for part in node.body:  # the words that say what an option of a problem means
            call = part.value if isinstance(part, ast.Assign | ast.AnnAssign) else None
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "option":
                call.args[1:] = [word for word in call.args[1:] if not _is_word(word)]
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:  # noqa: N802
        named = isinstance(node.value, str) and node.value.startswith("dpsco_bench.")
        return ast.Constant("") if named else node


def _raised_only(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Values that a function assigns to names which nothing but its ``raise`` statements read."""
    raised = [name for part in ast.walk(function) if isinstance(part, ast.Raise) for name in _loads(part)]
    every = list(_loads(function))
    alone = {name for name in raised if raised.count(name) == every.count(name)}
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


def _is_word(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
