"""Algorithms by id ``paper.name``: a pure plan function and a run, registered by one decorator."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, get_args

from dpsco_bench.errors import InputError, Refusal, checked_count
from dpsco_bench.geometry.ball import FeasibleSet
from dpsco_bench.plain import Options
from dpsco_bench.privacy.plan import Plan, PrivacySpec
from dpsco_bench.problems.base import Constants, Problem, Trait
from dpsco_bench.problems.constants import Need, declared_class
from dpsco_bench.registry import Registry

CALIBRATIONS = ("paper", "accounted", "none")
NO_VARIANT = "no variant defines it"
"""Reason to refuse an algorithm under a calibration that none of its variants has."""
PlanFunction = Callable[..., Plan]
RunFunction = Callable[..., Any]
PartsFunction = Callable[[Options], Iterable[str]]


@dataclass(frozen=True)
class Setting:
    """Input of a plan: everything that its schedule may depend on, apart from its options.

    Attributes
    ----------
    constants : Constants, what the problem declares: L, mu, G, the domain and the like
    n, d : int, records and dimension, both >= 1
    privacy : PrivacySpec, the target
    variant : str, which of the algorithm's variants
    calibration : str, ``paper``, ``accounted`` or ``none``, for schedules that are made for the noise in force
    source : str, the algorithm's, which errors name
    """

    constants: Constants
    n: int
    d: int
    privacy: PrivacySpec
    variant: str
    calibration: str
    source: str

    @property
    def epsilon(self) -> float:
        """Target epsilon."""
        return self.privacy.epsilon

    @property
    def delta(self) -> float:
        """Target delta."""
        return self.privacy.delta

    @property
    def l(self) -> float:  # noqa: E743 - the papers' letter
        """``ln(1/delta)``."""
        return self.privacy.log_inverse_delta

    @property
    def ball(self) -> FeasibleSet:
        """The bounded feasible set. Raises InputError on the whole space."""
        if self.constants.ball is None:
            raise self.error("domain", self.constants.domain, "a bounded, centrally symmetric set")
        return self.constants.ball

    def error(self, key: str, value: object, allowed: str) -> InputError:
        """Build the error of a value outside its range."""
        return InputError(key, value, allowed, self.source)

    def require(self, key: str, value: object, holds: bool, allowed: str) -> None:
        """Raise the error of a value unless what it must satisfy holds."""
        if not holds:
            raise self.error(key, value, allowed)

    def count(self, key: str, value: int | None, top: float = math.inf, least: int = 1) -> int | None:
        """Return a count as given, None for the theorem's. Raises InputError below ``least`` or above ``top``."""
        if value is not None and not least <= value <= top:
            raise self.error(
                key, value, f"an integer >= {least}" if top == math.inf else f"an integer in {least}..{top}"
            )
        return value

    def positive(self, key: str, value: float | None) -> float | None:
        """Return a number as given, None for the theorem's. Raises InputError if it is not above 0."""
        if value is not None and value <= 0:
            raise self.error(key, value, "> 0")
        return value

    def step(self, value: float, limit: float, name: str) -> float:
        """Return a step size. Raises InputError outside of (0, limit]; ``name`` is what the source calls the limit."""
        if not 0 < value <= (1 + 1e-12) * limit:
            raise self.error("step", value, f"in (0, {name}] with {name} = {limit:.6g}")
        return value

    def choice(self, key: str, value: str, allowed: Iterable[str]) -> str:
        """Return a name that is one of those allowed. Raises InputError otherwise."""
        if value not in (names := tuple(allowed)):
            raise self.error(key, value, " or ".join(names))
        return value


@dataclass(frozen=True)
class Algorithm:
    """A private algorithm: a pure plan function and a run that reads like the paper's listing.

    Attributes
    ----------
    id, source, summary : str
        Identity; ``paper.name``, theorem and algorithm number, and the first line of the plan's docstring.
    needs : tuple of Trait, or of tuples of Trait, what the problem must satisfy; of a tuple one trait will do
    variants : mapping
        Variant name -> calibrations that the source defines for it. The first variant that lists a calibration is its
        default, unless `defaults` names another.
    order_invariant : bool
        True where the noise-free output does not depend on the order of the records.
    defaults : mapping
        Calibration -> variant, where it is not the first one that lists the calibration.
    measure : str
        What the theorem bounds, by its name in `execution.run`.
    least_norm : float
        Least p for which constants declared in l_p are those that the algorithm means. For p >= 2 they hold in l2 too,
        for smaller p they do not.
    rounds : str
        Name of the observer of its rounds (`execution.run`); empty if it shows none.
    parts : callable or None
        Options -> names of further modules that the run finds by these options; its results depend on them too.
    proximal : bool
        Whether the run takes the regulariser by its proximal map, so that it may have a term without a gradient.
    """

    id: str
    source: str
    summary: str
    plan_function: PlanFunction
    module: str
    needs: tuple[Need, ...] = ()
    variants: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: {"standard": CALIBRATIONS})
    order_invariant: bool = True
    defaults: Mapping[str, str] = field(default_factory=dict)
    measure: str = "excess_risk"
    least_norm: float = 2.0
    rounds: str = ""
    parts: PartsFunction | None = None
    law: str = ""
    proximal: bool = False
    run_function: RunFunction | None = None

    def run(self, function: RunFunction) -> RunFunction:
        """Attach the run, the only one (used as a decorator); it is the last thing that an entry is given."""
        if self.run_function is not None:
            raise InputError(f"run of {self.id}", getattr(function, "__name__", function), "the only one")
        object.__setattr__(self, "run_function", function)
        return function

    @cached_property
    def options(self) -> dict[str, inspect.Parameter]:
        """Schedule options of the plan function by name (its keyword-only parameters); reading them is slow."""
        parameters = inspect.signature(self.plan_function, eval_str=True).parameters
        return {k: p for k, p in parameters.items() if p.kind is p.KEYWORD_ONLY}

    def modules(self, options: Options) -> tuple[str, ...]:
        """Names of the modules that a run with these options uses: its own, and those that it finds by name."""
        return (self.module, *(self.parts(options) if self.parts else ()))

    def variant_for(self, calibration: str, variant: str | None = None) -> str:
        """Resolve the variant that runs under a calibration; Refusal for a combination that the source lacks."""
        if calibration not in CALIBRATIONS:
            raise InputError("calibration", calibration, "one of " + ", ".join(CALIBRATIONS))
        if variant is None:
            first = next((v for v, allowed in self.variants.items() if calibration in allowed), None)
            variant = self.defaults.get(calibration, first)
            if variant is None:
                raise Refusal(f"{self.id} with calibration {calibration}", NO_VARIANT, self.source)
        if variant not in self.variants:
            raise InputError("variant", variant, "one of " + ", ".join(self.variants), self.id)
        if calibration not in self.variants[variant]:
            reason = "only " + ", ".join(self.variants[variant])
            others = ", ".join(v for v, allowed in self.variants.items() if calibration in allowed)
            reason += f"; {calibration} has {others}" if others else ""
            raise Refusal(f"{self.id} variant {variant} with calibration {calibration}", reason, self.source)
        return variant

    def check_problem(self, problem: Problem) -> None:
        """Refuse a problem that lacks a needed property, with the reason."""
        lacking = [problem.lacking(need) for need in self.needs if problem.lacks(need)]
        lacking += ["a regulariser with a gradient"] if problem.l1 and not self.proximal else []
        if lacking:
            raise Refusal(f"{self.id} on {problem.name}", "the problem lacks " + " and ".join(lacking), self.source)
        p = problem.constants.norm
        if p < self.least_norm:
            reason = f"its constants are declared in l_p with p = {p:g}, and none are known for p = {self.least_norm:g}"
            raise Refusal(f"{self.id} on {problem.name}", reason, self.source)

    def plan(
        self,
        constants: Constants,
        n: int,
        d: int,
        privacy: PrivacySpec,
        variant: str,
        calibration: str = "paper",
        **options: Any,
    ) -> Plan:
        """Schedule, queries, planned gradients. Raises InputError for wrong options, Refusal for a broken condition."""
        n, d = checked_count("n", n), checked_count("d", d)
        given = Setting(constants, n, d, privacy, variant, calibration, self.source)
        return self.plan_function(given, **self.checked_options(options))

    def checked_options(self, options: Options) -> Options:
        """Check names and types of options, not their ranges, and turn integers into floats where those are wanted."""
        return {key: self._check_option(key, value) for key, value in options.items()}

    def visible_constants(self, constants: Constants, problem: Problem) -> Constants:
        """Keep the constants that an algorithm may see.

        The problem declares the class of the losses, which bounds the Hessian's rank, and the curvature; a larger rank
        by key withdraws the class. A Polyak-Lojasiewicz constant is hidden from an algorithm that would take it for
        strong convexity.
        """
        if constants.losses == "hidden":
            values = "values" if problem.has_loss_values and not problem.population else "hidden"
            constants = constants.but(losses="linear" if Trait.LINEAR_LOSS in problem.traits else values)
        loss_class, rank = declared_class(problem.traits), constants.hessian_rank
        if loss_class == "any" or rank > problem.own_constants.hessian_rank:
            constants = constants.but(loss_class="any")
        else:
            rank = min(rank, {"linear": 0.0, "glm": 1.0}[loss_class])
            constants = constants.but(loss_class=loss_class, hessian_rank=rank)
        if Trait.CONVEX in problem.traits:
            constants = constants.but(curvature="strong" if Trait.STRONGLY_CONVEX in problem.traits else "convex")
        if Trait.STRONGLY_CONVEX in problem.traits or Trait.POLYAK_LOJASIEWICZ in self.needs:
            return constants
        return constants.but(strong_convexity=0.0)

    def _check_option(self, key: str, value: Any) -> Any:
        if key not in self.options:
            raise InputError("option", key, "one of " + ", ".join(self.options), self.id)
        kinds = get_args(self.options[key].annotation) or (self.options[key].annotation,)
        if value is None and type(None) in kinds:
            return None
        if float in kinds and isinstance(value, int) and not isinstance(value, bool) and int not in kinds:
            value = float(value)
        fits = isinstance(value, tuple(kinds)) and not (isinstance(value, bool) and bool not in kinds)
        if fits and isinstance(value, float) and not math.isfinite(value):
            raise InputError(key, value, "a finite number", self.id)
        if not fits:
            names = " or ".join("null" if k is type(None) else k.__name__ for k in kinds)
            raise InputError(key, value, f"of type {names}", self.id)
        return value


def algorithm(id: str, *, source: str, **declared: Any) -> Callable[[PlanFunction], Algorithm]:
    """Register the decorated plan function as an algorithm; attach its run with ``@plan.run``.

    The function takes a `Setting`; its keyword-only parameters are the algorithm's options, each with a type and a
    default.

    The keywords are the attributes of `Algorithm`; by default there is one variant, ``standard``, with all three
    calibrations, and problems that know the expected risk in closed form call the method (``law``) by its id.
    """
    if id.count(".") != 1:
        raise InputError("algorithm id", id, "of the form paper.name")

    def register(function: PlanFunction) -> Algorithm:
        summary, module = (inspect.getdoc(function) or "").split("\n", 1)[0], function.__module__
        return ALGORITHMS.add(id, Algorithm(id, source, summary, function, module, **{"law": id, **declared}), module)

    return register


ALGORITHMS: Registry[Algorithm] = Registry("algorithm", "algorithms", listed=True)


def get_algorithm(id: str) -> Algorithm:
    """Return an algorithm by id (``paper.name``; ``paper/name`` is accepted). Raises InputError for an unknown one."""
    return ALGORITHMS.get(id.replace("/", ".", 1))


def list_algorithms() -> list[str]:
    """Ids of all algorithms, the user's own included."""
    return ALGORITHMS.names()
