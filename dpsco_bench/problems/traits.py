"""Properties of objectives that algorithms ask for, and what the name of a feasible set says."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum

from dpsco_bench.errors import InputError


class Trait(Enum):
    """Properties of an objective that algorithms ask for."""

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


Need = Trait | tuple[Trait, ...]
"""Need of an algorithm: a trait, or a tuple of which one is enough."""


def alternatives(need: Need) -> tuple[Trait, ...]:
    """List the traits of which one is enough."""
    return (need,) if isinstance(need, Trait) else tuple(need)


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

    Parameters
    ----------
    domain : str
        ``space``, or the name of a feasible set (`geometry.ball.feasible_set`) as `Constants.domain` has it, or
        ``polytope:K`` with the number of vertices that only the problem knows.
    """
    kind = domain.partition(":")[0]
    if kind not in DOMAIN_TRAITS:
        raise InputError("domain", domain, "one of " + ", ".join(DOMAIN_TRAITS))
    return DOMAIN_TRAITS[kind]
