"""The command line: one module per verb, imported only when it is asked for."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from dpsco_bench.errors import DpscoError, InputErrors, nearest
from dpsco_bench.registry import PLUGIN

BAD_INPUT = 2
DEBUG = "DPSCO_DEBUG"  # environment variable; where it is set, errors come with their traceback
_VERBS = Path(__file__).parent / "verbs"


class OneLineParser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        raise DpscoError(f"{self.prog.removeprefix('dpsco').strip()}: {' '.join(message.split())}; see {self.prog} -h")


def verb_names() -> list[str]:
    return sorted(path.stem for path in _VERBS.glob("*.py") if not path.stem.startswith("_"))


def load_verb(name: str) -> ModuleType:
    """Import the module of a verb: ``SUMMARY``, ``configure(parser)`` and ``execute(args) -> int``."""
    known = verb_names()
    if name not in known:
        raise DpscoError(f"verb = {name}: must be {nearest(name, known, 'dpsco help')}")
    return importlib.import_module(f"dpsco_bench.cli.verbs.{name}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb.

    Takes arguments without the program's name, by default those of the process. Returns the exit code: 0, 1 (a check
    failed), 2 (bad input, one line on stderr) or 130 (interrupted).
    """
    try:
        # In the locale C standard output is ASCII, and authors have accents.
        if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.encoding == "ascii":
            sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
        code = _dispatch(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        _stop_output()  # the reader (head, a pager) has gone
        return 0
    except KeyboardInterrupt:
        print("dpsco: interrupted", file=sys.stderr)
        return 130
    except Exception as error:
        line = _told(error)
        if not line:
            raise
        if isinstance(error, OSError) and not error.filename:  # perhaps of the output, on a full disk
            _stop_output()
        if os.environ.get(DEBUG):
            traceback.print_exc()
        print(f"dpsco: {line}", file=sys.stderr)
        return BAD_INPUT


def _stop_output() -> None:
    """Print nowhere from here on: the interpreter would try again at exit, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _told(error: Exception) -> str:
    """Tell an error of the user, of the machine or of a plug-in in one line; empty for one of ours.

    The line of a plug-in or paper in which it arose is named in brackets, unless the error does.
    """
    parts = str(error).split("\n  ") if isinstance(error, InputErrors) else [str(error)]
    what, where = "\n  ".join(" ".join(part.split()) for part in parts), ""
    if "dpsco_bench.execution.plugins" in sys.modules:
        from dpsco_bench.execution.plugins import own_place

        file, line = own_place(error) or ("", 0)
        place = f"{Path(file).name}, line {line}"
        where = f" ({place})" if file and place not in what else ""
    if isinstance(error, DpscoError):
        return what + where
    if isinstance(error, OSError) and error.errno is not None:  # no right, no place, a folder that cannot be made
        name = f"file = {error.filename!r}:" if error.filename else "a file, or the output,"
        return f"{name} must be one that can be read or written here ({error.strerror})"
    if type(error).__module__.startswith(("hydra.", "omegaconf.")):
        return f"configuration: {what}"
    if isinstance(error, MemoryError):
        return f"not enough memory: {what}"
    own = [str(module.__file__) for name, module in sys.modules.items() if name.startswith(PLUGIN)]
    if not own and not where:
        return ""
    who = f"plugins = {', '.join(own)}" if own else "a paper"
    said = f"{type(error).__name__}: {what}{where or f' ({DEBUG}=1 shows where)'}"
    return f"{who}: failed, or what it returned did: {said}"


def _dispatch(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print("\n".join(_usage()))
        return 0 if arguments else BAD_INPUT
    if arguments[0] in ("-V", "--version"):
        from dpsco_bench import __version__

        print(f"dpsco_bench {__version__}")
        return 0
    os.environ["MPLBACKEND"] = "agg"  # figures are files, whatever a shell prefers for its windows
    for library in ("OPENBLAS", "OMP", "MKL"):  # before a verb loads NumPy: its BLAS reads them then, and never again
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")  # cores are the workflow's, and results must not depend
    return _execute(load_verb(arguments[0]), arguments)


def _execute(verb: ModuleType, arguments: list[str]) -> int:
    raw = argparse.RawDescriptionHelpFormatter
    parser = OneLineParser(f"dpsco {arguments[0]}", description=verb.SUMMARY, formatter_class=raw, allow_abbrev=False)
    parser.epilog = getattr(verb, "EPILOG", "")
    if "{" in parser.epilog and {"-h", "--help"} & set(arguments):
        from dpsco_bench.cli.overrides import example_names

        parser.epilog = parser.epilog.format(**example_names())
    verb.configure(parser)
    nested = any(a.nargs in (argparse.PARSER, argparse.REMAINDER) for a in parser._get_positional_actions())
    try:  # options and positionals in any order, where the verb's parser allows it
        parsed = (parser.parse_args if nested else parser.parse_intermixed_args)(arguments[1:])
    except SystemExit as leaving:  # -h of a verb
        return int(leaving.code or 0)
    if getattr(parsed, "plugin", ()):
        from dpsco_bench.execution.plugins import load_plugins

        load_plugins(parsed.plugin)
    return int(verb.execute(parsed))


def _usage() -> Iterator[str]:
    yield "usage: dpsco VERB ...   (or python -m dpsco_bench VERB ...)\n"
    names = verb_names()
    for name in names:  # not imported: help answers at once
        text = (_VERBS / f"{name}.py").read_text(encoding="utf-8")
        (summary,) = re.findall(r'^SUMMARY = "(.*)"$', text, re.MULTILINE)
        yield f"  {name:<{max(map(len, names))}}  {summary}"
    yield "\ndpsco VERB -h explains a verb; every verb that prints takes --json"
    yield f"{DEBUG}=1 adds tracebacks to errors"
