"""Plug-ins: Python files, or folders of packages (papers), whose decorators register what is in them."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from dpsco_bench.errors import BrokenPaper, DpscoError, InputError
from dpsco_bench.execution.own import check_registered, own_place
from dpsco_bench.registry import PLUGIN, REGISTRIES, add_paper, modules_in

LOOKED_FOR = "; it is looked for beside the file, and in the folders that PYTHONPATH names"
_GIVEN: set[Path] = set()
"""Plug-ins that this process was given: on its command line, in its configuration, or by a call."""


def load_plugins(paths: Iterable[str | Path]) -> None:
    """Import each file, and make each folder of a package a paper (`registry.add_paper`), once per process.

    Raises DpscoError for a path that is neither, something that cannot be imported, or something registered that cannot
    be used; naming the file.
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
    """Refuse plug-ins that a plan names and this process was not given: to read a plan executes no code.

    Raises InputError naming the plan's file and the first such plug-in.
    """
    for path in dict.fromkeys(paths):
        if Path(path).resolve() not in _GIVEN:
            allowed = "given to this call too, by --plugin FILE or plugins=FILE: a plan by itself loads no code"
            raise InputError(f"plugins of {plan}", path, allowed)


def _packages_below(folder: Path) -> str:
    """Name the packages a folder deeper than where somebody looked for one: what should have been given."""
    below = sorted(file.parent for file in folder.glob("*/__init__.py"))
    return f", here {' or '.join(map(str, below))}" if below and folder != Path() else ""


def code_files(folder: Path) -> list[Path]:
    """List the Python files below a folder, sorted."""
    return sorted(path for path in folder.rglob("*.py") if not path.name.startswith("."))


def plugin_files(paths: Iterable[str]) -> list[Path]:
    """List the files of plug-ins: those of folders, and of a file all that lie in its folder."""
    places = [Path(path) for path in paths]
    found = [code_files(place) if place.is_dir() else sorted(place.parent.glob("*.py")) for place in places]
    return list(dict.fromkeys(file for files in found for file in files))


def _load_file(path: Path) -> None:
    # The digest keeps two files of the same name apart.
    name = f"{PLUGIN}{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    if name in sys.modules:
        return
    if str(path.parent) not in sys.path:  # behind all others: what is found elsewhere stays what it is
        sys.path.append(str(path.parent))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loader = spec.loader
    _checked(lambda: loader.exec_module(module), path, name)


def _load_paper(folder: Path) -> None:
    name = add_paper(folder)
    packages = [name, *(f"{name}.{registry.folder}" for registry in REGISTRIES)]
    for module in dict.fromkeys(module for package in packages for module in [package, *modules_in(package)]):
        spec = importlib.util.find_spec(module) if module not in sys.modules else None
        if spec is not None and spec.origin is not None:
            _checked(lambda module=module: importlib.import_module(module), Path(spec.origin), module)  # type: ignore[misc]


def _checked(load: Callable[[], object], path: Path, name: str) -> None:
    """Import a module and check what it registers; an error names its file and line."""
    try:
        load()
        check_registered(name)
    except BrokenPaper:
        raise
    except (Exception, SystemExit) as error:
        _, line = own_place(error) or ("", 0)
        for registry in REGISTRIES:
            registry.forget(*(key for key, home in registry.registered().items() if home == name))
        sys.modules.pop(name, None)
        if isinstance(error, DpscoError):
            raise DpscoError(f"{path.name}{f', line {line}' if line else ''}: {error}") from error
        reason = f"{type(error).__name__}: {error}"
        reason += f", line {line}" if line and not isinstance(error, SyntaxError) else ""  # that one says it itself
        reason += LOOKED_FOR if isinstance(error, ModuleNotFoundError) else ""
        raise InputError("plugins", str(path), "a Python file that can be imported", reason) from error
