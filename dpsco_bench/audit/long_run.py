"""Whether a method minimises the objective it is given: without noise and with a long schedule it comes half way.

A method that forgets a part of the objective, such as its regulariser, passes every check of privacy. Any decrease is
no evidence against that, since other functions fall in the same direction at first. At least half of the gap to the
minimum has to go, which is when a risk counts as having left its start in the verdicts on rates. Above half, a run of a
quarter of the records tells which way it goes: if the longer run ends clearly further from the minimum, though it
starts as far away, it is another function that is minimised; else nothing is decided. Where the minimum is not known,
the end has to be below the start.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsco_bench.audit.subject import Subject
from dpsco_bench.backend.namespace import to_numpy
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.problems.objective import Objective

PlanAt = Callable[[int, int | None], Subject]
"""Number of records, and of steps in place of the theorem's -> the same algorithm and problem without noise."""
SIZES = tuple(1 << k for k in range(14, 4, -1))
HUGE = (1 << 17, 1 << 20)
"""Numbers of records, and those for methods that ask for very many."""
MOST_GRADIENTS = 1 << 23
"""Gradients of single records that a run may plan."""
REPLICATES = 4
FLAT = 0.01
"""A gradient below this share of the Lipschitz constant is next to nothing."""
LEFT = 0.5
"""Share of the starting gap to the minimum of which no more may be left."""
RISING = 1.1
"""Factor by which it may not grow from a run to a longer one, if the starting gaps of the two differ by less."""


@dataclass(frozen=True)
class Length:
    """How long a run may be.

    Attributes
    ----------
    records : int
        Largest number of records, unless the method asks for more.
    steps : int
        Releases, and gradients of single records in units of `VECTOR`.
    """

    records: int = 1 << 14
    steps: int = 1 << 13


VECTOR = 16
ERRORS = 6.0
"""Standard errors, of four replicates, that chance is allowed."""


def longest(plan_at: PlanAt, length: Length) -> tuple[Subject, int | None]:
    """The subject with the most records whose schedule is planned and fits; if none does, one cut to so many steps.

    Raises
    ------
    Refusal
        Where there is neither.
    """
    sizes, reason = [n for n in SIZES if n <= length.records], ""
    for n, steps in [(n, None) for n in (*sizes, *HUGE)] + [(n, length.steps // 4) for n in sizes]:
        try:
            subject = plan_at(n, steps)
        except (InputError, Refusal) as error:  # too few records, or more than there are
            reason = reason or str(error)
            continue
        if _fits(subject, length):
            return subject, steps
        reason = f"the schedule takes {subject.plan.gradient_evaluations:.3g} gradients at n = {n}"
    raise Refusal("a long run", reason)


def _fits(subject: Subject, length: Length) -> bool:
    plan, oracle = subject.plan, subject.problem.shares_records
    releases = sum(query.releases for query in plan.queries)
    gradients = 0.0 if oracle and plan.queries else plan.gradient_evaluations
    return gradients <= MOST_GRADIENTS and releases + gradients / VECTOR <= length.steps


@dataclass(frozen=True)
class Ends:
    """Start and end of a long run, means over its replicates.

    Attributes
    ----------
    start, end : float, risks, up to the same constant
    moved : float, distance of the two points in the norm of the constants
    lipschitz : float, declared constant in that norm
    gap, left : float
        Gap to the minimum at the start, and that at the end over it; NaN where the minimum is not known.
    error : float, standard error of ``left``; above 0 where batches, or which iterate is returned, are random
    """

    start: float
    end: float
    moved: float
    lipschitz: float
    gap: float = math.nan
    left: float = math.nan
    error: float = 0.0

    @property
    def rises(self) -> bool:
        """Whether the risk rises from start to end, by a slope that is more than next to nothing."""
        return self.end - self.start > FLAT * self.lipschitz * self.moved

    def leads_away_after(self, shorter: Ends) -> bool:
        """Whether more is left than of a shorter run, on an instance that starts as far from its minimum.

        By more than chance: both are means of a few replicates.
        """
        alike = 1.0 / RISING < self.gap / shorter.gap < RISING
        chance = ERRORS * math.hypot(self.error, RISING * shorter.error)
        return alike and self.left - RISING * shorter.left > chance


def ends(subject: Subject) -> Ends:
    """What a long run comes to."""
    objective, run = subject.objective(replicates=REPLICATES), subject.run(replicates=REPLICATES)

    def risk(x: np.ndarray) -> float:
        try:
            return float(np.mean(to_numpy(subject.problem.risk(x, objective.data))))
        except InputError:  # of a problem that knows its excess alone
            return float(np.mean(objective.excess_risk(x)))

    c = objective.constants
    moved = np.linalg.norm(to_numpy(run.output) - to_numpy(objective.start), ord=c.norm, axis=-1)
    return Ends(risk(objective.start), risk(run.output), float(moved.mean()), c.lipschitz, *_gap(objective, run.output))


def _gap(objective: Objective, output: Any) -> tuple[float, float, float]:
    """Gap at the start, share of it that is left, and its error; NaN without one, or where no minimum is known."""
    try:
        starts, finals = (to_numpy(objective.excess_risk(x)) for x in (objective.start, output))
    except InputError:
        return math.nan, math.nan, 0.0
    gap, left = float(np.mean(starts)), np.atleast_1d(finals)
    if gap <= 0.0:
        return math.nan, math.nan, 0.0
    error = float(np.std(left, ddof=1)) / math.sqrt(left.size) if left.size > 1 else 0.0
    return gap, float(np.mean(left)) / gap, error / gap


def shorter(plan_at: PlanAt, subject: Subject, steps: int | None) -> Subject | None:
    """The same with a quarter of the records, and of the steps where they are given; None where it has no schedule."""
    try:
        return plan_at(subject.data.n // 4, steps and max(1, steps // 4))
    except (InputError, Refusal):
        return None


def starts_near_a_minimiser(subject: Subject) -> bool:
    """Whether the gradient at the start is next to nothing in the dual norm, so that no run need end below it.

    In that norm a gradient is compared with the Lipschitz constant in any dimension alike; its largest entry is not.
    """
    objective = subject.objective(replicates=REPLICATES)
    gradient, c = to_numpy(objective.exact_gradient(objective.start)), objective.constants
    size = np.linalg.norm(gradient, ord=dual_exponent(c.norm), axis=-1)
    return float(size.max()) <= FLAT * c.lipschitz
