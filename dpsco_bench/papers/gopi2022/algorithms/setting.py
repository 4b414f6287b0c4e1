"""Setting of this paper's mechanisms: its refusals, the single draw, what its sampler proves and who charges it."""

from __future__ import annotations

import importlib
import math
from dataclasses import dataclass
from functools import partial
from typing import Any

from dpsco_bench.algorithms.registry import Setting, choice_option
from dpsco_bench.errors import InputError, Refusal, checked_count
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.geometry.sets import SchattenBall, matrix_rows
from dpsco_bench.papers.gopi2022.algorithms.target import Target
from dpsco_bench.papers.gopi2022.regulariser import NormRegulariser
from dpsco_bench.plain import Options, Schedule
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.privacy.plan import Charge, Plan, make_plan
from dpsco_bench.privacy.queries import DrawQuery, Temperature
from dpsco_bench.problems.base import Trait


@dataclass(frozen=True, kw_only=True)
class PairDrawQuery(DrawQuery):
    """`DrawQuery` of ``exp(-k (F + mu r))`` on an l_p ball of radius R, for records of dual norm S/2.

    Attributes
    ----------
    p : float, in (1, 2], of the ball
    size : int, dimension of the law: d, or 1 where coordinates are independent
    curvatures : tuple of float
        Of ``F + mu r`` as multiples of ``||x||_p^2``: what mu multiplies, and what the losses have themselves.
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
        from dpsco_bench.papers.gopi2022.laws.neighbours import AxisNeighbours, planar_epsilon  # loads SciPy

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


PAPER = "Gopi, Lee, Liu, Shen, Tian 2022"
NEEDS = (Trait.CONVEX, Trait.LIPSCHITZ, Trait.UNREGULARISED)
VARIANTS = {"replace_one": ("accounted", "none"), "printed": ("paper", "none")}
EVALUATED = {"replace_one": ("accounted",), "printed": ("paper",)}
"""``printed``: S = G and t = eps/sqrt(2 ln(1/(2 delta))) in the schedule. ``replace_one``: the true S, the exact t.
Samplers of losses that are only evaluated have no limit without noise."""
CONVENTIONS = ("centred", "diameter")
ACCOUNTANTS = ("theorem", "pairs")
"""Accountants of a draw: Theorem 2, for all data sets at once, or neighbouring data sets themselves."""
EXACT = ("cube_exact", "axis_exact", "lp_exact")
"""Samplers that are exact on every data set of some problems, in the order in which ``auto`` tries them."""
SAMPLERS = {name: "exact" for name in (*EXACT, "radial_exact")}
SAMPLERS |= {name: "chains" for name in ("gibbs", "hit_and_run", "proximal_sampler")}
"""Modules of this folder that hold a sampler, by its name: functions as `Target` calls them."""
SWEEPS = {"gibbs": 1000, "hit_and_run": 1000}
"""Default lengths of chains."""
SAMPLER_OPTIONS = ("sweeps", "delta_in", "corner")
"""Entries of a plan's schedule that its sampler takes."""
LINEAR = ("linear", "axis_linear")


@dataclass(frozen=True)
class BallSetting(Setting):
    """Setting that the theorems cover: G and S in the norm of the domain, d the ambient dimension."""

    source: str

    @property
    def radius(self) -> float:
        return 0.5 * self.constants.diameter

    @property
    def loss_range(self) -> float:
        """S that the schedule believes in."""
        return self.constants.lipschitz if self.variant == "printed" else self.constants.loss_difference

    @property
    def regulariser(self) -> NormRegulariser:
        ball = self.constants.ball
        if isinstance(ball, SchattenBall):
            return NormRegulariser(self.constants.norm, ball.columns, True)
        return NormRegulariser(self.constants.norm, self.d)

    def parameter(self, delta: float) -> float:
        """Gaussian-DP parameter of the variant at a delta: the paper's, or the exact one."""
        if self.variant == "printed":
            return self.epsilon / math.sqrt(2.0 * math.log(0.5 / delta))
        return gdp_mu(self.epsilon, delta)

    def query(self, temperature: Temperature, status: str, tau: float = 0.0, pairs: Options | None = None) -> DrawQuery:
        """Declare the draw. A sampler with a proven distance leaves half of delta to it; ``pairs``: see `pair_law`."""
        delta = 0.5 * self.delta if status == "proven_tv" else self.delta
        printed = (
            self.loss_range / (self.constants.lipschitz * self.parameter(delta)) if self.variant == "printed" else None
        )
        given: Options = dict(
            paper_scale=printed,
            temperature=temperature,
            sampler_status=status,
            target_delta=delta,
            tau=tau if status == "proven_tv" else 0.0,
            dual=2.0 if isinstance(self.constants.ball, SchattenBall) else dual_exponent(self.constants.norm),
        )
        sensitivity = self.constants.loss_difference / self.constants.lipschitz
        if pairs is None:
            return DrawQuery("draw", sensitivity, 1, **given)
        return PairDrawQuery("draw", sensitivity, 1, **given, **pairs)


def checked_setting(given: Setting, source: str) -> BallSetting:
    """Refuse what the theorems do not cover.

    Raises InputError for delta >= 1/2, S > 2G, or a domain that is not the ball of the norm in which G is measured.
    """
    c = given.constants
    if given.delta >= 0.5:
        raise InputError("delta", given.delta, "in (0, 1/2)", source)
    if c.loss_difference > 2.0 * c.lipschitz:
        raise InputError("loss_range", c.loss_difference, f"at most 2 G = {2.0 * c.lipschitz:g}", source)
    if getattr(c.ball, "p", None) != c.norm:
        allowed = f"the l_p or Schatten ball of the norm of G, p = {c.norm:g}"
        raise InputError("domain", c.domain, allowed, source)
    if isinstance(c.ball, SchattenBall):
        matrix_rows(given.d, c.ball.columns)
    return BallSetting(c, given.n, given.d, given.privacy, given.variant, given.calibration, source)


def regularised(s: BallSetting, schedule: str, theta_convention: str) -> Temperature:
    """Compute the schedule of Theorem 3 (``erm``) or 4 (``sco``) with the range of the geometry's regulariser."""
    choice_option("schedule", schedule, ("erm", "sco"), s.source)
    choice_option("theta_convention", theta_convention, CONVENTIONS, s.source)
    theta = s.regulariser.theta(s.radius if theta_convention == "centred" else s.constants.diameter)
    return Temperature(schedule, s.n, s.d, s.constants.lipschitz, s.loss_range, theta=theta)


def sampler_status(sampler: str, s: BallSetting, regularised: bool = True) -> str:
    """Find the status that a sampler proves on every data set of the problem's domain.

    Raises Refusal if it does not sample the law at all.
    """
    losses, domain, p = s.constants.losses, s.constants.domain, s.constants.norm
    lp_ball = not isinstance(s.constants.ball, SchattenBall)
    if sampler == "cube_exact" and losses in LINEAR and domain == "linf_ball" and regularised:
        return "exact"
    if sampler == "axis_exact" and lp_ball and 1.0 < p <= 2.0:
        along = regularised and (losses == "axis_linear" or (losses == "linear" and p == 2.0))
        if along or (losses == "quadratic" and p == 2.0):
            return "exact"
    if sampler == "lp_exact" and lp_ball and 1.0 <= p < 2.0 and losses in LINEAR and regularised:
        return "exact"
    fits = {
        "radial_exact": lp_ball and losses == ("norm" if regularised else "norm_quadratic"),
        "gibbs": lp_ball and losses in LINEAR and regularised,
        "hit_and_run": losses != "hidden",
        "proximal_sampler": lp_ball and losses != "hidden" and regularised,
    }
    if fits.get(sampler, False):
        return "target_law_only"
    raise Refusal(f"{sampler} for {losses} losses on {domain}", "no such sampler is known here", s.source)


def exact_sampler(s: BallSetting, regularised: bool = True) -> str:
    """Find the sampler that is exact on every data set. Raises Refusal if there is none."""
    for sampler in EXACT:
        try:
            if sampler_status(sampler, s, regularised) == "exact":
                return sampler
        except Refusal:
            continue
    reason = "no sampler is exact for every data set; one without a proof of privacy is chosen by its name"
    raise Refusal(f"sampler auto for {s.constants.losses} losses on {s.constants.domain}", reason, s.source)


def pair_law(s: BallSetting, sampler: str, regularised: bool) -> Options:
    """Fields of a `PairDrawQuery`: the law of a draw whose records lie on an axis, or in a plane for ``lp_exact``.

    Raises Refusal for a sampler whose law is not known by quadrature there.
    """
    c, cube = s.constants, sampler == "cube_exact"
    if sampler == "lp_exact" and (c.norm == 1.0 or s.d < 2):
        raise Refusal("accountant pairs with lp_exact", "the law of a plane is known for p > 1 and d >= 2 only")
    if sampler not in EXACT:
        raise Refusal(f"accountant pairs with {sampler}", "only of " + ", ".join(EXACT) + " the law is known")
    return dict(
        p=2.0 if cube else c.norm,
        size=1 if cube else s.d,
        curvatures=(
            s.regulariser.coefficient if regularised else 0.0,
            0.5 * c.strong_convexity if c.losses == "quadratic" else 0.0,
        ),
        slope=0.5 * c.loss_difference,
        radius=s.radius,
        on_axis=c.losses == "axis_linear" and sampler == "axis_exact",
    )


def draw_plan(
    s: BallSetting, temperature: Temperature, sampler: str, sweeps: int | None = None, accountant: str = "theorem"
) -> Plan:
    """Make the plan of one draw by one of `SAMPLERS`, charged by one of `ACCOUNTANTS`.

    Raises InputError, Refusal for an unknown sampler, one that does not fit, or a length for one that has none.
    """
    regularised = temperature.rule != "strongly_convex"
    if sampler == "auto":
        sampler = exact_sampler(s, regularised)
    if sampler not in SAMPLERS:
        raise InputError("sampler", sampler, "auto or one of " + ", ".join(SAMPLERS), s.source)
    if sampler == "proximal_sampler":
        raise Refusal("sampler proximal_sampler", "its schedule belongs to gopi2022.proximal_sampler", s.source)
    if sweeps is not None:
        if sampler not in SWEEPS:
            raise Refusal(f"sweeps with {sampler}", "it makes none", s.source)
        sweeps = checked_count("sweeps", sweeps)
    choice_option("accountant", accountant, ACCOUNTANTS, s.source)
    pairs = pair_law(s, sampler, regularised) if accountant == "pairs" else None
    query = s.query(temperature, sampler_status(sampler, s, regularised), pairs=pairs)
    if sampler in SWEEPS:
        return plan_of(s, query, sampler, sweeps=sweeps or SWEEPS[sampler])
    return plan_of(s, query, sampler)


def sampler_parts(options: Options) -> tuple[str, ...]:
    """Modules of the samplers that an option ``sampler`` may mean."""
    name = options.get("sampler", "auto")
    name = EXACT[0] if name == "auto" else name
    return (_module(name),) if name in SAMPLERS else ()


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


def draw(objective: Any, plan: Plan, mechanism: Any) -> Any:
    """Draw once per replicate: the mechanism, ``(R, d)``."""
    sampler = getattr(importlib.import_module(_module(plan.sampler)), plan.sampler)
    return drawn_by(sampler, objective, plan, mechanism)


def drawn_by(sampler: Any, objective: Any, plan: Plan, mechanism: Any) -> Any:
    """Draw as `draw` does, by a sampler that takes the arguments of the plan's."""
    c = objective.problem.constants
    regularised = plan.rule != "strongly_convex"
    matrices = isinstance(c.ball, SchattenBall)
    size = c.ball.columns if matrices else objective.problem.dimension
    r = NormRegulariser(c.norm, size, matrices) if regularised else None
    options = {key: plan.schedule[key] for key in SAMPLER_OPTIONS if key in plan.schedule}
    target = Target(objective, r, partial(sampler, **options), plan.losses)
    x = mechanism.release("draw", target)
    objective.observe(x)
    return x, target.info
