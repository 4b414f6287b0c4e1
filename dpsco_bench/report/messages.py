"""What a figure says, as its title: of a claim the quantity of its source that was judged, and what its standing says.

Several claims may be about one theorem: its bound, its noise, its gradient count. So a title names the quantity.
Of a panel it is what its verdicts say.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from dpsco_bench.analysis import answer as standings
from dpsco_bench.analysis.answer_rows import BY_SCHEDULE, NO, UNDECIDED, AnswerRow
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.grids import GRID
from dpsco_bench.claims.kinds import COMMON_WORDS, SKIPPED, get_kind
from dpsco_bench.claims.model import RISK, Claim
from dpsco_bench.report.numbers import is_number
from dpsco_bench.report.scores import Score
from dpsco_bench.report.wording import parameter_symbol, symbols

NOISE = {"paper": "printed noise", "accounted": "accounted noise", "none": "noise off"}
RUNS = "Runs that could refute privacy"
HOLDS: Mapping[str, str] = {
    standings.AS_PRINTED: "holds in runs whose printed noise is private",
    standings.AS_RECALLED: "holds in runs whose noise, recalled of its source, is private",
    standings.AS_CORRECTED: "holds in runs whose noise, corrected by an erratum, is private",
    standings.WITH_OURS: "holds with accounted noise",
    standings.NOT_SHOWN: "holds in runs whose noise is not shown to be private",
    standings.NOT_PRIVATE: "holds in runs whose noise is not private",
    standings.FAILS: "does not hold as stated",
    standings.UNDECIDED: "is not decided",
    standings.VACUOUS: "is above the starting risk, and says nothing",
    standings.SHOWN: "is shown, not judged",
    standings.NOT_RUN: "was not run",
}
"""Standing -> what a title says of a quantity. `_without_noise` has the one that is not here."""
NOISE_IS: Mapping[str, str] = {
    standings.AS_PRINTED: "is private as printed",
    standings.AS_RECALLED: "is private as recalled of its source",
    standings.WITH_OURS: "is private in our version",
    standings.FAILS: "is not private as printed",
    standings.UNDECIDED: "is not shown to be private",
    standings.BY_CONSTRUCTION: "is private by construction in our version, the only one run",
    standings.NOT_RUN: "was not run",
}
"""The same of a claim on privacy alone."""
MOST_PLACES = 4
"""Of more parameters of a slope a title tells none."""


def claim_title(claim: Claim, rows: Sequence[Verdict]) -> str:
    """Say what a claim's figure says: ``The gradient count of Theorem 4.2 is as stated``."""
    subject, said = title_parts(claim, rows)
    return symbols(f"{subject}{',' * (',' in subject)} {said}") if said else subject


def title_parts(claim: Claim, rows: Sequence[Verdict]) -> tuple[str, str]:
    """Say what a title speaks of, and what it says of that; nothing is said of audits.

    Parameters
    ----------
    rows : sequence of Verdict, of the claim, in any order
    """
    standing = standings.answer(rows).standing
    if standing == standings.AUDITED:
        return RUNS, ""
    told = [row for row in map(AnswerRow, rows) if not row.verdict.beside]
    said = [row for row in told if row.says]
    judged = said or told
    if _on_noise(claim, judged):
        return f"The noise of {place(claim)}", _noise_is(judged, standing)
    others = [row for row in judged if not row.judges_noise]
    telling = [row for row in others if row.says == _WEIGHTY.get(standing)] or others
    quantity = _quantity(claim, telling, standing)
    slopes = _slopes(telling) if standing in _WEIGHTY else ""
    holds = _without_noise(others) if standing == standings.WITHOUT_NOISE else HOLDS[standing]
    if quantity.endswith("count"):
        holds = holds.replace("does not hold", "is not").replace("holds", "is as stated")
    return f"The {quantity} of {place(claim)}", f"{holds}{slopes}"


def _on_noise(claim: Claim, judged: Sequence[AnswerRow]) -> bool:
    """Check whether it is about the privacy of noise alone, by its parts where none of them ran."""
    if judged:
        return all(row.judges_noise for row in judged)
    kinds = _kinds_stated(claim)
    return bool(kinds) and all(get_kind(kind).judges_noise for kind in kinds)


def _kinds_stated(claim: Claim) -> set[str]:
    """List kinds of the parts that are about its statement."""
    return {part.kind for part in claim.parts if not part.beside}


_WEIGHTY = {standings.FAILS: NO, standings.UNDECIDED: UNDECIDED}


def place(claim: Claim) -> str:
    """Say where a statement stands in its paper: ``Theorem 4.2``, ``Table 1, row [34]``, ``Corollary 5, part 1``."""
    if re.match(r"Table \d|Comparison table", claim.title):
        return claim.title.replace(":", ",").replace("Comparison table", "the comparison table")
    found = re.sub(r"^.*?\b(?:19|20)\d\d\b,?\s*", "", claim.source) or claim.source
    part = re.search(r"\((part \d+)", found)
    found = re.sub(r"\s+\([^)]*\)", "", found)
    found, _, aside = found.partition("; ")
    first, *more = found.split(", ")
    row = [piece for piece in more[:1] if piece.startswith(("row", "rows"))]
    first = re.sub(r" and (?!\d).*", "", first)
    said = ", ".join([first, *row, *([part[1]] if part else [])])
    return f"{said[:1].upper()}{said[1:]}{f' ({aside})' * bool(aside)}"


def _quantity(claim: Claim, rows: Sequence[AnswerRow], standing: str) -> str:
    """Say what was judged of the statement: ``empirical risk bound``, ``gradient count``."""
    kinds = {row.verdict.kind for row in rows} or _kinds_stated(claim)
    parts = {part.id: part for part in claim.parts}
    of = {part.quantity for row in rows if (part := parts.get(row.verdict.part)) is not None}
    if rows and (all(row.counts for row in rows) or (RISK not in of and any(row.counts for row in rows))):
        return "gradient count" if of <= {RISK} else "evaluation count"
    if standing == standings.SHOWN:
        return "lower bound" if kinds == {"lower_bound"} else "measured risk"
    if len(kinds) == 1 and kinds <= _ALONE.keys():
        return _ALONE[kinds.pop()]
    risk = re.search(r"\b(?:empirical|population) risk\b", claim.title.lower())
    quantity = "rate" if standing in _WEIGHTY and kinds == {"rate"} else "bound"
    return f"{risk[0]} {quantity}" if risk else quantity


_ALONE = {"ordering": "ordering", "law": "computed law", "band": "stated band", "lower_bound": "lower bound"}
"""Kind -> what a title calls what a claim with rows of it alone is about."""


def _slopes(rows: Sequence[AnswerRow]) -> str:
    """Name the parameters of slopes, such as `` in n and d``; nothing for other kinds."""
    names = list(dict.fromkeys(row.place for row in sorted(rows, key=lambda row: row.order)))
    if not 0 < len(names) <= MOST_PLACES or not all(names):
        return ""
    return " in " + " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _noise_is(judged: Sequence[AnswerRow], standing: str) -> str:
    """Say what noise is, and in how many parts; also where an open constant of the paper has a value of ours."""
    own = [row for row in judged if row.says == NO]
    open_ = standing == standings.FAILS and all(row.verdict.open_constant for row in own)
    said = NOISE_IS[standing].replace(" as printed", " with its open constant as 1") if open_ else NOISE_IS[standing]
    return said + _share(judged, standing)


def _share(rows: Sequence[AnswerRow], standing: str) -> str:
    """In how many parts what is said of noise is so; nothing where it is in all."""
    judged = [row for row in rows if row.verdict.calibration == "paper"] or rows
    own = [row for row in judged if row.says == _WEIGHTY.get(standing)]
    return f" in {len(own)} of {len(judged)} parts" if 0 < len(own) < len(judged) else ""


def _without_noise(rows: Sequence[AnswerRow]) -> str:
    """Say what holds where noise plays no part: counts, runs without noise, laws, and what the schedule gives."""
    if all(row.counts for row in rows):
        failed = {row.verdict.calibration for row in rows if row.says == NO}
        ran = {row.verdict.calibration for row in rows}
        if "paper" in failed or not failed:
            return "is as stated" + " with accounted noise" * ("paper" not in ran)
        return "is as stated for the printed method, not with accounted noise"
    risks = [row for row in rows if not row.counts]
    if all(row.verdict.calibration == "none" for row in risks):
        return "holds without noise"
    if any(row.says == BY_SCHEDULE for row in risks):
        return "holds, with at least half of the risk there without noise"
    return "holds, and asks for no private noise"


def panel_message(scores: Sequence[Score]) -> str:
    """Say what the verdicts of one part say, once where all calibrations say it."""
    first = scores[0]
    said: dict[str, list[str]] = {}
    for score in scores:
        said.setdefault(phrase(score), []).append(NOISE.get(score.row.calibration, score.row.calibration))
    has_place = first.kind.measures_slope and not first.kind.counts and first.row.parameter not in ("", GRID)
    place = f"In {parameter_symbol(_name(first.row.parameter))} " if has_place else ""
    if len(said) == 1:
        text = place + next(iter(said))
    else:
        text = "; ".join(f"{' and '.join(names)}: {words}" for words, names in said.items())
        text = f"{place.strip()}, {text}" if place else text
    return text[:1].upper() + text[1:]


def _name(parameter: str) -> str:
    name = parameter.removeprefix("problem.").removeprefix("algorithm.")
    return name if name == "norm_kappa" else name.replace("_", " ")


def phrase(score: Score) -> str:
    """Say what a verdict says, as a clause."""
    row = score.row
    if row.word in COMMON_WORDS:
        return score.verdict if row.word == SKIPPED or row.skipped else "not measured"
    known = [score.kind.words[word].phrase for word in (row.form, row.word) if word in score.kind.words]
    found = next(filter(None, known), "")
    if not found:
        return f"{score.kind.title}: {score.verdict}"
    falls = _falls(score)
    what = score.quantity.removeprefix("excess ")
    noun = re.split(r",| per | to | of ", what)[0]  # ``value queries per call`` take a verb in the plural
    one = "" if noun.endswith("s") and not noun.endswith("ss") else "s"
    words = {
        "what": f"the {what}",
        "counted": "gradient evaluations" if what == "risk" else what,
        "moves": ("fall" if falls else "grow") + one,
        "follows": f"follow{one}",
        "better": "faster" if falls else "more slowly",
        "worse": "more slowly" if falls else "faster",
    }
    return found.format_map(words)


def _falls(score: Score) -> bool:
    """Check whether the bound falls along the sweep; the measured slope where the bound has none."""
    for value in (score.row.bound_slope, score.row.slope, score.row.claimed_exponent):
        if is_number(value) and math.isfinite(value) and value != 0:
            return value < 0
    return True
