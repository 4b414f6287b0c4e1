"""Replication bench for differentially private convex optimisation."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "2.0.0"

if TYPE_CHECKING:
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
    from dpsco_bench.problems.glm import GeneralisedLinear, Logistic
    from dpsco_bench.problems.registry import get_problem, problem

_HOMES = {
    "Setting": "algorithms.registry",
    "algorithm": "algorithms.registry",
    "get_algorithm": "cli.library",
    "check_algorithm": "audit.contract",
    "Symbol": "claims.bounds.registry",
    "bound": "claims.bounds.registry",
    "Field": "claims.kinds",
    "Kind": "claims.kinds",
    "Word": "claims.kinds",
    "kind": "claims.kinds",
    "MeasuredPart": "claims.model",
    "Part": "claims.model",
    "Verdict": "analysis.verdict",
    "Choice": "leaderboard.choose",
    "choose": "leaderboard.choose",
    "Result": "cli.library",
    "account": "cli.library",
    "audit": "cli.library",
    "claim": "cli.library",
    "leaderboard": "cli.library",
    "run": "cli.library",
    "Full": "privacy.records",
    "GaussianQuery": "privacy.plan",
    "LastIterate": "privacy.plan",
    "Plan": "privacy.plan",
    "Poisson": "privacy.records",
    "SingleIndex": "privacy.records",
    "make_plan": "privacy.plan",
    "PrivacySpec": "privacy.plan",
    "Constants": "problems.base",
    "Data": "problems.base",
    "Problem": "problems.base",
    "Trait": "problems.base",
    "GeneralisedLinear": "problems.glm",
    "Logistic": "problems.glm",
    "option": "problems.constants",
    "get_problem": "cli.library",
    "problem": "problems.registry",
}
__all__ = [
    "Choice",
    "Constants",
    "Data",
    "Field",
    "Full",
    "GaussianQuery",
    "GeneralisedLinear",
    "Kind",
    "LastIterate",
    "Logistic",
    "MeasuredPart",
    "Part",
    "Plan",
    "Poisson",
    "PrivacySpec",
    "Problem",
    "Result",
    "Setting",
    "SingleIndex",
    "Symbol",
    "Trait",
    "Verdict",
    "Word",
    "account",
    "algorithm",
    "audit",
    "bound",
    "check_algorithm",
    "choose",
    "claim",
    "get_algorithm",
    "get_problem",
    "kind",
    "leaderboard",
    "make_plan",
    "option",
    "problem",
    "run",
]


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
