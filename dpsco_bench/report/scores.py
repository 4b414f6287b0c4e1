"""The scoreboard: one line per (claim, part, calibration), the verdict beside everything that limits it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dpsco_bench.analysis.verdict import verdict_from_json, verdict_word
from dpsco_bench.analysis.verdicts import expected_chance_deviations, wrong_reason_notes
from dpsco_bench.report.inputs import ClaimResults, Inputs
from dpsco_bench.report.ledger import Privacy, charged_cells
from dpsco_bench.report.numbers import NOTHING, exponent, interval, is_number, number, plain, slope, span, with_interval
from dpsco_bench.report.tables import Column, Table
from dpsco_bench.report.wording import KIND_NAMES, MEANINGS, epsilon_text, symbols, tone, verdict_text

SLOPE_KINDS = ("rate", "complexity", "control", "shown")
RATIO_KINDS = ("explicit", "band", "law", "lower_bound")


@dataclass(frozen=True)
class Score:
    """One verdict with its claim and the privacy of the runs behind it.

    Attributes
    ----------
    results : ClaimResults
        The claim.
    row : mapping
        The verdict row.
    """

    results: ClaimResults
    row: Mapping[str, Any]

    @property
    def part(self) -> Mapping[str, Any]:
        """The part as the claim's file has it; empty for a row of a part that the plan does not know."""
        return self.results.parts.get(self.row["part"], {})

    @cached_property
    def privacy(self) -> Privacy:
        """Privacy of the judged runs."""
        return charged_cells(self.results, self.row["part"], self.row["calibration"])

    @cached_property
    def reservations(self) -> tuple[str, ...]:
        """Why a match is not one for the claimed reason; empty otherwise."""
        worst = self.privacy.worst
        real = worst.real if worst else float("nan")
        found = wrong_reason_notes(verdict_from_json(dict(self.row)), self.privacy.status, real)
        said = (self.part.get("reservations") or {}).get(self.row["calibration"])
        return (*found, said) if said and verdict_word(self.row["verdict"]) == "match" else found

    @property
    def qualified(self) -> bool:
        """Whether a match has reservations."""
        return bool(self.reservations)

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        return verdict_text(self.row["verdict"], self.qualified)

    @property
    def tone(self) -> str:
        """Tone of the verdict."""
        return tone(self.row["verdict"], self.qualified)

    @property
    def counted_as(self) -> str:
        """The word under which the verdict is counted."""
        return verdict_text(verdict_word(self.row["verdict"]), self.qualified)

    @property
    def measured(self) -> str:
        """What was measured: a slope with its interval, the worst ratio, the real epsilon or ratios of medians."""
        row, kind = self.row, self.row["kind"]
        if kind == "complexity":
            return f"slope {slope(row['slope'])}" if is_number(row.get("slope")) else NOTHING
        if is_number(row.get("slope")):
            return f"slope {with_interval(row['slope'], row['ci'])}"
        if is_number(row.get("worst_ratio")):
            return f"ratio {number(row['worst_ratio'])}"
        if is_number(row.get("epsilon_real")):
            return f"ε {epsilon_text(row['epsilon_real'], row['epsilon_real_kind'])}"
        return self._orderings or NOTHING

    @property
    def _orderings(self) -> str:
        """Ratios of medians in short; `papers.orderings_table` has them one by one."""
        ratios = list((self.row.get("ratio") or {}).values())
        return f"{len(ratios)} ratios {span(ratios)}" if ratios else ""

    @property
    def reason(self) -> str:
        """Why this verdict; comparisons of an ordering are counted by place."""
        if self.counted_as == "skipped":
            return NOTHING  # it stands in the remarks
        if not self.row.get("ratio"):
            return symbols(str(self.row.get("reason") or NOTHING))
        places: dict[str, Counter[str]] = {}
        for name in self.row["ratio"]:
            places.setdefault(name.split(",")[0], Counter())[self.comparison(name)] += 1
        return "; ".join(f"at {place}: {_counted(words)}" for place, words in places.items())

    def comparison(self, name: str) -> str:
        """Word of one comparison of an ordering, from its interval."""
        low, high = (self.row.get("ratio_ci") or {}).get(name) or (None, None)
        if not (is_number(low) and is_number(high)):
            return "inconclusive"
        return "holds" if high < 1 else "reversed" if low > 1 else "inconclusive"

    @property
    def compared_with(self) -> str:
        """What it is held against: the slope of the bound, 1, a band or the claimed epsilon."""
        row, kind = self.row, self.row["kind"]
        if is_number(row.get("bound_slope")):
            return slope(row["bound_slope"])
        if kind == "control" and is_number(row.get("claimed_exponent")):
            return exponent(row["claimed_exponent"])
        if kind == "band" and self.part.get("band"):
            low, high = self.part["band"]
            return f"{number(low)} … {number(high)}"
        if is_number(row.get("epsilon_claimed")):
            return f"≤ {plain(row['epsilon_claimed'])}"
        known = {"explicit": "≤ 1", "lower_bound": "> 1", "law": "= 1", "ordering": "< 1"}
        return known.get(kind, NOTHING) if self.measured != NOTHING else NOTHING

    @property
    def noise_off(self) -> str:
        """Slope with noise off; where the schedule leaves no risk to fit, how little it leaves."""
        if is_number(self.row.get("noise_off_slope")) or self.row["kind"] != "rate":
            return slope(self.row.get("noise_off_slope"))
        if self.row["calibration"] == "none":
            return NOTHING  # it is the row's own slope
        risks = [
            float(cell.final.mean()) for cell in self.results.evidence(self.row["part"], "none") if cell.risks.size
        ]
        most = max(risks, default=float("nan"))
        return NOTHING if most != most else f"risk ≤ {number(most, 2)}" if most > 0 else "risk 0"

    @property
    def remarks(self) -> str:
        """Notes of the verdict, reservations first and none twice."""
        skipped = [self.row.get("reason") or ""] if self.counted_as == "skipped" else []
        notes = [*skipped, *self.reservations, *(self.row.get("notes") or ()), *self._warnings]
        text = "; ".join(dict.fromkeys(symbols(str(note)) for note in notes if note))
        return text[:1].upper() + text[1:] if text[:2].isascii() and text[:2].isalpha() else text

    @property
    def _warnings(self) -> list[str]:
        """Conditions of the theorem that runs do not meet; those that differ in a number are told once."""
        alike: dict[str, list[str]] = {}
        for cell in self.privacy.cells:
            for warning in cell.warnings:
                alike.setdefault(re.sub(r"\d[\d.e+-]*", "#", warning), []).append(warning)
        more = {kind: f", and alike in {len(found) - 1} more" * (len(found) > 1) for kind, found in alike.items()}
        return [found[0] + more[kind] for kind, found in alike.items()]

    @property
    def has_interval(self) -> bool:
        """Whether the verdict rests on a slope with a 95 % interval."""
        return self.row["kind"] not in ("complexity", "shown") and bool(interval(self.row.get("ci")))


def _counted(words: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {word}" for word, count in words.items())


def scores(inputs: Inputs) -> list[Score]:
    """Every verdict of the profile, in the order of plan and claim files."""
    return [Score(claim, row) for claim in inputs.claims for row in claim.rows]


def claim_scores(claim: ClaimResults) -> list[Score]:
    """Every verdict of a claim."""
    return [Score(claim, row) for row in claim.rows]


def intervals(rows: Iterable[Score]) -> int:
    """Number of 95 % intervals that verdicts rest on: slopes, and each comparison of an ordering."""
    return sum(row.has_interval + len(row.row.get("ratio_ci") or {}) for row in rows)


def chance_text(rows: Iterable[Score]) -> str:
    """How many deviations chance alone is expected to cause."""
    count = intervals(rows)
    expected = expected_chance_deviations(count)
    return (
        f"These verdicts rest on {count} intervals of 95 %; if every one of them were exact, about "
        f"{expected:.1f} would miss the true value by chance alone."
    )


def counts(rows: Iterable[Score]) -> list[tuple[str, str, int]]:
    """(word, tone, how many), in the order of `wording.MEANINGS`, only words that occur."""
    rows = list(rows)
    found = Counter(row.counted_as for row in rows)
    tones = {row.counted_as: row.tone for row in rows}
    order = [word for word, _ in MEANINGS]
    words = sorted(found, key=lambda word: (order.index(word) if word in order else len(order), word))
    return [(word, tones[word], found[word]) for word in words]


def counts_table(rows: Iterable[Score]) -> Table:
    """Verdicts by kind of part."""
    rows = list(rows)
    found = Counter((row.row["kind"], row.counted_as) for row in rows)
    kinds = [kind for kind in KIND_NAMES if any(key[0] == kind for key in found)]
    columns = [Column("Kind", lambda kind: KIND_NAMES[kind], {"kind": lambda kind: kind})]
    for word, _, _ in counts(rows):
        columns.append(_count_column(found, word))
    return Table("counts", "Verdicts by kind", columns, kinds)


def _count_column(found: Mapping[tuple[str, str], int], word: str) -> Column:
    name = word.replace(", ", "_").replace(" ", "_")
    return Column(
        word, lambda kind: str(found.get((kind, word), "·")), {name: lambda kind: found.get((kind, word), 0)}, True
    )


def _raw(*keys: str) -> dict[str, Any]:
    return {key: (lambda score, key=key: score.row.get(key)) for key in keys}


def _end(which: int) -> Any:
    return lambda score: (score.row.get("ci") or (None, None))[which]


def _worst(attribute: str) -> Any:
    return lambda score: getattr(score.privacy.worst, attribute, None)


CLAIM = Column("Claim", lambda score: score.results.id, {"claim": lambda score: score.results.id}, kind="code")
PART = Column("Part", lambda score: score.row["part"], _raw("part"), kind="code")
CALIBRATION = Column("Noise", lambda score: score.row["calibration"], _raw("calibration", "profile"))
KIND = Column("Kind", lambda score: KIND_NAMES.get(score.row["kind"], score.row["kind"]), _raw("kind"))
VERDICT = Column(
    "Verdict",
    lambda score: score.verdict,
    {**_raw("verdict"), "qualified": lambda score: score.qualified},
    kind="verdict",
    style=lambda score: score.tone,
)
MEASURED = Column(
    "Measured [95 %]",
    lambda score: score.measured,
    {**_raw("slope"), "ci_low": _end(0), "ci_high": _end(1), **_raw("worst_ratio")},
    numeric=True,
)
COMPARED = Column("Bound", lambda score: score.compared_with, _raw("bound_slope", "tolerance"), numeric=True)
CLAIMED = Column(
    "Paper's exponent",
    lambda score: exponent(score.row.get("claimed_exponent")),
    _raw("claimed_exponent"),
    numeric=True,
)
NOISE_OFF = Column("Noise off", lambda score: score.noise_off, _raw("noise_off_slope"), numeric=True)
PRIVACY = Column(
    "Privacy",
    lambda score: score.privacy.text,
    {
        "privacy_status": lambda score: score.privacy.status,
        "epsilon_claimed": _worst("claimed"),
        "epsilon_real": _worst("real"),
        "epsilon_real_kind": _worst("kind"),
    },
)
EXPECTED = Column("Expected", lambda score: score.row.get("expected") or NOTHING, _raw("expected"))
REASON = Column("Reason", lambda score: score.reason, _raw("reason"))
REMARKS = Column(
    "Remarks",
    lambda score: score.remarks,
    {"notes": lambda score: "; ".join(score.row.get("notes") or ()), **_raw("replicates", "key")},
)


def scoreboard(inputs: Inputs) -> Table:
    """All verdicts of a profile."""
    rows = scores(inputs)
    columns = (
        *(CLAIM, PART, CALIBRATION, KIND, VERDICT, MEASURED, COMPARED, CLAIMED, NOISE_OFF, PRIVACY),
        *(EXPECTED, REMARKS),
    )
    group = lambda score: (f"{score.results.id} · {symbols(score.results.claim['title'])}", score.results.id)  # noqa: E731
    return Table("scoreboard", f"Scoreboard, profile {inputs.profile}", columns, rows, chance_text(rows), group)


def claim_table(claim: ClaimResults) -> Table:
    """Verdicts of one claim with their reasons."""
    columns = (PART, CALIBRATION, VERDICT, MEASURED, COMPARED, CLAIMED, NOISE_OFF, REASON, EXPECTED, REMARKS)
    return Table(claim.id, f"Verdicts of {claim.id}", columns, claim_scores(claim))
