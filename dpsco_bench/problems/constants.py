"""Everything that a problem declares: traits that algorithms ask for, constants, and options of its constructor."""

from __future__ import annotations

import inspect
import math
import os
import sys
from collections.abc import Collection
from dataclasses import KW_ONLY, dataclass, field, fields
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin

import numpy as np

from dpsco_bench.errors import InputError, integral
from dpsco_bench.geometry.ball import FeasibleSet, feasible_set

LOSS_CLASSES = ("linear", "glm", "any")
"""Knowledge of the difference of two records' gradients at x, as x moves. ``linear``: it is the same everywhere, as
Hessians do not depend on the data. ``glm``: it stays in a fixed plane, as every record's gradient keeps its direction.
``any``: nothing; a Hessian of rank one is not enough, since its range may turn."""
LOSSES = ("hidden", "values", "linear", "axis_linear", "quadratic", "norm", "norm_quadratic")
"""``hidden``: gradients alone are at hand. ``values``: losses and their empirical mean can be evaluated. ``linear``:
``-<x, s>``; ``axis_linear``: the same with s on the first axis. ``quadratic``: ``(mu/2) ||x - s||_2^2``. ``norm``:
``G ||x - s||`` in the norm of the domain. ``norm_quadratic``: ``a ||x - s|| + (mu/2) ||x||_2^2``, ``G = a + mu R``."""
CURVATURES = ("any", "convex", "strong")
"""Knowledge of the objective on every data set: nothing, that it is convex, or that `Constants.strong_convexity` is
not only a Polyak-Lojasiewicz constant besides."""
_ROUNDING = 1.0 + 1e-9
"""Factor by which a strong convexity may exceed a smoothness that is computed in another way."""
_POSITIVE = ("lipschitz", "initial_gap")
_UNBOUNDED = ("norm", "hessian_rank")
_UPPER_BOUNDS = ("lipschitz", "smoothness", "diameter", "gradient_deviation", "hessian_rank")
_LABELS = ("domain", "losses", "loss_class", "curvature", "status", "isotropic")
WORDS = {int: "an integer", float: "a number", str: "text", bool: "true or false"}
REAL, WHOLE = (int, float, np.integer, np.floating), (int, np.integer)


class Trait(Enum):
    """Properties of an objective that algorithms ask for; a plug-in may ask for members of an Enum of its own."""

    CONVEX = "convex records"
    SMOOTH = "smooth records"
    STRONGLY_CONVEX = "a strongly convex objective"
    POLYAK_LOJASIEWICZ = "the Polyak-Lojasiewicz inequality"
    LIPSCHITZ = "Lipschitz records"
    TWICE_DIFFERENTIABLE = "twice differentiable records"
    LINEAR_LOSS = "linear records"
    GENERALISED_LINEAR = "generalised linear records"
    COMMON_HESSIAN = "records with one Hessian"
    PLANE_GRADIENTS = "records whose gradients differ in a fixed plane"
    PUBLIC_QUADRATIC = "quadratic records with public points beside them"
    UNREGULARISED = "an objective without regulariser"
    UNCONSTRAINED = "the whole space as domain"
    BALL = "an l1 or l2 ball as domain"
    L1_BALL = "an l1 ball as domain"
    L2_BALL = "an l2 ball as domain"
    LP_BALL = "an l_p ball as domain"
    POLYTOPE = "a polytope with a list of vertices as domain"
    SYMMETRIC_SET = "a bounded, centrally symmetric domain"
    RECORD_LOSSES = "losses of single records that can be evaluated"


CURVED = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.TWICE_DIFFERENTIABLE})
"""Traits of losses with two derivatives."""
STRONG = frozenset({Trait.STRONGLY_CONVEX, Trait.POLYAK_LOJASIEWICZ})
"""Traits of a strongly convex objective."""
Need = Trait | tuple[Trait, ...]
"""Need of an algorithm: a trait, or a tuple of which one is enough."""


def alternatives(need: Need) -> tuple[Trait, ...]:
    """List the traits of which one is enough."""
    return (need,) if isinstance(need, Enum) else tuple(need)


def need_text(need: Need) -> str:
    """Say a need in words."""
    return " or ".join(trait.value for trait in alternatives(need))


def declared_class(traits: Collection[Trait]) -> str:
    """Find the class of losses that traits declare: see `constants.LOSS_CLASSES`."""
    if Trait.LINEAR_LOSS in traits or Trait.COMMON_HESSIAN in traits:
        return "linear"
    return "glm" if Trait.GENERALISED_LINEAR in traits else "any"


_SYMMETRIC = frozenset({Trait.SYMMETRIC_SET})
DOMAIN_TRAITS = {
    "space": frozenset({Trait.UNCONSTRAINED}),
    "l1_ball": _SYMMETRIC | {Trait.BALL, Trait.LP_BALL, Trait.L1_BALL, Trait.POLYTOPE},
    "l2_ball": _SYMMETRIC | {Trait.BALL, Trait.LP_BALL, Trait.L2_BALL},
    "linf_ball": _SYMMETRIC | {Trait.LP_BALL},
    "lp_ball": _SYMMETRIC | {Trait.LP_BALL},
    "k_support_ball": _SYMMETRIC,
    "group_ball": _SYMMETRIC,
    "subspace_ball": _SYMMETRIC,
    "schatten_ball": _SYMMETRIC,
    "polytope": frozenset({Trait.POLYTOPE}),
}
"""Traits of a domain, by its name without the parameter."""


def domain_traits(domain: str) -> frozenset[Trait]:
    """Find the traits that a domain's name implies. Raises InputError for an unknown name.

    ``domain`` is ``space``, the name of a feasible set (`geometry.ball.feasible_set`), or ``polytope:K`` with the
    number of vertices that only the problem knows.
    """
    kind = domain.partition(":")[0]
    if kind not in DOMAIN_TRAITS:
        raise InputError("domain", domain, "one of " + ", ".join(DOMAIN_TRAITS))
    return DOMAIN_TRAITS[kind]


@dataclass(frozen=True)
class Constants:
    """Constants of an objective ``F(x) = mean_i f_i(x) + (regularisation/2) ||x||^2``.

    Lipschitz and smoothness constants are with respect to l_p with p the attribute `norm`: gradients are measured in
    l_q, ``1/p + 1/q = 1``. All other lengths are Euclidean unless they say otherwise.

    Attributes
    ----------
    lipschitz : float, G, Lipschitz constant of every record's loss ``f_i`` (the regulariser excluded)
    smoothness : float
        L, Lipschitz constant of every ``grad f_i`` (the regulariser excluded); 0 for linear losses, and where
        there is none.
    strong_convexity : float, mu of the whole objective (or its Polyak-Lojasiewicz constant); 0 if there is none
    regularisation : float, lambda >= 0 of the ridge term
    initial_gap : float, D0, an a-priori (not data-dependent) bound on ``F(start) - min F``
    initial_distance : float, a-priori bound on ``||start - x*||``; 0 where none is declared (see `distance`)
    diameter : float, diameter of the feasible set in its own norm (of a ball twice the radius); 0 for the whole space
    norm : float, p in [1, inf]
    gauge_convexity : float
        Delta: strong convexity of every record's loss with respect to the gauge of the feasible set; 0 without it.
    gradient_deviation : float
        sigma: bound on the deviation of a record's gradient from its mean, in the sense of the theorem that uses it
        (the l_q norm's root mean square, or a coordinate's); 0 where none is declared.
    gradient_range : float
        Largest Euclidean distance of the gradients of two records at one point; 0 stands for 2 G (see
        `gradient_difference`).
    hessian_rank : float
        Largest rank, an integer, of the part of a record's Hessian that depends on the data: 0 for quadratics with a
        common Hessian, 1 for generalised linear losses; infinite if nothing is known. It bounds determinants and
        says nothing about the class of the loss.
    loss_range : float
        S: Lipschitz constant, in the norm of G, of the difference of any two records' losses; 0 stands for 2 G (see
        `loss_difference`).
    domain : str, ``space``, or the name of the feasible set (see `domain_traits`)
    losses : str, one of `LOSSES`: what every record of every data set is known to be
    loss_class, curvature : str
        One of `LOSS_CLASSES` and of `CURVATURES`; `Algorithm.visible_constants` takes them from the problem's traits.
    status : str
        ``global`` where `lipschitz` and `smoothness` hold on the whole domain, ``nominal`` where only declared.
    isotropic : bool
        Whether perturbed minimisers have a closed form, see `Problem.isotropic_curvature`, which decides it.
    """

    lipschitz: float
    smoothness: float
    strong_convexity: float = 0.0
    regularisation: float = 0.0
    initial_gap: float = 1.0
    initial_distance: float = 0.0
    diameter: float = 0.0
    norm: float = 2.0
    gauge_convexity: float = 0.0
    gradient_deviation: float = 0.0
    gradient_range: float = 0.0
    hessian_rank: float = math.inf
    loss_range: float = 0.0
    domain: str = "space"
    losses: str = "hidden"
    loss_class: str = "any"
    curvature: str = "any"
    status: str = "global"
    isotropic: bool = False

    def __post_init__(self) -> None:
        for name in constant_names():
            value = getattr(self, name)
            if type(value) is float and 0.0 < value < math.inf:  # most of them, without the price of a check
                continue
            if not (name in _UNBOUNDED and isinstance(value, float) and value == math.inf):
                object.__setattr__(self, name, checked_real(name, value, positive=name in _POSITIVE))
        if self.hessian_rank != math.inf and self.hessian_rank % 1:
            raise InputError("hessian_rank", self.hessian_rank, "an integer >= 0, or infinite")
        if self.norm < 1.0:
            raise InputError("norm", self.norm, "a number >= 1 or infinite")
        if (self.domain == "space") != (self.diameter == 0):
            need = "0, the domain being the whole space" if self.domain == "space" else "a finite number > 0"
            raise InputError("diameter", self.diameter, need)
        for name, allowed in (("losses", LOSSES), ("loss_class", LOSS_CLASSES), ("curvature", CURVATURES)):
            if getattr(self, name) not in allowed:
                raise InputError(name, getattr(self, name), "one of " + ", ".join(allowed))
        if self.domain.startswith("lp_ball:"):  # one name for each set
            object.__setattr__(self, "domain", feasible_set(self.domain, 1.0).name)

    def but(self, **values: Any) -> Constants:
        """`dataclasses.replace`, in a third of its time: plans ask for it by the hundred thousand."""
        return type(self)(**{**self.__dict__, **values})

    @property
    def total_smoothness(self) -> float:
        """Smoothness of the objective with its regulariser, ``L + lambda``."""
        return self.smoothness + self.regularisation

    @property
    def condition_number(self) -> float:
        """``kappa = L/mu`` with L of the losses alone; infinite without strong convexity."""
        return self.smoothness / self.strong_convexity if self.strong_convexity > 0 else math.inf

    @property
    def distance(self) -> float:
        """Bound ``||start - x*||`` a priori: as declared, else ``sqrt(2 D0/mu)``; else raises InputError."""
        if self.initial_distance > 0:
            return self.initial_distance
        if self.strong_convexity > 0:
            return math.sqrt(2.0 * self.initial_gap / self.strong_convexity)
        allowed = "> 0 here (0: not given): an a-priori bound on the distance of the start from the minimiser"
        raise InputError("initial_distance", self.initial_distance, allowed)

    @property
    def gradient_difference(self) -> float:
        """Largest Euclidean distance of the gradients of two records: as declared, else 2 G."""
        return self.gradient_range or 2.0 * self.lipschitz

    @property
    def loss_difference(self) -> float:
        """Lipschitz constant of the difference of two records' losses: as declared, else 2 G."""
        return self.loss_range or 2.0 * self.lipschitz

    @property
    def ball(self) -> FeasibleSet | None:
        """Feasible set that domain and diameter describe; None for the whole space, and a polytope by its vertices."""
        if self.domain.partition(":")[0] in ("space", "polytope"):
            return None
        return feasible_set(self.domain, 0.5 * self.diameter)

    def override(self, **values: float) -> Constants:
        """Replace constants by declared ones; a value that claims more than the problem proves makes them nominal.

        A larger Lipschitz or smoothness constant or diameter and a smaller strong convexity remain true; the a-priori
        gap and distance enter schedules only. Raises InputError for an unknown constant or a value outside its range,
        and for a strong convexity above the curvature that the smoothness allows.
        """
        if not values:
            return self
        for key in values:
            if key not in constant_names():
                raise InputError("problem constant", key, "one of " + ", ".join(constant_names()))
        if self.smoothness > 0 and "smoothness" in values:
            checked_real("smoothness", values["smoothness"], positive=True)
        new = self.but(**values)
        if 0.0 < new.smoothness < new.strong_convexity / _ROUNDING - new.regularisation:
            allowed = f"at most smoothness + regularisation = {new.total_smoothness:g}, as no curvature exceeds it"
            raise InputError("strong_convexity", new.strong_convexity, allowed)
        stronger = (
            any(getattr(new, name) < getattr(self, name) for name in _UPPER_BOUNDS)
            or new.gradient_difference < self.gradient_difference
            or new.loss_difference < self.loss_difference
            or new.strong_convexity > self.strong_convexity
            or new.regularisation != self.regularisation
            or new.gauge_convexity > self.gauge_convexity
            or new.norm != self.norm
        )
        return new.but(status="nominal") if stronger else new


@cache
def constant_names() -> tuple[str, ...]:
    """Names of the constants that are numbers, in order: those that may be declared by key."""
    return tuple(f.name for f in fields(Constants) if f.name not in _LABELS)


def checked_real(key: str, value: Any, *, positive: bool) -> float:
    """``value`` as a float. Raises InputError for ``key`` unless it is finite and >= 0 (> 0 if ``positive``)."""
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value < 0 or (positive and value == 0):
        raise InputError(key, value, "a finite number > 0" if positive else "a finite number >= 0")
    return float(value)


def _ends(interval: str) -> tuple[float, float]:
    """Read ``"(1, 2]"``. Raises ValueError for other text."""
    low, high = map(float, interval[1:-1].split(","))
    if interval[0] not in "([" or interval[-1] not in ")]":
        raise ValueError(interval)
    return low, high


def _inside(value: float, interval: str) -> bool:
    """Tell whether a number is allowed; infinity is one where a bracket closes it."""
    low, high = _ends(interval)
    above = value >= low if interval[0] == "[" else value > low
    return above and (value <= high if interval[-1] == "]" else value < high)


def _said(interval: str, whole: bool) -> str:
    """Say in words which integers or real numbers are allowed."""
    (low, high), infinite = _ends(interval), interval[-1] == "]"
    noun = "an integer" if whole else "a number" if infinite else "a finite number"
    if high < math.inf:
        return f"{noun} from {low:g} to {high:g}" if whole else f"in {interval}"
    least = f" {'>=' if interval[0] == '[' else '>'} {low:g}" if low > -math.inf else ""
    return noun + least + ", or inf" * infinite


@dataclass(eq=False)
class Option:
    """An option of a problem's constructor: ``ridge: float = option(0.1, "lambda", within="(0, inf)")``.

    It is an attribute of the class, of whose instances each has its own value. A subclass says anew what changes
    (``ridge = option(0.2)``) or fixes the value (``ridge = 0.2``), which then is no option any more.

    Attributes
    ----------
    within : str
        Interval of a number, e.g. ``"[1, inf]"``: brackets include an end, and infinity with it, which may then be
        written as the text ``inf``.
    key : str, the keyword, where the attribute has another name
    words : str, what is allowed, where type, interval and choices say too little
    """

    default: Any
    meaning: str = ""
    _: KW_ONLY
    within: str = ""
    choices: tuple[str, ...] = ()
    key: str = ""
    source: str = ""
    words: str = ""
    name: str = field(default="", init=False)
    kind: Any = field(default=None, init=False)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self.default

    def declare(self, owner: type, name: str) -> None:
        """Take name and type from the class; all that is not said anew is that of the inherited option of this name.

        Raises InputError for a type that is no scalar's, or a default that is not allowed.
        """
        above = next((vars(cls)[name] for cls in owner.__mro__[1:] if name in vars(cls)), None)
        for part in ("meaning", "within", "choices", "key", "source", "words") if isinstance(above, Option) else ():
            setattr(self, part, getattr(self, part) or getattr(above, part))
        self.name, self.key = name, self.key or name
        kind = inspect.get_annotations(owner).get(name, getattr(above, "kind", None) or type(self.default))
        where = f"option {self.key} of problem {owner.__name__}"
        try:
            self.kind = eval(kind, vars(sys.modules[owner.__module__])) if isinstance(kind, str) else kind
            self.kinds = get_args(self.kind) if get_origin(self.kind) in (Union, UnionType) else (self.kind,)
            self.interval = self.within or "(-inf, inf)" * {*self.kinds}.isdisjoint({str, bool})
            if self.interval:
                _ends(self.interval)
        except (NameError, ValueError) as error:
            raise InputError(where, str(error), 'a known type and a range such as "(0, 1]"') from None
        if not {*self.kinds} <= {*WORDS, type(None)}:
            raise InputError(f"type of {where}", self.kind, "int, float, str, bool or one of these | None")
        checked = self.checked(self.default)
        self.default = self.default if isinstance(self.default, str) else checked

    @property
    def allowed(self) -> str:
        """Say in words which values besides null are allowed."""
        if self.words:
            return self.words
        if self.choices:
            return "one of " + ", ".join(self.choices)
        if self.interval:
            return _said(self.interval, float not in self.kinds)
        return " or ".join(WORDS[kind] for kind in self.kinds if kind in WORDS)

    def checked(self, value: Any) -> Any:
        """Return the value, numbers as int or float, paths as they are. Raises InputError if it is not allowed."""
        if value is None and type(None) in self.kinds:
            return None
        if self.choices:
            valid = isinstance(value, str) and value in self.choices
        elif self.interval:
            kind = float if float in self.kinds else int
            number = math.inf if isinstance(value, str) and value == "inf" else value
            number = number if kind is float else integral(number)
            valid = isinstance(number, REAL if kind is float else WHOLE) and not isinstance(number, bool)
            valid = valid and _inside(number, self.interval)
            value = kind(number) if valid else value
        else:
            wider = REAL * (float in self.kinds) + (os.PathLike,) * (str in self.kinds)
            valid = isinstance(value, (*self.kinds, *wider))
        if not valid:
            raise InputError(self.key, value, self.allowed, self.source)
        return value


option: Any = Option
"""Declare an option: of no type, so that the attribute has its own."""


def declared_options(cls: type) -> dict[str, Option]:
    """Options of a class by keyword, its own before those it inherits."""
    names = dict.fromkeys(name for base in cls.__mro__ for name, o in vars(base).items() if isinstance(o, Option))
    found = [inspect.getattr_static(cls, name) for name in names]
    return {o.key: o for o in found if isinstance(o, Option)}


def constructor_signature(options: dict[str, Option]) -> inspect.Signature:
    """``(d=None, *, options, constants=None)`` with their types and defaults."""
    named = {"d": (int | None, None), **{key: (o.kind, o.default) for key, o in options.items()}}
    named["constants"] = (dict[str, float] | None, None)
    parameters = [
        inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
        for key, (kind, default) in named.items()
    ]
    parameters[0] = parameters[0].replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return inspect.Signature(parameters)
