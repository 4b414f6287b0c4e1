"""The findings of profiles ci and full: `python docs/findings.py` writes docs/findings.md and the README's five.

Run it in a folder whose last runs of both profiles are whole, after `dpsco compare --profile PROFILE --record` of each.
A finding that the numbers contradict stops it, as it stops the site.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from dpsco_bench.execution.layout import Layout
from dpsco_bench.report.inputs import read_inputs
from dpsco_bench.site.content import Content
from dpsco_bench.site.findings import Finding, finding_files, findings

ROOT = Path(__file__).resolve().parents[1]
PROFILES = ("ci", "full")
"""The README has the numbers of the first."""
FIRST = ("privacy-as-printed", "svrg-rate", "mirror-descent", "linear", "trivial")
"""Those that the README has."""
BEGIN, END = "<!-- findings -->\n", "<!-- end of findings -->\n"


def page(found: Mapping[str, Sequence[Finding]]) -> str:
    """The whole page, Markdown, of findings by profile."""
    by_id = {profile: {one.id: one for one in said} for profile, said in found.items()}
    lines = [
        "# What was found",
        "",
        "The findings of profiles `ci` and `full`, with the numbers of the recorded runs. In front of each sentence "
        "stands the profile whose run it speaks of. The sites of both have their figures.",
    ]
    said = [id for id in finding_files() if any(id in ours for ours in by_id.values())]
    for number, id in enumerate(said, start=1):
        ours = {profile: known[id] for profile, known in by_id.items() if id in known}
        text = next(iter(ours.values())).text
        claims = ", ".join(f"`{claim}`" for claim in text.claims)
        behind = f" Behind it: {claims}." if claims else ""
        lines += ["", f"## {number}. {text.title}"]
        sentences = dict.fromkeys(one.sentence for one in ours.values())
        for sentence in sentences:
            names = " and ".join(f"`{profile}`" for profile, one in ours.items() if one.sentence == sentence)
            lines += ["", f"{names}: {sentence}"]
        lines += ["", f"{next(iter(ours.values())).means}{behind}"]
    return "\n".join(lines) + "\n"


def readme_lines(found: Sequence[Finding]) -> str:
    """The five, a line of a list each."""
    by_id = {one.id: one for one in found}
    lines = (f"**{by_id[id].text.title}.** {by_id[id].sentence}" for id in FIRST)
    return "".join("\n".join(textwrap.wrap(f"* {line}", 140, subsequent_indent="  ")) + "\n" for line in lines)


def write(base: Path = Path(), readme: Path = ROOT / "README.md") -> None:
    """Write the page, and the five into the README."""
    found = {}
    for profile in PROFILES:
        files = Layout(profile, base)
        found[profile], unsaid = findings(Content(read_inputs(files), files.figures))
        for one in unsaid:
            print(f"{profile}: not said: {one.id}: {one.reason}")
    (ROOT / "docs" / "findings.md").write_text(page(found), encoding="utf-8")
    text = readme.read_text(encoding="utf-8")
    shown = re.sub(f"(?<={BEGIN})(?s:.*)(?={END})", lambda _: readme_lines(found[PROFILES[0]]), text)
    readme.write_text(shown, encoding="utf-8")


if __name__ == "__main__":
    write()
