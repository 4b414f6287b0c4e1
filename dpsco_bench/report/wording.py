"""Words of the report: what a verdict, a status or a parameter is called in front of a reader."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dpsco_bench.analysis.verdict import verdict_word
from dpsco_bench.report.numbers import NOTHING, number, plain

TONES = {
    **dict.fromkeys(("match", "holds"), "good"),
    **dict.fromkeys(("faster",), "better"),
    **dict.fromkeys(("fails", "violated", "reversed"), "bad"),
    **dict.fromkeys(("unproven",), "open"),
    **dict.fromkeys(("inconclusive", "not_observable", "shown", "not measured"), "plain"),
    **dict.fromkeys(("skipped",), "absent"),
}
"""Verdict word -> tone, which chooses colour and symbol; the word itself is always printed."""
SYMBOLS = {"good": "✓", "qualified": "✓", "better": "↓", "bad": "✗", "open": "?", "plain": "·", "absent": "○"}

MEANINGS = (
    ("match", "measured and formula slope agree within the tolerance, and the interval is narrow enough to tell"),
    (
        "match, qualified",
        "the slopes agree, but the schedule alone gives them, or privacy is not proven; the remark says which",
    ),
    ("faster", "the whole interval lies beyond the tolerance on the better side"),
    (
        "fails",
        "the whole interval lies beyond the tolerance on the worse side (of a negative control: on either side); for "
        "privacy: the real ε is above the claim; for a gradient count: it does not grow like the formula, in either "
        "direction (the reason says which)",
    ),
    ("holds", "the inequality, band, law, ordering or (ε, δ) holds in every cell; a negative control does as stated"),
    ("violated", "it does not hold in at least one cell, by more than sampling error"),
    ("reversed", "of two methods, the one claimed to be worse is better beyond doubt"),
    ("unproven", "no accountant proves the claim, and none refutes it"),
    ("inconclusive", "the intervals are too wide for a decision"),
    ("not observable", "the runs hardly leave the starting point, or the claimed term is hidden behind another"),
    ("shown", "measured for information: nothing definite is claimed, or the bound has no constants"),
    ("skipped", "could not be run here, for the reason given; counted neither for nor against"),
)
KIND_NAMES = {
    "rate": "rate",
    "explicit": "explicit bound",
    "privacy": "privacy",
    "band": "band",
    "law": "law",
    "control": "negative control",
    "complexity": "gradient count",
    "lower_bound": "lower bound",
    "ordering": "ordering",
    "shown": "shown",
}
STATUS_WORDS = {
    "proven": "proven",
    "exceeds_claim": "exceeds the claim",
    "unproven": "not shown",
    "target_law_only": "target law only",
    "none": "no noise",
}
CALIBRATION_MEANINGS = (
    (
        "paper",
        "the noise exactly as the theorem states it; a hidden constant is taken as 1 unless the part says otherwise",
    ),
    ("accounted", "the least noise with which an accountant of the actual sampling scheme proves (ε, δ)"),
    ("none", "noise off, to see what the schedule alone does"),
)
_QUANTITIES = {
    "epsilon_pair": "exact ε of a pair of data sets",
    "tail_ratio": "tail / bound of the tail",
    "chain_risk": "excess risk, means of chains",
    "queries_per_call": "value queries per call",
    "relaxation_queries": "value queries to relax",
}
_PARAMETERS = {"n": "number of records n", "d": "dimension d", "epsilon": "privacy parameter ε", "delta": "δ"}
_OPTIONS = {
    "kappa": "condition number κ",
    "norm_kappa": "constant κ of the norm",
    "width": "Gaussian width of the set",
    "rho": "noise parameter ρ",
    "spread": "gradient noise σ",
    "distance": "distance of the optimum from the start",
    "k": "power k of the weights",
}
_SYMBOLS = {
    "eps": "ε",
    "epsilon": "ε",
    "delta": "δ",
    "mu": "μ",
    "sigma": "σ",
    "kappa": "κ",
    "lambda": "λ",
    "eta": "η",
    "gamma": "γ",
    "rho": "ρ",
}
_POWERS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def symbols(text: str) -> str:
    """A formula written in ASCII, with Greek letters, integer superscripts and true inequality signs."""
    text = re.sub(r"\b(" + "|".join(_SYMBOLS) + r")(?=\b|_)", lambda m: _SYMBOLS[m[1]], text)
    text = re.sub(r"\^(-?\d+)(?!\d|\.\d)", lambda m: m[1].translate(_POWERS), text)
    text = re.sub(r"(?<![\w.])(\d(?:\.\d+)?)e([+-]?)0*(\d+)\b", lambda m: _power_of_ten(*m.groups()), text)
    text = re.sub(r"\bsqrt\(", "√(", text)
    return text.replace("<=", "≤").replace(">=", "≥").replace(" - ", " − ")


def _power_of_ten(mantissa: str, sign: str, power: str) -> str:
    lead = "" if float(mantissa) == 1 else f"{mantissa}×"
    return f"{lead}10{(sign.strip('+') + power).translate(_POWERS)}"


def verdict_text(text: str, qualified: bool = False) -> str:
    """A verdict as a reader sees it: no underscores, Greek letters, and ``match, qualified`` where notes limit it."""
    word = verdict_word(text)
    if word == "skipped":  # what to do about it stands in the reason
        text = ":".join(text.split(":")[:2])
    shown = word.replace("_", " ") + symbols(text[len(word) :])
    return f"{word}, qualified{shown[len(word) :]}" if qualified else shown


def tone(text: str, qualified: bool = False) -> str:
    """Tone of a verdict, see `TONES`."""
    return "qualified" if qualified else TONES.get(verdict_word(text), "plain")


def noise_name(calibration: str) -> str:
    """What a calibration is called: ``paper noise``, ``noise off``."""
    return "noise off" if calibration == "none" else f"{calibration} noise"


def parameter_label(parameter: str) -> str:
    """Axis label of a swept parameter."""
    return _PARAMETERS.get(parameter) or _OPTIONS.get(parameter) or parameter.replace("_", " ")


def quantity_label(quantity: str) -> str:
    """Axis label of a measured quantity other than the risk."""
    return _QUANTITIES.get(quantity) or quantity.replace("_", " ")


def parameter_symbol(parameter: str) -> str:
    """Short symbol of a swept parameter."""
    return symbols(parameter)


def setting(values: Mapping[str, Any]) -> str:
    """Settings such as ``d = 10, ε = 1, δ = 10⁻⁵``."""
    order = ("n", "d", "epsilon", "delta")
    keys = sorted(values, key=lambda key: order.index(key) if key in order else len(order))
    shown = (f"{symbols(key)}\u00a0=\u00a0{_value(values[key])}" for key in keys if values[key] is not None)
    return ", ".join(shown)


def _value(value: Any) -> str:
    return str(value) if isinstance(value, bool) or not isinstance(value, int | float) else plain(value)


def options_text(options: Mapping[str, Any]) -> str:
    """Options of a method or problem in one phrase; nothing for none."""
    return ", ".join(f"{key.replace('_', ' ')} {_value(value)}" for key, value in options.items())


def epsilon_text(value: object, kind: str) -> str:
    """A real epsilon with what it is: ``≥ 173``, ``= 2.4``, ``≤ 1``."""
    shown = number(value)
    return shown if shown == NOTHING else f"{ {'upper': '≤', 'lower': '≥'}.get(kind, '=') } {shown}"


def paper_name(source: str, fallback: str) -> str:
    """``Wang, Ye, Xu 2017`` out of ``Wang, Ye, Xu 2017, Theorem 4.1``."""
    found = re.match(r".*?\b(?:19|20)\d\d\b", source)
    return found[0] if found else fallback
