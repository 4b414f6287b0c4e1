"""The verdict file of a claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.errors import InputError
from dpsco_bench.execution.store import read_sealed
from dpsco_bench.jsonio import dumps_pretty, restore, sealed, write_atomic


@dataclass(frozen=True)
class JudgedClaim:
    """What was judged of a claim.

    Attributes
    ----------
    claim : str, its id
    digest : str, of what the verdicts were made from; empty where it could not be judged
    verdicts : tuple of Verdict
    failed : str, why it could not be judged, in a line
    """

    claim: str
    digest: str = ""
    verdicts: tuple[Verdict, ...] = ()
    failed: str = ""

    def to_json(self) -> dict[str, Any]:
        """What its file holds; `from_json` of what JSON makes of it is this."""
        failed = {"failed": self.failed} if self.failed else {}
        return {"claim": self.claim, "digest": self.digest, **failed, "verdicts": self.verdicts}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> JudgedClaim:
        """The content of a file, infinities restored."""
        verdicts = tuple(map(Verdict.from_json, found["verdicts"]))
        return cls(found["claim"], found.get("digest", ""), verdicts, found.get("failed", ""))

    def write(self, path: Path) -> None:
        """Write it, with a digest of the file."""
        write_atomic(path, sealed(dumps_pretty(self)))


def read_judged(path: Path) -> JudgedClaim | None:
    """A verdict file; None where there is none. A damaged one is named, set aside, and counts as absent.

    So does one with a field that its kind has no more, without a word: it is of other code than this.
    """
    found = read_sealed(path)
    try:
        return None if found is None else JudgedClaim.from_json(restore(found))
    except InputError:
        return None
