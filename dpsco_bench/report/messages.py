"""What a figure says, as its title: of a claim (`titles`), and of a panel by its verdicts."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from dpsco_bench.analysis.rounding import outward
from dpsco_bench.claims.grids import GRID
from dpsco_bench.claims.kinds import COMMON_WORDS, SKIPPED
from dpsco_bench.privacy.ledger import SIGNS
from dpsco_bench.report.inputs import ClaimResults
from dpsco_bench.report.numbers import is_number, number, plain
from dpsco_bench.report.scores import Score
from dpsco_bench.report.titles import claim_title
from dpsco_bench.report.wording import parameter_symbol, symbols

NOISE = {"paper": "printed noise", "accounted": "accounted noise", "none": "noise off"}


def claim_message(results: ClaimResults) -> str:
    """``The bound of Theorem 4.2 holds in runs whose noise is not private``."""
    return claim_title(results.claim, results.rows)


def panel_message(scores: Sequence[Score]) -> str:
    """Say what the verdicts of one part say, once where all calibrations say it."""
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
    one = "" if _is_plural(what) else "s"
    words = {
        "what": f"the {what}",
        "counted": "gradient evaluations" if what == "risk" else what,
        "moves": ("fall" if falls else "grow") + one,
        "follows": f"follow{one}",
        "better": "faster" if falls else "more slowly",
        "worse": "more slowly" if falls else "faster",
    }
    return found.format_map(words)


def _is_plural(label: str) -> bool:
    """Check whether a quantity takes a verb in the plural, as ``value queries per call`` does."""
    noun = re.split(r",| per | to | of ", label)[0]
    return noun.endswith("s") and not noun.endswith("ss")


def _falls(score: Score) -> bool:
    """Check whether the bound falls along the sweep; the measured slope where the bound has none."""
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
