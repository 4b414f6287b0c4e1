"""Whether a released value is the exposed one with the noise that was charged, whatever class its query is of.

An accountant charges a query by its kind, one of those in `privacy`, or by the constant that the query names for its
law. A class of one's own may answer, or name, something else: so its answers are held against those of the kind, what
it says of itself against its kind or against the name of its law, and the noise against the scale that was charged.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import numpy as np
from scipy.special import gammainc, gammaln

from dpsco_bench.audit.subject import Subject, SubjectRun
from dpsco_bench.geometry.norms import lp_norm
from dpsco_bench.privacy import plan, queries, tree
from dpsco_bench.privacy.plan import NoisyMinimumQuery, ObjectiveQuery, Query
from dpsco_bench.privacy.queries import CoveringQuery, DrawQuery
from dpsco_bench.privacy.records import Disjoint, Full
from dpsco_bench.privacy.transcript import Recorder
from dpsco_bench.privacy.tree import PureTreeQuery, TreeQuery
from dpsco_bench.samplers.noisy_minimum import LEAST_SCORES

ROUNDING = 1e-9
FALSE_ALARM = 1e-7
"""Probability with which the noise of an honest run is called too small."""
LOOKED_AT = 64
"""Releases whose factors are asked for one by one."""
KINDS = frozenset(
    kind
    for module in (plan, queries, tree)
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, Query)
)
"""What accountants know."""
BY_KIND = TreeQuery | PureTreeQuery | DrawQuery | ObjectiveQuery | NoisyMinimumQuery | CoveringQuery
"""Kinds that are charged as such; of all others an accountant takes `Query.norm_kappa` and `Query.is_normal`."""
_CAUTIOUS = {
    "norm_kappa": lambda own, kinds: own is None or (kinds is not None and own >= kinds),
    "contribution": lambda own, kinds: own >= kinds * (1.0 - ROUNDING),
    "is_normal": lambda own, kinds: not own or kinds,
    "exact_minimiser": lambda own, kinds: own or not kinds,
}
"""What may differ from the kind where that costs more, or claims less; laws and norms may not."""


@dataclass(frozen=True)
class Density:
    """Noise of scale one of density ``~ exp(-||z||_order^power/power)``, or the mean of so many draws of it."""

    order: float
    power: int
    draws: int = 1

    @property
    def is_normal(self) -> bool:
        return self.order == self.power == 2


DENSITIES: dict[str, Callable[..., Density]] = {
    "normal": lambda: Density(2.0, 2),
    "laplace": lambda: Density(1.0, 1),
    "gamma_norm": lambda q=2.0: Density(q, 1),
    "generalised_gaussian": lambda r: Density(r, 2),
    "generalised_gaussian_mean": lambda r, draws: Density(r, 2, draws),
}
"""Of `laws.NOISE_LAWS` by name, from their own parameters: the law that is drawn decides, not what a query says."""


def charged_as(query: Query) -> Query:
    """The query as an accountant takes it: of the nearest kind, with its own fields."""
    kind = next(base for base in type(query).__mro__ if base in KINDS)
    return kind(**{field.name: getattr(query, field.name) for field in fields(kind)})


class Comparing(Recorder):
    """A recorder that holds every answer against what the query's kind answers about the same value and noise.

    Attributes
    ----------
    wrong : dict of str to str
        What is wrong with an answer, or with what it is said to expose, by query.
    unseen : set of str
        Queries whose noise is not drawn in full, so that nothing can be compared.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.wrong: dict[str, str] = {}
        self.unseen: set[str] = set()
        self._plain = {query.name: charged_as(query) for query in self.plan.queries}

    def release(self, name: str, value: Any, step: int = 0) -> Any:
        """Release as a `Recorder` does, and compare."""
        query = self.plan.query(name)
        given = value + 0 if isinstance(value, np.ndarray) else value  # an answer might change it
        released = super().release(name, value, step)
        plain = self._plain[name]
        if isinstance(query, NoisyMinimumQuery) and query.lazy and given.shape[-1] >= LEAST_SCORES:
            self.unseen.add(name)
        elif not _equal(released, plain.answer(given, self._given(query, step)), self.scales[name]):
            self.wrong.setdefault(name, f"release {step} is not what {_kind(plain)} answers with the noise drawn")
        if not _equal(query.exposed(given, released), plain.exposed(given, released), 0.0):
            self.wrong.setdefault(name, f"it says that release {step} exposes something else than {_kind(plain)} does")
        return released

    def _given(self, query: Query, step: int) -> Any:
        """What the query was to answer with: the noise of a release, or the randomness of a draw."""
        if isinstance(query, DrawQuery):
            return self._randomness(query, step)
        return self.transcript.noises[query.name].get(step)


def _equal(one: Any, other: Any, scale: float) -> bool:
    one, other = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    return one.shape == other.shape and np.allclose(one, other, ROUNDING, ROUNDING * scale, equal_nan=True)


def _kind(query: Query) -> str:
    return f"a {type(query).__name__}"


@dataclass(frozen=True)
class QueryCheck:
    """What was found of one query.

    Attributes
    ----------
    wrong : str
        What is wrong, empty where nothing is.
    said : str
        Otherwise what was compared, in words; empty where nothing could be.
    """

    wrong: str = ""
    said: str = ""


def compare(subject: Subject, run: SubjectRun) -> dict[str, QueryCheck]:
    """Every query of a run with `Comparing`, by name."""
    return {query.name: _compare(query, subject, run.mechanism) for query in subject.plan.queries}


def _compare(query: Query, subject: Subject, mechanism: Comparing) -> QueryCheck:
    plain, name, transcript = charged_as(query), query.name, mechanism.transcript
    charged, width = charged_factors(query, plain), transcript.value(name).shape[-1]
    wrong = mechanism.wrong.get(name) or misstated(query, plain, width) or _weakened(query, charged)
    if wrong or name in mechanism.unseen:
        return QueryCheck(wrong)
    if not transcript.noises[name]:
        return QueryCheck(said="draws of its kind" if isinstance(plain, DrawQuery) else "")
    scales = subject.scales[name] * charged[sorted(transcript.noises[name])]
    size = noise_size(query.law, query.law_parameters, transcript.noise(name) / scales[:, None, None])
    if size.chance < FALSE_ALARM / len(subject.plan.queries):
        return QueryCheck(f"its noise is {size.ratio:.3g} times as large as charged")
    return QueryCheck(said=f"{size.ratio:.3g} of the charged noise")


def charged_factors(query: Query, plain: Query) -> np.ndarray:
    """Factors ``(releases,)`` of the scale that an accountant takes into account: the query's own only where it asks.

    It asks where releases on all records or on blocks are paid by their squared shifts, and of a kind that has factors.
    """
    own = isinstance(query.records, Full | Disjoint) and not isinstance(plain, BY_KIND)
    factors = (query if own else plain).factors(0, query.releases)
    return np.ones(query.releases) if factors is None else np.asarray(factors, dtype=np.float64)


def _weakened(query: Query, charged: np.ndarray) -> str:
    """Which of the first releases has a smaller factor, asked for by itself, than is charged; empty where none has."""
    for step in range(min(LOOKED_AT, query.releases)):
        own = query.factors(step, 1)
        factor = 1.0 if own is None else float(own[0])
        if factor < charged[step] * (1.0 - ROUNDING):
            return f"release {step} has {factor:.3g} times the scale, and is charged for {charged[step]:.3g}"
    return ""


def misstated(query: Query, plain: Query, width: int) -> str:
    """What a query says of itself that makes its charge too small, in words; empty where nothing does.

    Parameters
    ----------
    plain : Query
        As it is charged (`charged_as`).
    width : int
        Number of coordinates of a release.
    """
    if isinstance(plain, BY_KIND):
        for name in ("law", "law_parameters", "norm", *_CAUTIOUS):
            own, kinds = getattr(query, name), getattr(plain, name)
            if not (_CAUTIOUS[name](own, kinds) if name in _CAUTIOUS else own == kinds):
                return f"{name} is {own!r}, and that of {_kind(plain)} is {kinds!r}"
        return ""
    if query.is_normal and not (query.law in DENSITIES and DENSITIES[query.law](*query.law_parameters).is_normal):
        return f"is_normal is True, and the law is {query.law}"
    if query.contribution < 0.5 * query.sensitivity * (1.0 - ROUNDING):
        return f"contribution is {query.contribution:.4g}, less than half of the sensitivity"
    kappa = query.norm_kappa or (1.0 if query.is_normal else math.inf)
    least = least_kappa(query.law, query.law_parameters, query.norm, width)
    if kappa < least * (1.0 - ROUNDING):
        return f"norm_kappa is {kappa:.4g}, and {query.law} noise costs {least:.4g} in its norm"
    return ""


def least_kappa(law: str, parameters: tuple[Any, ...], norm: float, d: int) -> float:
    """Least ``kappa`` for which noise of a law is known to be ``(sqrt(kappa) s/scale)``-GDP for a shift s in l_norm.

    Noise of density ``~ exp(-||z||_r^2/2)``, r >= 2, costs ``r - 1`` for a shift in l_r (docs/accounting.md), the mean
    of k draws k times as much. Noise of density ``~ exp(-||z||_r)`` is e-differentially private for a shift of e in
    l_r, hence ``2 Phi^-1(1/(1 + exp(-e)))``-GDP, at most ``sqrt(pi/2) e``: its trade-off function is a chord above any
    convex one through its corner. A shift in another norm may be ``d^(1/r - 1/norm)`` times as large. Infinity for a
    law of which nothing is known, r < 2 in the first among them.
    """
    if law not in DENSITIES:
        return math.inf
    density = DENSITIES[law](*parameters)
    if density.power == 2 and density.order < 2.0:
        return math.inf
    cost = 0.5 * math.pi if density.power == 1 else density.order - 1.0
    return float(density.draws * cost * d ** (2.0 * max(0.0, 1.0 / density.order - 1.0 / norm)))


@dataclass(frozen=True)
class Size:
    """How large noise of scale one is.

    Attributes
    ----------
    ratio : float
        A scale that fits it.
    chance : float
        Bound on the probability that honest noise is as small.
    """

    ratio: float
    chance: float


def noise_size(law: str, parameters: tuple[Any, ...], z: np.ndarray) -> Size:
    """Size of noise ``z (steps, R, d)`` that is said to be of a law and of scale one.

    Of all laws but one a power of a norm of each vector has a Gamma law, so that the probability is exact. Of means of
    generalised Gaussians it is bounded from their moments.
    """
    density, vectors, d = DENSITIES[law](*parameters), z.shape[0] * z.shape[1], z.shape[-1]
    if density.draws > 1 and not density.is_normal:
        return _mean_size(z, density)
    power, shape = density.power, vectors * d / density.power
    total = density.draws * float(np.sum(lp_norm(z, density.order) ** power)) / power  # of law Gamma(shape)
    return Size((total / shape) ** (1.0 / power), float(gammainc(shape, total)))


def _mean_size(z: np.ndarray, density: Density) -> Size:
    """Of means of generalised Gaussians, from ``X = ||z||_2^2``.

    For m independent ``X >= 0`` the probability of a sum below ``(1 - t) m E X`` is at most
    ``exp(-t^2 m (E X)^2/(2 E X^2))``, and ``E X^2 <= d^2 E z_1^4``.
    """
    d, vectors, draws = z.shape[-1], z.shape[0] * z.shape[1], density.draws
    second, fourth = (_moment(d, density.order, k) for k in (2, 4))
    fourth = (fourth + 3.0 * (draws - 1) * second**2) / draws**3
    second /= draws
    ratio = float(np.sum(z * z)) / (vectors * d * second)
    short = max(0.0, 1.0 - ratio)
    return Size(math.sqrt(ratio), math.exp(-(short**2) * vectors * second**2 / (2.0 * fourth)))


@cache
def _moment(d: int, r: float, k: int) -> float:
    """``E|z_1|^k`` of a vector of density ``~ exp(-||z||_r^2/2)``: of its norm, times that of the cone measure."""
    radius = 0.5 * k * math.log(2.0) + gammaln(0.5 * (d + k)) - gammaln(0.5 * d)
    cone = gammaln((k + 1) / r) + gammaln(d / r) - gammaln(1 / r) - gammaln((d + k) / r)
    return math.exp(radius + cone)
