"""Verb `gate`: the verdicts of a profile, and whether they are the recorded ones."""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from dpsco_bench.analysis.answer import NO, QUESTIONS, WORDS, Answer, answers, question_of, told
from dpsco_bench.analysis.record import SAME, RowDifference, compare, read_record
from dpsco_bench.analysis.verdict import JudgedClaim, Verdict
from dpsco_bench.claims.catalogue import find_claim_id
from dpsco_bench.claims.kinds import SKIPPED, get_kind
from dpsco_bench.claims.plan import read_plan
from dpsco_bench.cli.console import add_shared, bounded, labelled, number, print_json, table
from dpsco_bench.execution.layout import Layout
from dpsco_bench.jsonio import write_atomic
from dpsco_bench.paths import shared_dir
from dpsco_bench.report.tables import Column, Number

if TYPE_CHECKING:
    from dpsco_bench.execution.predict import Predictor

SUMMARY = "print the verdict table and compare it with the recorded verdicts"
EPILOG = "A claim that does not hold is a result. Exit code 1 only where a verdict is not the recorded one."
MOST_NAMES = 8  # claims that a line names
ASKED = ("printed", "noise", "private")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("claims", nargs="*", metavar="CLAIM", help="ids (default: all of the profile)")
    add_shared(parser, "profile")
    parser.add_argument("--out", type=Path, help="file for the table, written only if nothing fails")
    parser.add_argument("--brief", action="store_true", help="how the papers stand, in a screen; exit code 0")
    parser.add_argument("--json", action="store_true", help="print the verdict rows")


def execute(args: argparse.Namespace) -> int:
    """Print the table and the differences; 1 if a verdict changed."""
    files = Layout(args.profile)
    planned, recorded = [entry.id for entry in read_plan(files.plan).claims], recorded_rows(args.profile)
    asked = {find_claim_id(text, planned) for text in args.claims}
    claims = [id for id in planned if id in asked or not asked]
    rows = read_verdicts(files, claims)
    found = [row for row in compare(recorded, rows) if row.what != SAME] if recorded else []
    failed = any(difference.fails for difference in found)
    if args.json:
        print_json(told(rows, recorded))
        return int(failed)
    if args.brief:
        print("\n" + closing(files, rows, found), flush=True)
        return 0
    if args.out and failed:
        print("\n".join(str(difference) for difference in found if difference.fails), file=sys.stderr)
    elif args.out:
        write_atomic(args.out, summary(files, rows, found, claims) + "\n")
    else:
        print(summary(files, rows, found, claims))
    return int(failed)


def read_verdicts(files: Layout, claims: Iterable[str]) -> list[Verdict]:
    """Verdict rows of some claims; those without a verdict file have none."""
    judged = (JudgedClaim.read(files.verdicts(id)) for id in claims)
    return [row for found in judged if found for row in found.verdicts]


def unjudged(profile: str, planned: Collection[str], rows: Sequence[Verdict]) -> str:
    """Name recorded verdicts of claims that are looked at, as ``planned``, that have none here; empty if all have."""
    missing = set(planned) - {row.id for row in rows}
    lost = [row.id for row in recorded_rows(profile) if row.id in missing]
    named = ", ".join(_first([*dict.fromkeys(lost)], ""))
    return f"{len(lost)} recorded verdicts have none here: of {named}" if lost else ""


def recorded_path(profile: str) -> Path:
    return shared_dir("workflows") / "recorded" / f"{profile}.json"


def recorded_rows(profile: str) -> list[Verdict]:
    return read_record(recorded_path(profile))


def recorded_seconds_path(profile: str) -> Path:
    return shared_dir("workflows") / "seconds" / f"{profile}.json"


@cache
def predictor(profile: str) -> Predictor:
    """Predict what the jobs of a profile will take, by its record."""
    from dpsco_bench.execution.predict import Predictor, read_seconds  # loads Arrow

    return Predictor(read_seconds(recorded_seconds_path(profile)))


def summary(files: Layout, rows: Sequence[Verdict], found: Sequence[RowDifference], claims: Collection[str]) -> str:
    """Print the verdict table, what differs from the record, and where the site is; ``claims`` are looked at."""
    ending = _ending(files, rows, found, unjudged(files.profile, claims, rows))
    return "\n".join(filter(None, [verdict_table(rows), *map(str, found), *ending]))


def _ending(files: Layout, rows: Sequence[Verdict], found: Sequence[RowDifference], between: str) -> list[str]:
    """Count what changed from the record, and say where the site is."""
    counted = f"{sum(one.fails for one in found)} of {len(rows)} verdicts changed from the recorded ones"
    if not recorded_path(files.profile).is_file():
        counted = f"no verdicts are recorded for profile {files.profile}: nothing to compare with"
    return [counted, between, f"site: {files.site}" * files.site.is_file()]


def closing(files: Layout, rows: Sequence[Verdict], found: Sequence[RowDifference]) -> str:
    """Summarise a run on one screen: per paper what holds and fails, what changed, and where the site is."""
    come_to = answers(rows)
    papers = dict.fromkeys(id.partition(".")[0] for id in come_to)
    groups = [(paper, [one for id, one in come_to.items() if id.startswith(f"{paper}.")]) for paper in papers]
    columns = {
        "paper": Column("0"),
        **{QUESTIONS[key].lower(): Number("1", partial(_counts, key)) for key in ASKED},
        "other claims": Number("1", partial(_counts, "")),
    }
    told = f"{len(rows)} verdict{'s' * (len(rows) != 1)}; in each column {' / '.join(WORDS)}:"
    lines = [f"profile {files.profile}, {told}", table(columns, [*groups, ("all", [*come_to.values()])])]
    if bad := [id for id, one in come_to.items() if any(cell.word == NO for cell in one.cells.values())]:
        lines.append(labelled("no:", ", ".join(_first(bad, "")), 4))
    lines += sorted({f"{SKIPPED}: {row.reason}" for row in rows if row.skipped})
    lines += _first([str(difference) for difference in found if difference.fails], "changed verdicts")
    more = f"every verdict: make verdicts PROFILE={files.profile}, or dpsco gate --profile {files.profile}"
    return "\n".join(filter(None, [*lines, *_ending(files, rows, found, more)]))


def _counts(key: str, found: Sequence[Answer]) -> str:
    """Count the words of a question about risk; with no key, of claims that state none."""
    risks = [one.cells[key].word for one in found if key and one.subject == "risk"]
    words = risks if key else [one.word for one in found if one.subject not in ("risk", "audit")]
    return " / ".join(str(words.count(word)) for word in WORDS)


def _first(names: Sequence[str], what: str) -> list[str]:
    """Keep the first names, and say how many more there are."""
    more = len(names) - MOST_NAMES
    return [*names[:MOST_NAMES], *([f"and {more} more {what}".rstrip()] if more > 0 else [])]


PLUS_MINUS = " +- "


def verdict_table(rows: Sequence[Verdict], privacy: bool = False) -> str:
    """Lay verdict rows out and count the words; what helps skipped rows stands below, each command once.

    With ``privacy`` the real epsilon of the noise behind each row has a column of its own.
    """
    words = Counter(row.counted_as for row in rows)
    counts = "; ".join(f"{count} {word}" for word, count in words.most_common())
    first = {row.id: row for row in reversed(rows)}
    columns = {
        "claim": Column(lambda row: row.id * (first[row.id] is row)),
        **{"part": Column("part"), "noise": Column("calibration"), "verdict": Column("short")},
        "measured": Number(lambda row: _numbers(row)[0]),
        "against": Number(lambda row: _numbers(row)[1]),
        **({"real eps": Number(_real_epsilon)} if privacy else {}),
    }
    shown = table(columns, rows, {"claim": 32, "part": 12})  # reservations stand beside the word: never cut
    said = ["+- is half of a slope's interval"] if PLUS_MINUS in shown else []
    remedies = dict.fromkeys(row.reason for row in rows if row.skipped and ":" in row.reason)
    counted = f"{len(rows)} verdict{'s' * (len(rows) != 1)}: {counts or 'none'}"
    return "\n".join([shown, "", counted, *said, *remedies])


def answers_text(rows: Sequence[Verdict], beside: Sequence[Verdict] = ()) -> str:
    """Answer each claim, a line for each question; ``beside`` as in `answers`."""
    found = answers(rows, beside).items()
    return "\n".join("\n".join([id, *(labelled("", line, 2) for line in lines_of(one))]) for id, one in found)


def lines_of(found: Answer) -> list[str]:
    """List the answers of a claim, and what stands beside them."""
    return [*(f"{question_of(found.subject, key)}: {cell.text}" for key, cell in found.cells.items()), *found.remarks]


def _real_epsilon(row: Verdict) -> str:
    """Show the real epsilon of a row's noise with its sign; nothing where no accountant covers it."""
    if row.noise is None or math.isnan(row.noise.epsilon_real):
        return ""
    return bounded(row.noise.epsilon_real, row.noise.epsilon_real_kind, 3)


def _numbers(row: Verdict) -> tuple[str, str]:
    """Format a measured value and its reference: slopes, a ratio and its limit, or two epsilons."""
    if get_kind(row.kind).aside and "epsilon_lower" in (row.own or {}):  # an audit's own bound
        return bounded(float(str(row.own["epsilon_lower"])), "lower", 3), number(row.epsilon_claimed, 3)
    if row.epsilon_real is not None and not math.isnan(row.epsilon_real):
        return bounded(row.epsilon_real, row.epsilon_real_kind or "", 3), number(row.epsilon_claimed, 3)
    if not math.isnan(row.slope):
        against, (low, high) = get_kind(row.kind).compared_slope(row), row.ci
        half = (high - low) / 2
        told = f"{row.slope:.2f}{PLUS_MINUS}{half:.2f}" if half > 0 else f"{row.slope:.2f}"
        return told, "" if against is None or math.isnan(against) else f"{against:.2f}"
    if row.worst_ratio is not None:
        return number(row.worst_ratio, 3), ""
    if row.ratio:
        ratios = list(row.ratio.values())
        return "..".join(dict.fromkeys(f"{r:.2g}" for r in (min(ratios), max(ratios)))), "1"
    own = (row.own.get(name) for name, field in get_kind(row.kind).own_fields.items() if field.is_number)
    return next((number(value, 3) for value in own if isinstance(value, int | float)), ""), ""
