"""Errors a user can cause: each is one line that says what to change."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import Any

NEAREST, FEW = 3, 12


class DpscoError(ValueError):
    """Base of every error that is the input's fault; the command line prints it in one line and exits with 2."""


class InputError(DpscoError):
    """A key with a value outside its range.

    Parameters
    ----------
    key : str, name of the offending key, as the user writes it
    value : object, the value found; ``"missing"`` for none
    allowed : str, what is allowed, e.g. ``"an integer >= 1"``
    source : str, where the condition comes from (theorem, section); empty if it is self-evident
    """

    def __init__(self, key: str, value: object, allowed: str, source: str = "") -> None:
        origin = f" ({source})" if source else ""
        shown = " ".join(repr(value).split()) if isinstance(value, str) else " ".join(str(value).split())
        found = "is missing" if value == "missing" else f"= {shown}"
        super().__init__(f"{key} {found}: must be {allowed}{origin}")
        self.key, self.value, self.allowed, self.source = key, value, allowed, source


class InputErrors(InputError):
    """Several slips in one file, in one line, or with ``between`` in several; its attributes are those of the first."""

    def __init__(self, slips: Sequence[InputError], between: str = "; ") -> None:
        first = slips[0]
        super().__init__(first.key, first.value, first.allowed, first.source)
        places = [slip.key.rpartition(": ")[0] for slip in slips]
        told = [str(first)]
        for before, place, slip in zip(places, places[1:], slips[1:], strict=False):
            told.append(str(slip).removeprefix(f"{place}: " if place == before else ""))
        self.args = (between.join(told),)


class BrokenPaper(InputError):
    """A paper that cannot be imported; whoever asks for something of it gets this line as it is."""

    def __init__(self, package: str, reason: str) -> None:
        super().__init__("paper", package, "a package that can be imported", reason)


class Refusal(DpscoError):
    """A combination (algorithm with problem, variant or calibration) that the source does not define.

    Parameters
    ----------
    what : str, the refused combination
    reason : str, why, in one clause
    source : str, theorem, section or erratum behind the refusal
    """

    def __init__(self, what: str, reason: str, source: str = "") -> None:
        origin = f" ({source})" if source else ""
        super().__init__(f"{what} refused: {reason}{origin}")
        self.what, self.reason, self.source = what, reason, source


@contextmanager
def failing_as(what: str) -> Iterator[None]:
    """Name what fails: any error becomes one line that begins with ``what``."""
    try:
        yield
    except Exception as error:
        raise DpscoError(" ".join(f"{what}: {type(error).__name__}: {error}".split())) from error


def nearest(name: object, known: Iterable[str], listing: str = "", what: str = "one") -> str:
    """List the names allowed in place of an unknown one: all if they are few, else the nearest.

    ``listing`` is the command that shows all, where there is one; ``what`` says what they are names of.
    """
    names = list(dict.fromkeys(known))
    if len(names) <= FEW:
        return f"one of {', '.join(names)}" if names else "left out: there is none"
    close = difflib.get_close_matches(str(name), names, NEAREST, 0.0)
    return f"a known {what}, such as {', '.join(close)}" + (f" (all: `{listing}`)" if listing else "")


def integral(value: Any) -> Any:
    """Turn a float without a fraction into an int, so that ``1e4`` counts; leave anything else as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def checked_count(key: str, value: Any) -> int:
    """Return an integer >= 1 as an int (NumPy's and ``1e4`` too, no booleans). Raises InputError under ``key`` else."""
    count = integral(value)
    if isinstance(value, bool) or not isinstance(count, Integral) or count < 1:
        raise InputError(key, value, "an integer >= 1")
    return int(count)


class DataAbsent(DpscoError):
    """A data set that is not under the data root that was searched; ``command`` fetches it."""

    def __init__(self, name: str, root: object) -> None:
        command = f"python -m dpsco_bench data {name}"
        super().__init__(f"data set {name} absent under {root}: get it with `{command}`")
        self.command = command


class NumericalFailure(DpscoError):
    """Non-finite iterates; names the cell, and is never averaged away."""
