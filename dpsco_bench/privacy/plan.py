"""A plan: the schedule of an algorithm and every private query that its run will make; its target, and its charge.

The same object is charged by the accountant and drawn from by the run, so that the two cannot disagree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.plain import Schedule
from dpsco_bench.privacy.records import Full, RecordChoice
from dpsco_bench.problems.constants import Constants

RELEASES = ("sequence", "output")
"""Values of the option ``release``: what the accounted calibration charges."""
_ROUNDING = 1.0 + 1e-12


@dataclass(frozen=True)
class PrivacySpec:
    """(epsilon, delta)-differential privacy under replace-one neighbours.

    Raises InputError unless epsilon is > 0 and finite, delta in (0, 1).
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        if not _is_positive(self.epsilon):
            raise InputError("epsilon", self.epsilon, "a finite number > 0")
        if not _is_positive(self.delta) or self.delta >= 1:
            raise InputError("delta", self.delta, "in (0, 1)")

    @property
    def log_inverse_delta(self) -> float:
        """``l = ln(1/delta)``."""
        return -math.log(self.delta)


@dataclass(frozen=True)
class LastIterate:
    """Declaration that the T releases of one query, with normal noise Z on the mean gradient, stay unseen.

    The run is ``x <- P(x - step (grad F(x) + Z))``, F convex, a regulariser's gradient included, and returns the last
    x alone: no average, no momentum, no uniformly drawn iterate. Constants hold for every data set of the domain. See
    `accountants.gaussian`.

    Attributes
    ----------
    step : float or tuple of float, eta, at most ``2/smoothness``; one of each release where they differ
    smoothness, strong_convexity : float, M > 0 and mu >= 0 of F
    lipschitz : float, of P (a projection, a proximal map), in (0, 1]
    diameter : float, of the set that P projects onto; infinite without one
    calibrates : bool, whether the accounted calibration charges the output in place of the sequence
    """

    step: float | tuple[float, ...]
    smoothness: float
    strong_convexity: float = 0.0
    lipschitz: float = 1.0
    diameter: float = math.inf
    calibrates: bool = False

    def __post_init__(self) -> None:
        steps, M = self.steps, self.smoothness
        if not 0.0 < M < math.inf:
            raise InputError("smoothness of the last iterate", M, "a finite number > 0")
        if not (steps.size and (steps > 0.0).all() and (steps <= 2.0 / M * _ROUNDING).all()):
            raise InputError("step of the last iterate", self.step, f"in (0, 2/M] with 2/M = {2 / M:.6g}")
        for key, most in (("strong_convexity", M * _ROUNDING), ("lipschitz", 1.0), ("diameter", math.inf)):
            value, least = getattr(self, key), "[0" if key == "strong_convexity" else "(0"
            if not 0.0 <= value <= most or (value == 0.0 and least == "(0"):
                raise InputError(f"{key} of the last iterate", value, f"in {least}, {most:g}]")
        if steps.size > 1 and self.diameter < math.inf:
            raise InputError("diameter of the last iterate", self.diameter, "left out where steps differ")

    @property
    def steps(self) -> np.ndarray:
        """Steps ``(T,)``, or the one of all, ``(1,)``."""
        return np.atleast_1d(np.asarray(self.step, dtype=np.float64))

    @property
    def contractions(self) -> np.ndarray:
        """Largest factor ``(T,)`` or ``(1,)``, at most 1, by which a step without noise changes a distance."""
        ends = np.abs(1.0 - self.steps * self.strong_convexity), np.abs(1.0 - self.steps * self.smoothness)
        return self.lipschitz * np.minimum(np.maximum(*ends), 1.0)

    @property
    def attainable(self) -> bool:
        """Tell whether a quadratic of curvature mu contracts as slowly as that."""
        largest = self.smoothness + self.strong_convexity
        return self.lipschitz == 1.0 and self.diameter == math.inf and bool((self.steps * largest <= 2.0).all())


def last_iterate(constants: Constants, step: float, release: str, source: str) -> LastIterate | None:
    """Declare the last iterate of steps on the whole space; None if the objective is not known to be convex.

    Raises InputError for an unknown ``release``, and Refusal for ``output`` where the objective is not known to be
    strongly convex, so that the output is charged what the sequence is.
    """
    if release not in RELEASES:
        raise InputError("release", release, "one of " + ", ".join(RELEASES), source)
    mu = constants.strong_convexity if constants.curvature == "strong" else 0.0
    if release == "output" and mu == 0.0:
        reason = "it gains nothing: steps bring points together only where the objective is strongly convex"
        raise Refusal("release = output", reason, source)
    if constants.curvature == "any":
        return None
    return LastIterate(step, constants.total_smoothness, mu, calibrates=release == "output")


@dataclass(frozen=True)
class Query:
    """A private query: what is protected, how often, and the law of its noise. Use one of the kinds below.

    Attributes
    ----------
    sensitivity : float
        Largest change of the exposed value between replace-one neighbours in the kind's norm, given that the record was
        looked at. One record's own contribution to a sampled sum is half of it.
    paper_scale : float or None, noise scale as the theorem states it; None if the theorem has no such query
    share : float or None
        Fraction of the squared Gaussian-DP budget given to this query in the accounted calibration; the one query with
        None takes what is left.
    """

    name: str
    sensitivity: float
    releases: int
    records: RecordChoice = field(default_factory=Full)
    paper_scale: float | None = None
    share: float | None = None

    def __post_init__(self) -> None:
        for key, (fits, allowed) in _QUERY_FIELDS.items():
            value = getattr(self, key)
            if not fits(value):
                raise InputError(f"{key} of {self.name}", value, allowed)

    @property
    def law(self) -> str:
        """Name of the noise's law in `mechanism.NOISE_LAWS`."""
        return "normal"

    @property
    def law_parameters(self) -> tuple[Any, ...]:
        """Further arguments of the law."""
        return ()

    @property
    def norm(self) -> float:
        """Order of the norm in which the sensitivity is measured."""
        return 2.0

    @property
    def norm_kappa(self) -> float | None:
        """kappa, where one release is ``(sqrt(kappa) s/scale)``-GDP for sensitivity s; None for other kinds."""
        return None

    @property
    def stretch(self) -> float:
        """Factor by which noise feels a shift more than by its norm, ``sqrt(kappa)``: 1 in l2, and for other kinds."""
        return math.sqrt(self.norm_kappa or 1.0)

    @property
    def is_normal(self) -> bool:
        """Tell whether one release is exactly Gaussian, no less private than `norm_kappa` says."""
        return False

    @property
    def exact_minimiser(self) -> bool:
        """Tell whether the proof speaks of an exact minimiser where an iterative one is computed."""
        return False

    def factors(self, first: int, steps: int) -> np.ndarray | None:
        """Factors ``(steps,)`` by which the scale is multiplied in releases ``first ...``; None stands for ones."""
        return None

    @property
    def contribution(self) -> float:
        """Largest norm of one record's own term in a sampled sum."""
        return 0.5 * self.sensitivity

    def answer(self, value: Any, noise: Any) -> Any:
        """Compute the release for ``value`` with ``noise`` (None: no noise)."""
        return value if noise is None else value + noise

    def exposed(self, value: Any, answer: Any) -> Any:
        """Compute the part of the data that the noise hides, given the answer: the sensitivity bounds it."""
        return value


class GaussianQuery(Query):
    """A vector ``(R, d)`` plus independent normals; the scale is their standard deviation."""

    norm_kappa = 1.0
    is_normal = True


@dataclass(frozen=True)
class NoisyMinimumQuery(Query):
    """The index of the least of ``K`` scores ``(R, K)`` after independent Laplace noise (report noisy max).

    The sensitivity is the largest change of any one score; the scale is the Laplace distribution's. A `lazy` one draws
    only the noise that decides, where that is cheaper (`samplers.draws`): the same law from other random numbers.
    """

    lazy: bool = False

    law = "laplace"
    norm = math.inf

    def answer(self, value: Any, noise: Any) -> Any:
        scores = super().answer(value, noise)
        return array_namespace(scores).argmin(scores, axis=-1)


@dataclass(frozen=True)
class ObjectiveQuery(Query):
    """The minimiser of an objective with a random linear term ``<b, x>``: objective perturbation with normal ``b``.

    Its value is a `problems.perturbed.PerturbedMinimiser`. Given a minimiser, ``b`` is minus the sum of the records'
    gradients there plus terms without data, so the sensitivity is that of the sum. The change of variables from ``b``
    to the minimiser costs `log_jacobian` besides. The proof needs the exact minimiser. `log_jacobian` bounds the
    logarithm of the ratio of the two Jacobian determinants of replace-one neighbours.
    """

    log_jacobian: float = 0.0

    @property
    def exact_minimiser(self) -> bool:
        return True

    def answer(self, value: Any, noise: Any) -> Any:
        return value.solve(noise)

    def exposed(self, value: Any, answer: Any) -> Any:
        """Sum of the records' gradients at the released minimiser."""
        return value.data_part(answer)


class GammaObjectiveQuery(ObjectiveQuery):
    """Objective perturbation with ``b`` of density proportional to ``exp(-||b||/scale)``: pure differential privacy.

    The norm of ``b`` has the law Gamma(d, scale), its direction is uniform.
    """

    law = "gamma_norm"


@dataclass(frozen=True)
class PaperLimit:
    """Reason why the paper states no noise for a run: a key outside the range of its privacy theorem."""

    key: str
    value: float
    allowed: str
    source: str

    def error(self) -> InputError:
        """Build the error that the paper calibration raises."""
        return InputError(self.key, self.value, f"{self.allowed} for the paper's noise", self.source)


def at_most(key: str, value: float, limit: float, source: str, why: str = "") -> PaperLimit | None:
    """Return the limit that ``value`` breaks, or None up to ``limit`` (and rounding); ``why`` is its source."""
    if value <= limit * (1.0 + 1e-12):
        return None
    return PaperLimit(key, value, f"at most {limit:.4g}{why}", source)


@dataclass(frozen=True)
class Plan:
    """Schedule and queries of one run.

    Attributes
    ----------
    queries : tuple of Query, everything that the run releases
    gradient_evaluations : float, expected number of single-record gradients (exact where no batch size is random)
    schedule : mapping, the theorem's named quantities (step, epochs, ...); readable as attributes of the plan
    leaks : tuple of str, uses of the data that no query covers, in words; empty for a private algorithm
    unprotected : str
        Why the output is an exact function of the data, so that no finite epsilon holds; empty for all others.
    warnings : tuple of str, conditions of the theorem that this run violates; recorded in every row
    paper_limit : PaperLimit or None
        Why the paper states no noise here, where the run lies outside the range of its privacy theorem.
    last_iterate : LastIterate or None
        That the answers of its one query stay unseen and the last iterate alone is released, which is charged too.
    """

    queries: tuple[Query, ...]
    gradient_evaluations: float
    schedule: Schedule
    leaks: tuple[str, ...] = ()
    unprotected: str = ""
    warnings: tuple[str, ...] = ()
    paper_limit: PaperLimit | None = None
    last_iterate: LastIterate | None = None

    def __post_init__(self) -> None:
        for query in self.queries:
            if not isinstance(query, Query):
                raise InputError("query", query, "a query, e.g. GaussianQuery(name, sensitivity, releases)")
        names = [query.name for query in self.queries]
        if len(set(names)) < len(names):
            raise InputError("names of its queries", ", ".join(names), "different ones")
        if self.last_iterate is not None:
            only, steps = self.queries[:1], self.last_iterate.steps.size
            if len(names) != 1 or not only[0].is_normal or not isinstance(only[0].records, Full):
                allowed = "a plan of one query, with normal noise on all records"
                raise InputError("last_iterate", ", ".join(names), allowed)
            if steps not in (1, only[0].releases):
                allowed = f"one, or as many as {names[0]} has releases, {only[0].releases}"
                raise InputError("steps of last_iterate", steps, allowed)
        if not _is_real(self.gradient_evaluations, least=0.0):
            raise InputError("gradient_evaluations", self.gradient_evaluations, "a finite number >= 0")
        object.__setattr__(self, "gradient_evaluations", float(self.gradient_evaluations))
        object.__setattr__(self, "schedule", MappingProxyType(dict(self.schedule)))  # blocks of a run share the plan

    def __reduce__(self) -> tuple[Any, ...]:
        return Plan, tuple(dict(v) if isinstance(v, Mapping) else v for v in vars(self).values())

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["schedule"][name]
        except KeyError:
            known = sorted(self.__dict__.get("schedule", {}))
            raise AttributeError(f"the plan has no {name!r}; its schedule has {known}") from None

    def query(self, name: str) -> Query:
        for query in self.queries:
            if query.name == name:
                return query
        raise InputError("query", name, "one of " + ", ".join(q.name for q in self.queries))


def make_plan(
    *queries: Query,
    gradient_evaluations: float,
    leaks: tuple[str, ...] = (),
    unprotected: str = "",
    warnings: tuple[str, ...] = (),
    paper_limit: PaperLimit | None = None,
    last_iterate: LastIterate | None = None,
    **schedule: Any,
) -> Plan:
    """Build a plan; every further keyword becomes a named quantity of the schedule.

    Raises InputError for something that is no query, two queries of one name, or no number of gradient evaluations.
    """
    return Plan(tuple(queries), gradient_evaluations, schedule, leaks, unprotected, warnings, paper_limit, last_iterate)


def _is_real(value: Any, least: float = -math.inf) -> bool:
    number = isinstance(value, Real) and not isinstance(value, bool)
    return number and math.isfinite(value) and float(value) >= least


def _is_positive(value: Any) -> bool:
    return _is_real(value) and value > 0


_QUERY_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "name": (lambda value: isinstance(value, str) and bool(value), "text"),
    "sensitivity": (_is_positive, "a finite number > 0"),
    "releases": (lambda value: isinstance(value, Integral) and _is_positive(value), "an integer >= 1"),
    "records": (lambda value: isinstance(value, RecordChoice), "Full(), Poisson(rate), SingleIndex(population), ..."),
    "paper_scale": (lambda value: value is None or _is_real(value, least=0.0), "left out or a finite number >= 0"),
    "share": (lambda value: value is None or (_is_positive(value) and value < 1), "left out or a number in (0, 1)"),
}
"""Fields of `Query`: a test of their values, and the values that pass it."""


@dataclass(frozen=True)
class Charge:
    """An accountant's value for a plan with given noise.

    `kind` is ``exact``, ``upper`` or ``lower``. `pair` says which change of a mean of gradients a lower bound tests:
    ``any`` direction, one ``axis`` or ``even`` in all coordinates; ``computed`` where it is that of a pair of data
    sets; empty: one that is not asked of records.
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

    `covers(plan)` says whether it is for this plan; the first that says so is taken, and may still refuse it.
    `charge(plan, scales, delta)` takes positive scales. `scales(plan, privacy)` gives the noise scale per query, the
    least one for which the charge is the claim.
    """

    covers: Callable[[Plan], bool]
    charge: Callable[[Plan, Mapping[str, float], float], Charge]
    scales: Callable[[Plan, PrivacySpec], dict[str, float]]


def refused(plan: Plan, more: str = "") -> Refusal:
    """Build the refusal of a plan whose queries no accountant composes."""
    return Refusal("plan", f"no accountant here composes {', '.join(type(q).__name__ for q in plan.queries)}{more}")
