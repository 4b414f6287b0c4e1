"""From results to verdicts, standings and figures."""

from __future__ import annotations

from dpsco_bench.analysis.judged import JudgedClaim
from dpsco_bench.claims.plan import BoardEntry, ClaimEntry
from dpsco_bench.cli.claiming import say
from dpsco_bench.execution.layout import Layout


def judge(files: Layout, entry: ClaimEntry, digest: str) -> None:
    """Write the verdicts of a claim, and draw its figures.

    Parameters
    ----------
    files : Layout
        Of the profile.
    entry : ClaimEntry
        Its results are in the store.
    digest : str
        Of what the verdicts are made from.
    """
    from dpsco_bench.analysis.judge import judge_claim
    from dpsco_bench.report.figures import write_claim_figures
    from dpsco_bench.report.inputs import ClaimResults

    rows = tuple(judge_claim(entry, files.measured.load))
    for row in rows:
        say(f"{entry.id} {row.part} [{row.calibration}]: {row.said}")
    write_claim_figures(ClaimResults(entry, files, rows), files.figures)
    JudgedClaim(entry.id, digest, verdicts=rows).write(files.verdicts(entry.id))


def rank(files: Layout, entry: BoardEntry, digest: str) -> None:
    """Write the standings of a leaderboard, and draw its phase diagrams."""
    from dpsco_bench.leaderboard.standings import RankedBoard, Standing, standings
    from dpsco_bench.report.figures import write_figures
    from dpsco_bench.report.inputs import read_inputs

    rows = standings(entry, files.measured.load)
    for row in rows:
        said = f"n {row.n}: {' = '.join(row.tied)}" if isinstance(row, Standing) else row.skipped
        say(f"{row.instance}: {said}")
    RankedBoard(entry.id, digest, tuple(rows)).write(files.standings(entry.id))
    write_figures(read_inputs(files, only=entry.id), entry.id, files.figures)
