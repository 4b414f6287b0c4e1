"""Check that a method minimises what it is given: without noise and with a long schedule it comes half of the way.

A method that forgets a part of the objective, such as its regulariser, passes every check of privacy. A mere decrease
is no evidence against that: other functions fall in the same direction at first. So half of the gap to the minimum has
to go. Where more is left, a run on a quarter of the records decides: if the longer run ends clearly further from the
minimum, it minimises another function. Where the minimum is not known, the end has to be below the start.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpsco_bench.audit.subject import Finding, Subject
from dpsco_bench.backend.namespace import to_numpy
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.geometry.norms import dual_exponent

PlanAt = Callable[[int, int | None], Subject]
"""Number of records, and of steps in place of the theorem's -> the same algorithm and problem without noise."""
SIZES = tuple(1 << k for k in range(14, 4, -1))
HUGE = (1 << 17, 1 << 20)  # numbers of records, and those for methods that ask for very many
LENGTH = 1 << 14, 1 << 13
"""The most records, unless a method asks for more, and the most steps: releases, and gradients over `VECTOR`."""
MOST_GRADIENTS, VECTOR = 1 << 23, 16
"""Gradients of single records that a run may plan, and how many of them cost as much as a release."""
REPLICATES = 4
FLAT = 0.01  # a gradient below this share of the Lipschitz constant is next to nothing
LEFT, RISING, ERRORS = 0.5, 1.1, 6.0
"""Share of the starting gap of which no more may be left; the factor by which it may not grow from a run to a longer
one that starts as far away within that factor, beyond so many standard errors of four replicates."""


def longest(plan_at: PlanAt, length: tuple[int, int] = LENGTH) -> tuple[Subject, int | None]:
    """Find the most records whose schedule fits, or else a schedule that is cut. Raises Refusal where neither does."""
    (records, most), reason = length, ""
    sizes = [n for n in SIZES if n <= records]
    for n, steps in [(n, None) for n in (*sizes, *HUGE)] + [(n, most // 4) for n in sizes]:
        try:
            subject = plan_at(n, steps)
        except (InputError, Refusal) as error:  # too few records, or more than there are
            reason = reason or str(error)
            continue
        plan, oracle = subject.plan, subject.problem.shares_records
        gradients = 0.0 if oracle and plan.queries else plan.gradient_evaluations
        work = sum(query.releases for query in plan.queries) + gradients / VECTOR
        if gradients <= MOST_GRADIENTS and work <= most:
            return subject, steps
        reason = f"the schedule takes {plan.gradient_evaluations:.3g} gradients at n = {n}"
    raise Refusal("a long run", reason)


@dataclass(frozen=True)
class Ends:
    """Start and end of a long run: mean risks up to a constant, how far they are apart, and the Lipschitz constant.

    Where the minimum is known: the ``gap`` to it at the start, what is ``left`` of it, and the standard ``error`` of
    that.
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
        """Tell whether the risk rises from start to end by a slope that is more than next to nothing."""
        return self.end - self.start > FLAT * self.lipschitz * self.moved

    def leads_away_after(self, shorter: Ends) -> bool:
        """Tell whether more is left than of a shorter run that starts as far from its minimum, by more than chance."""
        alike = 1.0 / RISING < self.gap / shorter.gap < RISING
        return alike and self.left - RISING * shorter.left > ERRORS * math.hypot(self.error, RISING * shorter.error)


def ends(subject: Subject) -> Ends:
    objective, run = subject.objective(replicates=REPLICATES), subject.run(replicates=REPLICATES)
    points, c = (objective.start, run.output), objective.constants
    try:
        start, end = (float(np.mean(to_numpy(subject.problem.risk(x, objective.data)))) for x in points)
    except InputError:  # of a problem that knows its excess alone
        start, end = (float(np.mean(objective.excess_risk(x))) for x in points)
    moved = np.linalg.norm(to_numpy(run.output) - to_numpy(objective.start), ord=c.norm, axis=-1)
    found = Ends(start, end, float(moved.mean()), c.lipschitz)
    try:
        starts, finals = (np.atleast_1d(to_numpy(objective.excess_risk(x))) for x in points)
    except InputError:
        return found
    gap, left = float(np.mean(starts)), float(np.mean(finals))
    if gap <= 0.0:
        return found
    error = float(np.std(finals, ddof=1)) / math.sqrt(finals.size) if finals.size > 1 else 0.0
    return Ends(start, end, found.moved, c.lipschitz, gap, left / gap, error / gap)


def starts_near_a_minimiser(subject: Subject) -> bool:
    """Tell whether the gradient at the start is next to nothing in the dual norm: then no run need end below it."""
    objective = subject.objective(replicates=REPLICATES)
    gradient, c = to_numpy(objective.exact_gradient(objective.start)), objective.constants
    return float(np.linalg.norm(gradient, ord=dual_exponent(c.norm), axis=-1).max()) <= FLAT * c.lipschitz


def outcome(plan_at: PlanAt, length: tuple[int, int]) -> Finding:
    """Compare the end of a long run with its start, and where too much of the gap is left with a shorter run."""
    try:
        subject, steps = longest(plan_at, length)
    except Refusal as refusal:
        return None, str(refusal)
    found, where = ends(subject), f"at n = {subject.data.n}"
    if not found.rises and starts_near_a_minimiser(subject):
        return None, "the start is next to a minimiser"
    if not found.end < found.start or not found.left > LEFT:
        return found.end < found.start, f"risk {found.end:.4g} from a start of {found.start:.4g} {where}"
    said = f"{found.left:.2g} of the gap to the minimum is left {where}"
    try:
        before = ends(plan_at(subject.data.n // 4, steps and max(1, steps // 4)))
    except (InputError, Refusal):  # no schedule for so few
        return None, f"{said}: too short a run"
    if found.leads_away_after(before):
        return False, f"{said}, and {before.left:.2g} at a quarter of it: it goes elsewhere"
    return None, f"{said}: too short a run"
