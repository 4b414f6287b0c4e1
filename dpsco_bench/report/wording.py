"""Words of the report: what a verdict, a status, a parameter or a paper is called in front of a reader."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from dpsco_bench.analysis.rounding import digits_beside, outward
from dpsco_bench.analysis.verdict import CONFIRMING, Verdict
from dpsco_bench.claims.catalogue import conf_files, naming
from dpsco_bench.claims.files import build_checked, read_shipped
from dpsco_bench.plain import Options
from dpsco_bench.privacy.ledger import SEQUENCE_WORDS, SIGNS, STATUS_WORDS
from dpsco_bench.registry import Registry, papers
from dpsco_bench.report.numbers import NOTHING, is_number, number, plain, span, superscript

TONES = {  # outcome of a word -> tone, which chooses colour and symbol; the word itself is always printed
    "confirms": "good",
    "better": "better",
    "contradicts": "bad",
    "unproven": "open",
    "open": "plain",
    "vacuous": "plain",
    "shown": "plain",
    "absent": "absent",
}
QUALIFIED = "qualified"  # tone of a word with a reservation
SYMBOLS = {"good": "✓", QUALIFIED: "(✓)", "better": "↓", "bad": "✗", "open": "?", "plain": "·", "absent": "○"}
RESERVED = (  # meaning of a confirming word with a reservation
    "schedule: at least half of the risk is there without noise; not shown private: nothing proves that the noise is; "
    "not private: its real ε is above the claim; or what the remark says. They stand beside other words too. Those on "
    "privacy are left out where the kind is privacy, audit or evaluation count, or the word `shown`"
)
CALIBRATION_MEANINGS = {
    "paper": "the noise exactly as the theorem states it; a hidden constant is taken as 1 unless the part says "
    "otherwise",
    "accounted": "the least noise whose ε an accountant of the actual sampling scheme bounds by the claim; whether "
    "that proves the run private is its status",
    "none": "noise off, to see what the schedule alone does",
}
LABELS: Registry[str] = Registry("label", "figures")
_PARAMETERS = {
    "n": "number of records n",
    "d": "dimension d",
    "epsilon": "privacy parameter ε",
    "delta": "δ",
    "kappa": "condition number κ",
    "norm_kappa": "constant κ_q of the norm",
}
_QUANTITIES = {"chain_risk": "excess risk, means of chains", "threshold": "threshold signal"}
_SYMBOLS = {
    "eps": "ε", "epsilon": "ε", "delta": "δ", "mu": "μ", "sigma": "σ", "kappa": "κ", "lambda": "λ", "lam": "λ",
    "eta": "η", "gamma": "γ", "rho": "ρ", "alpha": "α", "beta": "β", "tau": "τ", "theta": "θ", "Theta": "Θ", "Phi": "Φ",
}  # fmt: skip
_INDICES = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def symbols(text: str) -> str:
    """Give an ASCII formula Greek letters, whole powers and indices, true inequality and infinity signs."""
    text = text.replace("norm_kappa", "kappa_q")
    text = re.sub(r"\b(" + "|".join(_SYMBOLS) + r")(?=\b|_)", lambda m: _SYMBOLS[m[1]], text)
    text = re.sub(r"\^(-?\d+)(?!\d|\.\d)", lambda m: superscript(m[1]), text)
    text = re.sub(r"(?<!\w)([^\W\d_])_(\d+)(?![A-Za-z_\d]|\.[.\d])", lambda m: m[1] + m[2].translate(_INDICES), text)
    text = re.sub(r"(?<![\w.])(\d(?:\.\d+)?)e([+-]?)0*(\d+)\b", lambda m: _power_of_ten(*m.groups()), text)
    text = re.sub(r"\bsqrt(\(| (?=[^\W\d_](?:\W|_|$)|\d))", lambda m: "√" + m[1].strip(), text)
    text = re.sub(r"(?<=[ (\[])-(?=\d)|^-(?=\d)", "−", text)
    text = re.sub(r"(?<![\w.-])inf(?![\w{(]|\.\w)", "∞", text)
    return text.replace("<=", "≤").replace(">=", "≥").replace(" - ", " − ")


def _power_of_ten(mantissa: str, sign: str, power: str) -> str:
    lead = "" if float(mantissa) == 1 else f"{mantissa}×"
    return f"{lead}10{superscript(sign.strip('+') + power)}"


def tone(row: Verdict) -> str:
    """Choose the tone of a verdict: that of its word, or `QUALIFIED` where a reservation limits what confirms."""
    outcome = row.meaning.outcome
    return QUALIFIED if row.reservations and outcome in CONFIRMING else TONES[outcome]


def axis_labels(module: str, paper: str, texts: Mapping[str, str]) -> None:
    """Say how axes call what a paper's claims sweep or count; what has no label is called by its name.

    ``module`` is the caller's ``__name__``. Raises InputError if another module has labelled one of them.
    """
    for name, text in texts.items():
        LABELS.add(f"{paper}.{name}", text, module)


def parameter_label(parameter: str, paper: str = "") -> str:
    """Say what an axis of a paper's figure is called: a formula without a name by its symbols."""
    return _PARAMETERS.get(parameter) or LABELS.find(f"{paper}.{parameter}") or symbols(parameter).replace("_", " ")


def noise_title(calibration: str) -> str:
    return "noise off" if calibration == "none" else calibration


def quantity_label(quantity: str, paper: str) -> str:
    return _QUANTITIES.get(quantity) or LABELS.find(f"{paper}.{quantity}") or quantity.replace("_", " ")


def setting(values: Options) -> str:
    """Show settings such as ``d = 10, ε = 1, δ = 10⁻⁵``."""
    order = ("n", "d", "epsilon", "delta")
    keys = sorted(values, key=lambda key: order.index(key) if key in order else len(order))
    shown = (f"{symbols(key)}\u00a0=\u00a0{_value(values[key])}" for key in keys if values[key] is not None)
    return ", ".join(shown)


def _value(value: Any) -> str:
    return str(value) if isinstance(value, bool) or not isinstance(value, int | float) else plain(value)


def options_text(options: Options) -> str:
    """Tell options of a method or problem in one phrase; nothing for none."""
    return ", ".join(f"{key.replace('_', ' ')} {_value(value)}" for key, value in options.items())


def epsilon_text(value: object, kind: str, claimed: float = 1.0, *more: object) -> str:
    """Show a real epsilon with what it is: ``≥ 173``, ``= 2.4``, ``≤ 1``, digits enough for its claim.

    Of several epsilons it shows the least and the largest. They are rounded outward.
    """
    known = [one for one in (value, *more) if is_number(one)]
    digits = max((digits_beside(float(one), kind, claimed) for one in known), default=3)
    shown = span((outward(one, kind, digits) for one in known), partial(number, digits=digits), kind == "lower")
    return shown if shown == NOTHING else symbols(f"{SIGNS.get(kind, '=')} {shown}")


def privacy_text(row: Verdict) -> str:
    """Say what the noise behind a verdict gives, such as ``exceeds the claim: ε ≥ 1.46×10⁴, claimed 1``."""
    noise = row.noise
    if noise is None:
        return STATUS_WORDS.get(row.privacy_status, NOTHING)
    words = (SEQUENCE_WORDS if noise.sequence_exceeds else STATUS_WORDS[noise.status]) + noise.elsewhere
    claimed = f"claimed\u00a0{number(noise.epsilon_claimed, digits_beside(*noise.bound, noise.epsilon_claimed))}"
    bound = epsilon_text(*noise.bound, noise.epsilon_claimed)
    if bound == NOTHING:
        return f"{words}: no accountant covers it"
    if math.isnan(noise.epsilon_real):
        return f"{words}: target law ε\u00a0{bound}, {claimed}"
    real = f"ε {bound}".replace(" ", "\u00a0") + f" {noise.whose}" * bool(noise.whose and not noise.sequence_exceeds)
    why = " (the constants are nominal)" if noise.nominal else ""
    return f"{words}: {real}, {claimed}{why}" + "; δ\u00a0≥\u00a01/n" * noise.delta_large


@dataclass(frozen=True)
class Citation:
    """A publication, from the texts that this project reads: ``conf/paper/<paper>.yaml``."""

    title: str
    authors: list[str]
    published: str = ""  # where; empty if no text says it
    known_from: str = ""  # what says so, where the paper's own text does not
    arxiv: str = ""  # empty where it is not known, as the DOI
    doi: str = ""
    address: str = ""  # of its page with the publisher, where it has no DOI
    by_hand: bool = False  # whether the identifiers were added by hand, as the texts used here give none
    abstract: str = ""  # what of it was tested
    sources: Mapping[str, str] = field(default_factory=dict)  # publications that it cites -> arXiv number
    methods: Mapping[str, str] = field(default_factory=dict)  # methods and labels of boards -> names in figures


@cache
def find_citation(paper: str) -> Citation | None:
    """Read what is known of a paper; None where it has no file. Raises DpscoError for a wrong key."""
    for path in conf_files(f"paper/{paper}.yaml")[-1:]:
        with naming(path):
            return build_checked(Citation, read_shipped(path), f"paper {path.stem}")
    return None


def method_name(label: str) -> str:
    """Name a method, by its id or the label of a leaderboard, as people do: ``DP-SVRG++`` for ``dp_svrg_pp``."""
    paper, _, short = label.rpartition(".")
    found = (one.methods for name in ([paper] if paper else papers()) if (one := find_citation(name)))
    return next((names[short] for names in found if short in names), short.replace("_", " "))
