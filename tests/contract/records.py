"""Losses of the contract suite whose gradients come close to what the constants allow, with neighbouring records."""

from dataclasses import replace

import numpy as np

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.papers.gopi2022.problems.norms import QuadraticBall
from dpsco_bench.problems.base import Constants, Data, Trait
from dpsco_bench.problems.constants import DOMAIN_TRAITS
from dpsco_bench.problems.data import CONSTANT, RecordForm
from dpsco_bench.problems.glm import GeneralisedLinear
from dpsco_bench.problems.minimisers import minimise_glm_in_ball

DIMENSION = 3
DECIDED_BY_CONSTANTS = {Trait.UNREGULARISED}.union(*DOMAIN_TRAITS.values())
LP_BALLS = (("l1_ball", 1.0), ("lp_ball:1.5", 1.5), ("l2_ball", 2.0), ("linf_ball", np.inf))


def normals(streams, n, d):
    return streams("features").normal(0, 1, 0, n, d)[0].astype(np.float64)


def uniforms(streams, n):
    return streams("labels").uniform(0, 1, 0, n, 1)[0, :, 0]


def unit(rows, q=2.0):
    return rows / np.linalg.norm(rows, ord=q, axis=1, keepdims=True)


class PseudoHuber(GeneralisedLinear):
    """``sqrt(1 + (margin - y)^2)`` with labels in [-100, 100]: gradients of norm close to G in both directions.

    Large labels have the sign of a row's first entry, so that the mean of a few losses falls along it.
    """

    name = "pseudo_huber"
    traits = frozenset(Trait) - DECIDED_BY_CONSTANTS - {Trait.PUBLIC_QUADRATIC, Trait.LINEAR_LOSS, Trait.COMMON_HESSIAN}

    own_constants = Constants(1.0, 1.0, strong_convexity=0.1, regularisation=0.1, initial_gap=100.0)

    def draw(self, n, streams):
        rows, labels = unit(normals(streams, n, self.dimension)), 200.0 * uniforms(streams, n) - 100.0
        large = np.abs(labels) > 50.0
        return Data(n, rows, np.where(large, np.abs(labels) * np.sign(rows[:, 0]), labels))

    def loss(self, margins, labels):
        return (1.0 + (margins - labels) ** 2) ** 0.5

    def slope(self, margins, labels):
        return (margins - labels) / self.loss(margins, labels)

    def curvature(self, margins, labels):
        return self.loss(margins, labels) ** -3.0

    def domain_records(self, count, seed):
        rows = np.random.default_rng(seed).standard_normal((count, self.dimension))
        rows[:4, 1:] = 0.0
        return Data(count, unit(rows), np.resize([100.0, -100.0, 0.0], count))


class PseudoHuberOnBall(PseudoHuber):
    """The same losses on a ball that gives iterates room to go far, without a regulariser."""

    name = "pseudo_huber_on_ball"
    traits = PseudoHuber.traits - {Trait.STRONGLY_CONVEX, Trait.POLYAK_LOJASIEWICZ}
    own_constants = Constants(1.0, 1.0, initial_gap=100.0, initial_distance=100.0, diameter=2000.0, domain="l2_ball")

    def optimal_risk(self, data):
        """Over the l2 ball, which contains the l1 ball: differences of risks are what tests look at."""
        return minimise_glm_in_ball(self, data, self.constants.ball.radius).value


class PseudoHuberOnL1Ball(PseudoHuberOnBall):
    """The same losses on an l1 ball."""

    name = "pseudo_huber_on_l1_ball"
    own_constants = replace(PseudoHuberOnBall.own_constants, domain="l1_ball")


class SteepQuadratic(GeneralisedLinear):
    """``(s/2)(margin - y)^2`` on the unit l_p ball, s = 0.01 and labels of +-99: gradients of l_q norm close to 1."""

    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ})
    kind, further, curvature_constant = "steep", {}, 0.01

    def __init__(self, domain, p):
        self.name, self.q = f"{self.kind}_{domain}", dual_exponent(p)
        constants = {"smoothness": self.curvature_constant, "initial_gap": 100.0, "diameter": 2.0, **self.further}
        self.declared = Constants(1.0, domain=domain, norm=p, **constants)
        super().__init__(DIMENSION)

    own_constants = property(lambda self: self.declared)

    def _unit(self, rows):
        return unit(rows, self.q)

    def draw(self, n, streams):
        rows = self._unit(normals(streams, n, self.dimension))
        return Data(n, rows, np.sign(uniforms(streams, n) - 0.5) * 99.0)

    def loss(self, margins, labels):
        return 0.5 * self.curvature_constant * (margins - labels) ** 2

    def slope(self, margins, labels):
        return self.curvature_constant * (margins - labels)

    def optimal_risk(self, data):
        return 0.0

    def domain_records(self, count, seed):
        rows = np.random.default_rng(seed).standard_normal((count, self.dimension))
        rows[:4] = np.eye(self.dimension)[[0, 0, 1, 1]][:count]
        return Data(count, self._unit(rows), np.resize([99.0, -99.0], count))


class LinearRecords(SteepQuadratic):
    """``-<a, x>`` on the unit l_p ball."""

    traits = frozenset({Trait.CONVEX, Trait.LIPSCHITZ, Trait.LINEAR_LOSS})
    kind = "linear"

    def loss(self, margins, labels):
        return -margins

    def slope(self, margins, labels):
        return -(0 * margins + 0 * labels + 1)

    def optimal_risk(self, data):
        return -float(self.constants.ball.support(np.mean(data.features, axis=0)[None])[0, 0])

    def domain_records(self, count, seed):
        records = super().domain_records(count, seed)
        records.features[1] *= -1
        return records


class AxisRecords(LinearRecords):
    """``-<a, x>`` with ``a = +-e_1`` on the unit l_p ball."""

    kind, further = "axis", {"losses": "axis_linear"}

    def _unit(self, rows):
        return np.sign(rows[:, :1]) * np.eye(1, self.dimension)


class Quadratic(QuadraticBall):
    """``(1/2) ||x - a||^2`` with ``||a|| = 1/2`` on the unit l2 ball: G = 3/2, S = 1."""

    name = "quadratic_on_ball"

    def __init__(self):
        super().__init__(DIMENSION, records="sphere", reach=0.5)


class StronglyConvexRecords(QuadraticBall):
    """``(m/2) ||x - a||^2``, ``||a|| = 99``, on the unit l2 ball, m = 0.01: one Hessian, and a modulus in the gauge."""

    name, population = "strongly_convex_records", False
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.TWICE_DIFFERENTIABLE, Trait.STRONGLY_CONVEX})
    moduli = {"strong_convexity": 0.01, "gauge_convexity": 0.01, "hessian_rank": 0.0}
    own_constants = Constants(1.0, 0.01, diameter=2.0, domain="l2_ball", **moduli)

    def __init__(self):
        super().__init__(DIMENSION, records="sphere", strong_convexity=0.01, reach=99.0)

    def risk(self, x, data):
        return super().risk(x, data) - 0.01 * x @ array_namespace(x).mean(data.features, axis=0)

    def optimal_risk(self, data):
        length = float(np.linalg.norm(np.mean(data.features, axis=0)))
        reach = min(1.0, length)
        return 0.01 * (0.5 * reach - length) * reach


class LpPseudoHuber(PseudoHuber):
    """The same losses on the whole space with their constants in l_p, without a regulariser."""

    name = "lp_pseudo_huber"
    traits = PseudoHuberOnBall.traits
    own_constants = Constants(1.0, 1.0, initial_gap=100.0, initial_distance=100.0, norm=1.5)
    """Rows of l2 norm 1 have an l_q norm of at most 1 for q = 3."""


class HeavyRecords(SteepQuadratic):
    """``<a, x>`` on the unit l_p ball with a of any length; sigma = 3 and beta = 0.01 are declared."""

    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LINEAR_LOSS})
    thresholds = (40.0, 3.4, 5.2, 4.3, 3.6, 5.9)
    """Lengths of the slopes of records: some just below, some above the levels that the algorithms cut at."""
    kind, further = "heavy", {"gradient_deviation": 3.0, "hessian_rank": 0.0}

    def _slopes(self, lengths):
        """Records ``a`` of given lengths, and no labels: all lie along one line."""
        rows = np.ones((len(lengths), self.dimension)) * self.dimension ** (-1.0 / self.q)
        return Data(len(lengths), rows * np.asarray(lengths)[:, None], np.zeros(len(lengths)))

    def draw(self, n, streams):
        """Slopes of length 2, below every level, three quarters of which point the same way."""
        return self._slopes(np.where(uniforms(streams, n) < 0.75, 2.0, -2.0))

    def loss(self, margins, labels):
        return margins + 0 * labels

    def slope(self, margins, labels):
        return 1.0 + 0 * (margins + labels)

    def domain_records(self, count, seed):
        return self._slopes(np.resize(np.repeat(self.thresholds, 2) * np.tile([1.0, -1.0], 6), count))


class HeavySlopes(HeavyRecords):
    """The same in a form that compiled steps know."""

    kind, record_form = "heavy_slopes", RecordForm(CONSTANT)
