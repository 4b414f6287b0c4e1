"""What a run of the workflow ends with: how the claims stand, what changed, and where the site is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dpsco_bench.analysis.answer import NO, QUESTIONS, WORDS, Answer, answers
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import SKIPPED
from dpsco_bench.cli.output import Column, labelled, table
from dpsco_bench.execution.layout import Layout

MOST_NAMES = 4
ASKED = ("printed", "noise", "private")
COLUMNS = (
    Column("paper", "paper"),
    *(Column(key, QUESTIONS[key].lower(), numeric=True) for key in ASKED),
    Column("others", "other claims", numeric=True),
)


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
    counts = [_counts(paper, [one for id, one in come_to.items() if id.startswith(f"{paper}.")]) for paper in papers]
    counts.append(_counts("all", come_to.values()))
    lines = [f"profile {files.profile}, {len(rows)} verdicts; in each column {' / '.join(WORDS)}:"]
    lines += table(COLUMNS, counts).splitlines()
    bad = [id for id, one in come_to.items() if any(cell.word == NO for cell in one.cells.values())]
    names = ", ".join([*bad[: 2 * MOST_NAMES], *_more(bad[2 * MOST_NAMES :], "")])
    lines += labelled("no:", names, 4).splitlines() if bad else []
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


def _counts(name: str, found: Iterable[Answer]) -> dict[str, str]:
    """Count the words of each question about risk, and of what states no risk."""
    rows = list(found)
    risks = [one.cells for one in rows if one.subject == "risk"]
    said = {key: [cells[key].word for cells in risks] for key in ASKED}
    said["others"] = [one.word for one in rows if one.subject not in ("risk", "audit")]
    return {"paper": name, **{key: " / ".join(str(words.count(word)) for word in WORDS) for key, words in said.items()}}


def _more(rest: Sequence[str], what: str) -> list[str]:
    return [f"and {len(rest)} more {what}".rstrip()] if rest else []
