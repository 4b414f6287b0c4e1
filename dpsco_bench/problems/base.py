"""Problems: the constants, data, gradients and optimum that each declares."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.errors import InputError, checked_count
from dpsco_bench.plain import Options, Schedule
from dpsco_bench.problems.constants import (
    DOMAIN_TRAITS,
    Constants,
    Need,
    Option,
    Trait,
    alternatives,
    constructor_signature,
    declared_options,
    domain_traits,
    need_text,
    option,
)
from dpsco_bench.problems.data import (
    Batch,
    Data,
    Draws,
    Listed,
    RecordForm,
    StreamFactory,
    gathered,
    single_records,
    sliced,
)

Array = Any

__all__ = ["Batch", "Constants", "Data", "Draws", "Problem", "StreamFactory", "Trait", "option"]
CLIPPED_VALUES = 1 << 20
"""Most entries of single gradients held at once for a clipped mean."""


class Problem:
    """An objective with declared constants; subclasses fill in the mathematics.

    The constructor takes ``d``, the options that the class and those above it declare (see `option`), and ``constants``
    in place of the problem's own (see `Constants.override`). A subclass may have an ``__init__`` of its own instead.

    Attributes
    ----------
    traits : frozenset of Trait, what the objective satisfies, apart from what its constants say (see `properties`)
    shares_records : bool
        True where all records are equal (an oracle), hence no sampling variance and no neighbouring data sets;
        `mean_gradient` is all that has to be known of the gradients.
    cell_dependent : bool, true for a family with one member per cell (see `at`): its starting gap changes along a sweep
    data_dependent_constants : bool, true where `constants_of` looks at the data; such constants are never private
    needs_data_root : bool, true where the constructor takes ``root``, the folder that holds a real data set
    file_options : tuple of str
        Constructor options that are places of a user's files; `pins` holds what such a file contains.
    draws_per_replicate : bool
        True where every replicate has a sample of its own (see `sample`) instead of one data set for all.
    population : bool, true where risks are those of the population and not of the sample
    has_loss_values : bool, true where `batch_losses` and the empirical `risk` can be evaluated
    signal_option : str
        Constructor option, a float, that sets a free signal strength; empty if there is none. Streams are not keyed
        by it (common random numbers), and claims take the largest mean risk over a grid of it.
    unkeyed_options : tuple of str
        Further constructor options by which streams are not keyed: cells that differ in them share random numbers.
    l1 : float
        Weight of a term ``l1 ||x||_1`` of the regulariser. It has no gradient: methods that do not take the regulariser
        by its proximal map refuse the problem.
    closed_form_error, closed_form_remark : float, str
        Relative numerical error of `expected_gap`, and what its rows must say.
    twin : str, name of the problem with synthetic records of the same shape, whose options are among those of this one
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
    draws_per_replicate: ClassVar[bool] = False
    population: ClassVar[bool] = False
    has_loss_values: ClassVar[bool] = False
    signal_option: ClassVar[str] = ""
    unkeyed_options: ClassVar[tuple[str, ...]] = ()
    l1: float = 0.0
    closed_form_error: ClassVar[float] = 1e-12
    closed_form_remark: ClassVar[str] = ""
    twin: ClassVar[str] = ""
    default_dimension: ClassVar[int] = 10
    least_dimension: ClassVar[int] = 1
    options: ClassVar[Mapping[str, Option]] = {}
    __signature__: ClassVar[inspect.Signature | None] = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, value in [*vars(cls).items()]:
            if isinstance(value, Option):
                value.declare(cls, name)
        cls.options = declared_options(cls)
        cls.__signature__ = constructor_signature(cls.options) if cls.__init__ is Problem.__init__ else None

    def __init__(self, d: int | None = None, constants: dict[str, float] | None = None, **options: Any) -> None:
        if options.keys() - self.options.keys():
            raise TypeError(f"{type(self).__name__} takes {self.__signature__}, not {', '.join(options)}")
        for key, declared in self.options.items():
            setattr(self, declared.name, declared.checked(options.get(key, declared.default)))
        self.dimension = self.checked_dimension(d)
        self.prepare()
        self._overrides = dict(constants or {})
        self.constants.override(**self._overrides)

    def checked_dimension(self, d: int | None) -> int:
        """`default_dimension` for None, else ``d``. Raises InputError unless it is at least `least_dimension`."""
        count = checked_count("d", self.default_dimension if d is None else d)
        if count < self.least_dimension:
            raise InputError("d", d, f"an integer >= {self.least_dimension}", self.name)
        return count

    def prepare(self) -> None:
        """Derive attributes from options and dimension, and check what they must satisfy together."""

    @classmethod
    def unavailable(cls, root: Path) -> str:
        """Say why the data cannot be had under ``root``, with the command that gets them; empty if they can."""
        return ""

    @property
    def own_constants(self) -> Constants:
        """Constants that the problem itself proves or declares."""
        raise InputError("problem", self.name, "a problem class that defines own_constants")

    @property
    def constants(self) -> Constants:
        """Constants in force: the problem's own with the user's overrides."""
        declared = self.own_constants.override(**self._overrides)
        isotropic = self.isotropic_curvature is not None
        return declared if declared.isotropic == isotropic else declared.but(isotropic=isotropic)

    @property
    def properties(self) -> frozenset[Trait]:
        """`traits`, and those that the domain and the regulariser decide."""
        own = self.own_constants
        found = self.traits | domain_traits(own.domain)
        if own.regularisation == self.l1 == 0:
            found |= {Trait.UNREGULARISED}
        if Trait.GENERALISED_LINEAR in found:
            found |= {Trait.PLANE_GRADIENTS}
        evaluated = type(self).batch_losses is not Problem.batch_losses or Trait.LINEAR_LOSS in found
        if evaluated or (self.shares_records and not self.population):
            found |= {Trait.RECORD_LOSSES}
        return found

    def lacks(self, need: Need) -> bool:
        """Tell whether the problem has none of the traits of which an algorithm needs one."""
        return self.properties.isdisjoint(alternatives(need))

    def lacking(self, need: Need) -> str:
        """Name a need that the problem does not meet, in words; for a domain, the ones that would do."""
        allowed = [kind for kind, traits in DOMAIN_TRAITS.items() if traits & {*alternatives(need)}]
        domain = f"; domain = {self.own_constants.domain}: must be {' or '.join(allowed)}" if allowed else ""
        return need_text(need) + domain

    @property
    def isotropic_curvature(self) -> float | None:
        """Number ``a`` if every record's Hessian, without the regulariser, is ``a I`` everywhere; else None."""
        return 0.0 if Trait.LINEAR_LOSS in self.traits else None

    @property
    def member(self) -> tuple[float, ...]:
        """Key that tells the members of a family apart; empty for a single problem."""
        return ()

    def at(self, n: int, epsilon: float, delta: float) -> Problem:
        """Return the problem of a cell with ``n`` records and target (epsilon, delta): itself, or a family's member."""
        return self

    def with_signals(self, values: np.ndarray) -> Problem | None:
        """Return the same problem at several signals at once, or None if they have to be run one by one.

        Rows are then signal-major: of ``x (S R, d)``, row i has signal ``i // R`` and replicate ``i % R``, and all that
        is computed for ``x`` is computed row by row.
        """
        return None

    @property
    def signal_capped(self) -> bool:
        """Tell whether the signal is at its cap, so that a larger one would change nothing."""
        return False

    @property
    def feasible_set(self) -> Any:
        """Feasible set as iterates see it; None for the whole space."""
        return self.own_constants.ball

    def constants_of(self, data: Data) -> Constants:
        """Constants for one data set; the same for all of them unless `data_dependent_constants`."""
        return self.constants

    @property
    def records(self) -> int | None:
        """Number of records, where they are not drawn."""
        return None

    @property
    def pins(self) -> Options:
        """Constructor options that fix the content of the files named by `file_options`."""
        return {}

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings that every row of a run on this problem must carry."""
        return ("constants computed from the data: not private",) if self.data_dependent_constants else ()

    def check_records(self, n: int) -> None:
        """Check that a data set of ``n`` records can be had. Raises InputError if there are not so many."""
        if self.records is not None and n > self.records:
            raise InputError("n", n, f"an integer from 1 to {self.records}, the number of records of {self.name}")

    @property
    def twin_options(self) -> Options:
        """Return further options of the `twin`, beside this problem's own. InputError where only the data know them."""
        return {}

    @property
    def effective_dimension(self) -> int:
        """Dimension that schedules and bounds use."""
        return self.dimension

    @property
    def start(self) -> np.ndarray:
        """Starting point, shape ``(d,)``."""
        return np.zeros(self.dimension)

    def starting_points(self, data: Any) -> np.ndarray:
        """Return starting points ``(S R, d)`` where rows differ, else ``(1, d)``; public, whatever they depend on."""
        return self.start[None, :]

    def draw(self, n: int, streams: StreamFactory) -> Data:
        """Draw a data set of ``n`` records from the keyed data streams."""
        return Data(n)

    def sample(self, n: int, draws: Draws) -> Any:
        """Draw the samples of ``n`` records of some replicates, where `draws_per_replicate`.

        What it returns is for this problem's own methods only: records, sufficient statistics, or ``draws`` itself
        where records are drawn on the fly. With a `Data` of ``features (R, n, d)`` and ``labels (R, n)`` the other
        methods follow from `batch_gradient`, `risk` and `optimal_risk`.
        """
        raise InputError("problem", self.name, "a problem with sample")

    def row_size(self, n: int) -> int:
        """Count the numbers that a row (a replicate at one signal) holds at once; this bounds the rows of a block."""
        return self.dimension if self.shares_records else n * self.dimension if self.draws_per_replicate else n

    def gather(self, data: Any, indices: Array) -> Any:
        """Gather records ``indices (R, W)`` of each replicate for `batch_gradient`."""
        return gathered(data, indices)

    @property
    def record_form(self) -> RecordForm | None:
        """Describe how a record's gradient depends on the point, where compiled steps know that form."""
        return None

    def form_records(self, data: Any, indices: Array) -> Data:
        """Return records ``indices (R, W)`` as the form has them: ``features (R, W, d)``, ``labels (R, W)`` or None."""
        return self.gather(data, indices)

    def form_range(self, data: Any, first: int, count: int) -> Data:
        """Consecutive records as the form has them: ``features (R, count, d)``, or one for all that are equal."""
        return sliced(data, first, count)

    def form_kinds(self, data: Any, drawn: bool) -> Listed | None:
        """Describe records of `form_records` (``drawn``) or `form_range` by the few values that they have in common."""
        return None

    def range_gradient(self, x: Array, data: Any, first: int, count: int) -> Array:
        """Mean of the loss gradients of records ``first .. first + count - 1`` at ``x (R, d)``; shape ``(R, d)``."""
        rows = sliced(data, first, count)
        if rows.features is None or rows.features.ndim == 2:
            return self.mean_gradient(x, rows)
        return self.batch_gradient(x, rows, array_namespace(x).full((x.shape[0], count), 1.0 / count, dtype=x.dtype))

    def range_gradient_pair(self, x: Array, other: Array, data: Any, first: int, count: int) -> tuple[Array, Array]:
        """`range_gradient` at two points; a problem that draws records on the fly draws them once."""
        return self.range_gradient(x, data, first, count), self.range_gradient(other, data, first, count)

    def range_gradient_difference(self, x: Array, other: Array, data: Any, first: int, count: int) -> Array:
        """`range_gradient` at ``x`` less that at ``other``, shape ``(R, d)``."""
        now, before = self.range_gradient_pair(x, other, data, first, count)
        return now - before

    def record_gradients(self, x: Array, data: Any, first: int, count: int) -> Array:
        """Loss gradient of each of records ``first .. first + count - 1`` at ``x (R, d)``; shape ``(R, count, d)``."""
        xp = array_namespace(x)
        points = xp.repeat(x, count, axis=0)
        rows = single_records(sliced(data, first, count), x.shape[0])
        gradients = self.batch_gradient(points, rows, xp.ones((points.shape[0], 1), dtype=x.dtype))
        return xp.reshape(gradients, (x.shape[0], count, x.shape[1]))

    def clipped_mean_gradient(self, x: Array, data: Any, level: float) -> Array:
        """Mean of the records' loss gradients at ``x (R, d)``, coordinates clipped to ``[-level, level]`` before."""
        xp, total = array_namespace(x), 0.0
        size = max(1, CLIPPED_VALUES // (x.shape[0] * x.shape[1]))
        for first in range(0, data.n, size):
            gradients = self.record_gradients(x, data, first, min(size, data.n - first))
            total = total + xp.sum(xp.clip(gradients, -level, level), axis=1)
        return total / data.n

    def mean_gradient(self, x: Array, data: Any) -> Array:
        """Mean of the records' loss gradients at ``x (R, d)``, without the regulariser; shape ``(R, d)``."""
        if self.draws_per_replicate:
            return self.range_gradient(x, data, 0, data.n)
        raise InputError("problem", self.name, "a problem with mean_gradient")

    def batch_gradient(self, x: Array, batch: Data, weights: Array) -> Array:
        """Weighted sum over a batch ``features (R, W, d)``, ``weights (R, W)`` of loss gradients; shape ``(R, d)``."""
        if self.shares_records:
            return array_namespace(x).sum(weights, axis=-1, keepdims=True) * self.mean_gradient(x, batch)
        raise InputError("problem", self.name, "a problem with batch_gradient")

    def batch_losses(self, x: Array, data: Any, indices: Array) -> Array:
        """Losses ``(R, W)`` at ``x (R, d)`` of records ``indices (R, W)``, up to a term without x."""
        xp = array_namespace(x)
        if self.shares_records and not self.population:
            return xp.broadcast_to(self.risk(x, data)[:, None], indices.shape)
        if Trait.LINEAR_LOSS not in self.traits:
            raise InputError("problem", self.name, "a problem with batch_losses")
        one = xp.ones((x.shape[0], 1), dtype=x.dtype)
        records = (self.gather(data, indices[:, j : j + 1]) for j in range(indices.shape[1]))
        return xp.stack([xp.sum(self.batch_gradient(x, row, one) * x, axis=-1) for row in records], axis=1)

    def risk(self, x: Array, data: Any) -> Array:
        """Risk with the regulariser, shape ``(R,)``: empirical, or the population's where `population`."""
        excess = self.excess_risk(x, data)
        if excess is None:
            raise InputError("problem", self.name, "a problem with risk")
        return excess + self.optimal_risk(data)

    def optimal_risk(self, data: Any) -> float | np.ndarray:
        """Compute the minimum (or infimum) of the risk over the domain; ``(R,)`` where rows differ."""
        raise InputError("problem", self.name, "a problem with optimal_risk")

    def minimiser(self, data: Any) -> np.ndarray:
        """Find a point ``(d,)`` at which the risk is `optimal_risk`."""
        raise InputError("problem", self.name, "a problem with a minimiser")

    def excess_risk(self, x: Array, data: Any) -> Array | None:
        """`risk` less `optimal_risk`, shape ``(R,)``, if it is known without a subtraction; None elsewhere."""
        return None

    def beside(self, x: np.ndarray, data: Data) -> dict[str, np.ndarray]:
        """Measure more of points ``(R, d)`` than their risk: numbers ``(R,)`` by name, the extras of final outputs."""
        return {}

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
        ``distance`` is that of the two gradients in l_order.
        """
        return None

    def records_at(self, points: np.ndarray) -> Data | None:
        """Find records that react strongly at ``points (m, d)``, which fixed ones may miss; None: no others."""
        return None

    def domain_records(self, count: int, seed: int) -> Data:
        """Return records of the record domain, extreme ones first, for the search over neighbouring data sets."""
        allowed = "given: it returns a Data of records that change gradients most; without it no neighbour can be tried"
        raise InputError(f"domain_records of {self.name}", "missing", allowed)
