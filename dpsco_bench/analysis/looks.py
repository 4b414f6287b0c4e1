"""Looks at runs that are not at their end: how sure a word must be there, so that all looks together err no more.

The levels are those of Wang and Tsiatis, Biometrics 43, 1987, with shape 1/4: docs/error_rates.md has what they cost.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scipy.special import ndtr

from dpsco_bench.execution.jobs import Job, stage_end, stage_ends

SEVERAL, SHAPE = 2.07, -0.25
"""Normal quantile of the last of several looks, and its growth towards the first."""
LEVEL = 0.05
"""How often an interval of a single look may miss the truth."""
MOST_REPLICATES = 1000.0
"""Nobody runs more than this many times the replicates."""
TOO_NEAR = "it is too near the limit for more replicates to decide"
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Look:
    """A look at some jobs.

    Attributes
    ----------
    number, of : int, which look it is, and how many there are; number 0 reads all that is there
    share : float, replicates that it reads over those of the last look
    """

    number: int = 0
    of: int = 1
    share: float = 1.0

    @classmethod
    def at(cls, jobs: Sequence[Job], number: int) -> Look:
        """Look at jobs after so many stages; the least share counts."""
        of = max(len(stage_ends(job.replicates)) for job in jobs)
        return cls(number, of, min(stage_end(job, number) / job.replicates for job in jobs))

    @property
    def last(self) -> bool:
        return self.number in (0, self.of)

    @property
    def alpha(self) -> float:
        """How often an interval of this look may miss the truth."""
        return LEVEL if self.of == 1 else 2.0 * float(1.0 - ndtr(SEVERAL * self.share**SHAPE))

    def confidence(self, early: float) -> float:
        """Level of intervals of cells: ``early`` before the last look."""
        return 1.0 - LEVEL if self.last else early


FIXED = Look()
"""The one look at runs that are all made."""
EARLY, EARLY_EXPLICIT = 0.995, 0.999
"""Confidence of simultaneous intervals before the last look, and of those that are held against explicit bounds."""


def would_decide(rooms: Iterable[tuple[float, float]]) -> str:
    """How many times the replicates would decide, in words, if the estimate stayed.

    Rooms have the width of an interval on one side of its estimate, and the width that it may have there: the largest
    ratio decides.
    """
    factors = [(width / room) ** 2 if room > 0 else math.inf for width, room in rooms if width > 0]
    factor = max(factors, default=1.0)
    if not factor <= MOST_REPLICATES:
        return TOO_NEAR
    return f"about {max(2, math.ceil(factor - _ROUNDING))} times the replicates would decide if the estimate stays"


def within(estimate: float, low: float, high: float, target: float, tolerance: float) -> str:
    """Estimate the same for an interval that must lie within a tolerance of a target, or wholly beyond it."""
    above, below, off = high - estimate, estimate - low, estimate - target
    if abs(off) <= tolerance:
        return would_decide([(above, tolerance - off), (below, tolerance + off)])
    return would_decide([(below, off - tolerance)] if off > 0 else [(above, -off - tolerance)])
