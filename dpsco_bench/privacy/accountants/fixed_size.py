"""Upper bounds on epsilon for normal noise on uniform subsets without replacement: Renyi divergences of dp-accounting.

The bound holds under replace-one for batches of a fixed size (Wang, Balle and Kasiviswanathan 2019, Theorem 27) and is
loose. The multiplier of this accountant is the noise's standard deviation over the replace-one *sensitivity*: half of
what `pld` calls multiplier.
"""

from __future__ import annotations

import math
from functools import lru_cache

from dpsco_bench.errors import InputError
from dpsco_bench.privacy.accountants.checks import require_count, require_delta, require_nonnegative, require_target
from dpsco_bench.privacy.accountants.pld import library_version
from dpsco_bench.privacy.accountants.solve import least_noise

ORDERS = (*range(2, 33), 40, 48, 64)
TOLERANCE = 1e-4


def accountant_name() -> str:
    return f"RDP without replacement, dp-accounting {library_version()}"


@lru_cache(maxsize=4096)
def subset_gaussian_epsilon(multiplier: float, population: int, size: int, steps: int, delta: float) -> float:
    """Replace-one upper bound on epsilon of Gaussians on uniform subsets. Raises InputError for arguments out of range.

    Parameters
    ----------
    multiplier : float, noise standard deviation over sensitivity, >= 0; 0 gives infinity
    population, size : int, number of records, and of those in a subset
    steps : int, number of releases, each on a subset of its own, >= 1
    delta : float, in (0, 1)
    """
    require_nonnegative("multiplier", multiplier)
    require_count("population", population)
    require_count("size", size)
    require_count("steps", steps)
    require_delta(delta)
    if size > population:
        raise InputError("size", size, f"at most {population}, the number of records")
    if multiplier == 0.0:
        return math.inf
    from dp_accounting import GaussianDpEvent, NeighboringRelation, SampledWithoutReplacementDpEvent
    from dp_accounting.rdp import RdpAccountant

    accountant = RdpAccountant(orders=list(ORDERS), neighboring_relation=NeighboringRelation.REPLACE_ONE)
    accountant.compose(SampledWithoutReplacementDpEvent(population, size, GaussianDpEvent(multiplier)), steps)
    return max(0.0, float(accountant.get_epsilon(delta)))


@lru_cache(maxsize=1024)
def solve_subset_multiplier(epsilon: float, delta: float, population: int, size: int, steps: int) -> float:
    """Least multiplier at which `subset_gaussian_epsilon` is at most ``epsilon``, to a relative 1e-4."""
    require_target(epsilon, delta)
    start = max(0.5, 2.0 * size / population * math.sqrt(steps * math.log(1.0 / delta)) / epsilon)
    return least_noise(lambda z: subset_gaussian_epsilon(z, population, size, steps, delta), epsilon, start, TOLERANCE)
