"""The command line: one module per verb, imported only when it is asked for."""

from __future__ import annotations

import argparse
import ast
import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from dpsco_bench.errors import DpscoError, nearest
from dpsco_bench.registry import PLUGIN

BAD_INPUT = 2
INTERRUPTED = 130
LONGEST = 2000
"""Characters of an error: a value that a file of megabytes gives is not told in full."""
DEBUG = "DPSCO_DEBUG"
"""Environment variable; where it is set, errors come with their traceback."""
_VERBS = Path(__file__).parent / "verbs"


class UsageError(DpscoError):
    """Arguments that a verb does not take."""


class OneLineParser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage."""
        raise UsageError(f"{self.prog.removeprefix('dpsco').strip()}: {' '.join(message.split())}; see {self.prog} -h")


def _cut(line: str) -> str:
    """A line without its middle where it is very long: what is wrong stands at its head, what is allowed at its end."""
    return line if len(line) <= LONGEST else f"{line[: LONGEST // 2]} ... {line[-LONGEST // 3 :]}"


def verb_names() -> list[str]:
    """Names of all verbs."""
    return sorted(path.stem for path in _VERBS.glob("*.py") if not path.stem.startswith("_"))


def load_verb(name: str) -> ModuleType:
    """Import the module of a verb: ``SUMMARY``, ``configure(parser)`` and ``execute(args) -> int``.

    Raises UsageError for an unknown verb.
    """
    known = verb_names()
    if name not in known:
        raise UsageError(f"verb = {name}: must be {nearest(name, known, 'dpsco help')}")
    return importlib.import_module(f"dpsco_bench.cli.verbs.{name}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb.

    Parameters
    ----------
    argv : sequence of str, optional, arguments without the program's name; by default those of the process

    Returns
    -------
    int
        Exit code: 0, 1 (a check failed), 2 (bad input, one line on stderr) or 130 (interrupted).
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
        return code
    except DpscoError as error:
        if os.environ.get(DEBUG):
            traceback.print_exc()
        print(f"dpsco: {_cut(' '.join(str(error).split()))}{_own_place(error)}", file=sys.stderr)
        return BAD_INPUT
    except PermissionError as error:
        print(f"dpsco: file = {error.filename!r}: must be one that may be read or written here", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:
        # The reader (head, a pager) has gone; without this the interpreter would complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.errno is None or os.environ.get(DEBUG):
            raise
        if error.filename is None and not _is_read():
            error.filename = "the output"
        print(f"dpsco: {failed_file(error)}", file=sys.stderr)
        return BAD_INPUT
    except MemoryError as error:
        print(f"dpsco: not enough memory: {' '.join(str(error).split())}", file=sys.stderr)
        return BAD_INPUT
    except Exception as error:
        own = [str(module.__file__) for name, module in sys.modules.items() if name.startswith(PLUGIN)]
        where = _own_place(error)
        if not (own or where) or os.environ.get(DEBUG):
            raise
        what = " ".join(f"{type(error).__name__}: {error}".split())
        who = f"plugins = {', '.join(own)}" if own else "a paper"
        said = where or f" ({DEBUG}=1 shows where)"
        print(f"dpsco: {who}: failed, or what it returned did: {what}{said}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("dpsco: interrupted", file=sys.stderr)
        return INTERRUPTED


def _is_read() -> bool:
    """Whether what was printed can still be written; if not, the interpreter need not try again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


def failed_file(error: OSError) -> str:
    """A file that the system refuses to read or write: no place, a full disk, a folder that cannot be made."""
    reason = " ".join(str(error.strerror or error).split())
    name = f"file = {error.filename!r}: must be" if error.filename else "a file, or the output, must be"
    return f"{name} one that can be read or written here ({reason})"


def _own_place(error: BaseException) -> str:
    """Name the line of a plug-in or paper in which an error arose, in brackets, unless the error does."""
    if "dpsco_bench.execution.plugins" not in sys.modules:
        return ""
    from dpsco_bench.execution.own import own_place

    file, line = own_place(error) or ("", 0)
    place = f"{Path(file).name}, line {line}"
    return f" ({place})" if file and place not in str(error) else ""


def _dispatch(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(_usage())
        return 0 if arguments else BAD_INPUT
    if arguments[0] in ("-V", "--version"):
        from dpsco_bench import __version__

        print(f"dpsco_bench {__version__}")
        return 0
    _pin_threads()  # before a verb loads NumPy: its BLAS reads them then, and never again
    verb = load_verb(arguments[0])
    parser = OneLineParser(
        prog=f"dpsco {arguments[0]}",
        description=verb.SUMMARY,
        epilog=_epilog(verb) if {"-h", "--help"} & set(arguments) else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    verb.configure(parser)
    try:
        parsed = _parse(parser, arguments[1:])
    except SystemExit as leaving:  # -h of a verb
        return int(leaving.code or 0)
    try:
        return int(verb.execute(parsed))
    except SystemExit as leaving:  # Hydra's, which has said why; or a plug-in's
        if isinstance(leaving.code, int) and leaving.code:
            return leaving.code
        raise DpscoError(f"{arguments[0]}: left by SystemExit: {leaving.code} before its end") from leaving


def _epilog(verb: ModuleType) -> str:
    """What a verb's help ends with; the names in its examples are some that are registered here."""
    from dpsco_bench.cli.overrides import example_names

    text: str = getattr(verb, "EPILOG", "")
    return text.format(**example_names()) if "{" in text else text


def _parse(parser: argparse.ArgumentParser, arguments: list[str]) -> argparse.Namespace:
    """Parse with options and positionals in any order, where the verb's parser allows it."""
    mixable = not any(
        action.nargs in (argparse.PARSER, argparse.REMAINDER) for action in parser._get_positional_actions()
    )
    return parser.parse_intermixed_args(arguments) if mixable else parser.parse_args(arguments)


def _pin_threads() -> None:
    """One BLAS thread per process: parallelism belongs to the workflow, and results must not depend on cores."""
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")


def _summary(verb: str) -> str:
    """Read the SUMMARY of a verb without importing it: help answers at once."""
    body = ast.parse((_VERBS / f"{verb}.py").read_text(encoding="utf-8")).body
    found = (node for node in body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "SUMMARY")
    return str(ast.literal_eval(next(found).value))


def _usage() -> str:
    lines = ["usage: dpsco VERB ...   (or python -m dpsco_bench VERB ...)", ""]
    names = verb_names()
    width = max(map(len, names))
    lines += [f"  {name:<{width}}  {_summary(name)}" for name in names]
    last = [
        "dpsco VERB -h explains a verb; every verb that prints takes --json",
        f"{DEBUG}=1 adds tracebacks to errors",
    ]
    return "\n".join([*lines, "", *last])
