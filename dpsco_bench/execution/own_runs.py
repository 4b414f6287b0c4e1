"""Runs of one's own: one that changes what it was handed is stopped, since something else was charged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import is_dataclass
from functools import update_wrapper
from typing import Any

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.errors import InputError
from dpsco_bench.execution.own_queries import HOUSEKEEPING, check_queries
from dpsco_bench.execution.planning import AlgorithmError
from dpsco_bench.privacy.fingerprint import PlanRecord, is_cached
from dpsco_bench.privacy.plan import Plan

OUTSIDE = 1e-5
"""Distance from a domain, over the size of the output, that rounding may leave, in float32 too."""
ASKED = ("release", "sample", "spend", "variates", "batches", "noise_scales")
"""Methods of a mechanism by which a run draws what was charged."""
CHANGED = "as it was charged: its run changes what it is handed"


class ChangedPlan(AlgorithmError):
    """A run that changes its plan or the scales of its noise: what is charged is not what runs."""


class LeftDomain(AlgorithmError):
    """A run whose output is not in the feasible set, and so solves another problem."""


class WatchedRun:
    """A run whose plan and noise scales are compared whole before and after each call, and whose output has a domain.

    Blocks of a run share the plan. So every later call is stopped too.

    Parameters
    ----------
    run : callable, takes (objective, plan, mechanism)
    where : str, names the algorithm
    """

    def __init__(self, run: Callable[..., Any], where: str) -> None:
        update_wrapper(self, run)
        self.run, self.where, self.found = run, where, ""
        self.__code__ = getattr(run, "__code__", None)

    def __call__(self, objective: Any, plan: Plan, mechanism: Any) -> Any:
        """Call the run.

        Raises
        ------
        ChangedPlan
            Naming the algorithm and the first quantity that was changed.
        LeftDomain
            For an output outside of the feasible set.
        """
        if self.found:
            raise ChangedPlan(self.found)
        before = _handed(plan, mechanism)
        try:
            with _kept(mechanism, self.where):
                output = self.run(objective, plan, mechanism)
        except ChangedPlan as error:
            self.found = str(error)  # raised below
        finally:
            self.found = self.found or self._changed(before, plan, mechanism)
            if self.found:
                raise ChangedPlan(self.found)
        self._check_inside(objective, output)
        return output

    def _check_inside(self, objective: Any, output: Any) -> None:
        """Stop a method whose output leaves the domain: its risk may be below the least of the domain."""
        domain = getattr(objective, "domain", None)
        project = getattr(domain, "project", None)  # a polytope has none
        if project is None or getattr(output, "shape", None) != objective.start.shape:
            return
        xp = array_namespace(output)
        beyond = float(xp.max(xp.abs(output - project(output))))
        if beyond > OUTSIDE * float(xp.max(xp.abs(output))):
            name = getattr(domain, "name", type(domain).__name__)
            allowed = (
                f"in the domain {name} (farthest coordinate {beyond:.3g} beyond it): objective.project(x) projects"
            )
            raise LeftDomain(f"{self.where}: output: must be {allowed}; or it asks for needs=(Trait.UNCONSTRAINED,)")

    def _changed(self, before: tuple[PlanRecord, Mapping[str, float]], plan: Plan, mechanism: Any) -> str:
        try:
            check_queries(plan, self.where)
            record, scales = _handed(plan, mechanism)
        except InputError as error:
            return str(error)
        except (AttributeError, TypeError, ValueError):  # fields that no plan or query has
            return f"{self.where}: plan = another one: must be {CHANGED}"
        found = before[0].difference(record)
        names = [name for name in {**before[1], **scales} if before[1].get(name) != scales.get(name)]
        if not found and names:
            found = f"noise scale of {names[0]}", before[1].get(names[0]), scales.get(names[0])
        if not found and getattr(mechanism, "plan", plan) is not plan:
            found = "plan of its mechanism", "the one that was charged", "another one"
        if not found:
            return ""
        key, was, now = (" ".join(str(item).split()) for item in found)
        return f"{self.where}: {key} = {now}: must be {was}, {CHANGED}"


@contextmanager
def _kept(mechanism: Any, where: str) -> Iterator[None]:
    """Refuse changes of a mechanism's scales and plan while a run has it, also those that it takes back."""
    cls, scales = type(mechanism), getattr(mechanism, "scales", None)
    if not isinstance(scales, dict) or isinstance(scales, Kept):  # of a run within a run
        yield
        return

    def refuse(self: Any, name: str, value: Any) -> None:
        if name in ("scales", "plan", "__class__"):
            raise ChangedPlan(f"{where}: {name} of its mechanism = another one: must be {CHANGED}")
        object.__setattr__(self, name, value)

    before, kept = dict(scales), Kept(scales, where)
    mechanism.scales = kept
    unchanged = _unchanged(getattr(mechanism, "plan", None), where)

    def check() -> None:
        unchanged()
        now = vars(mechanism).get("scales")
        if now is not kept or dict(kept) != before:
            names = [name for name in before if (now or {}).get(name) != before[name]]
            if not names:
                raise ChangedPlan(f"{where}: scales of its mechanism = another one: must be {CHANGED}")
            key, found = names[0], (now or {}).get(names[0])
            raise ChangedPlan(f"{where}: noise scale of {key} = {found}: must be {before[key]}, {CHANGED}")

    asked = {name: _after(check, getattr(cls, name)) for name in ASKED if hasattr(cls, name)}
    mechanism.__class__ = type(
        cls.__name__, (cls,), {**_said(cls), **asked, "__setattr__": refuse, "__module__": cls.__module__}
    )
    try:
        yield
    finally:
        now = vars(mechanism).get("scales")
        object.__setattr__(mechanism, "__class__", cls)
        mechanism.scales = scales if now is kept and dict(kept) == before else dict(now or {})


def _unchanged(plan: Any, where: str) -> Callable[[], None]:
    """A check that nothing was written past a frozen plan, its queries and what they hold; it raises ChangedPlan."""
    held = {f"{query.name} of queries": query for query in getattr(plan, "queries", ())}
    held |= {f"{name} of {place}": value for place, query in held.items() for name, value in vars(query).items()}
    kept = [
        (place, one, type(one), dict(vars(one)), _ids(one))
        for place, one in {"its plan": plan, **held}.items()
        if is_dataclass(one) and not isinstance(one, type)
    ]

    classes = {cls: f"class of {place}" for place, _, kind, *_ in kept for cls in kind.__mro__[:-1]}
    said = [(place, cls, _said_by(cls), _ids(cls)) for cls, place in classes.items()]

    def check() -> None:
        for place, one, kind, before, ids in kept:
            if type(one) is not kind:
                raise ChangedPlan(
                    f"{where}: class of {place} = {type(one).__qualname__}: must be {kind.__qualname__}, {CHANGED}"
                )
            if _ids(one) == ids:  # most calls: they are many
                continue
            now = vars(one)
            new = [name for name in now.keys() - before.keys() if hasattr(kind, name) and not is_cached(kind, name)]
            _same(before, {name: now.get(name) for name in [*before, *new]}, f"{{}} of {place}")
        for place, cls, before, ids in said:
            if _ids(cls) != ids:
                _same(before, _said_by(cls), f"{{}} of the {place}")

    def _same(before: Mapping[str, Any], now: Mapping[str, Any], key: str) -> None:
        for name in {**before, **now}:
            if name not in before or now.get(name) is not before[name]:
                was = before.get(name, "as its class has it")
                raise ChangedPlan(f"{where}: {key.format(name)} = {now.get(name)}: must be {was}, {CHANGED}")

    return check


def _ids(one: Any) -> tuple[tuple[str, ...], tuple[int, ...]]:
    return tuple(vars(one)), tuple(map(id, vars(one).values()))


def _said_by(cls: type) -> dict[str, Any]:
    """What a class says, and not what Python keeps there beside it."""
    return {name: value for name, value in vars(cls).items() if name not in HOUSEKEEPING and name[:5] != "_abc_"}


def _after(check: Callable[[], None], method: Callable[..., Any]) -> Callable[..., Any]:
    def asked(self: Any, *args: Any, **kwargs: Any) -> Any:
        check()
        return method(self, *args, **kwargs)

    return asked


def _said(cls: type) -> dict[str, Any]:
    """What a class says for itself alone."""
    return {"answers_steps": vars(cls)["answers_steps"]} if "answers_steps" in vars(cls) else {}


class Kept(dict[str, float]):
    """Noise scales that are read alone."""

    def __init__(self, scales: Mapping[str, float], where: str) -> None:
        super().__init__(scales)
        self._where = where

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        key = f"noise scale of {args[0]}" if args and isinstance(args[0], str) else "noise scales"
        value = f" = {args[1]}" if len(args) > 1 else ""
        raise ChangedPlan(f"{self._where}: {key}{value}: must be {CHANGED}")

    __setitem__ = __delitem__ = update = pop = popitem = clear = setdefault = __ior__ = _refuse


def _handed(plan: Plan, mechanism: Any) -> tuple[PlanRecord, dict[str, float]]:
    return PlanRecord.of(plan), dict(getattr(mechanism, "scales", {}))
