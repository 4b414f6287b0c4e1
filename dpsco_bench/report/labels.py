"""Words of a panel: its small line, the mark of a verdict, and verdicts of which there is nothing to draw."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from dpsco_bench.report.drawing import FAINT, TONE_COLOURS, Panel, words_panel
from dpsco_bench.report.messages import NOISE, panel_message
from dpsco_bench.report.numbers import NOTHING
from dpsco_bench.report.scores import Score
from dpsco_bench.report.wording import SYMBOLS, setting

BESIDE = "beside the statement"
"""Of parts whose verdicts count for nothing (`Part.beside`)."""
LABEL_CHARACTERS, MOST_LINES = 19, 3
"""Of the words of a verdict beside a curve: characters of a line, and lines."""


def panel_line(score: Score) -> str:
    """Part, instance and sizes in one line."""
    part = score.part
    shown = {key: value for key in ("n", "d", "epsilon", "delta") if (value := part.fixed.get(key)) is not None}
    sizes = setting({key: value for key, value in shown.items() if not isinstance(value, Mapping)})
    names = [part.id] if part.problem in part.id or not part.problem else [part.id, part.problem]
    if part.uses and not part.problem:
        names.append(f"cells of {', '.join(part.uses)}")
    return "; ".join(filter(None, (", ".join(names), sizes)))


def small_line(scores: Sequence[Score]) -> str:
    """The one small line of a panel: what of it is beside the statement, then part, instance and sizes."""
    return "; ".join(filter(None, (beside_text(scores), panel_line(scores[0]))))


def beside_text(scores: Sequence[Score]) -> str:
    """``beside the statement``, with whose noise where that holds of some scores only; empty where all count."""
    found = [score.row.calibration for score in scores if score.row.beside]
    whose = " and ".join(NOISE.get(calibration, calibration) for calibration in found) + " "
    return (whose * (len(found) < len(scores)) + BESIDE) if found else ""


def worded_panel(scores: Sequence[Score]) -> Panel:
    """Verdicts in words, for what has nothing to draw; where something is judged, with what was measured."""
    told = dict.fromkeys(score.reason.partition(";")[0] for score in scores if score.judged)
    return words_panel(
        panel_message(scores), "; ".join([*(text for text in told if text != NOTHING), small_line(scores)])
    )


def mark_colour(score: Score) -> str:
    """Of a verdict's mark: grey where the part is beside the statement, and so counts for nothing."""
    return FAINT if score.row.beside else TONE_COLOURS.get(score.tone, FAINT)


def mark(score: Score) -> list[tuple[str, str]]:
    """The verdict as a mark with its word, in lines that stand below the name of a curve."""
    colour = mark_colour(score)
    lines = textwrap.wrap(f"{SYMBOLS.get(score.tone, '·')} {score.verdict}", LABEL_CHARACTERS)
    return [(line, colour) for line in lines[:MOST_LINES]]
