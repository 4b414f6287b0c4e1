"""Every table of a profile that has raw values: what is written as Markdown, CSV, LaTeX and Parquet."""

from __future__ import annotations

from collections.abc import Iterator

from dpsco_bench.claims.catalogue import load_errata
from dpsco_bench.leaderboard.tables import board_tables
from dpsco_bench.report.inputs import Inputs
from dpsco_bench.report.ledger import privacy_table
from dpsco_bench.report.opening import claims_table, noise_table, paper_lines, papers_table
from dpsco_bench.report.papers import cells_table, errata_table, orderings_table, rates_table
from dpsco_bench.report.provenance import jobs_table
from dpsco_bench.report.rebuilt import rebuilt_tables
from dpsco_bench.report.scores import claim_file_table, counts_table, scoreboard, scores
from dpsco_bench.report.tables import Table
from dpsco_bench.report.wording import paper_name


def name_of(inputs: Inputs, paper: str) -> str:
    """Authors and year of a paper, from the source of the first claim that has them: audits are ours, and name none."""
    names = (paper_name(claim.claim.source, paper) for claim in inputs.of_paper(paper))
    return next((name for name in names if name != paper), paper)


def all_tables(inputs: Inputs) -> Iterator[Table]:
    """Every table of the report that has raw values."""
    rows = scores(inputs)
    lines = paper_lines(inputs, rows, {paper: name_of(inputs, paper) for paper in inputs.papers})
    yield papers_table(lines)
    yield noise_table(lines)
    yield claims_table(lines, inputs.profile)
    yield scoreboard(inputs)
    for board in inputs.boards:
        yield from board_tables(board)
    yield counts_table(rows)
    yield privacy_table(inputs)
    yield errata_table([entry for paper in inputs.papers for entry in load_errata(paper)])
    yield jobs_table(inputs)
    for paper in inputs.papers:
        yield rates_table(inputs, paper, name_of(inputs, paper))
        yield from rebuilt_tables(inputs, paper)
    for claim in inputs.claims:
        for table in (claim_file_table(claim), cells_table(claim), orderings_table(claim)):
            if table.rows:
                yield table
