"""Check that a released value is the exposed one with the noise that was charged.

An accountant charges a query by its kind, one of those in `privacy`. A user's class may answer with less: so its
answers are held against those of the kind, its contribution to a batch against its sensitivity, and the noise that was
drawn against the scale that was charged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
from scipy.special import gammainc

from dpsco_bench.audit.likelihood import mean_deviation
from dpsco_bench.audit.subject import Subject, SubjectRun
from dpsco_bench.geometry.norms import lp_norm
from dpsco_bench.privacy import plan, queries, tree
from dpsco_bench.privacy.plan import NoisyMinimumQuery, ObjectiveQuery, Query
from dpsco_bench.privacy.queries import CoveringQuery, DrawQuery
from dpsco_bench.privacy.records import Disjoint, Full
from dpsco_bench.privacy.transcript import Recorder
from dpsco_bench.privacy.tree import PureTreeQuery, TreeQuery
from dpsco_bench.samplers.draws import LEAST_SCORES

ROUNDING = 1e-9
FALSE_ALARM = 1e-7  # probability with which the noise of an honest run is called too small
KINDS = frozenset(  # kinds of queries that accountants know
    kind
    for module in (plan, queries, tree)
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, Query)
)
BY_KIND = TreeQuery | PureTreeQuery | DrawQuery | ObjectiveQuery | NoisyMinimumQuery | CoveringQuery
"""Kinds that are charged as such, whatever factors a query of a user's class has."""
SHAPES: dict[str, Callable[..., tuple[float, int]]] = {
    "normal": lambda: (2.0, 2),
    "laplace": lambda: (1.0, 1),
    "gamma_norm": lambda q=2.0: (q, 1),
    "generalised_gaussian": lambda r: (r, 2),
    "generalised_gaussian_mean": lambda r, draws: (r, 2),
}
"""Norm and power of the density ``~ exp(-||z||_norm^power/power)`` of each of `mechanism.NOISE_LAWS` at scale one."""


def charged_as(query: Query) -> Query:
    """Take a query as an accountant does: of the nearest kind, with its own fields."""
    kind = next(base for base in type(query).__mro__ if base in KINDS)
    return kind(**{field.name: getattr(query, field.name) for field in fields(kind)})


class Comparing(Recorder):
    """A recorder that holds every answer against what the query's kind answers about the same value and noise.

    ``wrong`` says by query what is wrong; of the ``unseen`` ones, whose noise is not drawn in full, nothing is
    compared.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.wrong: dict[str, str] = {}
        self.unseen: set[str] = set()
        self._plain = {query.name: charged_as(query) for query in self.plan.queries}

    def release(self, name: str, value: Any, step: int = 0) -> Any:
        query, plain = self.plan.query(name), self._plain[name]
        given = value + 0 if isinstance(value, np.ndarray) else value  # an answer might change it
        released = super().release(name, value, step)
        if isinstance(query, NoisyMinimumQuery) and query.lazy and given.shape[-1] >= LEAST_SCORES:
            self.unseen.add(name)
            return released
        drawn = (
            self._randomness(query, step) if isinstance(query, DrawQuery) else self.transcript.noises[name].get(step)
        )
        own, kinds = (np.asarray(a, dtype=np.float64) for a in (released, plain.answer(given, drawn)))
        near = own.shape == kinds.shape and np.allclose(own, kinds, ROUNDING, ROUNDING * self.scales[name], True)
        if not near:
            said = f"release {step} is not what a {type(plain).__name__} answers with the noise drawn"
            self.wrong.setdefault(name, said)
        return released


def compare(subject: Subject, run: SubjectRun) -> dict[str, tuple[str, str]]:
    """Compare every query of a run with `Comparing`: what is wrong, else what was compared, empty for nothing."""
    return {query.name: _compare(query, subject, run.mechanism) for query in subject.plan.queries}


def _compare(query: Query, subject: Subject, mechanism: Comparing) -> tuple[str, str]:
    plain, name, transcript = charged_as(query), query.name, mechanism.transcript
    wrong = mechanism.wrong.get(name, "")
    if query.contribution < 0.5 * query.sensitivity * (1.0 - ROUNDING):
        wrong = wrong or f"contribution is {query.contribution:.4g}, less than half of the sensitivity"
    if query.is_normal and SHAPES[query.law](*query.law_parameters) != (2.0, 2):
        wrong = wrong or f"is_normal is True, and the law is {query.law}"
    if wrong or name in mechanism.unseen:
        return wrong, ""
    if not transcript.noises[name]:
        return "", "draws of its kind" if isinstance(plain, DrawQuery) else ""
    own = isinstance(query.records, Full | Disjoint) and not isinstance(plain, BY_KIND)
    charged = (query if own else plain).factors(0, query.releases)  # an accountant asks for no others
    scales = subject.scales[name] * (np.ones(query.releases) if charged is None else np.asarray(charged))
    noise = transcript.noise(name) / scales[sorted(transcript.noises[name])][:, None, None]
    ratio, chance = noise_size(query.law, query.law_parameters, noise)
    if chance < FALSE_ALARM / len(subject.plan.queries):
        return f"its noise is {ratio:.3g} times as large as charged", ""
    return "", f"{ratio:.3g} of the charged noise"


def noise_size(law: str, parameters: tuple[Any, ...], z: np.ndarray) -> tuple[float, float]:
    """Measure noise ``z (steps, R, d)`` that is said to be of a law and of scale one.

    A power of a norm of each vector has a Gamma law; of means of generalised Gaussians only the variance is known.
    Returns a scale that fits, and the probability that honest noise is as small, for means as if they were normal.
    """
    (order, power), count = SHAPES[law](*parameters), z[..., 0].size
    if law == "generalised_gaussian_mean":
        z, order = z / mean_deviation(z.shape[-1], *parameters), 2.0
    shape = count * z.shape[-1] / power
    total = float(np.sum(lp_norm(z, order) ** power)) / power  # of law Gamma(shape)
    return (total / shape) ** (1.0 / power), float(gammainc(shape, total))
