"""Hydra overrides as users write them, made complete: plain keys find their place, wrong ones are named in one line."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dpsco_bench.algorithms.registry import Algorithm, get_algorithm, list_algorithms
from dpsco_bench.claims.catalogue import CLAIM_SUFFIXES, own_claims
from dpsco_bench.claims.files import read_shipped
from dpsco_bench.cli.console import Override, full_id, parse_override, parse_value, quoted, single_values
from dpsco_bench.errors import InputError
from dpsco_bench.execution import request
from dpsco_bench.execution.plugins import OPTION_TYPES, load_plugins
from dpsco_bench.paths import conf_dir
from dpsco_bench.plain import Options
from dpsco_bench.problems.base import Problem
from dpsco_bench.problems.registry import list_problems, problem_class
from dpsco_bench.registry import absent_paper

GROUPS = ("algorithm", "problem", "calibration", "backend")
SETTINGS = ("n", "d", "epsilon", "delta", "replicates", "data_sets", "seed", "record", "out", "plugins")
NESTED = ("data.root", "algorithm.variant", "backend.dtype", "backend.fused")
FOLDERS = {False: "hydra.run.dir", True: "hydra.sweep.dir"}
"""Hydra's key for the folder of results, by whether it is a sweep."""
LAUNCHER = (
    "hydra/launcher=NAME, its settings hydra.launcher.KEY=VALUE, or a folder: hydra.sweep.dir (-m) or hydra.run.dir"
)
"""Keys of Hydra's own configuration that may be set: others would run unchecked, or put files elsewhere."""
CHOICES = {
    "backend": ("numpy", "cupy"),
    "backend.dtype": ("float64", "float32"),
    "backend.fused": ("true", "false"),
    "stages": ("true", "false"),
}
PLAN_SETTINGS = {
    "seed": "an integer >= 0",
    **{key: " or ".join(values) for key, values in CHOICES.items()},
    "data.root": "a folder",
    "plugins": "a list of Python files, plugins=[FILE,...]",
    "claims": "a list of YAML files, claims=[FILE,...]",
    "boards": "a list of YAML files, boards=[FILE,...]",
}
"""Keys of ``conf/plan.yaml`` that verbs over claims and leaderboards take -> what each may be."""


def complete(arguments: Sequence[str]) -> list[Override]:
    """Parse overrides, load their plugins, resolve groups and plain keys of the algorithm or the problem.

    Raises InputError for a malformed override, an unknown key, one that is given twice, or a group option that does not
    exist.
    """
    for argument in arguments:
        if argument.partition("=")[0].strip(" +") == "plugins":
            load_plugins(listed_files(parse_override(argument)))
    parsed = [parse_override(_written_out(argument)) for argument in arguments]
    store_options()
    chosen = [_group_override(o) if o.key in GROUPS and not o.sign else o for o in parsed]
    named = {o.key: o.values for o in chosen}
    algorithms = [*map(get_algorithm, named.get("algorithm") or [default_name("algorithm")])]
    problems = [*map(problem_class, named.get("problem") or [default_name("problem")])]
    placed = [_placed(override, algorithms, problems) for override in chosen]
    seen: set[str] = set()
    for given, override in zip(chosen, placed, strict=True):  # Hydra would take the last
        if not given.sign and override.key in seen:
            raise InputError(override.key, override.text, "given once")
        seen.add(override.key)
    return placed


def default_name(group: str) -> str:
    """Read the default of a key from ``conf/run.yaml``."""
    entries = read_shipped(conf_dir() / "run.yaml")["defaults"]
    name = next(str(entry[group]) for entry in entries if isinstance(entry, Mapping) and group in entry)
    if absent_paper(name):
        raise InputError(group, "missing", f"given: {group}=NAME (`dpsco list {group}s` shows all)")
    return name


def example_names() -> dict[str, str]:
    """Names for examples: the defaults of a run, or where their paper is gone any algorithm, or words."""
    try:
        algorithm, problem = default_name("algorithm").replace("/", ".", 1), default_name("problem")
    except InputError:
        algorithm, problem = next(iter(list_algorithms()), "PAPER.NAME"), "NAME"
    paper, group = algorithm.partition(".")[0], algorithm.replace(".", "/", 1)
    return {"algorithm": algorithm, "group": group, "problem": problem, "paper": paper}


def listed_files(override: Override) -> list[str]:
    """List the files of ``plugins=[a.py,b.py]`` or ``claims=[a.yaml]``. Raises InputError if it is no list."""
    if not isinstance(override.value, list):
        raise InputError(override.key, override.text.strip(), f"a list of files, {override.key}=[FILE,...]")
    return [str(item) for item in override.value]


def file_list(key: str, files: Iterable[str | Path]) -> str:
    """Write the override that `listed_files` reads."""
    return f"{key}=[{','.join(map(quoted, files))}]"


def listed_by(settings: Iterable[str], key: str) -> list[str]:
    return [file for given in map(parse_override, settings) if given.key == key for file in listed_files(given)]


def extended(settings: Sequence[str], key: str, files: Sequence[str]) -> list[str]:
    """Add files to those that settings list under a key."""
    kept = [text for text in settings if not files or parse_override(text).key != key]
    return [*kept, *([file_list(key, dict.fromkeys([*listed_by(settings, key), *files]))] if files else [])]


def asked_ids(
    arguments: Sequence[str],
    plugins: Sequence[str],
    key: str,
    known: Iterable[str],
    find: Callable[[str, list[str]], list[str]],
) -> tuple[list[str], list[str], list[str]]:
    """Sort arguments into ids, each once, and checked settings.

    A file (of ``key``, claims or boards) stands for its own id, and ``find`` gives the ids that any other name stands
    for, among the ``known`` ids and those of files. Returns these ids too, before the settings.
    """
    names = [text for text in arguments if "=" not in text or Path(text).is_file()]
    files = [name for name in names if name.endswith(CLAIM_SUFFIXES)]
    settings = extended([text for text in arguments if text not in names], "plugins", plugins)
    settings, read = check_settings(extended(settings, key, files)), _readers()[key]
    choice = [*known, *read(listed_by(settings, key))]
    found = [id for name in names for id in (read([name]) if name in files else find(name, choice))]
    return list(dict.fromkeys(found)), choice, settings


def _readers() -> dict[str, Callable[[list[str]], Any]]:
    """Key of a list of files -> what reads them; claims and boards may name what plugins have."""
    from dpsco_bench.leaderboard.board import own_boards  # loads Arrow

    return {"plugins": load_plugins, "claims": own_claims, "boards": own_boards}


def check_settings(overrides: Iterable[str]) -> list[str]:
    """Check overrides of ``conf/plan.yaml`` and load their plugins.

    Raises InputError for another key than those of `PLAN_SETTINGS`, one given twice, or a value that they do not take.
    """
    given = single_values(overrides)
    for key, override in given.items():
        if key not in PLAN_SETTINGS:
            allowed = f"one of the settings {', '.join(PLAN_SETTINGS)}; claims are fixed by their files"
            raise InputError(key, override.text, allowed)
        fits = override.text in CHOICES[key] if key in CHOICES else bool(override.text)
        if key == "seed":
            seed = parse_value(override.text)
            fits = type(seed) is int and seed >= 0
        if not fits:
            raise InputError(key, override.text, PLAN_SETTINGS[key])
    for key, read in _readers().items():
        if key in given:
            read(listed_files(given[key]))
    return [*map(str, given.values())]


def _written_out(argument: str) -> str:
    """List the names that ``GROUP=glob(PATTERN)`` stands for: Hydra's own looks for files, and names are registered."""
    from hydra.core.override_parser.overrides_parser import OverridesParser

    group, _, text = argument.strip().partition("=")
    if group not in GROUPS or not text.startswith("glob("):
        return argument
    pattern: Any = OverridesParser.create().parse_override(f"{group}={text}").value()
    found = [name for name in _names(group) if pattern.filter([name, name.replace(".", "/", 1)])]
    if not found:
        raise InputError(group, text, "a pattern that some names match")
    return f"{group}={','.join(found)}"


def _names(group: str) -> list[str]:
    if group in ("algorithm", "problem"):
        return list_algorithms() if group == "algorithm" else list_problems()
    return sorted(path.stem for path in (conf_dir() / group).glob("*.yaml"))


def _group_override(override: Override) -> Override:
    """Check the options of a group; ids may be written ``paper.name``, or ``name``."""
    group, given = override.key, [value.strip().strip("'\"") for value in override.values]
    known = _names(group)
    if group == "algorithm":
        names = tuple(get_algorithm(full_id(value)).id.replace(".", "/", 1) for value in given)
    elif group == "problem":
        names = tuple(problem_class(value).name for value in given)
    elif unknown := [value for value in given if value not in known]:
        raise InputError(group, unknown[0], "one of " + ", ".join(known))
    else:
        names = tuple(given)
    if len(set(names)) < len(names):
        raise InputError(override.key, override.text, "different ones")
    return Override("", override.key, ",".join(names), names, override.sweep)


def store_options() -> None:
    """Give Hydra every registered algorithm and problem, with the options and defaults of its signature."""
    from hydra.core.config_store import ConfigStore

    store = ConfigStore.instance().store
    for id in list_algorithms():
        paper, _, name = id.partition(".")
        node = {"id": id, "variant": None, "options": _defaults(get_algorithm(id).options)}
        store(group=f"algorithm/{paper}", name=name, node=node)
    for name in list_problems():
        cls = problem_class(name)
        place = {"root": "${data.root}"} if cls.needs_data_root else {}
        options = {**_defaults(request.problem_options(cls)), **place}
        store(group="problem", name=name, node={"name": name, "options": options})


def _defaults(parameters: Mapping[str, inspect.Parameter]) -> Options:
    """Defaults that a configuration can hold; another option is one only where it is given."""
    return {key: p.default for key, p in parameters.items() if isinstance(p.default, OPTION_TYPES)}


def _placed(override: Override, algorithms: Sequence[Algorithm], problems: Sequence[type[Problem]]) -> Override:
    """Give a plain key its prefix; refuse what nothing knows."""
    key = override.key
    launching = key in FOLDERS.values() or key == "hydra/launcher" or key.startswith("hydra.launcher.")
    if key.startswith(("hydra.", "hydra/")) and not launching:
        raise InputError(key, override.text, LAUNCHER)
    if launching or key in GROUPS or key in SETTINGS or key in NESTED:
        return override
    prefix, _, name = key.rpartition(".")
    pairs = [(algorithm, problem) for algorithm in algorithms for problem in problems]
    places = set[str]()
    for algorithm, problem in pairs:
        options: Mapping[str, Collection[str]] = {
            request.SCHEDULE: algorithm.options,
            request.PROBLEM: {*request.problem_options(problem), "constants"},
            request.CONSTANT: request.CONSTANTS,
        }
        place = prefix if name in options.get(prefix, ()) else ""
        places.add(place if prefix else request.place_of(name, algorithm, problem))
    places.discard("")
    if not places:
        known = [*SETTINGS, *GROUPS, *NESTED, *(key for a, p in pairs for key in request.known_keys(a, p))]
        value = override.text if override.sweep else override.value
        raise request.unknown_key(key, value, known, algorithms[0].id, problems[0].name)
    if len(places) > 1:
        raise InputError(key, override.text, "written " + " or ".join(f"{place}.{name}" for place in sorted(places)))
    return Override("++", f"{places.pop()}.{name}", override.text, override.values, override.sweep)
