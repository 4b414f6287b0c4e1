"""The exponential mechanism of Gopi, Lee, Liu, Shen, Tian 2022, and what it is held against.

First its setting: refusals, the single draw, what its sampler proves and who charges it; and the density
``exp(-k (F_D + mu r))`` of one objective, as a private query asks for a draw and as samplers see it. `mechanism` makes
an algorithm of a sampler, (target, k, mu, draws) -> one point per row ``(R, d)`` of that density: the plan is one draw
by it. The modules ``exact`` and ``chains`` hold the samplers.
"""

from __future__ import annotations

import importlib
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from dpsco_bench.algorithms.info import Info
from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.backend.namespace import cast, cast_like, float64_zeros, to_numpy
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.geometry.ball import Ball
from dpsco_bench.geometry.mirror import SmoothMirror
from dpsco_bench.geometry.norms import dual_exponent, lp_norm, square_gradient
from dpsco_bench.geometry.sets import SchattenBall, matrix_rows
from dpsco_bench.papers.gopi2022.laws.axis import AxisNeighbours, planar_epsilon
from dpsco_bench.papers.gopi2022.regulariser import NormRegulariser, RegularisedLaw
from dpsco_bench.plain import Options, Schedule
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.privacy.plan import Charge, Plan, make_plan
from dpsco_bench.privacy.queries import DrawQuery, Temperature
from dpsco_bench.problems.base import Constants, Trait
from dpsco_bench.problems.objective import Objective

PAPER = "Gopi, Lee, Liu, Shen, Tian 2022"
NEEDS = (Trait.CONVEX, Trait.LIPSCHITZ, Trait.UNREGULARISED)
VARIANTS = {"replace_one": ("accounted", "none"), "printed": ("paper", "none")}
EVALUATED = {"replace_one": ("accounted",), "printed": ("paper",)}
"""``printed``: S = G and t = eps/sqrt(2 ln(1/(2 delta))) in the schedule. ``replace_one``: the true S, the exact t.
Samplers of losses that are only evaluated have no limit without noise."""
EXACT = ("cube_exact", "axis_exact", "lp_exact")
"""Samplers that are exact on every data set of some problems, in the order in which ``auto`` tries them."""
SAMPLERS = {name: "exact" for name in (*EXACT, "radial_exact")}
SAMPLERS |= {name: "chains" for name in ("gibbs", "hit_and_run", "proximal_sampler")}
"""Modules of this folder that hold a sampler, by its name: functions as `Target` calls them."""
CHAINS, SWEEPS = ("gibbs", "hit_and_run"), 1000
"""Samplers that have the option ``sweeps``, and its default."""
SAMPLER_OPTIONS = ("sweeps", "delta_in", "corner")
"""Entries of a plan's schedule that its sampler takes."""
LINEAR = ("linear", "axis_linear")
Array = Any
Sampler = Callable[..., np.ndarray]
_PARAMETERS = """
Parameters
----------
given, variant, schedule, theta_convention
    As for ``gopi2022.reg_exp_mech``.
"""
_SWEEPS = """sweeps : int
    Length of each chain. Its second half is evidence: rhat, ess and chain_risk stand beside the result, and where
    quadrature knows the law expected_gap and z_score. Nothing is proven about the distance from the target law.
"""


@dataclass(frozen=True, kw_only=True)
class PairDrawQuery(DrawQuery):
    """`DrawQuery` of ``exp(-k (F + mu r))`` on an l_p ball of radius R, for records of dual norm S/2.

    Attributes
    ----------
    p : float, in (1, 2], of the ball
    size : int, dimension of the law: d, or 1 where coordinates are independent
    curvatures : tuple of float
        Of ``F + mu r`` in multiples of ``||x||_p^2``: the part that mu multiplies, and the losses' own.
    slope, radius : float, S/2, R
    on_axis : bool, whether all records of the domain are ``+-S/2`` along the first axis
    """

    p: float
    size: int
    curvatures: tuple[float, float]
    slope: float
    radius: float
    on_axis: bool

    def attained(self, scale: float, delta: float) -> Charge:
        """Exact for records on an axis: the worst pair of all. Else lower: some pairs in a plane, or one at p = 2."""
        k, mu = self.temperature.at(scale)
        c = k * (mu * self.curvatures[0] + self.curvatures[1]) * self.radius**2
        reach, n = k * self.slope * self.radius, self.temperature.n
        if not self.on_axis and self.p < 2.0:
            epsilon = planar_epsilon(self.p, self.size, c, reach, n, delta)
            return Charge(epsilon, "lower", "pair of data sets in a plane, quadrature")
        laws = AxisNeighbours(self.p, self.size, c, reach, n)
        if self.on_axis:
            return Charge(laws.epsilon(delta), "exact", "worst pair of data sets of two points on an axis, quadrature")
        return Charge(laws.centre_epsilon(delta), "lower", "pair of data sets on an axis, quadrature")


@dataclass(frozen=True)
class BallSetting(Setting):
    """Setting that the theorems cover: G and S in the norm of the domain, d the ambient dimension."""

    @property
    def radius(self) -> float:
        return 0.5 * self.constants.diameter

    @property
    def loss_range(self) -> float:
        """S that the schedule believes in."""
        return self.constants.lipschitz if self.variant == "printed" else self.constants.loss_difference

    @property
    def regulariser(self) -> NormRegulariser:
        return regulariser_of(self.constants, self.d)

    def parameter(self, delta: float) -> float:
        """Gaussian-DP parameter of the variant at a delta: the paper's, or the exact one."""
        if self.variant == "printed":
            return self.epsilon / math.sqrt(2.0 * math.log(0.5 / delta))
        return gdp_mu(self.epsilon, delta)

    def query(self, temperature: Temperature, status: str, tau: float = 0.0, pairs: Options | None = None) -> DrawQuery:
        """Declare the draw. A sampler with a proven distance leaves half of delta to it; ``pairs``: see `pair_law`."""
        delta = 0.5 * self.delta if status == "proven_tv" else self.delta
        G = self.constants.lipschitz
        given: Options = dict(
            paper_scale=self.loss_range / (G * self.parameter(delta)) if self.variant == "printed" else None,
            temperature=temperature,
            sampler_status=status,
            target_delta=delta,
            tau=tau if status == "proven_tv" else 0.0,
            dual=2.0 if isinstance(self.constants.ball, SchattenBall) else dual_exponent(self.constants.norm),
        )
        sensitivity = self.constants.loss_difference / self.constants.lipschitz
        kind = DrawQuery if pairs is None else PairDrawQuery
        return kind("draw", sensitivity, 1, **given, **(pairs or {}))


def regulariser_of(c: Constants, d: int) -> NormRegulariser:
    """Make the regulariser of the norm of a domain, an l_p or Schatten ball."""
    size, matrices = (c.ball.columns, True) if isinstance(c.ball, SchattenBall) else (d, False)
    return NormRegulariser(c.norm, size, matrices)


def checked_setting(given: Setting) -> BallSetting:
    """Refuse delta >= 1/2, S > 2G, and a domain that is not the ball of the norm in which G is measured."""
    c = given.constants
    if given.delta >= 0.5:
        raise given.error("delta", given.delta, "in (0, 1/2)")
    if c.loss_difference > 2.0 * c.lipschitz:
        raise given.error("loss_range", c.loss_difference, f"at most 2 G = {2.0 * c.lipschitz:g}")
    if getattr(c.ball, "p", None) != c.norm:
        raise given.error("domain", c.domain, f"the l_p or Schatten ball of the norm of G, p = {c.norm:g}")
    if isinstance(c.ball, SchattenBall):
        matrix_rows(given.d, c.ball.columns)
    return BallSetting(**vars(given))


def regularised(s: BallSetting, schedule: str, theta_convention: str) -> Temperature:
    """Compute the schedule of Theorem 3 (``erm``) or 4 (``sco``) with the range of the geometry's regulariser."""
    s.choice("schedule", schedule, ("erm", "sco"))
    s.choice("theta_convention", theta_convention, ("centred", "diameter"))
    theta = s.regulariser.theta(s.radius if theta_convention == "centred" else s.constants.diameter)
    return Temperature(schedule, s.n, s.d, s.constants.lipschitz, s.loss_range, theta=theta)


def sampler_status(sampler: str, s: BallSetting, regularised: bool = True) -> str:
    """Find the status that a sampler proves on every data set of the problem's domain; empty where it does not fit."""
    losses, p, lp_ball = s.constants.losses, s.constants.norm, not isinstance(s.constants.ball, SchattenBall)
    linear, quadratic = losses in LINEAR and regularised, losses == "quadratic" and p == 2.0
    along = regularised and (losses == "axis_linear" or (losses == "linear" and p == 2.0))
    exact = {
        "cube_exact": linear and s.constants.domain == "linf_ball",
        "axis_exact": lp_ball and 1.0 < p <= 2.0 and (along or quadratic),
        "lp_exact": lp_ball and 1.0 <= p < 2.0 and linear,
    }
    fits = {
        "radial_exact": lp_ball and losses == ("norm" if regularised else "norm_quadratic"),
        "gibbs": lp_ball and linear,
        "hit_and_run": losses != "hidden",
        "proximal_sampler": lp_ball and losses != "hidden" and regularised,
    }
    return "exact" if exact.get(sampler) else "target_law_only" if fits.get(sampler) else ""


def pair_law(s: BallSetting, sampler: str, regularised: bool) -> Options:
    """Fields of a `PairDrawQuery`: records on an axis, or in a plane for ``lp_exact``; Refusal for other samplers."""
    c, cube = s.constants, sampler == "cube_exact"
    if sampler == "lp_exact" and (c.norm == 1.0 or s.d < 2):
        raise Refusal("accountant pairs with lp_exact", "the law of a plane is known for p > 1 and d >= 2 only")
    if sampler not in EXACT:
        raise Refusal(f"accountant pairs with {sampler}", "only of " + ", ".join(EXACT) + " the law is known")
    own = 0.5 * c.strong_convexity if c.losses == "quadratic" else 0.0
    return dict(
        p=2.0 if cube else c.norm,
        size=1 if cube else s.d,
        curvatures=(s.regulariser.coefficient if regularised else 0.0, own),
        slope=0.5 * c.loss_difference,
        radius=s.radius,
        on_axis=c.losses == "axis_linear" and sampler == "axis_exact",
    )


def draw_plan(
    s: BallSetting, temperature: Temperature, sampler: str, sweeps: int | None = None, accountant: str = "theorem"
) -> Plan:
    """Make the plan of a draw by one of `SAMPLERS`, charged by Theorem 2 or, with ``pairs``, by neighbouring data sets.

    Raises InputError, Refusal for an unknown sampler, one that does not fit, or a length for one that has none.
    """
    regularised, about = temperature.rule != "strongly_convex", f"{s.constants.losses} losses on {s.constants.domain}"
    if sampler == "auto":
        sampler = next((name for name in EXACT if sampler_status(name, s, regularised) == "exact"), "")
        if not sampler:
            reason = "no sampler is exact for every data set; one without a proof of privacy is chosen by its name"
            raise Refusal(f"sampler auto for {about}", reason, s.source)
    if sampler not in SAMPLERS:
        raise s.error("sampler", sampler, "auto or one of " + ", ".join(SAMPLERS))
    if sampler == "proximal_sampler":
        raise Refusal("sampler proximal_sampler", "its schedule belongs to gopi2022.proximal_sampler", s.source)
    if sweeps is not None and sampler not in CHAINS:
        raise Refusal(f"sweeps with {sampler}", "it makes none", s.source)
    s.choice("accountant", accountant, ("theorem", "pairs"))
    pairs = pair_law(s, sampler, regularised) if accountant == "pairs" else None
    query = s.query(temperature, fitting(sampler, s, regularised), pairs=pairs)
    lengths: Options = {"sweeps": s.count("sweeps", sweeps) or SWEEPS} if sampler in CHAINS else {}
    return plan_of(s, query, sampler, **lengths)


def fitting(sampler: str, s: BallSetting, regularised: bool = True) -> str:
    """Return the status of a sampler. Raises Refusal if it does not sample the law at all."""
    if status := sampler_status(sampler, s, regularised):
        return status
    about = f"{sampler} for {s.constants.losses} losses on {s.constants.domain}"
    raise Refusal(about, "no such sampler is known here", s.source)


def sampler_parts(options: Options) -> tuple[str, ...]:
    """Modules of the samplers that an option ``sampler`` may mean."""
    name = options.get("sampler", "auto")
    name = EXACT[0] if name == "auto" else name
    return (_module(name),) if name in SAMPLERS else ()


DRAWN: dict[str, Any] = dict(variants=VARIANTS, least_norm=1.0, parts=sampler_parts)


def _module(sampler: str) -> str:
    return f"{__package__}.{SAMPLERS[sampler]}"


def plan_of(s: BallSetting, query: DrawQuery, sampler: str, warnings: tuple[str, ...] = (), **options: Any) -> Plan:
    """Make a plan with the schedule's quantities at the variant's own t, and the sampler's options."""
    t = s.parameter(query.target_delta)
    k, weight = query.temperature.at(s.loss_range / (s.constants.lipschitz * t))
    law: Schedule = dict(radius=s.radius, p=s.constants.norm, losses=s.constants.losses, t=t, k=k, mu=weight)
    regularised = query.temperature.rule != "strongly_convex"
    r: Schedule = dict(q=s.regulariser.q, coefficient=s.regulariser.coefficient) if regularised else {}
    drawn = {**query.temperature.entries, "sampler": sampler, **options}
    return make_plan(query, gradient_evaluations=0, warnings=warnings, **law, **r, **drawn)


def draw(objective: Any, plan: Plan, mechanism: Any, sampler: Any = None) -> Any:
    """Draw once per replicate, the mechanism, ``(R, d)``: by the plan's sampler, or one that takes its arguments."""
    sampler = sampler or getattr(importlib.import_module(_module(plan.sampler)), plan.sampler)
    r = None
    if plan.rule != "strongly_convex":
        r = regulariser_of(objective.problem.constants, objective.problem.dimension)
    options = {key: plan.schedule[key] for key in SAMPLER_OPTIONS if key in plan.schedule}
    target = Target(objective, r, partial(sampler, **options), plan.losses)
    x = mechanism.release("draw", target)
    objective.observe(x)
    return x, target.info


class Target:
    """The law of one draw, on the host in float64: kF may be a million.

    Parameters
    ----------
    regulariser : NormRegulariser or None, r; None for strongly convex losses alone
    sampler : callable, (target, k, mu, draws) -> points ``(R, d)``: one of `SAMPLERS`
    losses : str, what the records are known to be (`Constants.losses`, as the plan saw it)

    Attributes
    ----------
    queries : array (R,), values of single losses asked for
    info : Info, diagnostics of the draw
    """

    def __init__(self, objective: Objective, regulariser: Any, sampler: Any, losses: str) -> None:
        self.objective, self.regulariser, self._sampler, self.losses = objective, regulariser, sampler, losses
        self.own = objective.problem.own_constants  # of the losses as they are, whatever is declared
        self.ball = objective.domain
        self.rows, self.d = objective.replicates, objective.problem.dimension
        self.queries, self.info = np.zeros(self.rows), Info()

    def draw(self, k: float, mu: float, draws: Any) -> Array:
        """Draw one point per row; note the sampler's cost, and the risk by quadrature."""
        points, extras, problem = self._sampler(self, k, mu, draws), self.info.extras, self.objective.problem
        extras["value_queries"] = self.queries
        if (expected := self.mean_excess(k, mu)) is not None:
            extras["expected_gap"] = expected
            one_sample = problem.population and not problem.draws_per_replicate
            if "chain_risk" in extras and self.rows > 1 and not one_sample:  # standard errors above that mean
                risks = extras["chain_risk"]
                error = float(risks.std(ddof=1)) / math.sqrt(self.rows)
                extras["z_score"] = (float(risks.mean()) - expected) / error if error > 0 else math.nan
        return self._given(points)

    def mean_excess(self, k: float, mu: float) -> float | None:
        """Mean excess risk under the law, over the data too, where the problem knows it; for a measurement."""
        problem = self.objective.problem
        law = "gopi2022.exp_mech_sc" if self.regulariser is None else "gopi2022.reg_exp_mech"
        several = np.size(getattr(problem, "strengths", 0.0)) > 1  # the law is that of the first signal alone
        if not isinstance(problem, RegularisedLaw) or law not in problem.algorithms or several:
            return None
        try:
            return problem.mean_excess(k, mu)
        except InputError:  # outside the range of a closed form
            return None

    def minimiser(self, mu: float) -> Array:
        """``argmin F_D + mu r`` over the domain, the limit of infinite temperature; Refusal without a closed form."""
        ball, r = self.ball, self.regulariser
        weight = 0.0 if r is None else 2.0 * mu * r.coefficient
        if self.losses in ("norm", "norm_quadratic"):
            self.require_centred_data()
            return self._given(np.zeros((self.rows, self.d)))
        if self.losses == "quadratic":
            return self._given(ball.project(self.mean_slope / (self.own.strong_convexity + weight)))
        if self.losses in LINEAR and r is not None:
            slope, lp_ball = self.mean_slope, isinstance(ball, Ball)
            if weight == 0.0:
                return self._given(ball.minimise_linear(-slope))
            if lp_ball and r.q == ball.p:  # a multiple of the dual map, cut at the ball of the same norm
                free = square_gradient(slope, dual_exponent(r.q), 1.0 / weight)
                length = lp_norm(free, r.q)
                return self._given(free * np.minimum(1.0, ball.radius / np.where(length > 0, length, 1.0)))
            if lp_ball and math.isinf(ball.p):
                return self._given(np.clip(slope / weight, -ball.radius, ball.radius))
        reason = "no closed form of the regularised minimiser is known"
        raise Refusal(f"calibration none on {self.objective.problem.name}", reason)

    def slopes(self, x: Array) -> np.ndarray:
        """``n grad F_D(x)/G``, for the search over neighbours; not counted."""
        return self.objective.n * to_numpy(self.objective.exact_gradient(x)) / self.objective.constants.lipschitz

    @cached_property
    def mean_slope(self) -> np.ndarray:
        """``-grad F_D(0)``, ``(R, d)``: the mean record of linear losses, mu0 times that of quadratic ones."""
        origin = self.objective.xp.zeros((self.rows, self.d), dtype=self.objective.dtype)
        gradient = self.objective.problem.mean_gradient(origin, self.objective.data)
        return -to_numpy(gradient).astype(np.float64)

    def require_centred_data(self) -> None:
        """Refuse records other than the centre of the domain, which alone make the law radial."""
        at_centre = self.values(np.zeros((self.rows, self.d)), np.arange(self.rows), counted=False)
        if np.any(at_centre != 0.0):
            reason = "some record lies elsewhere than in the centre of the domain; the law is not radial"
            raise Refusal(f"radial_exact on {self.objective.problem.name}", reason)

    def values(self, x: np.ndarray, rows: np.ndarray, counted: bool = True) -> np.ndarray:
        """``F_D`` at points ``(m, d)`` of ``rows (m,)``, up to a constant, for n value queries; none if linear."""
        if self.losses in LINEAR:
            return -np.sum(self.mean_slope[rows] * x, axis=1)
        if counted:
            self.queries[rows] += self.objective.n
        if self.losses == "quadratic":  # the risk may be the population's
            slope = np.sum(self.mean_slope[rows] * x, axis=1)
            return 0.5 * self.own.strong_convexity * np.sum(x * x, axis=1) - slope
        given, back = self._spread(x, rows)
        risk = self.objective.problem.risk(self._given(given), self.objective.data)
        return to_numpy(risk).astype(np.float64)[back]

    def log_density(self, k: float, mu: float, x: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Compute ``-k (F_D + mu r)`` at points ``(m, d)`` of ``rows (m,)``, -inf outside the domain."""
        inside, found = self.ball.norm(x)[:, 0] <= self.ball.radius, np.full(len(x), -np.inf)
        exponent = self.values(x[inside], rows[inside])
        if self.regulariser is not None:
            exponent = exponent + mu * self.regulariser.value(x[inside])
        found[inside] = -k * exponent
        return found

    def differences(self, z: np.ndarray, x: np.ndarray, indices: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """``f_j(z) - f_j(x)`` at points ``(m, d)`` of records ``indices (m, W)`` of ``rows (m,)``."""
        if self.losses in LINEAR:
            return self._losses(z - x, indices, rows)
        return self._losses(z, indices, rows) - self._losses(x, indices, rows)

    def _losses(self, x: np.ndarray, indices: np.ndarray, rows: np.ndarray) -> np.ndarray:
        given, back = self._spread(x, rows)
        where = self.objective.xp.asarray(self._spread(indices, rows)[0])
        losses = self.objective.problem.batch_losses(self._given(given), self.objective.data, where)
        return to_numpy(losses).astype(np.float64)[back]

    def _spread(self, values: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, Any]:
        """Values ``(m, ...)`` as a problem takes them, and how to get m rows back: zeros elsewhere if rows differ."""
        problem = self.objective.problem
        if not problem.draws_per_replicate and not problem.signal_option:
            return values, slice(None)
        full = np.zeros((self.rows, *values.shape[1:]), dtype=values.dtype)
        full[rows] = values
        return full, rows

    def excess(self, x: np.ndarray) -> np.ndarray:
        """Excess risk ``(R,)`` of states, for a measurement only."""
        return self.objective.excess_risk(self._given(x))

    def _given(self, points: np.ndarray) -> Array:
        return self.objective.xp.asarray(points, dtype=self.objective.dtype)


def mechanism(id: str, source: str, variants: Mapping[str, tuple[str, ...]] = VARIANTS) -> Callable[[Sampler], Sampler]:
    """Register a draw by the decorated sampler, whose name the id ends with and whose docstring it takes."""

    def register(sampler: Sampler) -> Sampler:
        name = sampler.__name__

        def exact(given: Setting, *, schedule: str = "erm", theta_convention: str = "centred") -> Plan:
            s = checked_setting(given)
            return draw_plan(s, regularised(s, schedule, theta_convention), name)

        def chains(
            given: Setting, *, schedule: str = "erm", theta_convention: str = "centred", sweeps: int = SWEEPS
        ) -> Plan:
            s = checked_setting(given)
            return draw_plan(s, regularised(s, schedule, theta_convention), name, sweeps)

        plan: Callable[..., Plan] = chains if name in CHAINS else exact
        plan.__module__ = sampler.__module__
        plan.__doc__ = f"{inspect.getdoc(sampler)}\n{_PARAMETERS}{_SWEEPS if name in CHAINS else ''}"
        declared = algorithm(id, source=f"{PAPER}, {source}", needs=NEEDS, variants=variants, least_norm=1.0)
        declared(plan).run(draw)
        return sampler

    return register


@algorithm("gopi2022.reg_exp_mech", source=f"{PAPER}, Theorems 3 and 4, Corollaries 2 to 5", needs=NEEDS, **DRAWN)
def reg_exp_mech(
    given: Setting,
    *,
    schedule: str = "erm",
    sampler: str = "auto",
    theta_convention: str = "centred",
    sweeps: int | None = None,
    accountant: str = "theorem",
) -> Plan:
    """Single draw from exp(-k (F_D + mu r)); erm: k = n t sqrt(d/Theta)/S, mu = S sqrt(d/Theta)/(n t).

    sco: k = sqrt((d + C2)/C1), mu = S^2 k/(n t)^2 with C1 = S^2 Theta/(n t)^2, C2 = G n t^2/S. r is the geometry's:
    ||x||_p^2/(2(p-1)) for 1 < p <= 2, (e^2 ln d/2) ||x||_q^2 with q = 1 + 1/ln d for p = 1, ||x||_2^2/2 for p >= 2; for
    matrices the same on singular values.

    Parameters
    ----------
    given : Setting
        G and S in the norm of the domain, an l_p or Schatten ball; d is the ambient dimension; delta below 1/2.
    variant : str
        ``printed``: S = G and t = eps/sqrt(2 ln(1/(2 delta))), not private (erratum E1). ``replace_one``: the S that
        the problem proves (2G at most) and the exact t.
    schedule : str
        ``erm`` (Theorem 3) or ``sco`` (Theorem 4).
    sampler : str
        ``auto``: an exact one, or a refusal. ``cube_exact``, ``axis_exact``, ``lp_exact``, ``radial_exact``, ``gibbs``
        or ``hit_and_run``: that one, with the status that it has.
    theta_convention : str
        Range of r for a ball of radius R: ``centred`` with R, ``diameter`` with 2R, as the corollaries.
    sweeps : int, optional
        Length of the chains of ``gibbs`` and ``hit_and_run``, 1000 by default.
    accountant : str
        ``theorem``: Theorem 2, an upper bound. ``pairs``: by quadrature of the laws on neighbouring data sets, where
        the theorem leaves the claim open; exact for data sets of two points on an axis (``axis_linear``), from below
        for others: ``lp_exact`` compares some pairs in the plane of two coordinates. For the exact samplers only.
    """
    s = checked_setting(given)
    return draw_plan(s, regularised(s, schedule, theta_convention), sampler, sweeps, accountant)


reg_exp_mech.run(draw)


@algorithm("gopi2022.exp_mech_sc", source=f"{PAPER}, Theorems 5 and 6", needs=(*NEEDS, Trait.STRONGLY_CONVEX), **DRAWN)
def exp_mech_sc(
    given: Setting, *, sampler: str = "auto", sweeps: int | None = None, accountant: str = "theorem"
) -> Plan:
    """Single draw from exp(-k F_D), k = (n t/S)^2 mu, for mu-strongly convex losses.

    Parameters
    ----------
    given : Setting
        G, S and mu in the norm of the domain; delta below 1/2.
    variant
        As for ``gopi2022.reg_exp_mech``.
    sampler : str
        ``auto``: an exact one, or a refusal; ``axis_exact`` (quadratic losses on an l_2 ball), ``radial_exact`` or
        ``hit_and_run``.
    sweeps : int, optional
        Length of the chains of ``hit_and_run``, 1000 by default.
    accountant : str
        ``theorem``: Theorem 2, an upper bound. ``pairs``: by quadrature of the laws on neighbouring data sets, where
        the theorem leaves the claim open; from below, by a pair of data sets on an axis. For ``axis_exact`` only.
    """
    s, c = checked_setting(given), given.constants
    if c.strong_convexity <= 0:
        raise s.error("strong_convexity", c.strong_convexity, "> 0")
    largest = 2.0 * c.lipschitz / c.strong_convexity
    if c.diameter > largest * (1.0 + 1e-12):
        raise s.error("diameter", c.diameter, f"at most 2 G/mu = {largest:g}: G and mu contradict it")
    temperature = Temperature("strongly_convex", s.n, s.d, c.lipschitz, s.loss_range, convexity=c.strong_convexity)
    return draw_plan(s, temperature, sampler, sweeps, accountant)


exp_mech_sc.run(draw)


@algorithm(
    "gopi2022.mirror_descent_nonprivate",
    source=f"{PAPER}, Table 1 (non-private rate); textbook step",
    needs=NEEDS,
    variants={"standard": ("none",)},
    order_invariant=False,
    least_norm=1.0,
)
def mirror_descent_plan(given: Setting) -> Plan:
    """Single pass of stochastic mirror descent with mirror map r, step sqrt(2 Theta/(G^2 n)), average iterate.

    Parameters
    ----------
    given : Setting
        G in the norm of the domain, an l_p ball; nothing is private.
    """
    s, c, n = checked_setting(given), given.constants, given.n
    if isinstance(c.ball, SchattenBall):
        raise s.error("domain", c.domain, "an l_p ball")
    theta = s.regulariser.theta(s.radius)
    step = math.sqrt(2.0 * theta / n) / c.lipschitz
    reason = "it is not private: every iterate is an exact function of the data"
    return make_plan(gradient_evaluations=n, unprotected=reason, n=n, p=c.norm, theta=theta, step=step)


@mirror_descent_plan.run
def mirror_descent(objective, plan, mechanism):
    """Mean of the n iterates ``(R, d)`` before each step."""
    x = objective.start
    mirror = SmoothMirror(NormRegulariser(plan.p, x.shape[-1]))
    total = float64_zeros(x)
    for i in range(plan.n):
        total = total + cast(x, objective.xp.float64)
        dual = mirror.gradient(x) - plan.step * objective.range_gradient(x, i, 1)
        x = objective.project(dual) if plan.p > 2 else mirror.step(dual, plan.p, objective.domain.radius)
        objective.observe(x)
    return cast_like(total / plan.n, x)
