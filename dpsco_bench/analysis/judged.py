"""The verdict file of a claim."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.errors import InputError
from dpsco_bench.execution.store import read_sealed
from dpsco_bench.jsonio import dumps_pretty, restore, sealed, write_atomic
from dpsco_bench.plain import IF_GIVEN, Record


@dataclass(frozen=True)
class JudgedClaim(Record):
    """What was judged of a claim.

    Attributes
    ----------
    claim : str, its id
    digest : str, of what the verdicts were made from; empty where it could not be judged
    failed : str, why it could not be judged, in a line
    verdicts : tuple of Verdict
    """

    claim: str
    digest: str = ""
    failed: str = field(default="", metadata=IF_GIVEN)
    verdicts: tuple[Verdict, ...] = ()

    def write(self, path: Path) -> None:
        """Write it, with a digest of the file."""
        write_atomic(path, sealed(dumps_pretty(self)))


def read_judged(path: Path) -> JudgedClaim | None:
    """A verdict file; None where there is none. A damaged one is named and counts as absent.

    So does one with a field that its kind has no more, without a word: it is of other code than this.
    """
    found = read_sealed(path)
    try:
        return None if found is None else JudgedClaim.from_json(restore(found))
    except InputError:
        return None
