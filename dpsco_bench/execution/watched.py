"""What no plugin brought is checked like one: what installed papers and notebooks register, when it is asked for.

And nobody else's paper takes a name that ships, or a name with another paper's in front: its owner is looked for
before the name is given away. Whose an entry is, the code that registers it says, and not the entry: what wraps a
function that ships has its module too (`functools.wraps`).

The registry's code is in every key. So this stands beside it, and changes no key.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from functools import partial, wraps
from typing import Any

from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.execution.declared import check_declared, check_left_out
from dpsco_bench.registry import Registry, attempt, modules_in, papers, roots, say_once, source

CHECKED = ("algorithm", "problem", "fused run")
"""Kinds of entries that are checked."""
STYLE = "style of method"
"""Kind of entries that anybody may add for another paper: how figures show a label that it has not styled."""
OURS, TYPED = "dpsco_bench", "__main__"
"""The package of what ships, and the module of what a notebook or a script defines."""
_REFUSED: dict[tuple[str, str], DpscoError] = {}
_MAKERS: dict[tuple[str, str], tuple[str, ...]] = {}
"""Kind and name of an entry -> modules of the code that registered it, and of an algorithm of what gave its run."""


def watch() -> None:
    """From now on check what registries of this process give out: `own_code.check_entry`.

    What is wrong stops whatever needs it. Where all names are listed, it is said in a line and left out.
    """
    add, find, names = Registry.add, Registry.find, Registry.names

    @wraps(add)
    def unclaimed(self: Registry[Any], name: str, entry: Any, module: str) -> Any:
        if self.kind == STYLE:
            _load_owner(self, name, module.split(".")[0])
            return add(self, name, entry, module)
        if self.kind == "algorithm":
            _note_runs(type(entry))
        if makers := _makers():
            module = makers[0]
            if isinstance(getattr(entry, "module", None), str):
                object.__setattr__(entry, "module", module)  # what its results are found again by
        top = module.split(".")[0]
        if top != OURS and top in roots():
            _check_free(self, name, top)
        elif top != OURS:
            _check_prefix(self, name, partial(find, self))
        added = add(self, name, entry, module)
        if makers:  # and the name was free
            _MAKERS[self.kind, name] = makers
        return added

    @wraps(find)
    def checked(self: Registry[Any], name: str) -> Any:
        check_declared()
        entry = find(self, name)
        if entry is None:
            check_left_out(name)
        if entry is None and (self.kind, name) in _REFUSED:
            raise _REFUSED[self.kind, name]
        if entry is not None and self.kind in CHECKED and _is_foreign(name, self.registered()[name]):
            _check(self, name, entry)
        return entry

    @wraps(names)
    def usable(self: Registry[Any]) -> list[str]:
        check_declared()
        for name in names(self) if self.kind in CHECKED else ():
            if _is_foreign(name, self.registered()[name]):
                try:
                    self.find(name)
                except DpscoError as error:
                    say_once(error)
        return names(self)

    Registry.add, Registry.find, Registry.names = unclaimed, checked, usable  # type: ignore[method-assign]


def _note_runs(kind: Any) -> None:
    """From now on note who gives the algorithms of a class their runs; the class is known when the first is added."""
    if hasattr(kind.run, "__wrapped__"):
        return
    give = kind.run

    @wraps(give)
    def noted(self: Any, function: Any) -> Any:
        _MAKERS["algorithm", self.id] = (*makers_of("algorithm", self.id), *_makers())
        return give(self, function)

    kind.run = noted


def makers_of(kind: str, name: str) -> tuple[str, ...]:
    """Modules of the code that made an entry, wherever its functions are defined; none where that ships."""
    return _MAKERS.get((kind, name), ())


def makers_beside(modules: Collection[str]) -> set[str]:
    """Modules of the code that made what some modules registered besides algorithms and problems: learners, observers.

    A run finds them by options, and knows the modules that registered them and not their names.
    """
    found = (own for (kind, _), own in _MAKERS.items() if kind not in ("algorithm", "problem") and own[0] in modules)
    return {module for own in found for module in own}


def _makers() -> tuple[str, ...]:
    """Modules of the code that registers something, from the innermost to the one that is being run; none that ships.

    A function that registers what it is asked for is called by another module, whose arguments count as well.
    """
    frame, found = inspect.currentframe(), dict[str, None]()
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        ours = module.split(".")[0] == OURS
        if not ours:
            found[module] = None
        elif found and frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # what ships called it: a check, say, or a verb
            break
        if not frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # a module, not a function of one
            break
        frame = frame.f_back
    return tuple(found)


def _owner(name: str) -> str:
    """The paper in the prefix of a name, such as ``paper.method`` or ``paper_bounds``; empty if there is none."""
    prefix = name.partition(".")[0]
    longer = (paper for paper in papers() if prefix.startswith(f"{paper}_"))
    return prefix if prefix in papers() else next(longer, "")


def _load_owner(registry: Registry[Any], name: str, top: str) -> None:
    """Let the paper of a label style it first, whatever was asked for first: others add to what it leaves."""
    package = papers().get(_owner(name), "")
    if top != OURS and package and package.split(".")[0] != top:
        for module in modules_in(f"{package}.{registry.folder}"):
            attempt(module)


def _check_prefix(registry: Registry[Any], name: str, find: Callable[[str], Any]) -> None:
    """Refuse a name with a paper's in front to a file of one's own; one that the paper has is refused by `add`."""
    if (owner := _owner(name)) and find(name) is None:
        raise InputError(_key(registry), name, f"one without the name of a paper ({owner})")


def _key(registry: Registry[Any]) -> str:
    return f"{registry.kind} {'id' if registry.kind == 'algorithm' else 'name'}"


def _check_free(registry: Registry[Any], name: str, top: str) -> None:
    """Refuse a name of another paper, or of an entry that ships, to a paper in the package `top`."""
    key, last, owner = _key(registry), name.rpartition(".")[2], _owner(name)
    if owner and papers()[owner].split(".")[0] != top:
        raise InputError(key, name, f"one without the name of another paper ({owner})")
    shipped = [package for package in papers().values() if package.split(".")[0] == OURS]
    folders = [f"{package}.{registry.folder}" for package in shipped] + [f"{OURS}.{registry.core}"] * bool(
        registry.core
    )
    for module in (module for folder in folders for module in modules_in(folder)):
        if module.rpartition(".")[2] == last or f'"{last}"' in source(module) or f'"{name}"' in source(module):
            attempt(module)
    if registry.registered().get(name, "").split(".")[0] == OURS:
        raise InputError(key, name, f"one that no other {registry.kind} has")


def _is_foreign(name: str, module: str) -> bool:
    """Whether an entry is of a paper that does not ship, or of a notebook; plugins are checked as they are read."""
    root = module.split(".")[0]
    if root == OURS:
        return False
    foreign = {paper: package.split(".")[0] for paper, package in papers().items()}
    foreign = {paper: top for paper, top in foreign.items() if top != OURS}
    return root == TYPED or root in foreign.values() or name.partition(".")[0] in foreign


def _check(registry: Registry[Any], name: str, entry: Any) -> None:
    """Check an entry, and forget one that cannot be used: others need not stop at it."""
    from dpsco_bench.execution.own_code import check_entry

    try:
        check_entry(entry, name)
        return
    except DpscoError as error:
        found = error
    except (Exception, SystemExit) as error:
        found = _broken(registry.kind, name, error)
    _REFUSED[registry.kind, name] = found
    registry.forget(name)
    raise found


def _broken(kind: str, name: str, error: BaseException) -> DpscoError:
    """What an entry is told that cannot even be checked."""
    said = " ".join(f"{type(error).__name__}: {error}".split())
    return InputError(kind, name, f"one whose declaration can be read; reading it failed with {said}")
