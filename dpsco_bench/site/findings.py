"""Findings: sentences whose numbers come from the results, each with the conditions under which it may be said.

``conf/findings/*.yaml`` has one each, in the order of their names. A finding whose numbers no longer support its
sentence stops the build; one whose claims the profile does not measure is left out, and named.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from dpsco_bench.algorithms.registry import ALGORITHMS
from dpsco_bench.analysis.outward import outward
from dpsco_bench.claims.catalogue import conf_files, naming
from dpsco_bench.claims.entries import build_checked, listed
from dpsco_bench.claims.files import read_shipped
from dpsco_bench.claims.slug import slug
from dpsco_bench.errors import InputError, nearest
from dpsco_bench.registry import absent_paper
from dpsco_bench.report.numbers import MINUS, number
from dpsco_bench.site.board_values import NotMeasured, Value
from dpsco_bench.site.content import Content
from dpsco_bench.site.values import OfRows, Reference, reference, value_of

OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
_VALUE = re.compile(r"\{(\w+)(:[^}]+)?\}")
_CONDITION = re.compile(r"^\s*(\w+)\s*(<=|>=|==|!=|<|>)\s*(.+?)\s*$")


@dataclass(frozen=True)
class FigureRow:
    """A row of a finding's figure: its words, the name of its value, and its look.

    ``printed`` and ``private`` are runs under the papers' noise and under accounted noise, ``main`` is what the finding
    is about where noise is not what differs, ``plain`` what stands beside it. A ``bound`` that is ``lower`` or
    ``upper`` is rounded so that it stays one.
    """

    text: str
    value: str
    look: str = "main"
    bound: str = ""


@dataclass(frozen=True)
class FigureText:
    """What a finding's figure shows: a label of its axis, rows, and a line at a value.

    The axis is logarithmic where numbers are far apart, unless it is to be ``linear``, as exponents ask for.
    """

    rows: list[FigureRow]
    label: str = ""
    reference: float | None = None
    linear: bool = False


@dataclass(frozen=True)
class FindingText:
    """A finding's file.

    Attributes
    ----------
    title : str, its message in one sentence, with ``{name}`` for values; ``{name:.1f}`` gives a number another form
    sentence : str, what has to be said besides, with values too
    means : str, what it means for somebody who uses or reviews such methods
    values : mapping, name -> reference (`site.values`)
    needs : list of str, conditions such as ``real > 100`` or ``word == match``; all must hold
    claims : list of str, ids of the claims behind it
    figure : FigureText or None
    counted : list of str, names of values that count verdicts, whose claims stand behind it too
    pages : list of str, pages that stand behind it beside those of its claims; behind ``#`` an address
    profiles : list of str, where the sentence is about sizes that other profiles do not have
    papers : list of str, the papers that it counts over; it is not said where one of them is not installed
    """

    title: str
    sentence: str
    means: str
    values: Mapping[str, Reference]
    needs: list[str]
    claims: list[str]
    figure: FigureText | None = None
    counted: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    profiles: list[str] = field(default_factory=list)
    papers: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Finding:
    """A finding that the results support, the ids of the claims behind it, and its file."""

    id: str
    text: FindingText
    values: Mapping[str, Value]
    claims: Sequence[str] = ()
    path: Path = Path()

    @cached_property
    def title(self) -> str:
        """With its numbers."""
        return filled(self.text.title, self.values, f"finding {self.id}")

    @cached_property
    def sentence(self) -> str:
        """With its numbers."""
        return filled(self.text.sentence, self.values, f"finding {self.id}")

    @cached_property
    def means(self) -> str:
        """With its numbers."""
        return filled(self.text.means, self.values, f"finding {self.id}")


@dataclass(frozen=True)
class Unsaid:
    """A finding of this profile that this run does not measure, and why."""

    id: str
    title: str
    reason: str


def finding_files() -> dict[str, Path]:
    """Id of each finding -> its file; the digits in front of a name give the order alone.

    Raises InputError for an id that has the address of another, or none.
    """
    found: dict[str, Path] = {}
    taken = {""}
    for path in conf_files("findings/*.yaml"):
        id = re.sub(r"^\d+[-_]", "", path.stem)
        if slug(id) in taken:
            allowed = "one with an id that has letters or digits, and that no other finding has"
            raise InputError("finding", str(path), allowed)
        taken.add(slug(id))
        found[id] = path
    return found


def read_finding(path: Path, id: str) -> FindingText:
    """A finding's file. Raises InputError for a wrong key."""
    entry, where = read_shipped(path), f"finding {id}"
    if isinstance(entry, Mapping):
        entry = {key: " ".join(value.split()) if isinstance(value, str) else value for key, value in entry.items()}
        if isinstance(entry.get("values"), Mapping):
            entry["values"] = {name: reference(value, f"{where}: {name}") for name, value in entry["values"].items()}
        if isinstance(entry.get("figure"), Mapping):
            entry["figure"] = _figure(entry["figure"], f"figure of {where}")
    found: FindingText = build_checked(FindingText, entry, where)
    return found


def _figure(entry: Mapping[str, object], where: str) -> FigureText:
    rows = [build_checked(FigureRow, row, f"{where}, row") for row in listed(entry.get("rows"), f"{where}: rows")]
    made: FigureText = build_checked(FigureText, {**entry, "rows": rows}, where)
    return made


def findings(content: Content, files: Mapping[str, Path] | None = None) -> tuple[list[Finding], list[Unsaid]]:
    """Findings of a profile, and those of its claims that its run does not measure.

    Raises
    ------
    DpscoError
        For a finding that is wrong, or that the numbers contradict: it names the finding, the condition and the values.
    """
    said, unsaid = [], []
    for id, path in (finding_files() if files is None else files).items():
        with naming(path):
            text = read_finding(path, id)
            if text.profiles and content.inputs.profile not in text.profiles:
                continue
            try:
                found = _supported(content, id, text, path)
            except NotMeasured as reason:
                unsaid.append(Unsaid(id, _VALUE.sub("…", text.title), str(reason)))
                continue
            for words in ("title", "sentence", "means"):  # what cannot be said fails here
                getattr(found, words)
            said.append(found)
    return said, unsaid


def linked(found: Sequence[Finding], pages: Mapping[str, str], left_out: Collection[str] = ()) -> list[Finding]:
    """Findings, all of whose pages the site has. Raises DpscoError for another page.

    Parameters
    ----------
    pages : mapping of str to str, those that are written, by name
    left_out : collection of str, names of pages that the site has, and the one file to mail has not
    """
    kept = []
    for finding in found:
        with naming(finding.path):
            for page in finding.text.pages:
                there = _addressed(page[1:], pages) if page.startswith("#") else page in pages or page in left_out
                if not there:
                    raise InputError(
                        f"finding {finding.id}: pages", page, f"a page of the site; {nearest(page, pages)}"
                    )
            kept.append(finding)
    return kept


def _addressed(target: str, pages: Mapping[str, str]) -> bool:
    """Whether an address stands on a page as one: before a heading, or in a table's HTML."""
    found = re.compile(rf"""^\({re.escape(target)}\)=$|\bid="{re.escape(target)}\"""", re.M)
    return bool(target) and any(found.search(text) for text in pages.values())


def _supported(content: Content, id: str, text: FindingText, path: Path) -> Finding:
    known = [claim.id for claim in content.inputs.claims]
    for claim in text.claims:
        if claim not in known:
            raise NotMeasured(f"{claim} is not in profile {content.inputs.profile}")
    if gone := absent_paper(*(f"{paper}.{id}" for paper in text.papers), of=ALGORITHMS):
        raise NotMeasured(f"paper {gone} is not installed")
    values: dict[str, Value] = {}
    for name, asked in text.values.items():
        values[name] = value_of(content, asked, values, f"finding {id}: {name}")
    for condition in text.needs:
        if not holds(condition, values, id):
            told = ", ".join(
                f"{name} = {value if isinstance(value, str) else f'{value:.4g}'}" for name, value in values.items()
            )
            raise InputError(f"finding {id}: needs", condition, f"true of the results; they give {told}")
    return Finding(id, text, values, list(dict.fromkeys([*text.claims, *_counted(content, id, text)])), path)


def _counted(content: Content, id: str, text: FindingText) -> list[str]:
    """Claims of the verdicts that some values count."""
    found = []
    for name in text.counted:
        asked = text.values.get(name)
        if not isinstance(asked, OfRows):
            raise InputError(f"finding {id}: counted", name, "the name of a value that counts verdicts (rows)")
        found += [row.id for row in asked.counted(content)]
    return found


def holds(condition: str, values: Mapping[str, Value], id: str) -> bool:
    """Whether a condition holds; its right side is a number, a value's name, or words."""
    found = _CONDITION.match(condition)
    if not found or found[1] not in values:
        raise InputError(f"finding {id}: needs", condition, f"NAME <= NUMBER or alike; {nearest(condition, values)}")
    left, right = values[found[1]], values.get(found[3], found[3])
    if isinstance(left, str):
        return OPERATORS[found[2]](left, str(right))
    try:
        return OPERATORS[found[2]](left, float(right))
    except ValueError:
        raise InputError(f"finding {id}: needs", condition, "a comparison of numbers") from None


def signed(shown: str) -> str:
    """A formatted number with a true minus, and none before zero."""
    return shown.replace("-", MINUS) if re.search("[1-9]", shown) else shown.replace("-", "")


def filled(template: str, values: Mapping[str, Value], where: str) -> str:
    """A sentence with its values; numbers have three digits unless their form is given.

    ``{real:lower}`` rounds down, as a lower bound has to, and ``upper`` up.
    """

    def shown(found: re.Match[str]) -> str:
        if found[1] not in values:
            raise InputError(f"{where}: value", found[1], nearest(found[1], values))
        value = values[found[1]]
        if isinstance(value, str):
            return value
        if (kind := (found[2] or "")[1:]) in ("lower", "upper"):
            return number(outward(value, kind))
        return signed(format(value, found[2][1:])) if found[2] else number(value)

    return _VALUE.sub(shown, template)
