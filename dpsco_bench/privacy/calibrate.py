"""Fix the noise of a plan and charge what it declares."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.privacy.attained import rests_on_sensitivities
from dpsco_bench.privacy.ledger import OUTPUT, RELEASE, ROUNDING, SEQUENCE, privacy_status
from dpsco_bench.privacy.plan import Charge, Composition, Plan, PrivacySpec, refused
from dpsco_bench.privacy.queries import CoveringQuery, DrawQuery

COMPOSITIONS = {
    **{"DRAW": "shifts", "TREE": "shifts", "BATCHES": "sampled", "ALLOCATION": "sampled", "SHIFTS": "shifts"},
    **{"SAMPLED": "sampled", "PERTURBATION": "shifts", "ALONE": "shifts"},
}
"""Module of each `Composition`: the first that covers a plan composes its queries. They are found by their names, since
a run without noise needs none, and an accountant's code counts for those that it charges alone."""
LAST, REFUTATION = "shifts", "refutation"


@dataclass(frozen=True)
class Calibration:
    """A plan's noise and its place in the privacy ledger.

    Attributes
    ----------
    calibration : str, ``paper``, ``accounted`` or ``none``
    scales : dict, noise scale per query; of a normal its standard deviation
    charge : Charge, the accountant's value for all that is answered with these scales
    output : Charge or None, that of what is released, if it is known apart
    privacy_status : str, see `ledger.privacy_status`
    of : str, what the real epsilon is of: ``output``, one ``release``, or the ``sequence`` of several
    """

    calibration: str
    scales: dict[str, float]
    charge: Charge
    privacy_status: str
    output: Charge | None = None
    of: str = RELEASE

    @property
    def real(self) -> Charge:
        """Value that decides: of the output if it is known."""
        return self.output or self.charge

    @property
    def epsilons(self) -> dict[str, Any]:
        """Fields of `execution.cell.EPSILONS`."""
        unknown = Charge(math.nan, "", "")
        output = self.real if self.of == OUTPUT else unknown
        sequence = self.charge if self.output or self.of != OUTPUT else unknown
        values = {"real": self.real, "output": output, "sequence": sequence}
        found = {f"epsilon_{name}": value.epsilon for name, value in values.items()}
        kinds = {f"epsilon_{name}_kind": value.kind for name, value in values.items()}
        return {**found, **kinds, "epsilon_of": self.of}


def calibrate(
    plan: Plan,
    privacy: PrivacySpec,
    calibration: str,
    constants: str = "global",
    attained: bool = True,
    curvature: bool = True,
) -> Calibration:
    """Noise scales of a plan and the epsilon they really give. Raises Refusal for a plan without scales of the kind.

    ``calibration`` is ``paper`` (scales of the theorem), ``accounted`` (least noise that the accountant accepts) or
    ``none``; ``constants`` of the problem are ``global`` or ``nominal``, see also `tree.enforces_sensitivity`. Unless
    records of the problem have ``attained`` the declared sensitivities (`attained.attaining_pair`), an exact value is
    an upper bound, and that of an output also unless they have the least ``curvature`` that the plan declares.
    """
    if calibration not in _SCALES:
        raise InputError("calibration", calibration, "one of " + ", ".join(_SCALES))
    scales = _SCALES[calibration](plan, privacy)
    charged = decisive_charge(plan, scales, privacy)
    if charged.kind == "exact" and not attained and rests_on_sensitivities(plan, charged.epsilon):
        charged = replace(charged, kind="upper")
    last = loaded(LAST)
    output = last.charge_output(plan, scales, privacy.delta) if last.covers_output(plan) else None
    if output and output.kind == "exact" and not (attained and curvature):
        output = replace(output, kind="upper")
    real, of = output or charged, released(plan)
    covered = any(isinstance(q, CoveringQuery) for q in plan.queries)
    exact_minimiser = any(q.exact_minimiser for q in plan.queries) and not covered
    known = (constants, calibration, exact_minimiser, charged.sampler_status, of)
    status = privacy_status(real.kind, real.epsilon, privacy.epsilon, *known)
    return Calibration(calibration, scales, charged, status, output, of)


def released(plan: Plan) -> str:
    """Say whether a plan's real epsilon is of its output, of its one release, or of the sequence of its answers."""
    if plan.unprotected or loaded(LAST).covers_output(plan) or any(isinstance(q, DrawQuery) for q in plan.queries):
        return OUTPUT
    return RELEASE if sum(query.releases for query in plan.queries) <= 1 else SEQUENCE


def decisive_charge(plan: Plan, scales: Mapping[str, float], privacy: PrivacySpec) -> Charge:
    """`charge`, but an upper bound above the claim gives way to an exact value, or a lower bound above the claim."""
    charged = charge(plan, scales, privacy.delta)
    if charged.kind != "upper" or charged.epsilon <= privacy.epsilon * (1.0 + ROUNDING):
        return charged
    found: Charge | None = loaded(REFUTATION).lower_bound(plan, scales, privacy.delta)
    if found is None or (found.kind == "lower" and found.epsilon <= privacy.epsilon):
        return charged
    return replace(charged, epsilon=found.epsilon, kind=found.kind, accountant=found.accountant, pair=found.pair)


def charge(plan: Plan, scales: Mapping[str, float], delta: float) -> Charge:
    """Epsilon of the composed queries at ``delta``.

    The plan's composition charges it. What a plan says it leaks is not charged: a lower bound, from tests of queries
    where the composition bounds from above. An output that nothing protects has no finite epsilon, whatever is released
    beside it.
    """
    if plan.unprotected:
        return Charge(math.inf, "exact", "no noise on the output")
    if not plan.queries:
        return Charge(0.0, "exact", "none needed: nothing is released")
    if any(scales[q.name] == 0 for q in plan.queries):
        return Charge(math.inf, "exact", "no noise")
    value = _composition(plan).charge(plan, scales, delta)
    if not plan.leaks:
        return value
    if value.kind == "upper":
        found: Charge | None = loaded(REFUTATION).lower_bound(plan, scales, delta)
        return found or Charge(0.0, "lower", "no lower bound")
    return Charge(value.epsilon, "lower", value.accountant)


def charging_modules(plan: Plan | None, calibration: str) -> list[str]:
    """Name the modules that charge a plan, and that are found by their names; all of them if it is not known."""
    if calibration == "none":
        return []
    names = [*COMPOSITIONS.values(), REFUTATION]
    if plan is not None:
        names = [module for name, module in COMPOSITIONS.items() if getattr(loaded(module), name).covers(plan)][:1]
        names += [REFUTATION] * loaded(REFUTATION).covers(plan) + [LAST] * loaded(LAST).covers_output(plan)
    return [f"{__package__}.composition.{name}" for name in dict.fromkeys(names)]


def loaded(name: str) -> Any:
    """Import a module of `composition` by its name: what does not need it does not load it."""
    return import_module(f"{__package__}.composition.{name}")


def _composition(plan: Plan) -> Composition:
    for name, module in COMPOSITIONS.items():
        composition: Composition = getattr(loaded(module), name)
        if composition.covers(plan):
            return composition
    raise refused(plan)


def _paper_scales(plan: Plan, privacy: PrivacySpec) -> dict[str, float]:
    if plan.paper_limit is not None:
        raise plan.paper_limit.error()
    for query in plan.queries:
        if query.paper_scale is None:
            raise Refusal(f"calibration paper for query {query.name}", "the paper states no noise for it")
    return {q.name: float(q.paper_scale) for q in plan.queries if q.paper_scale is not None}


def _accounted_scales(plan: Plan, privacy: PrivacySpec) -> dict[str, float]:
    """Least noise for which the plan's composition gives the claim."""
    for leak in (plan.unprotected, *plan.leaks):
        if leak:
            raise Refusal("calibration accounted", f"no noise makes the plan private: {leak}")
    by_output = plan.last_iterate is not None and plan.last_iterate.calibrates
    found: dict[str, float] = (loaded(LAST).output_scales if by_output else _composition(plan).scales)(plan, privacy)
    return found


_SCALES: dict[str, Callable[[Plan, PrivacySpec], dict[str, float]]] = {
    "paper": _paper_scales,
    "accounted": _accounted_scales,
    "none": lambda plan, privacy: {q.name: 0.0 for q in plan.queries},
}
