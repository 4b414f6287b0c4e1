"""Search for neighbours that change a released value by more than its plan declares, or that an output tells of.

The transcript of a run is forced on neighbouring data (`privacy.transcript`). Since normal noise can be anything, the
adversary chooses it: large noise along one direction drives the iterates to the edge of where the method can be,
projections of points included, and the next direction follows the largest change that was found there. A search can
refute a sensitivity, not prove it.

An accountant charges a record for one of all releases on disjoint blocks, for batches as seldom as they are drawn, and
for the nodes of a tree that it meets. So under the transcript and the batches of a recorded run, a record that a
release does not look at must not change it at all. And what is made of releases alone is the same again on other data,
and with other hidden batches and orders. Answers are held against those of the query's kind, which is what an
accountant charges, and noise against its scale.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

import numpy as np
from scipy.special import gammainc

from dpsco_bench.audit.canaries import DOMAIN_RECORDS
from dpsco_bench.audit.subject import REPLICATES, Subject, SubjectRun, replaced
from dpsco_bench.audit.transcript import mean_deviation
from dpsco_bench.backend.namespace import array_namespace, to_numpy
from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.geometry.norms import lp_norm
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import NoisyMinimumQuery, ObjectiveQuery, Plan, Query
from dpsco_bench.privacy.queries import CoveringQuery, DrawQuery
from dpsco_bench.privacy.records import Disjoint, Full, RandomAllocation, WithReplacement
from dpsco_bench.privacy.transcript import Recorder, Replay, Transcript
from dpsco_bench.privacy.tree import PureTreeQuery, TreeQuery
from dpsco_bench.problems.base import Batch, Data
from dpsco_bench.rng.streams import Stream
from dpsco_bench.samplers.draws import LEAST_SCORES

NEIGHBOURS = 12  # domain records that are tried in one place
REACH = 1e4  # noise that steers a run, in units of the calibrated one
ROUNDS = 5  # steered runs, each in the direction of the largest change that the one before found
ROUNDING, OFFSET = 1e-9, 1e6  # tolerances of a value and of the sensitivity: the part of it that counts
_SIGNS = np.where(np.arange(REPLICATES) % 2 == 0, 1.0, -1.0)[:, None]  # every other replicate is steered the other way
Values = dict[str, np.ndarray]  # values that a run passed to each query, ``(steps, R, k)``
FALSE_ALARM = 1e-7  # probability with which the noise of an honest run is called too small
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


@dataclass
class Found:
    """Largest changes that a search found, by query."""

    ratios: dict[str, float] = field(default_factory=dict)  # of a released value, in units of the declared sensitivity
    leak: float = 0.0  # largest difference of outputs under one transcript: 0 if all else is post-processing
    misplaced: dict[str, str] = field(default_factory=dict)  # what is wrong with the records that a query looks at


class Steered(Recorder):
    """A recorder whose noise is large and points in one direction ``(R, k)`` by query, by default that of its first."""

    def __init__(self, directions: Values, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._directions = dict(directions)

    def _noise(self, query: Query, step: int, dim: int) -> Any:
        noise = super()._noise(query, step, dim)
        if noise is None:
            return None
        if query.name not in self._directions:
            self._directions[query.name] = _unit(to_numpy(noise).astype(np.float64))
        steering = REACH * self.scales[query.name] * self._directions[query.name]
        return noise + array_namespace(noise).asarray(steering, dtype=noise.dtype)


def search(
    subject: Subject,
    places: Sequence[int] = (0,),
    neighbours: int = NEIGHBOURS,
    rounds: int = ROUNDS,
    everywhere: bool = True,
) -> Found:
    """Search the neighbours of a data set.

    All replacements by ``neighbours`` domain records are tried in some ``places``, in ``rounds`` steered runs; with
    ``everywhere`` every record is replaced once besides.
    """
    domain = subject.problem.domain_records(max(DOMAIN_RECORDS, neighbours), subject.seed)
    found, recorded = Found({query.name: 0.0 for query in searched(subject)}), subject.run(Recorder)
    for position in range(subject.data.n if everywhere else 0):
        _try(found, subject, recorded, position, [replaced(subject.data, position, domain, position % domain.n)])
    tried = Data(neighbours, domain.features[:neighbours], domain.labels[:neighbours])
    for place in places:
        _look(found, subject, subject.run(Recorder, first=1), tried, place, 1)
        directions: Values = {}
        for first in range(rounds):
            steered = subject.run(partial(Steered, directions), first=first)
            largest = _look(found, subject, steered, tried, place, first)
            directions = {name: _SIGNS * rows for name, rows in largest.items() if rows.any()}
    return found


def _look(found: Found, subject: Subject, recorded: SubjectRun, domain: Data, place: int, first: int) -> Values:
    """Try every record of the domain in one place, and those that the problem has for where the run ended."""
    nearby = subject.problem.records_at(recorded.output[np.isfinite(recorded.output).all(axis=1)])
    sources = [domain] if nearby is None else [domain, nearby]
    swaps = [replaced(subject.data, place, source, which) for source in sources for which in range(source.n)]
    return _try(found, subject, recorded, place, swaps, first)


def _try(
    found: Found, subject: Subject, recorded: SubjectRun, place: int, swaps: Sequence[Data], first: int = 0
) -> Values:
    """Force the transcript of a run on other data sets; returns the largest changes as unit vectors."""
    exposed = [query.name for query in subject.plan.queries if not isinstance(query, CoveringQuery)]

    def values_of(run: SubjectRun) -> Values:
        return {name: run.mechanism.transcript.value(name) for name in exposed}

    transcript, values = recorded.mechanism.transcript, [values_of(recorded)]
    for data in swaps:
        other = subject.run(partial(Replay, transcript), data=data, first=first)
        if not np.array_equal(recorded.output, other.output):
            found.leak = max(found.leak, float(np.abs(recorded.output - other.output).max()))
        values.append(values_of(other))
        for name in exposed:
            if values[0][name].shape != values[-1][name].shape:
                raise InputError(f"releases of query {name}", "others on a neighbour", "the same on neighbours")
        found.misplaced |= misplaced(subject.plan, transcript, place, values[0], values[-1])
    directions = {}
    for query in searched(subject):
        size, directions[query.name] = _largest_change(query, np.stack([value[query.name] for value in values]))
        found.ratios[query.name] = max(found.ratios[query.name], size / query.sensitivity)
    return directions


def _largest_change(query: Query, values: np.ndarray) -> tuple[float, np.ndarray]:
    """Largest change between any two data sets of ``values (K, steps, R, k)``; for every replicate as a unit vector."""
    rows, largest, change = np.arange(REPLICATES), np.zeros(REPLICATES), np.zeros(values.shape[2:])
    for number in range(1, len(values)):
        differences = (values[number] - values[:number]).reshape(-1, *values.shape[2:])
        sizes = np.linalg.norm(differences, ord=query.norm, axis=-1)
        best = sizes.argmax(axis=0)
        better = sizes[best, rows] > largest
        largest = np.where(better, sizes[best, rows], largest)
        change = np.where(better[:, None], differences[best, rows], change)
    return float(largest.max()), _unit(change)


def searched(subject: Subject) -> list[Query]:
    """List the queries whose changes are compared with what they declare: covering noise hides no data.

    Of batches drawn with replacement the sensitivity is that of a record which a batch holds once (see `_drawn`).
    """
    left_out = CoveringQuery, WithReplacement
    return [q for q in subject.plan.queries if not isinstance(q, left_out) and not isinstance(q.records, left_out)]


def _unit(vectors: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(length > 0.0, length, 1.0)


def misplaced(plan: Plan, recorded: Transcript, place: int, own: Values, other: Values) -> dict[str, str]:
    """Name queries that look at records which they should not look at, each with what is wrong.

    ``own`` and ``other`` passed these values under the same releases and batches, on data that differ in one ``place``.
    """
    found, blocks = {}, {}
    for query in plan.queries:
        if query.name not in own:
            continue
        one, two = own[query.name], other[query.name]
        sizes = np.linalg.norm(one - two, ord=query.norm, axis=-1)
        size = np.minimum(np.abs(one).max(axis=-1), OFFSET * query.sensitivity)  # a constant added hides nothing
        sizes = np.where(sizes > ROUNDING * (query.sensitivity + size), sizes, 0.0)
        if isinstance(query.records, Disjoint):
            blocks[query.name] = np.sum(sizes > 0.0, axis=0)
        elif isinstance(query.records, RandomAllocation) and np.sum(sizes > 0.0, axis=0).max() > 1:
            found[query.name] = "one record changes several of its batches, which are parts of one order"
        elif query.records.sampled:
            if wrong := _drawn(query, sizes, recorded.batches[query.name], place):
                found[query.name] = wrong
        elif isinstance(query, TreeQuery | PureTreeQuery):
            power = 1 if isinstance(query, PureTreeQuery) else 2
            nodes = sizes[: query.releases - query.idle] / query.sensitivity
            cost = float(np.sum(nodes**power, axis=0).max())
            if cost > query.path_cost * (1.0 + ROUNDING):
                found[query.name] = f"one record changes nodes that cost {cost:.4g}, and {query.path_cost:.4g} is paid"
    if blocks and np.sum(list(blocks.values()), axis=0).max() > 1:
        found[", ".join(blocks)] = "one record changes several releases, whose blocks are said to be disjoint"
    return found


def _drawn(query: Query, sizes: np.ndarray, batches: Mapping[int, Any], place: int) -> str:
    """Say what is wrong with the changes of drawn batches; empty where nothing is."""
    held = [np.sum((to_numpy(b.indices) == place) * to_numpy(b.mask), axis=-1) for _, b in sorted(batches.items())]
    copies = np.array(held)
    if sizes.shape != copies.shape:
        return ""  # not every release drew a batch, which is counted elsewhere
    if np.any(sizes[copies == 0.0] > 0.0):
        return "a record changes a release whose batch does not have it"
    share = float(np.max(sizes / np.maximum(copies, 1.0), initial=0.0)) / query.sensitivity
    if isinstance(query.records, WithReplacement) and share > 1 + ROUNDING:
        return f"a record drawn once changes a release by {share:.3g} times what is declared"
    return ""


class Redrawn(Replay):
    """A replay of the releases with other batches, and another order of the records where hiding it is charged."""

    def sample(self, name: str, step: int = 0) -> Batch:
        return Mechanism.sample(self, name, step)

    def permutation(self, name: str, size: int) -> Any:
        hidden = [query.records for query in self.plan.queries if isinstance(query.records, RandomAllocation)]
        return super().permutation(f"redrawn/{name}" if any(one.population == size for one in hidden) else name, size)

    def _stream(self, label: str, xp: Any) -> Stream:
        public = label.startswith(("choice/", "order/"))
        return Mechanism._stream(self, label if public else f"redrawn/{label}", xp)


def other_records(subject: Subject) -> Data:
    """Make a data set of as many records of the domain."""
    domain = subject.problem.domain_records(DOMAIN_RECORDS, subject.seed)
    rows = np.arange(subject.data.n) % domain.n
    return Data(subject.data.n, np.asarray(domain.features)[rows], np.asarray(domain.labels)[rows])


def differing(subject: Subject, recorded: SubjectRun, kind: type[Replay], data: Data | None = None) -> int:
    """Count the runs whose output is another one under the same releases, on other data or with other batches."""
    again = partial(kind, recorded.mechanism.transcript)
    try:
        output = subject.run(again, replicates=len(recorded.output), data=data).output
    except DpscoError:
        if data is None:
            raise
        return 0  # a solver may fail on what is no sample; neighbours are looked at elsewhere
    return int((recorded.output != output).any(axis=-1).sum())


class Comparing(Recorder):
    """A recorder that holds every answer against what the query's kind answers about the same value and noise.

    ``wrong`` says by query what is wrong; of the ``unseen`` ones, whose noise is not drawn in full, nothing is
    compared.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.wrong: dict[str, str] = {}
        self.unseen: set[str] = set()
        self.plain: dict[str, Query] = {}
        for query in self.plan.queries:  # as an accountant takes it: of the nearest kind of its own, with its fields
            kind = next(base for base in type(query).__mro__ if base.__module__.startswith("dpsco_bench.privacy."))
            self.plain[query.name] = kind(**{field.name: getattr(query, field.name) for field in fields(kind)})

    def release(self, name: str, value: Any, step: int = 0) -> Any:
        query, plain = self.plan.query(name), self.plain[name]
        given = value + 0 if isinstance(value, np.ndarray) else value  # an answer might change it
        released = super().release(name, value, step)
        if isinstance(query, NoisyMinimumQuery) and query.lazy and given.shape[-1] >= LEAST_SCORES:
            self.unseen.add(name)
            return released
        drawn = (
            self._randomness(query, step) if isinstance(query, DrawQuery) else self.transcript.noises[name].get(step)
        )
        own, kinds = (np.asarray(a, dtype=np.float64) for a in (released, plain.answer(given, drawn)))
        if own.shape != kinds.shape or not np.allclose(own, kinds, ROUNDING, ROUNDING * self.scales[name], True):
            said = f"release {step} is not what a {type(plain).__name__} answers with the noise drawn"
            self.wrong.setdefault(name, said)
        return released


def compare_releases(query: Query, subject: Subject, mechanism: Comparing) -> tuple[str, str]:
    """Compare a query's releases with those of its kind: what is wrong, else what was compared, empty for nothing."""
    name, plain, transcript = query.name, mechanism.plain[query.name], mechanism.transcript
    if name in mechanism.wrong:
        return mechanism.wrong[name], ""
    if query.contribution < 0.5 * query.sensitivity * (1.0 - ROUNDING):
        return f"contribution is {query.contribution:.4g}, less than half of the sensitivity", ""
    if query.is_normal and SHAPES[query.law](*query.law_parameters) != (2.0, 2):
        return f"is_normal is True, and the law is {query.law}", ""
    if name in mechanism.unseen:
        return "", ""
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
