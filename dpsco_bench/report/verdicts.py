"""Verdicts in front of a reader: what each says, the tables made of them, and the titles of figures."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.analysis.answer import NO, OPEN, UNTESTED, YES
from dpsco_bench.analysis.answer import answer as answer_of
from dpsco_bench.analysis.bootstrap import CONFIDENCE
from dpsco_bench.analysis.rounding import outward
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import COMMON_WORDS, Field, all_kinds, get_kind
from dpsco_bench.claims.model import GRID, RISK, Claim
from dpsco_bench.report.inputs import ClaimResults, Inputs, grouped
from dpsco_bench.report.numbers import NOTHING, count, exponent, is_number, number, plain, slope, span, with_interval
from dpsco_bench.report.tables import Column, Columns, Number, ReportTable, leads_to
from dpsco_bench.report.wording import TONES, epsilon_text, privacy_text, quantity_label, symbols, tone

NOISE = {"paper": "printed noise", "accounted": "accounted noise", "none": "noise off"}
RUNS = "Runs that could refute privacy"
SHOWS = {YES: "shows", NO: "is contradicted", OPEN: "is open", UNTESTED: "is not tested"}
IS_PRIVATE = {YES: "is private", NO: "is not private", OPEN: "is open", UNTESTED: "is not tested"}
AS_STATED = {YES: "is as stated", NO: "is not as stated", OPEN: "is open", UNTESTED: "is not tested"}


def measured(row: Verdict) -> str:
    """Say what was measured: a slope, worst ratio, real epsilon, ratios of medians, or an audit's own bound."""
    if is_number(row.slope):
        return f"slope {slope_text(row)}"
    if is_number(row.worst_ratio):
        return f"ratio {number(row.worst_ratio)}"
    if row.rules.aside and is_number(row.own.get("epsilon_lower")):
        return f"ε {epsilon_text(row.own['epsilon_lower'], 'lower')}"
    if is_number(row.epsilon_real):
        return f"ε {epsilon_text(row.epsilon_real, row.epsilon_real_kind or '')}"
    if row.ratio:
        return f"{len(row.ratio)} ratios {span(row.ratio.values())}"
    numbers = ((field.title, row.own.get(name)) for name, field in row.rules.own_fields.items())
    return next((f"{title} {number(value)}" for title, value in numbers if is_number(value)), NOTHING)


def slope_text(row: Verdict) -> str:
    return with_interval(row.slope, None if row.rules.counts else row.ci)


def reason(row: Verdict) -> str:
    """Say why it is this verdict, as its sentence ends; of what is skipped it stands in the remarks."""
    return NOTHING if row.skipped else symbols(row.rules.why(row) or NOTHING)


def effort(row: Verdict) -> str:
    """Say how many replicates were run, of how many where it was decided by stages, and the interval's level."""
    if not row.replicates:
        return NOTHING
    of = f" of {count(row.stages[-1])}" if row.stages else ""
    return count(row.replicates) + of + (f", {100 * row.level:.4g} %" if row.level else "")


def quantity(claim: ClaimResults, row: Verdict) -> str:
    """Say what was measured: ``excess risk``, the measure of its methods, or what runs noted."""
    own = claim.part(row)
    if own.quantity != RISK:
        return quantity_label(own.quantity, claim.paper)
    parts = [own, *(claim.parts[used] for used in own.uses if used in claim.parts)]
    measures = {get_algorithm(method.algorithm).measure for part in parts for method in part.methods}
    return measures.pop().replace("_", " ") if len(measures) == 1 else "excess risk"


def compared_with(claim: ClaimResults, row: Verdict) -> str:
    """Say what it is held against: the slope of the bound, 1, a band or the claimed epsilon."""
    against, band = row.rules.compared_slope(row), claim.part(row).band
    if is_number(against):
        return slope(against) if row.rules.whose_exponent == "paper" else exponent(against)
    if band:
        return f"{number(band[0])} … {number(band[1])}"
    if is_number(row.epsilon_claimed):
        return f"≤ {plain(row.epsilon_claimed)}"
    return (row.rules.against or NOTHING) if measured(row) != NOTHING else NOTHING


def noise_off(claim: ClaimResults, row: Verdict) -> str:
    """Tell the slope with noise off; where the schedule leaves no risk to fit, how little it leaves."""
    if is_number(row.noise_off_slope) or not row.rules.companion:
        return slope(row.noise_off_slope)
    if row.calibration == "none":
        return NOTHING  # it is the row's own slope
    risks = [float(cell.final.mean()) for cell in claim.evidence(row.part, "none") if cell.risks.size]
    most = max(risks, default=float("nan"))
    return NOTHING if math.isnan(most) else f"risk ≤ {number(most, 2)}" if most > 0 else "risk 0"


OUTSIDE = "outside_theorem:"  # how a plan's warning begins where a cell does not meet a condition of its theorem
RANGE = "outside a range that the paper states:"
"""Prefix of a condition on privacy: it may be one of another theorem, on the risk."""


def remarks(claim: ClaimResults, row: Verdict) -> str:
    """Tell the notes of a verdict, reservations first and none twice."""
    notes = [*[row.reason] * row.skipped, *row.reservations, *row.notes]
    alike: dict[str, list[str]] = {}  # conditions of the theorem that runs do not meet, alike but for numbers
    cells = claim.charged(row.part, row.calibration)
    for cell in sorted(cells, key=lambda cell: cell.noise.severity, reverse=True):
        for warning in cell.calibrated.warnings:
            alike.setdefault(re.sub(r"\d[\d.e+-]*", "#", warning), []).append(warning)
    said = RANGE if row.rules.judges_noise else "outside the theorem:"
    for worst, *others in alike.values():
        notes.append(worst.replace(OUTSIDE, said) + f", and alike in {len(others)} more" * bool(others))
    text = "; ".join(dict.fromkeys(symbols(note) for note in notes if note))
    return text[:1].upper() + text[1:] if re.match(r"[a-z]{2,}(?![a-z(])", text) else text


class Group(NamedTuple):
    """Cells of one part: its id, its parameter and how many."""

    part: str
    parameter: str
    cells: int


def measured_parts(claim: ClaimResults, row: Verdict) -> list[Group]:
    """List the parts whose cells a row judges, in the order of its cells."""
    found: list[Group] = []
    for used in claim.part(row).uses:
        job = claim.job(used, row.calibration)
        if job is not None and job.cells:
            signals = {cell.signal for cell in job.cells}  # a grid of them makes one cell
            found.append(Group(used, str(job.cells[0].parameter), len(job.cells) // len(signals)))
    return found


def chance_text(rows: Iterable[Verdict]) -> str:
    """Count the intervals of slopes and comparisons, and how many deviations chance alone is expected to cause."""
    count = sum((row.rules.has_interval and all(map(is_number, row.ci))) + len(row.ratio_ci or {}) for row in rows)
    expected = count * (1 - CONFIDENCE)
    return (
        f"These verdicts rest on {count} intervals that err as often as intervals of 95 %; if every one of them were "
        f"exact, about {expected:.1f} would miss the true value by chance alone."
    )


def counts_table(rows: Iterable[Verdict]) -> ReportTable:
    """Count verdicts by kind and word, words that confirm first."""
    found = {kind: Counter(row.counted_as for row in own) for kind, own in grouped(rows, lambda row: row.kind).items()}
    known = [word for kind in all_kinds() for word in kind.words.items()] + [*COMMON_WORDS.items()]
    known.sort(key=lambda word: [*TONES].index(word[1].outcome))
    order = {word.replace("_", " "): -place for place, (word, _) in enumerate(reversed(known))}  # of the first such
    every = {word for own in found.values() for word in own}
    words = sorted(every, key=lambda word: (order.get(word.partition(",")[0], 1), word))
    names = {word: word.replace(", ", "_").replace(" ", "_") for word in words}
    columns = {
        "Kind": Column("kind", lambda kind: get_kind(kind).title),
        **{word: Number(name, lambda number: str(number or "·")) for word, name in names.items()},
    }
    frame = [{"kind": kind, **{name: own[word] for word, name in names.items()}} for kind, own in sorted(found.items())]
    return ReportTable("counts", "Verdicts by kind", columns, frame)


MEASURED = ("Verdict", "Measured [interval]", "Bound", "Paper's exponent", "Noise off")
OWN = "own"  # in place of a title: the columns of fields that only the kind of some row has


def verdicts_table(
    id: str, title: str, claims: Sequence[ClaimResults], titles: Iterable[str], note: str = ""
) -> ReportTable:
    """Tabulate all verdicts of some claims, by the columns of these titles."""
    rows = [row for claim in claims for row in claim.rows]
    known = _columns({claim.id: claim for claim in claims})
    own = {field.title: _own_column(name, field) for row in rows for name, field in row.rules.own_fields.items()}
    columns: dict[str, Column] = {}
    for name in titles:
        columns |= own if name == OWN else {name: known[name]}
    return ReportTable(id, title, columns, rows, note)


def _columns(claims: Mapping[str, ClaimResults]) -> Columns:
    """Make every column of a table of verdicts but those that only rows of a kind have."""

    def of_claim(say: Callable[[ClaimResults, Verdict], str]) -> Callable[[Verdict], str]:
        return lambda row: say(claims[row.id], row)

    noise = ("epsilon_claimed", "epsilon_real", "epsilon_real_kind")
    return {
        "Claim": Column("id", raw="claim", kind="code", link=leads_to("id")),
        "Part": Column("part", kind="code", link=leads_to("id", "part")),
        "Noise": Column("calibration", raw={"calibration": "calibration", "profile": "profile"}),
        "Kind": Column("rules.title", raw={"kind": "kind"}),
        "Verdict": Column(
            "said",
            symbols,
            raw={"verdict": "verdict", "qualified": lambda row: bool(row.reservations)},
            kind="verdict",
            tone=lambda row: "plain" if row.beside else tone(row),  # what is beside the statement counts for nothing
        ),
        "Measured [interval]": Number(
            measured, raw={"slope": "slope", "ci_low": "ci.0", "ci_high": "ci.1", "worst_ratio": "worst_ratio"}
        ),
        "Bound": Number(of_claim(compared_with), raw={"bound_slope": "bound_slope", "tolerance": "tolerance"}),
        "Replicates, level": Number(effort, raw={"level": "level"}),
        "Paper's exponent": Number("claimed_exponent", exponent),
        "Noise off": Number(of_claim(noise_off), raw={"noise_off_slope": "noise_off_slope"}),
        "Privacy": Column(
            privacy_text, raw={"privacy_status": "privacy_status", **{name: f"noise.{name}" for name in noise}}
        ),
        "Expected": Column("expected", lambda word: word or NOTHING),
        "Reason": Column(reason, raw={"reason": "reason"}),
        "Remarks": Column(
            of_claim(remarks),
            raw={
                "notes": lambda row: "; ".join((*row.reservations, *row.notes)),
                "replicates": "replicates",
                "key": "key",
            },
        ),
    }


def _own_column(name: str, field: Field) -> Column:
    def show(value: Any) -> str:
        items = value if isinstance(value, list | tuple) else [value]
        if name.endswith("_lower"):  # it stays a bound
            items = [outward(item, "lower") if is_number(item) else item for item in items]
        return ", ".join(number(item) if field.is_number else NOTHING if item is None else str(item) for item in items)

    return Column(f"own.{name}", show, name, field.is_number)


def scoreboard(inputs: Inputs) -> ReportTable:
    titles = ("Claim", "Part", "Noise", "Kind", *MEASURED, "Privacy", OWN, "Expected", "Remarks")
    title, note = f"Scoreboard, profile {inputs.profile}", chance_text(inputs.rows)
    return verdicts_table("scoreboard", title, inputs.claims, titles, note)


OF_CLAIM = ("Part", "Noise", *MEASURED, "Replicates, level", OWN, "Reason", "Expected", "Remarks")


def claim_table(claim: ClaimResults) -> ReportTable:
    return verdicts_table(claim.id, f"Verdicts of {claim.id}", [claim], OF_CLAIM)


def claim_file_table(claim: ClaimResults) -> ReportTable:
    """Tabulate the verdicts of a claim for files, which have their privacy too."""
    return verdicts_table(f"{claim.id}.verdicts", f"Verdicts of {claim.id}", [claim], (*OF_CLAIM, "Privacy"))


def claim_title(claim: Claim, rows: Sequence[Verdict]) -> str:
    """Say what a claim's figure says: ``Theorem 4.2 shows with the printed noise, which is not private``."""
    answer = answer_of(rows)
    where, cells = place(claim), answer.cells
    if not re.search(r"\d", claim.source):  # one's own claim, whose source is no place in a paper
        where = "The statement"
    inside = re.sub(r"^The\b", "the", where)
    if answer.subject == "audit":
        return RUNS
    if answer.subject == "privacy":
        audited = any(row.audited_by for row in rows)  # and an audit may refute what an accountant leaves open
        begin = "By the accountant alone, the" if audited else "The"
        return symbols(f"{begin} printed noise of {inside} {IS_PRIVATE[cells['noise'].word]}")
    if answer.subject in ("count", "law"):
        return symbols(f"The {answer.subject} of {inside} {AS_STATED[cells['printed'].word]}")
    printed, ours = cells["printed"].word, cells["private"].word
    noise = {YES: ", which is private", NO: ", which is not private", OPEN: ", whose privacy is open"}
    private = "" if claim.noise_of else noise.get(cells["noise"].word, "")
    several = re.search(r"^\w+s\b|, rows\b", where)  # Theorems 8 and 15; Table 1, rows [9][8]
    plural = {"shows": "show", "is": "are"} if several else {}
    shows = {word: re.sub(r"^\w+", lambda verb: plural.get(verb[0], verb[0]), text) for word, text in SHOWS.items()}
    said = f"{shows[printed]} with the printed noise{private}"
    if ours != UNTESTED:
        also = f"{shows[ours]} " * (ours != printed)
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
        return re.sub(r": (.*)", r" (\1)", claim.title)
    found = re.sub(r"^.*?\b(?:19|20)\d\d\b,?\s*", "", claim.source) or claim.source
    part = re.search(r"\((part \d+)", found)
    found = re.sub(r"\s+\([^)]*\)", "", found)
    found, _, aside = found.partition("; ")
    first, *more = found.split(", ")
    row = [piece for piece in more[:1] if piece.startswith(("row", "rows"))]
    first = re.sub(r" and (?!\d).*", "", first)
    said = ", ".join([first, *row, *([part[1]] if part else [])])
    return f"{said[:1].upper()}{said[1:]}{f' ({aside})' * bool(aside)}"


def panel_message(claim: ClaimResults, rows: Sequence[Verdict]) -> str:
    """Say what the verdicts of one part say, once where all calibrations say it."""
    first = rows[0]
    said: dict[str, list[str]] = {}
    for row in rows:
        said.setdefault(phrase(claim, row), []).append(NOISE[row.calibration])
    has_place = first.rules.measures_slope and not first.rules.counts and first.parameter not in ("", GRID)
    name = first.parameter.removeprefix("problem.").removeprefix("algorithm.")
    name = name if name == "norm_kappa" else name.replace("_", " ")
    place = f"In {symbols(name)} " if has_place else ""
    if len(said) == 1:
        text = place + next(iter(said))
    else:
        text = "; ".join(f"{' and '.join(names)}: {words}" for words, names in said.items())
        text = f"{place.strip()}, {text}" if place else text
    return text[:1].upper() + text[1:]


def phrase(claim: ClaimResults, row: Verdict) -> str:
    """Say what a verdict says, as a clause."""
    if row.word in COMMON_WORDS:
        return symbols(row.said) if row.skipped else "not measured"
    known = [row.rules.words[word].phrase for word in (row.form, row.word) if word in row.rules.words]
    found = next(filter(None, known), "")
    if not found:
        return f"{row.rules.title}: {symbols(row.said)}"
    slopes = (row.bound_slope, row.slope, row.claimed_exponent)  # the bound's where it has one
    falls = next((value < 0 for value in slopes if is_number(value) and math.isfinite(value) and value), True)
    what = quantity(claim, row).removeprefix("excess ")
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
