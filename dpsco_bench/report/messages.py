"""Write a figure's title: where its statement stands in its paper, and how its questions are answered.

Of a panel it is what its verdicts say.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from dpsco_bench.analysis.answer import NO, OPEN, UNTESTED, YES
from dpsco_bench.analysis.answer import answer as answer_of
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.grids import GRID
from dpsco_bench.claims.kinds import COMMON_WORDS, SKIPPED
from dpsco_bench.claims.model import Claim
from dpsco_bench.report.numbers import is_number
from dpsco_bench.report.scores import Score
from dpsco_bench.report.wording import parameter_symbol, symbols

NOISE = {"paper": "printed noise", "accounted": "accounted noise", "none": "noise off"}
RUNS = "Runs that could refute privacy"
SHOWS = {YES: "shows", NO: "is contradicted", OPEN: "is open", UNTESTED: "is not tested"}
IS_PRIVATE = {YES: "is private", NO: "is not private", OPEN: "is open", UNTESTED: "is not tested"}
AS_STATED = {YES: "is as stated", NO: "is not as stated", OPEN: "is open", UNTESTED: "is not tested"}


def claim_title(claim: Claim, rows: Sequence[Verdict]) -> str:
    """Say what a claim's figure says: ``Theorem 4.2 shows with the printed noise, which is not private``."""
    answer = answer_of(rows)
    where, cells = place(claim), answer.cells
    if answer.subject == "audit":
        return RUNS
    if answer.subject == "privacy":
        return symbols(f"The printed noise of {where} {IS_PRIVATE[cells['noise'].word]}")
    if answer.subject in ("count", "law"):
        return symbols(f"The {answer.subject} of {where} {AS_STATED[cells['printed'].word]}")
    printed, ours = cells["printed"].word, cells["private"].word
    noise = {YES: ", which is private", NO: ", which is not private", OPEN: ", whose privacy is open"}
    private = "" if claim.noise_of else noise.get(cells["noise"].word, "")
    said = f"{SHOWS[printed]} with the printed noise{private}"
    if ours != UNTESTED:
        also = f"{SHOWS[ours]} " * (ours != printed)
        said += f"{',' * (',' in said)} and {also}with private noise"
    risk = re.search(r"\b(?:empirical|population) risk\b", claim.title.lower())
    return symbols(f"{where}{f', {risk[0]},' if risk else ''} {said}")


def statement(claim: Claim) -> str:
    """Name a statement, its place once: ``Theorem 4.2: DP-SVRG reaches ...``, ``Table 1, row [6]: noisy SGD``."""
    where = place(claim)
    placed = re.match(r"Table \d|Comparison table|Section \d|Audits ", claim.title) or where in claim.title
    return claim.title if placed else f"{where}: {claim.title}"


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
    slopes = (score.row.bound_slope, score.row.slope, score.row.claimed_exponent)  # the bound's where it has one
    falls = next((value < 0 for value in slopes if is_number(value) and math.isfinite(value) and value), True)
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
