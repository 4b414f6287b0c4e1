"""The verdict file of a claim."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.errors import InputError
from dpsco_bench.execution.store import read_sealed
from dpsco_bench.jsonio import dumps_pretty, restore, sealed, write_atomic
from dpsco_bench.plain import IF_GIVEN, Record


class Sealed(Record):
    """A record that is kept in a file of its own, with a digest of the file."""

    def write(self, path: Path) -> None:
        """Write it."""
        write_atomic(path, sealed(dumps_pretty(self)))

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """Read a file; None where there is none. A damaged one is named and counts as absent.

        So does one with a field that is no more, without a word: it is of other code than this.
        """
        found = read_sealed(path)
        try:
            return None if found is None else cls.from_json(restore(found))
        except InputError:
            return None


@dataclass(frozen=True)
class JudgedClaim(Sealed):
    """Verdicts of a claim, and the digest of what they were made from; or why it could not be judged, in a line."""

    claim: str
    digest: str = ""
    failed: str = field(default="", metadata=IF_GIVEN)
    verdicts: tuple[Verdict, ...] = ()


def read_judged(path: Path) -> JudgedClaim | None:
    """Read a verdict file."""
    return JudgedClaim.read(path)
