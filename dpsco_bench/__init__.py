"""Replication bench for differentially private convex optimisation."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "2.0.0"

if TYPE_CHECKING:
    from dpsco_bench.algorithms.info import Info
    from dpsco_bench.algorithms.registry import Setting, algorithm, get_algorithm
    from dpsco_bench.analysis.verdict import Verdict
    from dpsco_bench.audit.contract import check_algorithm
    from dpsco_bench.claims.bounds.registry import Symbol, bound
    from dpsco_bench.claims.kinds import Field, Kind, Word, kind
    from dpsco_bench.claims.model import MeasuredPart, Part
    from dpsco_bench.cli.library import Result, account, audit, claim, leaderboard, run
    from dpsco_bench.leaderboard.choose import Choice, choose
    from dpsco_bench.privacy.plan import GaussianQuery, LastIterate, Plan, PrivacySpec, make_plan
    from dpsco_bench.privacy.records import Full, Poisson, SingleIndex
    from dpsco_bench.problems.base import Constants, Data, Problem, Trait
    from dpsco_bench.problems.constants import option
    from dpsco_bench.problems.glm import GeneralisedLinear, LeastSquares, Logistic
    from dpsco_bench.problems.registry import get_problem, problem

_HOMES = {
    name: module
    for module, names in (
        ("algorithms.info", "Info"),
        ("algorithms.registry", "Setting algorithm"),
        ("cli.library", "get_algorithm Result account audit claim leaderboard run get_problem"),
        ("audit.contract", "check_algorithm"),
        ("claims.bounds.registry", "Symbol bound"),
        ("claims.kinds", "Field Kind Word kind"),
        ("claims.model", "MeasuredPart Part"),
        ("analysis.verdict", "Verdict"),
        ("leaderboard.choose", "Choice choose"),
        ("privacy.records", "Full Poisson SingleIndex"),
        ("privacy.plan", "GaussianQuery LastIterate Plan PrivacySpec make_plan"),
        ("problems.base", "Constants Data Problem Trait"),
        ("problems.glm", "GeneralisedLinear LeastSquares Logistic"),
        ("problems.constants", "option"),
        ("problems.registry", "problem"),
    )
    for name in names.split()
}
__all__ = [
    "Choice", "Constants", "Data", "Field", "Full", "GaussianQuery", "GeneralisedLinear", "Info", "Kind", "LastIterate",
    "LeastSquares", "Logistic", "MeasuredPart", "Part", "Plan", "Poisson", "PrivacySpec", "Problem", "Result",
    "Setting", "SingleIndex", "Symbol", "Trait", "Verdict", "Word", "account", "algorithm", "audit", "bound",
    "check_algorithm", "choose", "claim", "get_algorithm", "get_problem", "kind", "leaderboard", "make_plan", "option",
    "problem", "run",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: ``import dpsco_bench`` alone loads nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'dpsco_bench' has no attribute {name!r}")
    if name in ("audit", "leaderboard"):  # packages, which are called
        return importlib.import_module(f"dpsco_bench.{name}")
    value = getattr(importlib.import_module(f"dpsco_bench.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


class Verb(ModuleType):
    # A package that has the name of a verb, and is called as this verb's function.
    __doc__ = property(lambda self: self._function.__doc__)

    @property
    def _function(self) -> Any:
        name = self.__name__.rpartition(".")[2]
        return getattr(importlib.import_module(f"dpsco_bench.{_HOMES[name]}"), name)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self._function(*arguments, **options)

    def __reduce__(self) -> tuple[Any, ...]:
        return importlib.import_module, (self.__name__,)

    @property
    def __signature__(self) -> Any:
        return importlib.import_module("inspect").signature(self._function)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
