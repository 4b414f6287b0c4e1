"""How a record's gradient depends on the point, as data: what compiled steps need to know of a problem."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

NO_SLOPE, CONSTANT, SQUARED, LOGISTIC, HUBER, PSEUDO_HUBER = range(6)
"""Slopes ``l'(m, y)`` of the margin m, with parameters (a, b): none; a; ``m - y``; the logistic loss of
``b + a y m`` for labels -1 and 1; ``a (m - y)`` clipped to [-1, 1]; ``t/sqrt(t^2 + a^2)`` of ``t = m - y``."""
READS = (
    *("slope", "gather", "batch_gradient", "mean_gradient"),
    *("range_gradient", "range_gradient_pair", "record_gradients"),
)
"""What decides the gradients of a problem: a class that changes one of these has another form, or none."""


@dataclass(frozen=True)
class RecordForm:
    """``grad f_i(x) = l'(<a_i, x>, y_i) a_i + h (x - c)``, h and c the same for all records.

    Attributes
    ----------
    slope : int, one of the slopes above
    parameters : tuple, its a and b
    hessian, centre : array (d,), h and c; empty where h = 0
    """

    slope: int = NO_SLOPE
    parameters: tuple[float, float] = (1.0, 0.0)
    hessian: np.ndarray = field(default_factory=lambda: np.empty(0))
    centre: np.ndarray = field(default_factory=lambda: np.empty(0))


def form_of(problem: Any) -> RecordForm | None:
    """The form that a problem declares; None without one, and where a subclass has changed the gradients since."""
    mro = type(problem).__mro__
    declared = next(i for i, cls in enumerate(mro) if "record_form" in vars(cls))
    changed = (i for i, cls in enumerate(mro) if any(name in vars(cls) for name in READS))
    return problem.record_form if declared <= next(changed, len(mro)) else None
