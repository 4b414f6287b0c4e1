"""What a run of the workflow ends with: how the claims stand, what changed, and where the site is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from dpsco_bench.analysis.answer import NO, QUESTIONS, WORDS, Answer, answers, headline
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import SKIPPED
from dpsco_bench.cli.output import labelled
from dpsco_bench.execution.layout import Layout

MOST_NAMES = 4


def closing(files: Layout, rows: Sequence[Verdict], differences: Sequence[Any], recorded: bool) -> str:
    """A summary that fits on a screen: per paper what holds and what fails, what changed, and where the site is.

    Parameters
    ----------
    files : Layout
        Of the profile.
    rows : sequence of Verdict
    differences : sequence of Compared
        From the recorded verdicts.
    recorded : bool
        Whether verdicts of the profile are recorded.
    """
    come_to = answers(rows)
    papers = dict.fromkeys(id.partition(".")[0] for id in come_to)
    width = max(map(len, papers), default=0)
    total = headline(come_to.values()).removesuffix(".")
    label = f"profile {files.profile}:"
    lines = labelled(label, f"{total} ({len(rows)} verdicts)", 1 + len(label)).splitlines()
    for paper in papers:
        own = {id: one for id, one in come_to.items() if id.startswith(f"{paper}.")}
        lines += _paper(paper.ljust(width), own)
    lines += sorted({f"{SKIPPED}: {row.reason}" for row in rows if row.skipped})
    changed = [str(difference) for difference in differences if difference.fails]
    lines += [*changed[: 2 * MOST_NAMES], *_more(changed[2 * MOST_NAMES :], "changed verdicts")]
    if not recorded:
        lines.append(f"no verdicts are recorded for profile {files.profile}: nothing to compare with")
    else:
        lines.append(f"{len(changed)} of {len(rows)} verdicts changed from the recorded ones")
    lines.append(f"every verdict: make verdicts PROFILE={files.profile}, or dpsco gate --profile {files.profile}")
    if files.site.is_file():
        lines.append(f"site: {files.site}")
    return "\n".join(lines)


def _paper(name: str, found: Mapping[str, Answer]) -> list[str]:
    """Lines on a paper: the words of each question about risk, and what is answered by no."""
    risks = [one.cells for one in found.values() if one.subject == "risk"]
    lines: list[str] = []
    for key in ("printed", "noise", "private"):
        counts = Counter(cells[key].word for cells in risks)
        said = f"{QUESTIONS[key].lower()}: " + ", ".join(f"{counts[word]} {word}" for word in WORDS if counts[word])
        lines += labelled(f"  {name if not lines else ' ' * len(name)}", said, 4 + len(name)).splitlines()
    bad = [id.partition(".")[2] for id, one in found.items() if any(cell.word == NO for cell in one.cells.values())]
    if bad:
        lines.append(f"  {' ' * len(name)}  no: " + ", ".join([*bad[:MOST_NAMES], *_more(bad[MOST_NAMES:], "")]))
    return lines


def _more(rest: Sequence[str], what: str) -> list[str]:
    return [f"and {len(rest)} more {what}".rstrip()] if rest else []
