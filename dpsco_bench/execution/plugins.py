"""One's own files and papers: Python files, or folders of packages, whose decorators register what is in them."""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from dpsco_bench.errors import BrokenPaper, DpscoError, InputError
from dpsco_bench.execution.own import check_registered, code_files, own_line, registered
from dpsco_bench.registry import PLUGIN, REGISTRIES, add_paper, modules_in

ALONE = "a file whose helpers are not called like those of another plugin"
LOOKED_FOR = "; it is looked for beside the file, and in the folders that PYTHONPATH names"
_GIVEN: set[Path] = set()
"""Plugins that this process was given: on its command line, in its configuration, or by a call."""


def load_plugins(paths: Iterable[str | Path]) -> None:
    """Import each file, and make each folder a paper, once per process.

    Parameters
    ----------
    paths : iterable of path-like
        Python files that use ``@algorithm``, ``@problem`` and so on; folders of packages (`registry.add_paper`).

    Raises
    ------
    DpscoError
        For a path that is neither, something that cannot be imported, or something registered that cannot be used;
        naming the file.
    """
    for path in paths:
        place = Path(path) if isinstance(path, str | Path) else Path()
        if isinstance(path, str | Path) and (place / "__init__.py").is_file():
            _load_paper(place.resolve())
        elif isinstance(path, str | Path) and place.suffix == ".py" and place.is_file():
            _load_file(place.resolve())
        else:
            allowed = "a list of existing Python files (.py) or folders of packages (with an __init__.py)"
            raise InputError("plugins", path, allowed + _packages_below(place))
        _GIVEN.add(place.resolve())


def check_given(paths: Iterable[str], plan: str | Path = "the plan") -> None:
    """Refuse plugins that a plan names and this process was not given: to read a plan executes no code.

    Parameters
    ----------
    paths : iterable of str
        Plugins of the plan's jobs.
    plan : path-like
        Its file.

    Raises
    ------
    InputError
        Naming the file and the first such plugin.
    """
    for path in dict.fromkeys(paths):
        if Path(path).resolve() not in _GIVEN:
            allowed = "given to this call too, by --plugin FILE or plugins=FILE: a plan by itself loads no code"
            raise InputError(f"plugins of {plan}", path, allowed)


def _packages_below(folder: Path) -> str:
    """Packages that are a folder deeper than where somebody looked for one: what should have been given."""
    below = sorted(file.parent for file in folder.glob("*/__init__.py"))
    return f", here {' or '.join(map(str, below))}" if below and folder != Path() else ""


def plugin_files(paths: Iterable[str]) -> list[Path]:
    """What plugins are made of: files, and all files of folders."""
    places = [Path(path) for path in paths]
    return [file for place in places for file in (code_files(place) if place.is_dir() else [place])]


def _load_file(path: Path) -> None:
    # The digest keeps two files of the same name apart.
    name = f"{PLUGIN}{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    if name in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loader = spec.loader
    try:
        _find_beside(path)
    except InputError:
        del sys.modules[name]
        raise
    _checked(lambda: loader.exec_module(module), path, name)


def _find_beside(path: Path) -> None:
    """Let a plugin import what lies beside it, whoever calls: by itself only ``python -m`` looks in its own folder.

    Raises InputError where another plugin's helper would stand for one of its own, called like it.
    """
    if str(path.parent) not in map(os.path.abspath, sys.path):
        sys.path.append(str(path.parent))  # behind all others: what is found elsewhere stays what it is
    others = {plugin.parent for plugin in _GIVEN} - {path.parent}
    for own in _beside(path) if others else ():
        try:
            spec = importlib.util.find_spec(own.removesuffix(".py"))
        except ValueError:
            continue
        found = Path(next(iter(spec.submodule_search_locations or ()), "") or spec.origin or "") if spec else Path()
        if found != path.parent / own and others.intersection(found.parents):
            raise InputError("plugins", str(path), ALONE, f"{own} is taken from {found.parent}")


def _beside(path: Path) -> list[str]:
    """Files and folders beside a plugin that it imports; nothing is kept of it, since it may fail to load."""
    try:
        nodes = [*ast.walk(ast.parse(path.read_bytes()))]
    except (OSError, SyntaxError, ValueError):
        return []  # loading it says so
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    tops = dict.fromkeys(name.partition(".")[0] for name in names)
    return [one for top in tops for one in (top, f"{top}.py") if (path.parent / one).exists()]


def _load_paper(folder: Path) -> None:
    name = add_paper(folder)
    packages = [name, *(f"{name}.{registry.folder}" for registry in REGISTRIES)]
    for module in dict.fromkeys(module for package in packages for module in [package, *modules_in(package)]):
        spec = importlib.util.find_spec(module) if module not in sys.modules else None
        if spec is not None and spec.origin is not None:
            _checked(lambda module=module: importlib.import_module(module), Path(spec.origin), module)  # type: ignore[misc]


def _checked(load: Callable[[], object], path: Path, name: str) -> None:
    """Import a module and check what it registers; what goes wrong in it names its file and line."""
    before = registered()
    try:
        load()
        check_registered(before)
    except BaseException as error:
        sys.modules.pop(name, None)
        for registry in REGISTRIES:
            registry.forget(*(key for key, home in registry.registered().items() if home == name))
        if isinstance(error, BrokenPaper):
            raise
        if isinstance(error, DpscoError):
            line = own_line(error, str(path))
            raise DpscoError(f"{path.name}{f', line {line}' if line else ''}: {error}") from error
        if isinstance(error, Exception | SystemExit):
            line = None if isinstance(error, SyntaxError) else own_line(error, str(path))  # that one says it itself
            reason = f"{type(error).__name__}: {error}" + (f", line {line}" if line else "")
            reason += LOOKED_FOR if isinstance(error, ModuleNotFoundError) and name.startswith(PLUGIN) else ""
            raise InputError("plugins", str(path), "a Python file that can be imported", reason) from error
        raise
