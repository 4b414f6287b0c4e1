"""Knowledge beside a problem's objective: expectations in closed form, and records that audits ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from dpsco_bench.errors import InputError
from dpsco_bench.plain import Schedule
from dpsco_bench.problems.data import Data


class Known:
    """Mixin of known facts; by default nothing is known.

    Attributes
    ----------
    closed_form_error, closed_form_remark : float, str
        Relative numerical error of `expected_gap`, and what its rows must say.
    """

    name: ClassVar[str] = ""
    closed_form_error: ClassVar[float] = 1e-12
    closed_form_remark: ClassVar[str] = ""

    def expected_gap(self, algorithm: str, schedule: Schedule, scales: Mapping[str, float]) -> float:
        """Exact expected excess risk of a schedule and its noise. Raises InputError if no closed form is known."""
        raise InputError("problem", self.name, f"a problem with a closed form for {algorithm}")

    def expected_extras(self, algorithm: str, schedule: Schedule, scales: Mapping[str, float]) -> dict[str, float]:
        """Compute other exact expectations of an algorithm's output, by name: extras of the rows of `expected_gap`."""
        return {}

    def expected_mean_squared_gradient(self, step: float, steps: int, sigma: float) -> float:
        """Exact ``E mean_k ||grad F(x_k)||^2`` over the first ``steps`` iterates, where a closed form is known."""
        raise InputError("problem", self.name, "a problem with a closed form for gradient norms")

    def opposed_records(self, distance: float, order: float) -> Data | None:
        """Two records of the domain, as `gather` gives them, whose gradients differ by the same vector at every point.

        They attain sensitivities of mean gradients, without which no epsilon is called exact. None: no pair is known.

        Parameters
        ----------
        distance : float, of the two gradients in l_order
        """
        return None

    def records_at(self, points: np.ndarray) -> Data | None:
        """Return records of the domain that react strongly at ``points (m, d)``, for that search; None: no others.

        They may not be found among those that look at no point: in many dimensions few are close to a given direction.
        """
        return None

    def domain_records(self, count: int, seed: int) -> Data:
        """Return records of the record domain, extreme ones first, for the search over neighbouring data sets."""
        raise InputError("problem", self.name, "a problem with domain_records")
