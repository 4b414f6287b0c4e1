"""Words for claims, noise and verdicts, each explained once: the tables that docs/verdicts.md and the site share."""

from __future__ import annotations

from collections.abc import Callable

from dpsco_bench.analysis.answer import STANDINGS
from dpsco_bench.claims.erratum import CHANGES
from dpsco_bench.claims.kinds import COMMON_WORDS, all_kinds
from dpsco_bench.report.opening import RESERVED as RESERVED_STANDINGS
from dpsco_bench.report.wording import CALIBRATION_MEANINGS, QUALIFIED, RESERVED, TONES, symbols

Show = Callable[[str, str], str]
"""A word and its tone -> Markdown."""
ORDER = ("rate", "explicit", "privacy", "ordering", "complexity", "band", "law", "lower_bound", "control", "audit")
"""Kinds in the order in which a reader meets them; others follow."""
SKELETON = "".join(
    f"<!-- {name} -->\n<!-- end of {name} -->\n\n" for name in ("standings", "noise", "verdicts", "changes")
)
"""A page that has the tables and nothing else."""


def filled(page: str, show: Show, tell: Callable[[str], str] = str, above: str = "") -> str:
    """A page whose regions ``<!-- name -->`` to ``<!-- end of name -->`` have their tables.

    Parameters
    ----------
    show : callable, makes Markdown of a word and its tone
    tell : callable, makes Markdown of a meaning
    above : str, what stands above a table
    """
    for name, table in {"standings": _standings, "noise": _noise, "verdicts": _verdicts, "changes": _changes}.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        titles, rows = table(show)
        lines = [titles, ["---"] * len(titles), *([*first, tell(meaning)] for *first, meaning in rows)]
        made = "".join(f"| {' | '.join(line)} |\n" for line in lines)
        body = f"{begin}\n{above}{made}\n{end}"
        before, found, rest = page.partition(begin)
        page = before + body + rest.partition(end)[2] if found else page
    return page


def _standings(show: Show) -> tuple[list[str], list[list[str]]]:
    rows = []
    for word, meant in STANDINGS.items():
        tone = QUALIFIED if word in RESERVED_STANDINGS else TONES[meant.outcome]
        rows.append([show(word, tone), meant.meaning])
    return ["standing", "when"], rows


def _noise(show: Show) -> tuple[list[str], list[list[str]]]:
    return ["noise", "meaning"], [[show(word, ""), meaning] for word, meaning in CALIBRATION_MEANINGS]


def _changes(show: Show) -> tuple[list[str], list[list[str]]]:
    return ["word", "meaning"], [[show(word, ""), symbols(change.meaning)] for word, change in CHANGES.items()]


def _verdicts(show: Show) -> tuple[list[str], list[list[str]]]:
    """Kind, word and meaning; the kind stands in the first row of its words."""
    rows = []
    known = {kind.name: kind for kind in all_kinds()}
    for name in [*(name for name in ORDER if name in known), *(name for name in known if name not in ORDER)]:
        for place, (word, meant) in enumerate(known[name].words.items()):
            title = "" if place else f"{known[name].title} (`{name}`)"
            rows.append([title, show(word.replace("_", " "), TONES[meant.outcome]), symbols(meant.meaning)])
    rows.append(["any kind", show("with a reservation", QUALIFIED), RESERVED])
    rows += [
        ["", show(word.replace("_", " "), TONES[said.outcome]), said.meaning] for word, said in COMMON_WORDS.items()
    ]
    return ["kind", "word", "meaning"], rows
