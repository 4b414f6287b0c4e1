"""Arguments that several verbs share, and how ``key=value`` is read."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dpsco_bench.errors import InputError

_INTEGER = re.compile(r"[+-]?\d{1,999}")
_REAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(inf|nan)", re.IGNORECASE)
_WORDS = {"true": True, "false": False, "null": None, "none": None}


def add_json(parser: argparse.ArgumentParser) -> None:
    """``--json``."""
    parser.add_argument("--json", action="store_true", help="print JSON (NaN is null, infinity is the string inf)")


def add_plugins(parser: argparse.ArgumentParser) -> None:
    """``--plugin FILE``, repeatable."""
    parser.add_argument(
        "--plugin",
        action="append",
        default=[],
        metavar="FILE",
        help="Python file that registers algorithms or problems",
    )


def load_plugin_files(paths: Iterable[str | Path]) -> None:
    """Import plugins, if there are any: nothing is imported otherwise."""
    files = list(paths)
    if files:
        from dpsco_bench.execution.plugins import load_plugins

        load_plugins(files)


def parse_value(text: str) -> Any:
    """Read a value as a user writes it: integer, real number, true, false, null, or text."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _REAL.fullmatch(text) else text


def parse_keys(arguments: Iterable[str]) -> dict[str, Any]:
    """Read ``key=value`` arguments.

    Raises
    ------
    InputError
        For an argument of another form, or a key given twice.
    """
    keys: dict[str, Any] = {}
    for argument in arguments:
        key, equals, text = argument.partition("=")
        if not equals or not key:
            raise InputError("argument", argument, "of the form key=value")
        if key in keys:
            raise InputError(key, text, "given once")
        keys[key] = parse_value(text)
    return keys
