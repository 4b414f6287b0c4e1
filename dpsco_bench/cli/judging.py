"""From results to verdicts and figures, claim by claim; what is up to date stays as it is."""

from __future__ import annotations

import traceback
from collections.abc import Mapping

from dpsco_bench.analysis.judged import JudgedClaim, read_judged
from dpsco_bench.claims.plan import ClaimEntry, read_plan
from dpsco_bench.errors import DpscoError
from dpsco_bench.execution.drawn import drawing, stands
from dpsco_bench.execution.layout import FORMATS, Layout
from dpsco_bench.execution.packs import Stamp
from dpsco_bench.execution.plugins import check_given
from dpsco_bench.execution.progress import JobLog
from dpsco_bench.execution.worker import read_failures, told
from dpsco_bench.jsonio import dumps_canonical, sealed, write_atomic


def judge_claims(files: Layout, claims: Mapping[str, Stamp], draw: bool, log: JobLog) -> None:
    """Write verdicts and figures of claims whose stamps are not those of what is there.

    What cannot be judged gets a verdict file without rows that says why (``failed``), and no digest. Raises CodeChanged
    before anything is written by other code than that of the plan.

    Parameters
    ----------
    files : Layout
        Of the profile.
    claims : mapping of str to Stamp
        Ids.
    draw : bool
        Whether figures are drawn too.
    log : JobLog
        Gets a line for each verdict.

    Raises
    ------
    InputError
        For a plan with plugins that this process was not given.
    """
    plan = read_plan(files.plan, claims)
    check_given((path for job in plan.jobs() for path in job.plugins), files.plan)
    for number, entry in enumerate(plan.claims, 1):
        stamp, known = claims[entry.id], read_judged(files.verdicts(entry.id))
        entry = files.measured.present(entry)
        if known is None or known.digest != stamp.verdicts:
            known = _judged(files, entry, stamp.verdicts, log)
            known.write(files.verdicts(entry.id))
        if draw:
            _draw(files, entry, stamp, known, log)
        log.progress(number, len(plan.claims))
    for paper in dict.fromkeys(entry.paper for entry in plan.claims):
        digests = {entry.id: claims[entry.id].verdicts for entry in plan.claims if entry.paper == paper}
        write_atomic(files.judged(paper), sealed(dumps_canonical(digests)))


def _judged(files: Layout, entry: ClaimEntry, digest: str, log: JobLog) -> JudgedClaim:
    from dpsco_bench.analysis.judge import judge_claim

    failed = read_failures(files, entry.jobs)
    try:
        if failed:
            raise DpscoError("; ".join(told(failed)))
        rows = judge_claim(entry, files.measured.load)
    except (Exception, SystemExit) as error:
        reason = str(error) if isinstance(error, DpscoError) else f"{type(error).__name__}: {error}"
        log.write(f"failed: {entry.id}: " + (reason if isinstance(error, DpscoError) else traceback.format_exc()))
        return JudgedClaim(entry.id, failed=" ".join(reason.split()))
    for row in rows:
        log.write(f"{entry.id} {row.part} [{row.calibration}]: {row.said}")
    return JudgedClaim(entry.id, digest, verdicts=tuple(rows))


def is_drawn(files: Layout, id: str, stamp: Stamp) -> bool:
    """Whether a claim's figures are there as they were drawn, and those of its stamp."""
    return stands(files.drawn(id), [files.figure(id, suffix) for suffix in FORMATS], stamp.figure)


def _draw(files: Layout, entry: ClaimEntry, stamp: Stamp, judged: JudgedClaim, log: JobLog) -> None:
    """Draw the figures of a claim unless they are those of its stamp."""
    from dpsco_bench.report.figures import write_claim_figures
    from dpsco_bench.report.inputs import ClaimResults

    if is_drawn(files, entry.id, stamp):
        return
    with drawing(files.drawn(entry.id), stamp.figure if judged.digest else "") as drawn:
        drawn.files += write_claim_figures(ClaimResults(entry, files, judged.verdicts), files.figures)
    log.write(f"{entry.id}: drawn")


def rank_board(files: Layout, board: str, digest: str, log: JobLog) -> None:
    """Write the standings of a leaderboard.

    Raises
    ------
    InputError
        If a result is missing, or for a plan with plugins that this process was not given.
    CodeChanged
        If code that is loaded here is not that of the plan.
    """
    from dpsco_bench.analysis.ranking import RankedBoard, Standing
    from dpsco_bench.analysis.standings import standings

    plan = read_plan(files.plan, [board])
    entry = files.measured.present(plan.board(board))
    check_given((path for job in entry.jobs for path in job.plugins), files.plan)
    rows = standings(entry, files.measured.load)
    for row in rows:
        said = f"n {row.n}: {' = '.join(row.tied)}" if isinstance(row, Standing) else row.skipped
        log.write(f"{row.instance}: {said}")
    RankedBoard(board, digest, tuple(rows)).write(files.standings(board))
