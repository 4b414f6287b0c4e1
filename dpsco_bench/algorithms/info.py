"""Diagnostics that a run returns beside its output."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import to_numpy
from dpsco_bench.errors import InputError


@dataclass
class Info:
    """A run's diagnostics, returned as ``return x, info``; nothing of it goes back into the algorithm.

    Attributes
    ----------
    extras : dict of str to array (R,) or float, quantities by name; result rows have them under ``extras``
    certificate : float or None
        Largest norm of the gradient at a minimiser that the run computed, relative to what it balances.
    rounded : array (R,) of bool, or False
        Replicates whose minimiser rounding kept from the accuracy of the plan; their rows say so.
    demoted : array (R,) of bool, or False
        Replicates that lose the plan's privacy proof, such as those of a sampler that gave up.
    """

    extras: dict[str, Any] = field(default_factory=dict)
    certificate: float | None = None
    rounded: Any = False
    demoted: Any = False

    def certify(self, gradient_norm: float, rounded: Any = False) -> None:
        """Keep the largest relative gradient norm at a minimiser, and the rows that rounding stopped early."""
        self.certificate = max(float(gradient_norm), self.certificate or 0.0)
        self.rounded = self.rounded | np.asarray(to_numpy(rounded), dtype=bool)

    def rows(self, name: str, replicates: int) -> np.ndarray:
        """Return ``rounded`` or ``demoted`` of every replicate, ``(R,)``."""
        return np.array(np.broadcast_to(np.asarray(to_numpy(getattr(self, name)), dtype=bool), (replicates,)))


def extra(name: str, values: Any, replicates: int) -> np.ndarray:
    """Return an extra as one number per replicate, ``(R,)`` of float64 on the host; one number alone is for all."""
    given = np.asarray(to_numpy(values), dtype=np.float64)
    if given.shape not in ((), (replicates,)):
        raise InputError(f"shape of {name}", given.shape, f"() or ({replicates},), one number per replicate")
    return np.array(np.broadcast_to(given, (replicates,)))


def split(returned: Any) -> tuple[Any, Info]:
    """Split what a run returned, ``x`` or ``x, info``, into both; without info it is empty."""
    match returned:
        case (output, Info() as info):
            return output, info
    return returned, Info()
