"""What a problem declares: its constants, its data, its gradients and its optimum."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.errors import InputError, checked_count
from dpsco_bench.geometry.ball import Ball
from dpsco_bench.rng.streams import Stream

Array = Any
StreamFactory = Callable[[str], Stream]


class Trait(Enum):
    """Properties of an objective that algorithms ask for."""

    CONVEX = "convex records"
    SMOOTH = "smooth records"
    STRONGLY_CONVEX = "a strongly convex objective"
    POLYAK_LOJASIEWICZ = "the Polyak-Lojasiewicz inequality"
    LIPSCHITZ = "Lipschitz records"
    UNCONSTRAINED = "the whole space as domain"
    BALL = "a ball as domain"
    UNREGULARISED = "an objective without regulariser"
    L1_BALL = "an l1 ball as domain"
    L2_BALL = "an l2 ball as domain"
    BALL_OR_STRONGLY_CONVEX = "a ball as domain or a strongly convex objective"
    GENERALISED_LINEAR = "generalised linear records"


DOMAIN_TRAITS = {
    "space": frozenset({Trait.UNCONSTRAINED}),
    "l1_ball": frozenset({Trait.BALL, Trait.L1_BALL}),
    "l2_ball": frozenset({Trait.BALL, Trait.L2_BALL}),
}
"""What the name of a domain says."""


@dataclass(frozen=True)
class Constants:
    """Constants of an objective ``F(x) = mean_i f_i(x) + (regularisation/2) ||x||^2`` in the Euclidean norm.

    Attributes
    ----------
    lipschitz : float
        G, Lipschitz constant of every record's loss ``f_i`` (the regulariser excluded).
    smoothness : float
        L, Lipschitz constant of every ``grad f_i`` (the regulariser excluded).
    strong_convexity : float
        mu of the whole objective (or its Polyak-Lojasiewicz constant); 0 if there is none.
    regularisation : float
        lambda >= 0 of the ridge term.
    initial_gap : float
        D0, an a-priori (not data-dependent) bound on ``F(start) - min F``.
    initial_distance : float
        A-priori bound on ``||start - x*||``; 0 where none is declared (see `distance`).
    diameter : float
        Euclidean diameter of the feasible set; 0 for the whole space.
    domain : str
        ``space``, or the name of the feasible ball (`geometry.ball.BALLS`).
    status : str
        ``global`` where `lipschitz` and `smoothness` hold on the whole domain, ``nominal`` where only declared.
    """

    lipschitz: float
    smoothness: float
    strong_convexity: float = 0.0
    regularisation: float = 0.0
    initial_gap: float = 1.0
    initial_distance: float = 0.0
    diameter: float = 0.0
    domain: str = "space"
    status: str = "global"

    def __post_init__(self) -> None:
        for name in constant_names():
            object.__setattr__(self, name, checked_real(name, getattr(self, name), positive=name in _POSITIVE))
        if (self.domain == "space") != (self.diameter == 0):
            allowed = "0, the domain being the whole space" if self.domain == "space" else "a finite number > 0"
            raise InputError("diameter", self.diameter, allowed)

    @property
    def total_smoothness(self) -> float:
        """Smoothness of the objective with its regulariser, ``L + lambda``."""
        return self.smoothness + self.regularisation

    @property
    def condition_number(self) -> float:
        """``kappa = L/mu`` with L of the losses alone; infinite without strong convexity."""
        return self.smoothness / self.strong_convexity if self.strong_convexity > 0 else math.inf

    @property
    def distance(self) -> float:
        """A-priori bound on ``||start - x*||``: as declared, else ``sqrt(2 D0/mu)``.

        Raises
        ------
        InputError
            Without declared distance and strong convexity.
        """
        if self.initial_distance > 0:
            return self.initial_distance
        if self.strong_convexity > 0:
            return math.sqrt(2.0 * self.initial_gap / self.strong_convexity)
        raise InputError("initial_distance", self.initial_distance, "a finite number > 0 here")

    @property
    def ball(self) -> Ball | None:
        """The feasible ball that domain and diameter describe; None for the whole space."""
        return None if self.domain == "space" else Ball(self.domain, 0.5 * self.diameter)

    def override(self, **values: float) -> Constants:
        """Replace constants by declared ones; a value that claims more than the problem proves makes them nominal.

        A larger Lipschitz or smoothness constant or diameter and a smaller strong convexity remain true; the a-priori
        gap and distance enter schedules only.

        Raises
        ------
        InputError
            For an unknown constant or a value outside its range.
        """
        for key in values:
            if key not in constant_names():
                raise InputError("problem constant", key, "one of " + ", ".join(constant_names()))
        new = replace(self, **values)  # type: ignore[arg-type]
        stronger = (
            new.lipschitz < self.lipschitz
            or new.smoothness < self.smoothness
            or new.strong_convexity > self.strong_convexity
            or new.regularisation != self.regularisation
            or new.diameter < self.diameter
        )
        return replace(new, status="nominal") if stronger else new


_POSITIVE = ("lipschitz", "smoothness", "initial_gap")
_LABELS = ("domain", "status")


def constant_names() -> tuple[str, ...]:
    """Names of the constants that are numbers, in order: those that may be declared by key."""
    return tuple(f.name for f in fields(Constants) if f.name not in _LABELS)


def checked_real(key: str, value: Any, *, positive: bool) -> float:
    """Return ``value`` as a float if it is a finite number >= 0 (> 0 if ``positive``).

    Raises
    ------
    InputError
        Otherwise, under the name ``key``.
    """
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value < 0 or (positive and value == 0):
        raise InputError(key, value, "a finite number > 0" if positive else "a finite number >= 0")
    return float(value)


@dataclass(frozen=True)
class Data:
    """A data set shared by all replicates: ``features (n, d)`` and ``labels (n,)``, or only a count for oracles."""

    n: int
    features: Array = None
    labels: Array = None

    def to(self, xp: Any, dtype: str) -> Data:
        """Move the arrays to namespace ``xp`` with a floating dtype."""
        if self.features is None:
            return self
        kind = getattr(xp, dtype)
        return Data(self.n, xp.asarray(self.features, dtype=kind), xp.asarray(self.labels, dtype=kind))


@dataclass(frozen=True)
class Batch:
    """One batch of records per replicate, padded to a common width.

    Attributes
    ----------
    indices : array (R, W) of int64
        Record indices; 0 where padded.
    mask : array (R, W)
        1 for selected records, 0 where padded, in the state's dtype.
    sizes : array (R,) of float64
        Number of selected records.
    expected_size : float
        b, the divisor of batch means. Dividing by the drawn size would not be what the accountant charges.
    """

    indices: Array
    mask: Array
    sizes: Array
    expected_size: float


class Problem:
    """An objective with declared constants; subclasses fill in the mathematics.

    Parameters
    ----------
    d : int
        Dimension.
    constants : dict, optional
        Declared constants that replace the problem's own (see `Constants.override`).

    Attributes
    ----------
    name, summary, source : str
        Identity in the registry.
    traits : frozenset of Trait
        What the objective satisfies, apart from what its constants say (see `properties`).
    shares_records : bool
        True where all records are equal (an oracle), hence no sampling variance and no neighbouring data sets.
    cell_dependent : bool
        True for a family with one member per cell (see `at`): its starting gap changes along a sweep.
    data_dependent_constants : bool
        True where `constants_of` looks at the data; such constants are never private.
    needs_data_root : bool
        True where the constructor takes ``root``, the folder that holds a real data set.
    file_options : tuple of str
        Constructor options that are places of a user's files; `pins` holds what such a file contains.
    """

    name: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    source: ClassVar[str] = ""
    traits: frozenset[Trait] = frozenset()
    shares_records: ClassVar[bool] = False
    cell_dependent: ClassVar[bool] = False
    data_dependent_constants: bool = False
    needs_data_root: ClassVar[bool] = False
    file_options: ClassVar[tuple[str, ...]] = ()
    default_dimension: ClassVar[int] = 10

    def __init__(self, d: int | None = None, constants: dict[str, float] | None = None) -> None:
        d = self.default_dimension if d is None else d
        self.dimension = checked_count("d", d)
        self._overrides = dict(constants or {})
        self.constants.override(**self._overrides)

    @classmethod
    def unavailable(cls, root: Path) -> str:
        """Why the problem's data cannot be had under ``root`` (with the command that gets them), or an empty string."""
        return ""

    @property
    def own_constants(self) -> Constants:
        """The constants that the problem itself proves or declares."""
        raise InputError("problem", self.name, "a problem class that defines own_constants")

    @property
    def constants(self) -> Constants:
        """The constants in force: the problem's own with the user's overrides."""
        return self.own_constants.override(**self._overrides)

    @property
    def properties(self) -> frozenset[Trait]:
        """`traits`, and those that the domain and the regulariser decide."""
        own = self.own_constants
        found = self.traits | DOMAIN_TRAITS[own.domain]
        if own.regularisation == 0:
            found |= {Trait.UNREGULARISED}
        if found & {Trait.BALL, Trait.STRONGLY_CONVEX}:
            found |= {Trait.BALL_OR_STRONGLY_CONVEX}
        return found

    @property
    def member(self) -> tuple[float, ...]:
        """What tells the members of a family apart; empty for a single problem."""
        return ()

    def at(self, n: int, epsilon: float, delta: float) -> Problem:
        """The problem of a cell with ``n`` records and target (epsilon, delta): itself unless it belongs to a family.

        Families whose objective depends on the cell return another member; schedules of the replicated theorem, not of
        the data, decide which.
        """
        return self

    def constants_of(self, data: Data) -> Constants:
        """Constants for one data set; the same for all of them unless `data_dependent_constants`."""
        return self.constants

    @property
    def records(self) -> int | None:
        """How many records there are, where they are not drawn."""
        return None

    @property
    def pins(self) -> dict[str, Any]:
        """Constructor options that fix the content of the files named by `file_options`."""
        return {}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What every row of a run on this problem must say."""
        return ("constants computed from the data: not private",) if self.data_dependent_constants else ()

    def check_records(self, n: int) -> None:
        """Check that a data set of ``n`` records can be had.

        Raises
        ------
        InputError
            If there are not so many.
        """
        if self.records is not None and n > self.records:
            raise InputError("n", n, f"an integer from 1 to {self.records}, the number of records of {self.name}")

    @property
    def effective_dimension(self) -> int:
        """The dimension that schedules and bounds use."""
        return self.dimension

    @property
    def start(self) -> np.ndarray:
        """The starting point, shape ``(d,)``."""
        return np.zeros(self.dimension)

    def draw(self, n: int, streams: StreamFactory) -> Data:
        """Draw a data set of ``n`` records from the keyed data streams."""
        return Data(n)

    def mean_gradient(self, x: Array, data: Data) -> Array:
        """Mean of the records' loss gradients at ``x (R, d)``, without the regulariser; shape ``(R, d)``."""
        raise InputError("problem", self.name, "a problem with mean_gradient")

    def batch_gradient(self, x: Array, batch: Data, weights: Array) -> Array:
        """Weighted sum over a batch ``features (R, W, d)``, ``weights (R, W)`` of loss gradients; shape ``(R, d)``."""
        raise InputError("problem", self.name, "a problem with batch_gradient")

    def risk(self, x: Array, data: Data) -> Array:
        """Empirical risk with the regulariser, shape ``(R,)``."""
        raise InputError("problem", self.name, "a problem with risk")

    def optimal_risk(self, data: Data) -> float:
        """The minimum (or infimum) of the empirical risk."""
        raise InputError("problem", self.name, "a problem with optimal_risk")

    def expected_gap(self, algorithm: str, schedule: Mapping[str, Any], scales: Mapping[str, float]) -> float:
        """Exact expected excess risk of an algorithm with its schedule and noise, where a closed form is known.

        Raises
        ------
        InputError
            Where none is.
        """
        raise InputError("problem", self.name, f"a problem with a closed form for {algorithm}")

    def expected_mean_squared_gradient(self, step: float, steps: int, sigma: float) -> float:
        """Exact ``E mean_k ||grad F(x_k)||^2`` over the first ``steps`` iterates, where a closed form is known."""
        raise InputError("problem", self.name, "a problem with a closed form for gradient norms")

    def domain_records(self, count: int, seed: int) -> Data:
        """Records of the record domain, extreme ones first, for the search over neighbouring data sets."""
        raise InputError("problem", self.name, "a problem with domain_records")
