"""What functions of other people's papers make for the site: where one fails, the others' pages stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from dpsco_bench.claims.catalogue import is_installed
from dpsco_bench.errors import DpscoError
from dpsco_bench.registry import papers, say_once

T = TypeVar("T")


def spared(name: str, what: str, make: Callable[[], T], instead: Callable[[str], T]) -> T:
    """What a function makes, or what stands for it where one of an installed paper fails; a line on stderr says so.

    Parameters
    ----------
    name, what : str
        Of the entry, with its paper in front, and what it is.

    Raises
    ------
    DpscoError
        Naming the entry, where its paper was given in this call; what ships raises what it raises.
    """
    try:
        return make()
    except (Exception, SystemExit) as error:
        if papers().get(name.partition(".")[0], "dpsco_bench").split(".")[0] == "dpsco_bench":
            raise
        line = " ".join(f"{what} {name}: failed with {type(error).__name__}: {error}".split())
        if not is_installed(name):
            raise DpscoError(line) from error
        say_once(DpscoError(line))
        return instead(line)
