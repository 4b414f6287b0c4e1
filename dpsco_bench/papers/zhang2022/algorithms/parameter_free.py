"""Parameter-free private optimisation by regularised losses (Zhang, Tran, Cutkosky 2022, section 5)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import inf, log, sqrt
from typing import Any

from dpsco_bench.algorithms.info import Info
from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.backend.namespace import row_norm
from dpsco_bench.errors import Refusal
from dpsco_bench.geometry.norms import nonzero
from dpsco_bench.papers.zhang2022.algorithms import reduction
from dpsco_bench.papers.zhang2022.learners import ParameterFree
from dpsco_bench.plain import Schedule
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.problems.base import Constants, Trait

QUANTITIES = ("kappa_pf", "Phi", "A", "A_noise", "private")
"""Fields of `Confidence` that a plan notes beside the problem's constants."""


@dataclass(frozen=True)
class Confidence:
    """The quantities of Theorem 11 that make its statements hold with probability ``1 - delta_f``.

    ``Phi = sqrt(ln(20 d n ln(2 kappa_pf n)/delta_f))``; ``A = 8 sqrt2 C2d`` and ``A_noise = 8 sqrt(d) C2p`` are the
    factors of the gradients' deviations and of the noise, ``private = A_noise (G + D H) Phi log2(2n)/rho`` is the
    coefficient of t^2 in xi_t.
    """

    kappa_pf: float
    Phi: float
    A: float
    A_noise: float
    private: float
    lipschitz: float
    smoothness: float
    diameter: float

    def xi(self, t: float) -> float:
        """Compute ``A G Phi t^2.5 + private t^2``."""
        return self.A * self.lipschitz * self.Phi * t**2.5 + self.private * t**2

    def nu(self, t: float) -> float:
        """``28 A H Phi t^2.5``."""
        return 28.0 * self.A * self.smoothness * self.Phi * t**2.5

    def loss_bound(self, t: float) -> float:
        """Lip at t: with probability ``1 - delta_f`` no regularised loss has a larger norm."""
        G, H, D = self.lipschitz, self.smoothness, self.diameter
        return G * t**3 + self.A * (2.0 * G + 57.0 * D * H) * self.Phi * t**2.5 + 2.0 * self.private * t**2


def confidence(
    c: Constants, n: int, d: int, rho: float, delta_f: float, factors: tuple[float, float] | None = (1.0, 1.0)
) -> Confidence:
    """Compute a `Confidence` at delta_f in (0, 1); rho is the private part's, infinite without noise.

    ``factors`` are C2d and C2p; None for the certified ones, from concentration in Hilbert space and of Gaussian norms.
    """
    G, H, D = c.lipschitz, c.smoothness, c.diameter
    kappa_pf = 1.0 + D * H / G
    phi = sqrt(log(20.0 * d * n * log(2.0 * kappa_pf * n) / delta_f))
    if factors is None:
        deviation = 0.33541 * sqrt(log(4.0 * n / delta_f)) / phi
        noise = (sqrt(d) + sqrt(2.0 * log(2.0 * n / delta_f))) / (sqrt(d) * phi)
    else:
        deviation, noise = factors
    A, A_noise = 8.0 * sqrt(2.0) * deviation, 8.0 * sqrt(d) * noise
    private = A_noise * (G + D * H) * phi * log(2 * n, 2) / rho
    return Confidence(kappa_pf, phi, A, A_noise, private, G, H, D)


@algorithm(
    "zhang2022.parameter_free",
    source="Zhang, Tran, Cutkosky 2022, Theorems 10 and 11",
    needs=(*reduction.NEEDS, Trait.L2_BALL),
    variants=reduction.VARIANTS,
    order_invariant=False,
    rounds="zhang2022",
)
def plan(
    given: Setting,
    *,
    confidence_constants: str = "paper",
    deviation_factor: float | None = None,
    noise_factor: float | None = None,
    failure: float = 0.05,
    regulariser: str = "adaptive",
    initial_wealth: float = 0.01,
    sensitivity: str | None = None,
    radius: str = "adaptive",
    rho: float | None = None,
    run_last_round: bool = False,
    clip_differences: bool = False,
) -> Plan:
    """Weights t^3 and losses with ``xi_t ||w - x_0|| + nu_t ||w - x_0||^2``, for a risk of the order of ||x* - x_0||.

    Parameters
    ----------
    given : Setting
        G and H, on a Euclidean ball; n at least 2. The anchor x_0 is the problem's starting point.
    variant, sensitivity, radius, rho, run_last_round, clip_differences
        As for ``zhang2022.dp_otb``. The regulariser has m for rho under ``accounted`` and no private part under
        ``noise_off``.
    confidence_constants : str
        ``paper``: C2d = C2p = 1. ``certified``: proven ones, where the gradients' noise does not depend on x.
        ``rate``: `deviation_factor` and `noise_factor`, without any guarantee.
    deviation_factor, noise_factor : optional
        C2d and C2p of ``rate``.
    failure : float
        delta_f, the probability that the statements fail; unrelated to privacy.
    regulariser : str
        ``adaptive``, or ``none``: a control.
    initial_wealth : float
        eps0 of the learner.
    """
    given.choice("regulariser", regulariser, ("adaptive", "none"))
    given.require("failure", failure, 0 < failure < 1, "in (0, 1)")
    given.positive("initial_wealth", initial_wealth)
    factors = _factors(given, confidence_constants, deviation_factor, noise_factor, radius)
    m = {
        "printed": reduction.printed_rho(given, rho),
        "accounted": gdp_mu(given.epsilon, given.delta),
        "noise_off": inf,
    }
    made = confidence(given.constants, given.n, given.d, m[given.variant], failure, factors)
    options = reduction.Reduction("parameter_free", 3.0, sensitivity, radius, rho, run_last_round, clip_differences)
    told: Schedule = {name: getattr(made, name) for name in QUANTITIES} | {"loss_bound": made.loss_bound(given.n)}
    return reduction.tree_plan(given, options, regulariser=regulariser, initial_wealth=initial_wealth, **told)


@plan.run
def parameter_free(objective, plan, mechanism):
    """Algorithm 1 with the losses of Theorem 11 on iterates ``(R, d)``."""
    setting = reduction.learner_setting(objective, plan, loss_bound=plan.loss_bound, initial_wealth=plan.initial_wealth)
    learner = ParameterFree(setting)
    regularisers = reduction.loss_regularisers(objective, plan, learner)
    if plan.regulariser == "adaptive":
        regularisers.append(DistanceRegulariser(confidence_of(plan), setting.start))
    output = reduction.online_to_batch(objective, plan, mechanism, learner, regularisers)
    return output, Info({"clips": learner.clips[:, 0]})


def confidence_of(plan: Any) -> Confidence:
    """Read the quantities that a plan was made with."""
    return Confidence(**{field.name: getattr(plan, field.name) for field in fields(Confidence)})


@dataclass(frozen=True)
class DistanceRegulariser:
    """``r_t(w) = xi_t ||w - x_0|| + nu_t ||w - x_0||^2``; called, its subgradient at w_t (that of a norm at 0 is 0).

    `terms` has xi, nu and Lip, `anchor (R, d)` is x_0.
    """

    terms: Confidence
    anchor: Any

    def __call__(self, t: int, w: Any, x: Any) -> Any:
        away = w - self.anchor
        return (self.terms.xi(t) / nonzero(row_norm(away)) + 2.0 * self.terms.nu(t)) * away

    def value(self, t: int, w: Any) -> Any:
        """``r_t(w)``, ``(R,)``."""
        length = row_norm(w - self.anchor)[:, 0]
        return self.terms.xi(t) * length + self.terms.nu(t) * length**2


def _factors(
    given: Setting, mode: str, deviation: float | None, noise: float | None, radius: str
) -> tuple[float, float] | None:
    """C2d and C2p of a mode; None for the certified ones."""
    c = given.constants
    given.choice("confidence_constants", mode, ("paper", "certified", "rate"))
    if (deviation is not None or noise is not None) != (mode == "rate"):
        reason = "rate needs its two factors, the other modes have none"
        raise Refusal(f"confidence_constants {mode}", reason, given.source)
    if mode == "certified" and c.smoothness > 0 and not (c.hessian_rank == 0 and radius == "D"):
        reason = "proven only for H = 0, or for gradient noise that does not depend on x together with radius = D"
        raise Refusal("confidence_constants certified", reason, given.source)
    for key, value in (("deviation_factor", deviation), ("noise_factor", noise)):
        fits = mode != "rate" or (value is not None and 0 < value <= 1)
        given.require(key, value, fits, "in (0, 1] with confidence_constants rate")
    chosen = {"paper": (1.0, 1.0), "certified": None, "rate": (deviation or 1.0, noise or 1.0)}
    return chosen[mode]
