"""The findings of a profile: those that its results support, and those that its run does not measure.

A finding whose conditions fail stops the build. One whose claims, data or papers are not there is left out, and named.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dpsco_bench.claims.catalogue import naming
from dpsco_bench.errors import InputError
from dpsco_bench.registry import papers
from dpsco_bench.report.findings import Finding, NotMeasured, Results, Said, all_findings
from dpsco_bench.site.content import Content


@dataclass(frozen=True)
class Supported:
    """A finding that the results support, what it says, and the ids of the claims behind it."""

    finding: Finding
    said: Said
    claims: Sequence[str]

    @property
    def id(self) -> str:
        """Id of the finding."""
        return self.finding.id


@dataclass(frozen=True)
class Unsaid:
    """A finding of this profile that this run does not measure, and why."""

    id: str
    title: str
    reason: str


def findings(content: Content, known: Iterable[Finding] | None = None) -> tuple[list[Supported], list[Unsaid]]:
    """Evaluate the findings of a profile, all that are registered by default.

    Raises
    ------
    InputError
        For one that the numbers contradict: it names the finding, the condition and the values.
    """
    results = Results(content.inputs, content.scores, content.errata)
    said, unsaid = [], []
    for finding in all_findings() if known is None else known:
        if finding.profiles and content.inputs.profile not in finding.profiles:
            continue
        with naming(finding.path):
            try:
                said.append(_supported(finding, results))
            except NotMeasured as reason:
                unsaid.append(Unsaid(finding.id, finding.outline("title"), str(reason)))
    return said, unsaid


def _supported(finding: Finding, results: Results) -> Supported:
    in_profile = {claim.id for claim in results.inputs.claims}
    for claim in finding.claims:
        if claim not in in_profile:
            raise results.unmeasured(f"{claim} is not in")
    for paper in finding.papers:
        if paper not in papers():
            raise NotMeasured(f"paper {paper} is not installed")
    try:
        said = finding.say(results)
    except (ArithmeticError, LookupError, TypeError) as error:
        raise InputError(f"finding {finding.id}", repr(error), "one that reads what the results have") from error
    return Supported(finding, said, list(dict.fromkeys([*finding.claims, *(row.id for row in said.rows)])))
