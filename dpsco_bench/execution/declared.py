"""Papers that installed packages declare and that nothing can use: each is named in a line, and others go on.

The registry's code is in every key. So this stands beside it, and changes no key.
"""

from __future__ import annotations

from collections import defaultdict
from importlib.metadata import entry_points
from importlib.util import find_spec

from dpsco_bench import registry
from dpsco_bench.errors import BrokenPaper, DpscoError, InputError

OURS = "dpsco_bench."
_LEFT_OUT: dict[str, DpscoError] = {}
_SEEN: list[dict[str, str]] = []


def check_declared() -> None:
    """Leave out, and name, papers whose package cannot be looked for, or that two distributions declare; once."""
    declared = registry._declared()
    if any(declared is seen for seen in _SEEN):
        return
    _SEEN[:] = [declared]
    _LEFT_OUT.clear()
    found = defaultdict[str, dict[str, str]](dict)
    for entry in entry_points(group=registry.GROUP):
        if entry.dist is not None:
            found[entry.name].setdefault(f"{entry.dist.name} {entry.dist.version}", entry.value)
    for name, package in list(declared.items()):
        by = {who: value for who, value in found[name].items() if not value.startswith(OURS)}
        shipped = next((value for value in (package, *found[name].values()) if value.startswith(OURS)), "")
        error = _clash(name, by, shipped) or (None if shipped else _fault(package))
        if shipped:
            declared[name] = shipped
        if error is None:
            continue
        if not shipped:
            del declared[name]
            _LEFT_OUT[name] = error
        registry.say_once(error)


def check_left_out(name: str) -> None:
    """Stop what needs something of a paper that was left out, by the line that was said of it.

    Parameters
    ----------
    name : str
        ``<paper>.<entry>``.
    """
    if name.partition(".")[0] in _LEFT_OUT:
        raise _LEFT_OUT[name.partition(".")[0]]


def _clash(name: str, by: dict[str, str], shipped: str) -> InputError | None:
    """What is wrong where two distributions declare one name; those of a paper that ships give way to it."""
    if len(by) + bool(shipped) < 2:
        return None
    who = " and ".join([*([shipped] if shipped else []), *sorted(by)])
    left = f"left out: {', '.join(sorted(by.values()))}"
    return InputError("paper", name, f"declared by one distribution only, not by {who}", left)


def _fault(package: str) -> BrokenPaper | None:
    """Why the folder of a package cannot be found without importing it; None where it can, or where it is gone."""
    try:
        find_spec(package)
        reason = "an entry point names a package, without an attribute" if ":" in package else ""
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        gone = isinstance(error, ModuleNotFoundError) and f"{package}.".startswith(f"{error.name}.")
        reason = "" if gone else " ".join(f"{type(error).__name__}: {error}".split())
    return BrokenPaper(package + registry._distribution(package), reason) if reason else None
