"""The contents of a site's pages, each computed once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from dpsco_bench.algorithms.registry import list_algorithms
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.catalogue import Erratum, load_errata
from dpsco_bench.execution.cell import CalibratedCell
from dpsco_bench.report.audits import known_audits
from dpsco_bench.report.inputs import Inputs
from dpsco_bench.report.ledger import privacy_table
from dpsco_bench.report.opening import ClaimLine, PaperLine, paper_lines
from dpsco_bench.report.tables import ReportTable
from dpsco_bench.report.wording import paper_name
from dpsco_bench.site import markdown as md

Pages = Mapping[str, str]  # name of a page without suffix, from the root -> its Markdown


@dataclass(frozen=True)
class SiteContent:
    """The results of a profile as the pages read them."""

    inputs: Inputs
    figures: Path  # folder of the figures of claims, boards and papers; those that are missing are left out
    own: Path = Path()  # folder of the figures that the site draws itself
    short: bool = False  # for the one file to mail, which leaves out code and the figures of single claims

    @cached_property
    def names(self) -> dict[str, str]:
        """Paper -> its authors and year, from the first claim whose source has them: audits are ours, and name none."""
        claims = [(claim.paper, paper_name(claim.claim.source, "")) for claim in reversed(self.inputs.claims)]
        found = {paper: name for paper, name in claims if name}
        return {paper: found.get(paper, paper) for paper in self.inputs.papers}

    @cached_property
    def lines(self) -> list[PaperLine]:
        return paper_lines(self.inputs, self.names)

    @cached_property
    def claims(self) -> dict[str, ClaimLine]:
        return {claim.results.id: claim for line in self.lines for claim in line.claims}

    @cached_property
    def corrected(self) -> dict[tuple[str, str], str]:
        """(method, variant) -> the erratum that corrects its noise; a part that compares several does not say whose."""
        found = {}
        for claim, job in self.inputs.all_jobs():
            part = claim.parts.get(job.part)
            alone = len({cell.algorithm for cell in job.cells}) == 1
            if part and part.amended and alone and job.calibration == "paper":
                for cell, fixed in zip(job.cells, claim.calibrations(job), strict=False):
                    if isinstance(fixed, CalibratedCell):
                        found[cell.algorithm, fixed.variant] = part.amended
        return found

    @cached_property
    def errata(self) -> dict[str, list[Erratum]]:
        return {paper: load_errata(paper) for paper in self.inputs.papers}

    @cached_property
    def algorithms(self) -> list[str]:
        """Methods that have a page: those of the papers of this profile, and others that it runs."""
        jobs = [job for _, job in self.inputs.all_jobs()]
        jobs += [job for board in self.inputs.boards for job in board.entry.jobs]
        used = {cell.algorithm for job in jobs for cell in job.cells}
        return [id for id in list_algorithms() if id in used or id.partition(".")[0] in self.inputs.papers]

    @cached_property
    def audits(self) -> list[Verdict]:
        return known_audits(self.inputs.rows)

    @cached_property
    def ledger(self) -> ReportTable:
        return privacy_table(self.inputs)

    def drawn(self, name: str) -> bool:
        return (self.figures / f"{name}.svg").is_file()

    def figure(self, name: str, alt: str, up: str = "") -> str:
        """Show a figure of the results, if it was drawn. ``up`` leads from the page to the root."""
        address = f"figures/claims/{name}.svg"
        return md.figure(up + address, alt, self.figures / f"{name}.svg") if self.drawn(name) else ""
