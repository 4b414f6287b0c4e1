"""``dpsco compare [--profile PROFILE] [--record]``: the recorded verdicts against the last run."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.cli.options import add_json
from dpsco_bench.cli.output import Column, print_json, table

if TYPE_CHECKING:
    from dpsco_bench.execution.jobs import Job
    from dpsco_bench.execution.layout import Layout
    from dpsco_bench.execution.measured import Measured
    from dpsco_bench.execution.predict import Seconds

SUMMARY = "the recorded verdicts against the last run (the regression check)"
EPILOG = (
    "Only a changed word of a verdict is a failure (exit code 1); reservations, new and skipped rows are not. A slope\n"
    "beyond the joint interval of both runs, a run time beyond twice the recorded one, and another winner at a point\n"
    "of a leaderboard, are told and do not fail."
)
SAME = "same"
_COLUMNS = (
    Column("id", "claim", shrink=12),
    Column("part", "part", shrink=12),
    Column("calibration", "noise"),
    Column("recorded", "recorded", shrink=12),
    Column("fresh", "now", shrink=12),
    Column("what", ""),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--profile", default="ci", help="smoke, ci or full (default: ci)")
    parser.add_argument("--record", action="store_true", help="record verdicts and times of the last run")
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    """Print every verdict beside the recorded one."""
    from dpsco_bench.analysis.record import merge, read_record, record
    from dpsco_bench.claims.compose import check_profile
    from dpsco_bench.claims.plan import read_plan
    from dpsco_bench.cli.verbs.gate import planned_claims, recorded_path, recorded_seconds_path, unjudged
    from dpsco_bench.execution.layout import Layout
    from dpsco_bench.execution.predict import read_seconds, record_seconds

    files = Layout(check_profile(args.profile))
    fresh = last_verdicts(files)
    path = recorded_path(args.profile)
    jobs = [*read_plan(files.plan).jobs()] if files.plan.is_file() else []
    times = late(read_seconds(recorded_seconds_path(args.profile)), jobs, files.measured)
    rows = compared(read_record(path), fresh, times)
    if args.record:
        record(path, merge(read_record(path), fresh))
        if jobs:
            record_seconds(recorded_seconds_path(args.profile), jobs, files.measured)
    boards = compare_boards(files, args.record)
    if args.json:
        print_json(rows)
    else:
        print(table(_COLUMNS, [{**asdict(row), "what": row.remark} for row in rows]))
        print(f"\n{_conclusion(rows, path if args.record else None)}")
        print(boards, end="\n" if boards else "")
        if files.plan.is_file() and (lost := unjudged(args.profile, planned_claims(files), fresh)):
            print(lost)
    return int(not args.record and any(row.fails for row in rows))


def compare_boards(files: Layout, record: bool) -> str:
    """Lines on the leaderboards of the last run beside the recorded ones; with ``record`` they are recorded."""
    from dpsco_bench.cli.verbs.gate import recorded_path
    from dpsco_bench.leaderboard.standings import RankedBoard, changed, read_boards, record_board

    path = recorded_path(files.profile).with_name("boards") / f"{files.profile}.json"
    found, points, lines = read_boards(path), 0, []
    for file in sorted(files.standings("*").parent.glob("*.json")):
        ranked = RankedBoard.read(file)
        rows = ranked.standings if ranked else ()
        lines += changed(found, file.stem, rows)
        points += len(rows)
        if record:
            record_board(path, file.stem, rows)
    told = f"{len(lines)} of {points} points of leaderboards have another winner than recorded"
    return "\n".join([*lines, told]) if points and found and not record else ""


@dataclass(frozen=True)
class Compared:
    """A recorded verdict beside the fresh one.

    Attributes
    ----------
    id, part, calibration, profile : str, whose verdicts they are
    recorded, fresh : str or None, what they say; None where there is none
    what : str, what differs, or `SAME`
    moved : str, how its slope left the recorded one, empty if it did not
    slower : str, what its job took where that is beyond twice the recorded time, else empty
    fails : bool, whether the word of the verdict changed
    """

    id: str
    part: str
    calibration: str
    profile: str
    recorded: str | None
    fresh: str | None
    what: str
    fails: bool
    moved: str = ""
    slower: str = ""

    @property
    def remark(self) -> str:
        """What differs, for the table."""
        what = self.what.upper() if self.fails else "" if self.what == SAME else self.what
        return "; ".join(filter(None, (what, self.moved, self.slower)))


def last_verdicts(files: Layout) -> list[Verdict]:
    """Verdict rows of the last run of a profile; of the planned claims only, where the plan is at hand.

    Raises InputError if there are none.
    """
    from dpsco_bench.cli.verbs.gate import read_verdicts, verdicts_in
    from dpsco_bench.errors import InputError

    folder = files.verdicts("*").parent
    if files.plan.is_file():
        rows = read_verdicts(files)
    else:
        paths = sorted(folder.glob("*.json"))
        rows = [row for path in paths for row in verdicts_in(files, path.stem)]
    if not rows:
        raise InputError("verdicts", folder, f"written by a run: make replicate PROFILE={files.profile}")
    return rows


def late(recorded: Seconds, jobs: Sequence[Job], measured: Measured) -> dict[tuple[str, str], str]:
    """(claim, job) -> what it took, for the jobs that took beyond twice the recorded time."""
    from dpsco_bench.execution.predict import slower

    found = {(job.claim, job.name): slower(recorded, job, measured) for job in jobs}
    return {place: text for place, text in found.items() if text}


def compared(
    recorded: list[Verdict], fresh: list[Verdict], times: Mapping[tuple[str, str], str] | None = None
) -> list[Compared]:
    """Recorded and fresh verdicts side by side, in the order of the run; ``what`` is ``same`` where nothing differs.

    Parameters
    ----------
    times : mapping, optional
        What `late` gives.
    """
    from dpsco_bench.analysis.record import compare, moved

    claims = {row.id for row in fresh}
    known = [row for row in recorded if row.id in claims]
    differences = {(d.claim, d.part, d.calibration): d for d in compare(known, fresh, claims)}
    old, new = ({(row.id, row.part, row.calibration): row for row in side} for side in (known, fresh))
    rows = []
    for name in dict.fromkeys([*new, *old]):
        difference = differences.get(name)
        what, fails = (difference.what, difference.fails) if difference else (SAME, False)
        pair = old.get(name), new.get(name)
        words = [row.said if row else None for row in pair]
        slope = moved(pair[0], pair[1]) if pair[0] and pair[1] else ""
        time = (times or {}).get((name[0], f"{name[1]}.{name[2]}"), "")
        rows.append(Compared(*name, fresh[0].profile, words[0], words[1], what, fails, slope, time))
    return rows


def _conclusion(rows: list[Compared], recorded: Path | None) -> str:
    if recorded is not None:
        return f"recorded in {recorded}"
    changed, new = sum(row.fails for row in rows), sum(row.what == "new" for row in rows)
    said = [f"{changed} of {len(rows)} verdicts changed"]
    said += [f"{new} not recorded (--record records them)"] * bool(new)
    slopes, times = sum(bool(row.moved) for row in rows), sum(bool(row.slower) for row in rows)
    said += [f"{slopes} with a slope beyond the joint interval"] * bool(slopes)
    said += [f"{times} with a run time beyond twice the recorded one"] * bool(times)
    return ", ".join(said)
