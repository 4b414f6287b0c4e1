"""The findings of profiles full and ci: `python docs/findings.py` writes docs/findings.md and the README's five.

Run it in a folder whose last runs of both profiles are whole, after `dpsco compare --profile PROFILE --record` of each.
A finding that the numbers contradict stops it, as it stops the site.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from dpsco_bench.execution.layout import Layout
from dpsco_bench.report.findings import all_findings
from dpsco_bench.report.inputs import read_inputs
from dpsco_bench.site.content import SiteContent
from dpsco_bench.site.pages.home import Supported, findings

ROOT = Path(__file__).resolve().parents[1]
PROFILES = ("full", "ci")
"""Headings and the README have the numbers of the first that says a finding."""
FIRST = ("privacy-as-printed", "svrg-rate", "mirror-descent", "linear", "frontier")
"""Those that the README has."""
BEHIND = {
    "privacy": "the privacy ledger of the site",
    "verdicts": "the list of verdicts of the site",
    "errata/index": "[the errata](../conf/errata)",
    "#board--leaderboard-common--points": "[the leaderboard](../conf/leaderboard/common.yaml), point by point",
    "#board--leaderboard-common--references": "its public searches",
}
"""Page or address of the site -> what is named in its place."""
BEGIN, END = "<!-- findings -->\n", "<!-- end of findings -->\n"


def page(found: Mapping[str, Sequence[Supported]]) -> str:
    """Write the whole page, Markdown, of findings by profile."""
    by_id = {profile: {one.finding.id: one for one in said} for profile, said in found.items()}
    lines = [
        "# What was found",
        "",
        "The numbers are those of the recorded runs: the complete replication (profile `full`) and the reduced one "
        "(`ci`). `full` was last run on 2026-11-30. Each paragraph begins with its profile, "
        "and a heading has the numbers of `full` if that has the finding. The site has a figure for each.",
    ]
    said = [one.id for one in all_findings() if any(one.id in ours for ours in by_id.values())]
    for id in said:
        ours = {profile: known[id] for profile, known in by_id.items() if id in known}
        first = next(iter(ours.values()))
        lines += ["", f"## {first.said.title}"]
        told = {profile: said_of(one, first) for profile, one in ours.items()}
        for words in dict.fromkeys(told.values()):
            names = " and ".join(f"`{profile}`" for profile, said in told.items() if said == words)
            lines += ["", f"{names}: {words}"]
        lines += ["", first.said.means, "", f"Behind it: {', '.join(behind(first))}."]
    return "\n".join(lines) + "\n"


def said_of(one: Supported, first: Supported) -> str:
    """Return its sentence, after its title where that is not the heading."""
    return one.said.sentence if one.said.title == first.said.title else f"{one.said.title}. {one.said.sentence}"


def behind(one: Supported) -> list[str]:
    """List links to its claims, and names of the pages behind it."""
    claims = [f"[`{id}`](../conf/claim/{'/'.join(id.split('.', 1))}.yaml)" for id in one.claims]
    papers = [page.partition("/")[2] for page in one.finding.pages if page not in BEHIND]
    errata = [f"[the errata of {paper}](../conf/errata/{paper}.yaml)" for paper in papers]
    return [*claims, *errata, *(BEHIND[page] for page in one.finding.pages if page in BEHIND)]


def readme_lines(found: Sequence[Supported]) -> str:
    """Write the README's five, a line of a list each: their titles and first sentences."""
    by_id = {one.finding.id: one for one in found}
    lines = (f"**{by_id[id].said.title}.** {first_sentence(by_id[id].said.sentence)}" for id in FIRST)
    return "".join("\n".join(textwrap.wrap(f"* {line}", 140, subsequent_indent="  ")) + "\n" for line in lines)


def first_sentence(text: str) -> str:
    """Cut after the first full stop before a capital letter or a number."""
    return re.split(r"(?<=[.])\s(?=[A-Z0-9])", text)[0]


def write(base: Path = Path(), readme: Path = ROOT / "README.md") -> None:
    found = {}
    for profile in PROFILES:
        files = Layout(profile, base)
        found[profile], unsaid = findings(SiteContent(read_inputs(files), files.figures))
        for one, reason in unsaid:
            print(f"{profile}: not said: {one.id}: {reason}")
    (ROOT / "docs" / "findings.md").write_text(page(found), encoding="utf-8")
    text = readme.read_text(encoding="utf-8")
    shown = re.sub(f"(?<={BEGIN})(?s:.*)(?={END})", lambda _: readme_lines(found[PROFILES[0]]), text)
    readme.write_text(shown, encoding="utf-8")


if __name__ == "__main__":
    write()
