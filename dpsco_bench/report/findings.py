"""Findings: functions that read a profile's results and return sentences, with the conditions under which they hold.

``dpsco_bench/papers/findings.py`` has those that ship; a paper keeps its own in a module ``findings``. For example::

    @finding(claims=["example2026.thm1"])
    def slow_start(results: Results) -> Said:
        row = results.row("example2026.thm1", "rate-n")
        word, measured = row.word, row.slope
        need(word == "match", measured < -0.5)
        return Said(title=f"Its risk falls with slope {slope(measured)} in n", sentence="...", means="...")
"""

from __future__ import annotations

import ast
import inspect
import math
import re
import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any, Literal

from dpsco_bench.analysis.answer import AnswerCell, answers, on_printed_noise
from dpsco_bench.analysis.races import RANKED
from dpsco_bench.analysis.rounding import outward
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.catalogue import Erratum
from dpsco_bench.claims.kinds import NOT_MEASURED
from dpsco_bench.claims.model import RISK
from dpsco_bench.errors import InputError, nearest
from dpsco_bench.leaderboard.standings import TRIVIAL, Standing
from dpsco_bench.registry import Registry
from dpsco_bench.report.inputs import Charged, Inputs
from dpsco_bench.report.numbers import MINUS, number

COMMON = "leaderboard.common"  # the board that findings read


class NotMeasured(Exception):
    """Leave a finding out: the profile lacks what it reads, or could not run it here."""


@dataclass(frozen=True)
class Point:
    """A number in a finding's figure, beside its name.

    ``printed`` and ``private`` are runs under the papers' noise and under accounted noise. ``main`` is the subject of
    the finding where noise makes no difference, ``plain`` is what stands beside it. A ``bound`` is rounded so that it
    stays one.
    """

    text: str
    value: float
    look: Literal["main", "printed", "private", "plain"] = "main"
    bound: Literal["", "lower", "upper"] = ""


@dataclass(frozen=True)
class Said:
    """Sentences and points of a finding."""

    title: str  # its message in one sentence, without a full stop
    sentence: str  # what has to be said besides
    means: str  # what it means for somebody who uses or reviews such methods
    label: str = ""  # of the axis of its figure
    points: Sequence[Point] = ()  # its figure: numbers on one axis
    reference: float | None = None  # a value of the axis at which a line stands
    linear: bool = False  # whether the axis is linear even where numbers are far apart, as for exponents
    rows: Sequence[Verdict] = ()  # verdicts that it counts: their claims stand behind it too


@dataclass(frozen=True)
class Finding:
    """A registered finding."""

    id: str  # name of the function, with hyphens
    say: Callable[[Results], Said]  # results -> Said
    claims: Sequence[str]  # ids of the claims behind it
    pages: Sequence[str]  # further pages of the site behind it; after ``#`` an address
    profiles: Sequence[str]  # the profiles whose sizes it speaks of; empty for all
    papers: Sequence[str]  # the papers that it counts over: it is left out where one is not installed

    @property
    def path(self) -> Path:
        return Path(self.say.__code__.co_filename)

    @property
    def title(self) -> str:
        """Its title, read from the function's text, with … for every number."""
        named = (node for node in ast.walk(_parsed(self.say.__code__)) if isinstance(node, ast.keyword))
        text = next((node.value for node in named if node.arg == "title"), None)
        pieces = text.values if isinstance(text, ast.JoinedStr) else [text]
        return "".join(str(piece.value) if isinstance(piece, ast.Constant) else "…" for piece in pieces)


FINDINGS: Registry[Finding] = Registry("finding", "findings", core="papers.findings")


def finding(
    claims: Sequence[str] = (), pages: Sequence[str] = (), profiles: Sequence[str] = (), papers: Sequence[str] = ()
) -> Callable[[Callable[[Results], Said]], Callable[[Results], Said]]:
    """Register a function as a finding (used as a decorator; see `Finding`)."""

    def register(say: Callable[[Results], Said]) -> Callable[[Results], Said]:
        id = _id(say.__code__)
        FINDINGS.add(id, Finding(id, say, claims, pages, profiles, papers), say.__module__)
        return say

    return register


def all_findings() -> list[Finding]:
    """List the findings in the order of their files."""
    FINDINGS.load()
    return [FINDINGS.get(id) for id in FINDINGS.registered()]


def need(*conditions: bool) -> None:
    """State the conditions under which a finding may be said.

    Raises InputError for the first that fails: it names the finding, the condition, and the numbers and words to which
    the function gave names.
    """
    frame = inspect.currentframe()
    caller = frame.f_back if frame else None
    for place, holds in enumerate(conditions):
        if not holds and caller:
            named = {name: value for name, value in caller.f_locals.items() if isinstance(value, int | float | str)}
            told = (f"{name} = {value if isinstance(value, str) else f'{value:.4g}'}" for name, value in named.items())
            allowed = f"true of the results; they give {', '.join(told)}"
            code, line = _parsed(caller.f_code), caller.f_lineno - caller.f_code.co_firstlineno + 1
            calls = (node for node in ast.walk(code) if isinstance(node, ast.Call) and node.lineno == line)
            text = next(ast.unparse(call.args[place]) for call in calls if ast.unparse(call.func).endswith("need"))
            raise InputError(f"finding {_id(caller.f_code)}: needs", text, allowed)


def _id(code: CodeType) -> str:
    return code.co_name.replace("_", "-")


def _parsed(code: CodeType) -> ast.Module:
    return ast.parse(textwrap.dedent(inspect.getsource(code)))


@dataclass(frozen=True)
class Results:
    """The results of a profile, as findings read them."""

    inputs: Inputs
    errata: Mapping[str, Sequence[Erratum]]  # paper -> its errata

    def row(self, claim: str, part: str, calibration: str = "paper") -> Any:
        """Find the verdict (`analysis.verdict.Verdict`) of a part under a calibration."""
        found = next((one for one in self.inputs.claims if one.id == claim), None)
        if found is None:
            raise self.unmeasured(f"{claim} is not in")
        known = {f"{row.part} {row.calibration}": row for row in found.rows}
        name = f"{part} {calibration}"
        if name not in known:
            raise InputError(f"part of {claim}", name, nearest(name, known))
        if known[name].skipped or known[name].verdict == NOT_MEASURED:
            raise NotMeasured(f"{claim} {part} is {known[name].word}")
        return known[name]

    def mean_at(self, row: Verdict, value: float) -> float:
        if value not in row.values:
            raise self.unmeasured(f"{row.id} {row.part} has no cell at {value:g} in")
        return row.mean[row.values.index(value)]

    def statements(self, kind: str) -> list[Verdict]:
        """List the verdicts of a kind on what claims state of printed noise; those beside a statement do not count."""
        return [row for row in self.inputs.rows if row.kind == kind and row.calibration == "paper" and not row.beside]

    @property
    def noise_answers(self) -> dict[str, AnswerCell]:
        """Answer whether the printed noise is private, for every claim with parts on it."""
        rows = self.inputs.rows
        own = {row.id for row in rows if on_printed_noise(row)}
        return {id: found.cells["noise"] for id, found in answers(rows).items() if id in own and "noise" in found.cells}

    def charged(self, claim: str, part: str, calibration: str = "paper") -> list[Charged]:
        found = [one for one in self.inputs.claims if one.id == claim]
        cells = [cell for one in found for cell in one.charged(part, calibration)]
        if not cells:
            raise self.unmeasured(f"{claim} {part} has no noise in")
        return cells

    def spent(self, *claims: str) -> float:
        """Compute the largest share of the claimed epsilon that claims' printed noise spends, over all their cells."""
        own = [claim for claim in self.inputs.claims if claim.id in claims]
        rows = [(claim, row.part) for claim in own for row in claim.rows if row.calibration == "paper"]
        shares = [cell.real / cell.claimed for claim, part in rows for cell in claim.charged(part, "paper")]
        known = [share for share in shares if not math.isnan(share)]
        if not known:
            raise self.unmeasured(f"{', '.join(claims)} have no noise in")
        return max(known)

    def accounted_over_printed(self) -> list[list[float]]:
        """Divide the risks of each sweep with accounted noise by those with printed noise, both proven private.

        Sweeps with equal numbers are the same runs, held against another formula, and count as one.
        """
        found: dict[tuple[str, str], dict[str, Verdict]] = {}
        for claim in self.inputs.claims:
            for row in claim.rows:
                proven = row.noise and row.noise.status in RANKED
                if proven and row.rules.companion and claim.part(row).quantity == RISK:
                    found.setdefault((claim.id, row.part), {})[row.calibration] = row
        both = [(rows["accounted"], rows["paper"]) for rows in found.values() if {"accounted", "paper"} <= rows.keys()]
        distinct = {(a.id, a.values, a.mean, p.mean): (a.mean, p.mean) for a, p in both if a.values == p.values}
        sweeps = [[a / p for a, p in zip(*means, strict=True) if p > 0] for means in distinct.values()]
        if not any(sweeps):
            raise self.unmeasured("nothing is private under both noises in")
        return sweeps

    def standings(self, *instances: str) -> list[Standing]:
        """List the points of a board that were run: of all instances, or of those named."""
        rows = [row for found in self.inputs.boards if found.id == COMMON for row in found.points]
        return [row for row in rows if not instances or row.instance in instances]

    def point(self, instance: str, **at: float) -> Standing:
        """Find the one point of an instance at given n, d and epsilon."""
        rows = self.standings(instance)
        here = [row for row in rows if all(math.isclose(getattr(row, key), value) for key, value in at.items())]
        if len(here) != 1:
            raise self.unmeasured(f"{COMMON} has no such point in")
        return here[0]

    def decided(self, *instances: str, epsilon: Collection[float] = ()) -> list[Standing]:
        """List the decided points of a board: of all instances or of those named, at all or some epsilons."""
        rows = [row for row in self.standings(*instances) if row.decided]
        if not rows or not set(instances) <= {row.instance for row in rows}:
            raise self.unmeasured(f"{COMMON} has not all of these instances in")
        return [row for row in rows if not epsilon or row.epsilon in epsilon]

    def undecided(self, *instances: str) -> list[Standing]:
        """List the points of a board at which a method that was too long might be the best."""
        return [row for row in self.standings(*instances) if row.contenders]

    def unmeasured(self, text: str) -> NotMeasured:
        return NotMeasured(f"{text} profile {self.inputs.profile}")


def won(rows: Sequence[Standing], *methods: str) -> int:
    """Count the points at which one of the methods has the least mean risk."""
    return sum(row.winner in methods for row in rows)


def shared(rows: Sequence[Standing], *methods: str) -> int:
    """Count the points at which one of the methods has or shares the first place."""
    return sum(not set(row.tied).isdisjoint(methods) for row in rows)


def ties(rows: Sequence[Standing]) -> int:
    return sum(len(row.tied) > 1 for row in rows)


def ran(rows: Sequence[Standing], paper: str = "") -> int:
    """Count the methods that ran at some of the points; those of one paper alone if it is given."""
    methods = (method for row in rows for method in row.methods)
    return len({method.method for method in methods if method.algorithm.startswith(f"{paper}." if paper else "")})


def gains(rows: Sequence[Standing]) -> list[float]:
    """Compute by how many per cent the least private risk is below that of the starting point, at each point."""
    least = [min([row.trivial, *(m.risk for m in row.methods if m.ranked)]) for row in rows]
    return [100.0 * (1.0 - risk / row.trivial) for risk, row in zip(least, rows, strict=True)]


def over_search(rows: Sequence[Standing], own: bool = False) -> list[float]:
    """Divide the least private risk, or the searched method's ``own``, by that of the public grid search."""
    found = []
    for search, methods in ((row.search, row.methods) for row in rows):
        if search and search.risk > 0:
            ours = [m.risk for m in methods if m.ranked and (not own or m.algorithm == search.algorithm)]
            found += [min(ours) / search.risk] if ours else []
    if not found:
        raise NotMeasured(f"nothing is searched on {COMMON}")
    return found


def bracket(rows: Sequence[Standing]) -> tuple[float, float]:
    """Find the largest n eps/sqrt(d) at which the start shares the first place (0 for none), and the next one."""
    ratios = {row.n * row.epsilon / math.sqrt(row.d) for row in rows}
    last = max((row.n * row.epsilon / math.sqrt(row.d) for row in rows if TRIVIAL in row.tied), default=0.0)
    above = [ratio for ratio in ratios if ratio > last]
    if not above:
        raise NotMeasured(f"nothing beats the starting point there on {COMMON}")
    return last, min(above)


def lower(value: float) -> str:
    """Show a lower bound: three digits, rounded down."""
    return number(outward(value, "lower"))


def upper(value: float) -> str:
    """Show an upper bound: three digits, rounded up."""
    return number(outward(value, "upper"))


def signed(shown: str) -> str:
    """Give a formatted number a true minus, and none before zero."""
    return shown.replace("-", MINUS) if re.search("[1-9]", shown) else shown.replace("-", "")
