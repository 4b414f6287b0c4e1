"""What a figure says, as its title: of a claim by its standing, of a panel by its verdicts."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from dpsco_bench.analysis import answer as standings
from dpsco_bench.analysis.outward import outward
from dpsco_bench.claims.grids import GRID
from dpsco_bench.claims.kinds import COMMON_WORDS, SKIPPED
from dpsco_bench.claims.model import RISK
from dpsco_bench.privacy.ledger import SIGNS
from dpsco_bench.report.inputs import ClaimResults
from dpsco_bench.report.numbers import is_number, number, plain
from dpsco_bench.report.scores import Score
from dpsco_bench.report.wording import parameter_symbol, quantity_label, symbols

HOLDS: Mapping[str, str] = {
    standings.AS_PRINTED: "holds with the printed noise, which is private",
    standings.AS_RECALLED: "holds with the noise recalled of its source, which is private",
    standings.WITH_OURS: "holds with accounted noise",
    standings.NOT_SHOWN: "holds with noise that is not shown to be private",
    standings.NOT_PRIVATE: "holds with noise that is not private",
    standings.WITHOUT_NOISE: "holds where noise plays no part",
    standings.FAILS: "does not hold as stated",
    standings.UNDECIDED: "is not decided",
    standings.VACUOUS: "could not have come out otherwise",
    standings.SHOWN: "is shown, and claims nothing definite",
    standings.AUDITED: "Runs that could refute privacy",
    standings.NOT_RUN: "was not run",
}
"""Standing -> what a figure's title says of a claim."""
NOISE = {"paper": "printed noise", "accounted": "accounted noise", "none": "noise off"}


def claim_message(results: ClaimResults) -> str:
    """``Theorem 4.2 holds with noise that is not private``."""
    standing = standings.answer(results.rows).standing
    if standing == standings.AUDITED:
        return HOLDS[standing]
    return symbols(_of_place(_place(results.claim.source), HOLDS[standing]))


def _place(source: str) -> str:
    """Where a statement stands in its paper: ``Theorem 4.2``, ``Table 1, row [34]``, ``Theorems 3 and 4``."""
    place = re.sub(r"^.*?\b(?:19|20)\d\d\b,?\s*", "", source) or source
    place = re.sub(r"\s*\([^)]*\)", "", place)
    first, *more = place.split(", ")
    place = ", ".join([first, *(piece for piece in more[:1] if piece.startswith(("row", "rows")))])
    place = re.sub(r" and (?!\d).*", "", place)
    return place[:1].upper() + place[1:]


def _of_place(place: str, said: str) -> str:
    """What is said of a place, the verb in its number."""
    verb, _, rest = said.partition(" ")
    plural = {"holds": "hold", "does": "do", "is": "are", "was": "were", "could": "could"}
    several = re.match(r"\w+s \d", place) or ", rows " in place
    return f"{place} {plural.get(verb, verb) if several else verb} {rest}"


def panel_message(scores: Sequence[Score]) -> str:
    """What the verdicts of one part say, once where all calibrations say it."""
    first = scores[0]
    said: dict[str, list[str]] = {}
    for score in scores:
        said.setdefault(phrase(score), []).append(NOISE.get(score.row.calibration, score.row.calibration))
    place = f"In {parameter_symbol(_name(first.row.parameter))} " if _has_place(first) else ""
    if len(said) == 1:
        text = place + next(iter(said))
    else:
        text = "; ".join(f"{' and '.join(names)}: {words}" for words, names in said.items())
        text = f"{place.strip()}, {text}" if place else text
    return text[:1].upper() + text[1:]


def _has_place(score: Score) -> bool:
    return score.kind.measures_slope and not score.kind.counts and score.row.parameter not in ("", GRID)


def _name(parameter: str) -> str:
    return parameter.removeprefix("problem.").removeprefix("algorithm.").replace("_", " ")


def phrase(score: Score) -> str:
    """What a verdict says, as a clause."""
    row = score.row
    if row.word in COMMON_WORDS:
        return score.verdict if row.word == SKIPPED or row.skipped else "not measured"
    known = [score.kind.words[word].phrase for word in (row.form, row.word) if word in score.kind.words]
    found = next(filter(None, known), "")
    if not found:
        return f"{score.kind.title}: {score.verdict}"
    falls = _falls(score)
    words = {
        "what": "the risk" if score.part.quantity == RISK else f"the {quantity_label(score.part.quantity)}",
        "moves": "falls" if falls else "grows",
        "better": "faster" if falls else "more slowly",
        "worse": "more slowly" if falls else "faster",
    }
    return found.format_map(words)


def _falls(score: Score) -> bool:
    """Whether the bound falls along the sweep; the measured slope where the bound has none."""
    for value in (score.row.bound_slope, score.row.slope, score.row.claimed_exponent):
        if is_number(value) and math.isfinite(value) and value != 0:
            return value < 0
    return True


def real_epsilon(score: Score) -> str:
    """``real ε ≥ 12,900 for 1`` of the worst cell; empty where nothing is known."""
    row = score.row
    if not is_number(row.epsilon_real):
        return ""
    sign = symbols(SIGNS.get(row.epsilon_real_kind or "", "="))
    real = outward(row.epsilon_real, row.epsilon_real_kind or "")
    return f"real ε {sign} {number(real)} for {plain(row.epsilon_claimed)}"
