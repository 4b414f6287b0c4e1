"""The findings of profile ci: `python docs/findings.py` writes docs/findings.md and the README's five.

Run it in a folder whose last run of profile ci is whole, after `dpsco compare --profile ci --record`. A finding that
the numbers contradict stops it, as it stops the site.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from dpsco_bench.execution.layout import Layout
from dpsco_bench.report.inputs import read_inputs
from dpsco_bench.site.content import Content
from dpsco_bench.site.findings import Finding, findings

ROOT = Path(__file__).resolve().parents[1]
PROFILE = "ci"
FIRST = ("privacy-as-printed", "svrg-rate", "mirror-descent", "linear", "trivial")
"""Those that the README has."""
BEGIN, END = "<!-- findings -->\n", "<!-- end of findings -->\n"


def page(found: list[Finding]) -> str:
    """The whole page, Markdown."""
    lines = [
        "# What was found",
        "",
        f"The findings of profile {PROFILE}, with the numbers of the recorded run. The site has their figures.",
    ]
    for number, one in enumerate(found, start=1):
        claims = ", ".join(f"`{claim}`" for claim in one.text.claims)
        behind = f" Behind it: {claims}." if claims else ""
        lines += ["", f"## {number}. {one.text.title}", "", one.sentence, "", f"{one.means}{behind}"]
    return "\n".join(lines) + "\n"


def readme_lines(found: list[Finding]) -> str:
    """The five, a line of a list each."""
    by_id = {one.id: one for one in found}
    lines = (f"**{by_id[id].text.title}.** {by_id[id].sentence}" for id in FIRST)
    return "".join("\n".join(textwrap.wrap(f"* {line}", 140, subsequent_indent="  ")) + "\n" for line in lines)


def write(base: Path = Path(), readme: Path = ROOT / "README.md") -> None:
    """Write the page, and the five into the README."""
    files = Layout(PROFILE, base)
    said, _ = findings(Content(read_inputs(files), files.figures))
    (ROOT / "docs" / "findings.md").write_text(page(said), encoding="utf-8")
    text = readme.read_text(encoding="utf-8")
    shown = re.sub(f"(?<={BEGIN})(?s:.*)(?={END})", lambda _: readme_lines(said), text)
    readme.write_text(shown, encoding="utf-8")


if __name__ == "__main__":
    write()
