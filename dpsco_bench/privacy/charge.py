"""The value that an accountant gives for a plan, and what every way of composing queries provides."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dpsco_bench.privacy.plan import Plan
from dpsco_bench.privacy.spec import PrivacySpec


@dataclass(frozen=True)
class Charge:
    """An accountant's value for a plan with given noise.

    Attributes
    ----------
    kind : str, ``exact``, ``upper`` or ``lower``
    pair : str
        Of a lower bound: which change of a mean of gradients it tests, ``any`` direction, one ``axis`` or ``even`` in
        all coordinates; ``computed`` where it is that of a pair of data sets; empty: one that is not asked of records.
    """

    epsilon: float
    kind: str
    accountant: str
    epsilon_law: float = math.nan
    tau: float = math.nan
    sampler_status: str = ""
    pair: str = ""


@dataclass(frozen=True)
class Composition:
    """A way of composing queries, for the plans that it covers.

    Attributes
    ----------
    covers : callable, plan -> whether it is for this plan; the first that says so is taken, and may still refuse it
    charge : callable, (plan, scales, delta) -> `Charge`; all scales are positive
    scales : callable, (plan, privacy) -> noise scale per query, the least one for which `charge` is the claim
    """

    covers: Callable[[Plan], bool]
    charge: Callable[[Plan, Mapping[str, float], float], Charge]
    scales: Callable[[Plan, PrivacySpec], dict[str, float]]
