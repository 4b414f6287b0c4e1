"""The first page: the answers of all papers in bars, then what was found."""

from __future__ import annotations

from collections.abc import Sequence

from dpsco_bench.report.address import address
from dpsco_bench.report.opening import headline, papers_table
from dpsco_bench.report.scores import chance_text
from dpsco_bench.site.content import Pages, SiteContent
from dpsco_bench.site.findings import Supported, Unsaid
from dpsco_bench.site.markdown import bullets, code, figure, heading, link, prose, table, text, toctree

SECTIONS = (
    *("papers/index", "claims/index", "methods/index", "which", "privacy", "errata/index"),
    *("benchmarks", "provenance", "guide/index"),
)
WHAT = (
    "Papers on differentially private convex optimisation state bounds on the excess risk, on gradient counts and on "
    "(eps, delta). This site says, claim by claim, what their methods do when they are run as printed, and when their "
    "noise is what privacy needs."
)
WARNING = (
    "This is a measuring instrument, not a release mechanism: floating-point noise has finite tails and known attacks. "
    "A status “proven” speaks of the mechanism in exact arithmetic."
)
UNSAID = "Nothing is said of these statements, since what they rest on is not there:"
MAILED = (
    "This one file has the findings, the papers, the verdicts of every claim with their reasons, which method, the "
    "privacy ledger, the errata and the benchmarks. The site has, besides, a figure of every claim, its parts and "
    "numbers, the code of every method, and a search."
)
STAND = (
    "Two questions are asked of every theorem, table row and figure: does it show, and is its noise private? "
    "[Reading a verdict](guide/reading.md) explains the words and marks."
)


def home_page(content: SiteContent, found: Sequence[Supported], unsaid: Sequence[Unsaid]) -> Pages:
    """Write the bars and the counts, and behind them the findings."""
    lines = content.lines
    title = "Findings" if found else "What this profile measures"
    left_out = [f"“{text(entry.title)}”: {text(entry.reason)}." for entry in unsaid]
    pieces = [
        heading("Does it show, and is it private?", target="standings"),
        f"{text(WHAT)}\n\n{STAND}\n",
        figure("figures/site/papers.svg", headline(lines)),
        f"Profile {code(content.inputs.profile)}. {text(headline(lines))} {text(chance_text(content.scores))}\n",
        table(papers_table(lines)),
        f"{text(MAILED)}\n" if content.short else "",
        heading(title, 2, target="findings"),
        *(_finding(number, finding) for number, finding in enumerate(found, start=1)),
        f"{heading('What this run does not measure', 2)}\n{UNSAID}\n\n{bullets(left_out)}" if unsaid else "",
        f":::{{warning}}\n{text(WARNING)}\n:::\n",
        toctree(SECTIONS),
    ]
    return {"index": "\n".join(filter(None, pieces))}


def _finding(number: int, finding: Supported) -> str:
    target = address("finding", finding.id)
    claims = [link(code(id), address(id)) for id in finding.claims]
    pages = [f"[]({page})" if page.startswith("#") else f"[]({page}.md)" for page in finding.finding.pages]
    pieces = [
        heading(f"{number}. {finding.said.title}", 3, target),
        prose(finding.said.sentence) + "\n",
        figure(f"figures/site/{target}.svg", finding.said.title) if finding.said.points else "",
        f"**What it means.** {prose(finding.said.means)}\n",
        f"Behind it: {', '.join([*claims, *pages])}\n",
    ]
    return "\n".join(filter(None, pieces))
