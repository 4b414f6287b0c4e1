"""Share what panels of several kinds draw: the line above a panel, verdicts beside curves, measured means."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpsco_bench.analysis.bootstrap import summarise
from dpsco_bench.analysis.evidence import CellEvidence
from dpsco_bench.report.drawing import FAINT, TONE_COLOURS, Panel, words_panel
from dpsco_bench.report.numbers import NOTHING, is_number
from dpsco_bench.report.scores import NOISE, Score, panel_message
from dpsco_bench.report.wording import SYMBOLS, setting

BESIDE = "beside the statement"  # label of parts whose verdicts count for nothing (`Part.beside`)
LABEL_CHARACTERS, MOST_LINES = 19, 3  # characters of a line, and lines, of a verdict beside a curve
KIND_MARKERS = {"exact": "o", "lower": "^", "upper": "v"}  # of an accountant's epsilon, by its kind


def panel_line(score: Score) -> str:
    part = score.part
    fixed = {key: part.fixed.get(key) for key in ("n", "d", "epsilon", "delta")}
    sizes = setting({key: value for key, value in fixed.items() if not isinstance(value, Mapping)})
    names = [part.id] if part.problem in part.id or not part.problem else [part.id, part.problem]
    if part.uses and not part.problem:
        names.append(f"cells of {', '.join(part.uses)}")
    return "; ".join(filter(None, (", ".join(names), sizes)))


def small_line(scores: Sequence[Score]) -> str:
    """Write the one small line of a panel: what of it is beside the statement, then part, instance and sizes."""
    return "; ".join(filter(None, (beside_text(scores), panel_line(scores[0]))))


def beside_text(scores: Sequence[Score]) -> str:
    """Say ``beside the statement``, with whose noise where that holds of some scores only; empty where all count."""
    found = [score.row.calibration for score in scores if score.row.beside]
    whose = " and ".join(NOISE.get(calibration, calibration) for calibration in found) + " "
    return (whose * (len(found) < len(scores)) + BESIDE) if found else ""


def worded_panel(scores: Sequence[Score]) -> Panel:
    """Tell verdicts in words, for what has nothing to draw; where something is judged, with what was measured."""
    told = dict.fromkeys(score.reason.partition(";")[0] for score in scores if score.judged)
    said = [*(text for text in told if text != NOTHING), small_line(scores)]
    return words_panel(panel_message(scores), "; ".join(said))


def mark(score: Score) -> list[tuple[str, str]]:
    """Show the verdict as a mark with its word, in lines below the name of a curve; grey beside the statement."""
    colour = FAINT if score.row.beside else TONE_COLOURS.get(score.tone, FAINT)
    lines = textwrap.wrap(f"{SYMBOLS.get(score.tone, '·')} {score.verdict}", LABEL_CHARACTERS)
    return [(line, colour) for line in lines[:MOST_LINES]]


@dataclass(frozen=True)
class Series:
    """Means and intervals of a calibration, and errors and degrees of freedom of log means for the fit's weights."""

    x: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    log_error: np.ndarray
    dof: np.ndarray


def series(cells: Sequence[CellEvidence], x: Sequence[float] | None = None) -> Series:
    """Summarise measured cells exactly as the verdict does; over the swept parameter or over x."""
    found = [summarise(cell.risks, cell.numerical_error) for cell in cells]
    mean, half, stderr, dof = (
        np.array([getattr(s, name) for s in found]) for name in ("mean", "half", "stderr", "dof")
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        log_error = stderr / mean
    places = np.array([cell.value for cell in cells] if x is None else x)
    return Series(places, mean, mean - half, mean + half, log_error, dof)


def bound_constant(score: Score) -> float:
    """Average measured over bound (geometric mean): with this constant the bound passes through the points."""
    mean, bound = score.row.mean or (), score.row.bound or ()
    fitted = score.row.fitted if any(score.row.fitted or ()) else (True,) * len(mean)
    pairs = [(m, b) for m, b, inside in zip(mean, bound, fitted or (), strict=False) if inside]
    good = [(m, b) for m, b in pairs if is_number(m) and is_number(b) and m > 0 and b > 0]
    return math.exp(np.mean([math.log(m / b) for m, b in good])) if good else math.nan
