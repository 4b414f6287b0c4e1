"""Instances on a unit set: the set by name and size, and the boundary point that stands for a sparse vertex."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from dpsco_bench.errors import InputError, checked_count
from dpsco_bench.geometry.ball import Ball, FeasibleSet, feasible_set
from dpsco_bench.problems.base import Constants, Problem, option

SIZED = ("k_support_ball", "group_ball", "subspace_ball")
UNIT_SETS = ("l1_ball", "l2_ball", *SIZED)


class OnUnitSet(Problem):
    """A problem on a unit set, all of whose points have Euclidean norm at most 1."""

    domain: str = option("l2_ball", "the unit set", choices=UNIT_SETS)
    size: int | None = option(
        None, "k of a k-support or subspace ball, block size of a group ball; null for the others", within="[1, inf)"
    )

    @cached_property
    def set(self) -> FeasibleSet:
        return unit_set(self.domain, self.size, self.dimension)


class InBall(Problem):
    """A problem on the whole space or a Euclidean ball."""

    radius: float | None = option(None, "radius of a feasible l2 ball; null: the whole space", within="(0, inf)")

    @cached_property
    def ball(self) -> Ball | None:
        """Ball, None for the whole space."""
        return None if self.radius is None else Ball("l2_ball", self.radius)


def unit_set(domain: str, size: int | None, d: int) -> FeasibleSet:
    """Find the unit set of a name; all its points have Euclidean norm at most 1.

    Raises InputError for another name, or a size that is missing, superfluous or does not fit the dimension.

    Parameters
    ----------
    size : int or None, k of a k-support or subspace ball, block size of a group ball; None for the others
    """
    if domain not in UNIT_SETS:
        raise InputError("domain", domain, "one of " + ", ".join(UNIT_SETS))
    if (domain in SIZED) != (size is not None):
        raise InputError("size", size, f"given for {', '.join(SIZED)} and for no other domain")
    found = feasible_set(domain if size is None else f"{domain}:{checked_count('size', size)}", 1.0)
    found.euclidean_diameter(d)  # refuses a size that does not fit
    return found


def sparse_vertex(domain: str, size: int | None, d: int) -> np.ndarray:
    """``(1, ..., 1, 0, ..., 0)/sqrt(s)``, which maximises its own inner product over the unit set, shape ``(d,)``.

    There are ``s = 1`` ones on the l1 ball, d on the l2 ball, else as many as the size of the set.
    """
    ones = {"l1_ball": 1, "l2_ball": d}.get(domain, size)
    assert ones is not None
    return np.where(np.arange(d) < ones, ones**-0.5, 0.0)


def on_unit_set(found: FeasibleSet, lipschitz: float, smoothness: float, **others: Any) -> Constants:
    """Euclidean constants with the set as domain."""
    return Constants(lipschitz, smoothness, diameter=found.diameter, domain=found.name, **others)
