"""Hydra overrides as users write them, made complete: plain keys find their place, wrong ones are named in one line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpsco_bench.algorithms.registry import Algorithm, get_algorithm, list_algorithms
from dpsco_bench.cli.options import parse_value
from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.execution.plugins import load_plugins
from dpsco_bench.execution.request import (
    CONSTANT,
    CONSTANTS,
    PROBLEM,
    SCHEDULE,
    known_keys,
    place_of,
    problem_options,
    unknown_key,
)
from dpsco_bench.paths import conf_dir
from dpsco_bench.problems.base import Problem
from dpsco_bench.problems.registry import list_problems, problem_class

GROUPS = ("algorithm", "problem", "calibration", "backend")
SETTINGS = ("n", "d", "epsilon", "delta", "replicates", "data_sets", "seed", "record", "out", "plugins")
NESTED = ("data.root", "algorithm.variant", "backend.dtype")
HYDRA_GROUPS = tuple(
    f"hydra.{name}" for name in ("launcher", "sweeper", "job_logging", "hydra_logging", "help", "output")
)
"""Groups of Hydra's own configuration: a name given to the node itself breaks Hydra off."""
SWEEPER_PARAMS = "hydra.sweeper.params"
"""Sweeps that Hydra would read from there are not checked before they run."""
DEFAULTS = {"algorithm": "wang2017/dp_gd_pl", "problem": "ridge_logistic"}


@dataclass(frozen=True)
class Parsed:
    """One override: its key, the text after ``=``, and whether it sweeps.

    Attributes
    ----------
    sign : str
        ``+``, ``++``, ``~`` or empty.
    key, text : str
        As written.
    values : tuple of str
        The values it takes: one, or those of a sweep.
    sweep : bool
        Whether it is a sweep.
    """

    sign: str
    key: str
    text: str
    values: tuple[str, ...]
    sweep: bool

    def __str__(self) -> str:
        """The override as Hydra reads it."""
        return f"{self.sign}{self.key}" + ("" if self.sign == "~" and not self.text else f"={self.text}")


def complete(arguments: Sequence[str]) -> list[Parsed]:
    """Parse overrides, load their plugins, resolve groups and plain keys.

    Parameters
    ----------
    arguments : sequence of str
        ``key=value`` in Hydra's grammar, or with plain keys of the algorithm or the problem (``theta=0.01``).

    Returns
    -------
    list of Parsed
        Overrides that Hydra accepts.

    Raises
    ------
    InputError
        For a malformed override, an unknown key, or a group option that does not exist.
    """
    parsed = [parse_override(argument) for argument in arguments]
    for override in parsed:
        if override.key == "plugins":
            load_plugins(listed_files(override))
    chosen = [_group_override(o) if o.key in GROUPS and not o.sign else o for o in parsed]
    named = {o.key: o.values for o in chosen}
    algorithms = [get_algorithm(id) for id in named.get("algorithm", (DEFAULTS["algorithm"],))]
    problems = [problem_class(name) for name in named.get("problem", (DEFAULTS["problem"],))]
    return [_placed(override, algorithms, problems) for override in chosen]


def parse_override(argument: str) -> Parsed:
    """Parse one override with Hydra's own grammar.

    Raises
    ------
    InputError
        In one line, where Hydra takes several.
    """
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    try:
        override = OverridesParser.create().parse_override(argument)
        sweep = override.is_sweep_override()
        if sweep and not override.is_discrete_sweep():
            raise ValueError("\nan interval is no list of values: give them, or range(first,end,step)")
        values = tuple(override.sweep_string_iterator()) if sweep else ()
    except (HydraException, ValueError) as error:
        reason = next((line for line in str(error).splitlines()[1:] if line), "not in Hydra's grammar")
        raise InputError("argument", argument, f"key=value ({reason})") from None
    if sweep and not values:
        raise InputError("argument", argument, "a sweep with at least one value")
    twice = [value for number, value in enumerate(values) if value in values[:number]]
    if twice:
        raise InputError("argument", argument, f"a sweep over different values; {twice[0]} is there twice")
    sign = next((s for s in ("++", "+", "~") if argument.lstrip().startswith(s)), "")
    key, _, text = argument.lstrip().removeprefix(sign).partition("=")
    if not key.strip():
        raise InputError("argument", argument, "of the form key=value")
    return Parsed(sign, key.strip(), text, values or (text,), sweep)


def listed_files(override: Parsed) -> list[str]:
    """The files of ``plugins=[a.py,b.py]`` or ``claims=[a.yaml]``.

    Raises
    ------
    InputError
        If the value is not a list.
    """
    text = override.text.strip()
    if override.sweep or not (text.startswith("[") and text.endswith("]")):
        raise InputError(override.key, text, f"a list of files, {override.key}=[FILE,...]")
    return [item.strip().strip("'\"") for item in text[1:-1].split(",") if item.strip()]


def file_list(key: str, files: Iterable[str | Path]) -> str:
    """The override that `listed_files` reads.

    Raises
    ------
    InputError
        For a name that the override's grammar cannot hold.
    """
    names = [str(file) for file in files]
    for name in names:
        if set(name) & set("',\"[]"):
            raise InputError(key, name, "a file whose name has no quote, comma or bracket")
    return f"{key}=[" + ",".join(f"'{name}'" for name in names) + "]"


def _group_override(override: Parsed) -> Parsed:
    """Check the options of a group; ids may be written ``paper.name``."""
    if override.text.startswith("glob("):
        raise InputError(override.key, override.text, "names, separated by commas")
    names = tuple(_group_option(override.key, value.strip().strip("'\"")) for value in override.values)
    if len(set(names)) < len(names):
        raise InputError(override.key, override.text, "different ones")
    return Parsed("", override.key, ",".join(names), names, override.sweep)


def _group_option(group: str, value: str) -> str:
    name = value.replace(".", "/", 1) if group == "algorithm" else value
    if (conf_dir() / group / f"{name}.yaml").is_file() and value:
        return name
    known = {"algorithm": list_algorithms, "problem": list_problems}.get(group, lambda: _files(group))()
    if name.replace("/", ".", 1) not in known:
        raise InputError(group, value, "one of " + ", ".join(known))
    _store(group, name)
    return name


def _files(group: str) -> list[str]:
    return sorted(path.stem for path in (conf_dir() / group).glob("*.yaml"))


def _store(group: str, name: str) -> None:
    """Make a registered algorithm or problem without a file of its own known to Hydra."""
    from hydra.core.config_store import ConfigStore

    if group == "algorithm":
        folder, _, leaf = name.partition("/")
        node: dict[str, Any] = {"id": f"{folder}.{leaf}", "variant": None, "options": {}}
        ConfigStore.instance().store(group=f"algorithm/{folder}", name=leaf, node=node)
    else:
        ConfigStore.instance().store(group="problem", name=name, node={"name": name, "options": {}})


def _placed(override: Parsed, algorithms: Sequence[Algorithm], problems: Sequence[type[Problem]]) -> Parsed:
    """Give a plain key its prefix; refuse what nothing knows."""
    key = override.key
    if key in HYDRA_GROUPS:
        raise InputError(key, override.text, f"written as a group of Hydra, {key.replace('.', '/')}=NAME")
    if key == SWEEPER_PARAMS or key.startswith(f"{SWEEPER_PARAMS}."):
        name = key.removeprefix(SWEEPER_PARAMS).lstrip(".") or "n"
        raise InputError(key, override.text, f"written as a sweep of its own, -m {name}=VALUE,VALUE")
    if key in GROUPS or key in SETTINGS or key in NESTED or key.startswith(("hydra.", "hydra/")):
        return override
    prefix, _, name = key.rpartition(".")
    pairs = [(a, p) for a in algorithms for p in problems]
    if prefix and prefix not in (SCHEDULE, PROBLEM, CONSTANT):
        raise _unknown(override, pairs)
    places = {place for a, p in pairs for place in [_place(prefix, name, a, p)] if place}
    if not places:
        raise _unknown(override, pairs)
    if len(places) > 1:
        raise InputError(key, override.text, "written " + " or ".join(f"{place}.{name}" for place in sorted(places)))
    return Parsed("++", f"{places.pop()}.{name}", override.text, override.values, override.sweep)


def _place(prefix: str, name: str, algorithm: Algorithm, problem: type[Problem]) -> str:
    known = {
        SCHEDULE: algorithm.options,
        PROBLEM: {*problem_options(problem), "constants"},
        CONSTANT: CONSTANTS,
    }
    if prefix:
        return prefix if name in known[prefix] else ""
    return place_of(name, algorithm, problem)


def _unknown(override: Parsed, pairs: Iterable[tuple[Algorithm, type[Problem]]]) -> DpscoError:
    known = [*SETTINGS, *GROUPS, *NESTED, *(key for a, p in pairs for key in known_keys(a, p))]
    return unknown_key(override.key, parse_value(override.text), dict.fromkeys(known))
