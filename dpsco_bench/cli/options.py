"""Arguments that several verbs share, and the one grammar of ``key=value``: Hydra's."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dpsco_bench.errors import InputError, integral

SHARED: dict[str, dict[str, Any]] = {
    "profile": {"default": "ci", "help": "smoke, ci or full (default: ci)"},
    "json": {"action": "store_true", "help": "print JSON (NaN is null, infinity is the string inf)"},
    "plugin": {
        "action": "append",
        "default": [],
        "metavar": "FILE",
        "help": "Python file that registers algorithms, problems and so on, or folder of a paper's package",
    },
}
"""Options that several verbs have -> what `argparse` makes of them."""


def add_shared(parser: argparse.ArgumentParser, *names: str) -> None:
    for name in names:
        parser.add_argument(f"--{name}", **SHARED[name])


def add_algorithm(parser: argparse.ArgumentParser, keys: str) -> None:
    """Add the algorithm and its keys, for `algorithm_keys`."""
    parser.add_argument("algorithm", help="paper.name, or algorithm=paper/name as `dpsco run` takes it")
    parser.add_argument("keys", nargs="*", metavar="key=value", help=keys)


def full_id(name: str) -> str:
    """Id of the one algorithm whose name this is, as rankings show it; any other text as it is."""
    from dpsco_bench.algorithms.registry import list_algorithms

    alone = [] if set(name) & {".", "/"} else [id for id in list_algorithms() if id.partition(".")[2] == name]
    return alone[0] if len(alone) == 1 else name


def algorithm_keys(first: str, others: Iterable[str]) -> tuple[str, dict[str, Any]]:
    """Id of the algorithm, which stands first or is the value of ``algorithm=``, and the other keys.

    Raises InputError for one that is unknown, missing or named twice, and as `parse_keys`.
    """
    from dpsco_bench.algorithms.registry import get_algorithm

    keys = parse_keys([first if "=" in first else f"algorithm={first}", *others])
    if "algorithm" not in keys:
        raise InputError("algorithm", "missing", "given: `dpsco list algorithms` shows all")
    return get_algorithm(full_id(str(keys.pop("algorithm")))).id, keys


def add_checked_algorithm(parser: argparse.ArgumentParser, keys: str) -> None:
    """Add the arguments of `checked_algorithm`, and a seed."""
    add_algorithm(parser, keys)
    parser.add_argument("--calibration", help="paper or accounted (default); as the key calibration=")
    parser.add_argument("--seed", default="2017", help="root of all randomness (default 2017)")
    add_shared(parser, "json", "plugin")


def checked_algorithm(args: argparse.Namespace) -> tuple[str, str, dict[str, Any]]:
    """Id of the algorithm, calibration (accounted where neither key nor option says another) and the other keys.

    Raises InputError as `algorithm_keys`, and for two calibrations.
    """
    algorithm, keys = algorithm_keys(args.algorithm, args.keys)
    args.seed = str(keys.pop("seed", args.seed))  # a key of `run`, and an option of the verbs that read this
    if args.calibration and "calibration" in keys:
        raise InputError("calibration", keys["calibration"], f"given once; --calibration {args.calibration} is there")
    return algorithm, str(keys.pop("calibration", args.calibration or "accounted")), keys


@dataclass(frozen=True)
class Override:
    """One ``key=value`` with its sign (``+``, ``++``, ``~`` or none), the text after ``=``, and the texts of a sweep.

    The value is what a text stands for: a number, true, false, null, text, a list or a mapping; None for a sweep.
    """

    sign: str
    key: str
    text: str
    values: tuple[str, ...]
    sweep: bool
    value: Any = None

    def __str__(self) -> str:
        """Return the override as Hydra reads it."""
        return f"{self.sign}{self.key}" + ("" if self.sign == "~" and not self.text else f"={self.text}")


def parse_override(argument: str) -> Override:
    """Parse one argument with Hydra's own grammar. Raises InputError in one line, where Hydra takes several."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    key, _, text = argument.partition("=")
    if not text.isascii() and not set(text) & set("'\"[{,"):
        argument = f"{key}={quoted(text)}"  # Hydra's grammar has no letters beyond ASCII
    try:
        override = OverridesParser.create().parse_override(argument)
        sweep = override.is_sweep_override()
        values = tuple(override.sweep_string_iterator()) if sweep and override.is_discrete_sweep() else ()
    except (HydraException, ValueError):
        raise InputError("argument", argument, f"of the form key=value{_quoting(argument)}") from None
    if sweep and not override.is_discrete_sweep():
        raise InputError("argument", argument, "key=value,value or range(first,end,step): an interval lists no values")
    if sweep and not values:
        raise InputError("argument", argument, "a sweep with at least one value")
    if twice := [value for number, value in enumerate(values) if value in values[:number]]:
        raise InputError("argument", argument, f"a sweep over different values; {twice[0]} is there twice")
    sign = next((s for s in ("++", "+", "~") if argument.lstrip().startswith(s)), "")
    key, _, text = argument.lstrip().removeprefix(sign).partition("=")
    if not key.strip():
        raise InputError("argument", argument, "of the form key=value")
    return Override(sign, key.strip(), text, values or (text,), sweep, None if sweep else override.value())


def quoted(text: object) -> str:
    """Quote a text, such as the path of a file, for Hydra's grammar."""
    return "'" + str(text).replace("'", "\\'") + "'"


def _quoting(argument: str) -> str:
    """How a value with characters that mean something to Hydra or are unknown to it is written."""
    key, equals, text = argument.partition("=")
    if not key or not equals or not text or set(text) & set("'\""):
        return ""
    if text.startswith("["):
        return "; texts with = ~ # & or accents stand in quotes, as in '" + key + '=["a=b"]\''
    return f"; a text with = ~ # & brackets or accents stands in quotes: '{key}=\"{text}\"'"


def parse_value(text: str) -> Any:
    """Read a value as it is read after ``key=``; text that has no meaning there stays text."""
    try:
        return integral(parse_override(f"value={text}").value)
    except InputError:
        return text


def single_values(arguments: Iterable[str]) -> dict[str, Override]:
    """Read ``key=value`` arguments, each with one value.

    Raises InputError for an argument of another form, or a key given twice.
    """
    found: dict[str, Override] = {}
    for parsed in map(parse_override, arguments):
        if parsed.sign or parsed.sweep:
            raise InputError(parsed.sign + parsed.key, parsed.text, f"one value, {parsed.key}=VALUE")
        if parsed.key in found:
            raise InputError(parsed.key, parsed.text, "given once")
        found[parsed.key] = parsed
    return found


def parse_keys(arguments: Iterable[str]) -> dict[str, Any]:
    return {key: parsed.value for key, parsed in single_values(arguments).items()}
