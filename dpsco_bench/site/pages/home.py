"""The pages that begin the site: the answers of all papers, the findings, the leaderboards, and the guide."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

import dpsco_bench
from dpsco_bench.algorithms.registry import list_algorithms
from dpsco_bench.analysis.answer import NO, OPEN, UNTESTED, YES, brief, headline
from dpsco_bench.analysis.rounding import outward
from dpsco_bench.claims.catalogue import CHANGES, naming
from dpsco_bench.claims.kinds import COMMON_WORDS, all_kinds
from dpsco_bench.cli.describe import describe
from dpsco_bench.errors import InputError
from dpsco_bench.jsonio import write_atomic
from dpsco_bench.leaderboard import tables as boards
from dpsco_bench.leaderboard.standings import TRIVIAL, Standing, decided_text
from dpsco_bench.paths import documents
from dpsco_bench.registry import papers
from dpsco_bench.report.drawing import COLOURS as NOISE
from dpsco_bench.report.drawing import FAINT, GREY, INK, style, svg_text
from dpsco_bench.report.findings import Finding, NotMeasured, Results, Said, all_findings
from dpsco_bench.report.inputs import BoardResults
from dpsco_bench.report.numbers import number
from dpsco_bench.report.tables import Column, ReportTable, address
from dpsco_bench.report.wording import CALIBRATION_MEANINGS, QUALIFIED, RESERVED, TONES, method_name, symbols
from dpsco_bench.site import markdown as md
from dpsco_bench.site.content import MARKS, Pages, SiteContent, papers_table
from dpsco_bench.site.content import TONES as ANSWER_TONES

SECTIONS = ("papers/index", "claims/index", "methods/index", "which", "privacy", "errata/index", "provenance")
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
WIDTH, ROW, ABOVE, BELOW = 4.6, 0.3, 0.12, 0.5  # inches: legible on a telephone without scrolling
LOOKS = {
    "main": ("o", INK),
    "printed": ("o", NOISE["paper"]),
    "private": ("s", NOISE["accounted"]),
    "plain": ("D", GREY),
}
"""Blue and orange are the papers' noise and accounted noise here as in all figures; a number of neither is dark."""
PAPER = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}  # behind a value, so that no line runs through it
ROUNDING = 1e-12  # share of the largest number from which on a number is more than rounding
FAR = 30.0  # ratio of the largest and the smallest number from which on the axis is logarithmic
ELSEWHERE = {"verdicts": "how-to-read", "findings": "findings", "standing": "claims"}
"""Page of the documentation -> address of what the site has in its place, from the results of its own profile."""
PARTS = {  # pages in the order of the guide; what the documentation has besides follows
    "Reading": ("start", "reading", "faq", "glossary", "threats", "audits", "error_rates"),
    "Using": ("choosing", "own", "verbs", "accounting", "cluster", "others", "api"),
    "How it is built": ("design", "benchmarks", "scaling", "gpu"),
}
MAILED_GUIDE = (*PARTS["Reading"], "choosing", "accounting", "benchmarks")
"""Pages of the documentation that the one file to mail has."""
Show = Callable[[str, str], str]  # a word and its tone -> Markdown
ORDER = ("rate", "explicit", "privacy", "ordering", "complexity", "band", "law", "lower_bound", "control", "audit")
"""Kinds in the order in which a reader meets them; others follow."""
WORDS_MEAN = {  # word of an answer -> what it means for each question
    YES: (
        "an exponent, ordering, law or bound of the statement is met, and none is contradicted or open",
        "an upper bound on ε, for what is released and the class that the claim names, is at most the claim",
    ),
    NO: (
        "a row within the hypotheses contradicts it; of an O(), the ratio of risk to bound grows throughout",
        "a lower bound on ε of the released output is above the claim on an admissible instance",
    ),
    OPEN: (
        "a row is not decided, or part of the stated values alone was run",
        "nothing proves or refutes it; a query sequence that exceeds the claim refutes nothing of the output",
    ),
    UNTESTED: (
        "only shown, vacuous, a control, beside the statement, outside of its hypotheses, or not run",
        "outside of the theorem's range, or not run",
    ),
}
VERBS = ("Choice", "Result", "account", "audit", "choose", "claim", "leaderboard", "run")
"""Beginning of a page on the package."""
_COMMENT = re.compile(r"<!--.*?-->\n*")
_LINK = re.compile(r"\]\((?!https?:|#)([^)\s]+)\)")


def home_page(content: SiteContent, found: Sequence[Supported], unsaid: Sequence[tuple[Finding, str]]) -> Pages:
    title = "Findings" if found else "What this profile measures"
    answers = content.inputs.answers.values()
    left_out = [f"“{md.text(one.title)}”: {md.text(reason)}." for one, reason in unsaid]
    pieces = [
        md.heading("Does it show, and is it private?", target="standings"),
        f"{STAND}\n",
        md.figure("figures/site/papers.svg", headline(answers)),
        f"{md.text(WHAT)}\n",
        f"Profile {md.code(content.inputs.profile)}. {md.text(brief(answers))}\n",
        md.table(papers_table(content.lines)),
        f"{md.text(MAILED)}\n" if content.short else "",
        md.heading(title, 2, target="findings"),
        *(_finding(number, finding) for number, finding in enumerate(found, start=1)),
        f"{md.heading('What this run does not measure', 2)}\n{UNSAID}\n\n{md.bullets(left_out)}" if unsaid else "",
        f":::{{warning}}\n{md.text(WARNING)}\n:::\n",
        md.toctree([*SECTIONS, "guide/index"]),
    ]
    return {"index": md.page(*pieces)}


def _finding(number: int, finding: Supported) -> str:
    target = address("finding", finding.finding.id)
    claims = [md.link(md.code(id), address(id)) for id in finding.claims]
    pages = [f"[]({page})" if page.startswith("#") else f"[]({page}.md)" for page in finding.finding.pages]
    return md.page(
        md.heading(f"{number}. {finding.said.title}", 3, target),
        md.prose(finding.said.sentence) + "\n",
        md.figure(f"figures/site/{target}.svg", finding.said.title) if finding.said.points else "",
        f"**What it means.** {md.prose(finding.said.means)}\n",
        f"Behind it: {', '.join([*claims, *pages])}\n",
    )


INTRO = (
    "Every method of the papers on common instances, each calibrated by its accountant to the same (eps, delta), with "
    "the hyper-parameters of its theorem. A method whose privacy is not proven is shown in the tables and cannot win."
)
START = "A point that looks at no data."
COLLAPSE = "Does n ε/√d decide the risk?"
OWN = "For a point of your own, or your own data, `choose` runs every method that accepts it and ranks them:"


def which_pages(content: SiteContent) -> Pages:
    command = md.fenced("dpsco choose problem=logistic_glm domain=l2_ball n=16384 d=10 epsilon=1", "console")
    first = [md.heading("Which method", target="which"), md.text(INTRO) + "\n", f"{OWN}\n", command]
    return {"which": "\n".join([*first, *(_board(content, board) for board in content.inputs.boards)])}


def _board(content: SiteContent, board: BoardResults) -> str:
    collapse, points = content.figure(f"{board.id}.collapse", COLLAPSE), boards.points_table(board)
    winner = replace(points.columns["Winner"], value=partial(boards.winner_text, name=method_name))
    delta = symbols(f"{board.board.delta:g}")
    slow = ((md.text(one.title), _uncompared(rows)) for one, rows in board.by_instance)
    return md.page(
        md.heading(board.board.title, 2) if len(content.inputs.boards) > 1 else "",
        f"All points have δ = {delta}.\n",
        md.text(decided_text(board.points)) + "\n",
        content.figure(board.id, board.board.title),
        md.table(explained(board)),
        md.bullets(f"{instance}: {md.text(words)}" for instance, words in slow if words),
        *([md.heading(COLLAPSE, 2), collapse] if collapse else ()),
        md.heading("Winners, point by point", 2, address("board", board.id, "points")),
        md.table(replace(points, columns={**points.columns, "Winner": winner})),
        f"All methods at all points: {md.downloads(f'{board.id}.methods')}. "
        "The page of [each method](methods/index.md) has its places.\n",
        md.heading("What the risks stand beside", 2, address("board", board.id, "references")),
        md.table(boards.references_table(board)),
        md.heading("What was not run, and why", 2),
        md.bullets(f"{md.code(name)}: {md.text(reason)}" for name, reason in boards.nowhere_run(board)),
        f"Every method that was left out at a point, with its reason: {md.downloads(f'{board.id}.left_out')}.\n",
    )


def _uncompared(rows: Sequence[Standing]) -> str:
    """Name methods that are too long wherever the instance was run, and count those that are at some points."""
    names = sorted({name for row in rows for name in row.uncompared})
    slow = {item.method for row in rows for item in row.left_out if item.status == "too_long"} - {*names}
    said = [f"not compared, too long everywhere: {', '.join(names)}"] if names else []
    said += [f"too long at some points: {len(slow)} method{'s' * (len(slow) > 1)}"] if slow else []
    return "; ".join(said)


def explained(board: BoardResults) -> ReportTable:
    found, known = boards.wins_table(board), boards.algorithms(board)
    told = {TRIVIAL: START}  # nothing of one whose file or paper is not here
    told |= {label: str(describe(id, "algorithm")["summary"]) for label, id in known.items() if id in list_algorithms()}
    what = Column("0", lambda label: told.get(label, ""), kind="prose")
    name = replace(found.columns["Method"], show=method_name, kind="text")
    return replace(found, columns={**found.columns, "Method": name, "What it is": what})


class Supported(NamedTuple):
    """A finding that the results support, what it says, and the ids of the claims behind it."""

    finding: Finding
    said: Said
    claims: Sequence[str]


def findings(content: SiteContent) -> tuple[list[Supported], list[tuple[Finding, str]]]:
    """Evaluate the findings of a profile; returns those that are said, and others with what the run lacks of them.

    Raises InputError for one that the numbers contradict.
    """
    results, said, unsaid = Results(content.inputs, content.errata), [], []
    profile = content.inputs.profile
    for finding in (one for one in all_findings() if not one.profiles or profile in one.profiles):
        with naming(finding.path):
            try:
                said.append(_supported(finding, results))
            except NotMeasured as reason:
                unsaid.append((finding, str(reason)))
    return said, unsaid


def _supported(finding: Finding, results: Results) -> Supported:
    in_profile = {claim.id for claim in results.inputs.claims}
    if absent := [claim for claim in finding.claims if claim not in in_profile]:
        raise results.unmeasured(f"{absent[0]} is not in")
    if gone := [paper for paper in finding.papers if paper not in papers()]:
        raise NotMeasured(f"paper {gone[0]} is not installed")
    try:
        said = finding.say(results)
    except (ArithmeticError, LookupError, TypeError) as error:
        raise InputError(f"finding {finding.id}", repr(error), "one that reads what the results have") from error
    return Supported(finding, said, list(dict.fromkeys([*finding.claims, *(row.id for row in said.rows)])))


def draw_findings(found: Iterable[Supported], folder: Path) -> None:
    for one in found:
        if one.said.points:
            with naming(one.finding.path), style(**{"font.size": 8.5}):
                write_atomic(folder / f"{address('finding', one.finding.id)}.svg", svg_text(finding_figure(one.said)))


def finding_figure(said: Said) -> Figure:
    """Draw the numbers of a finding as points on one axis, a row each, with name and value beside it."""
    rows = [(symbols(point.text), outward(float(point.value), point.bound), point.look) for point in said.points]
    height = ABOVE + BELOW + ROW * len(rows)
    drawn = Figure(figsize=(WIDTH, height))
    left = 0.2 + 0.058 * max(len(name) for name, _, _ in rows)
    axes = drawn.add_axes((left / WIDTH, BELOW / height, (WIDTH - left - 0.62) / WIDTH, ROW * len(rows) / height))
    line = said.reference
    ends = [value for _, value, _ in rows] + ([line] if line is not None else [])
    start = _set_axis(axes, ends, said.linear)
    for place, (_, value, look) in enumerate(rows):
        marker, colour = LOOKS[look]
        shown = number(0.0 if abs(value) < ROUNDING * max(map(abs, ends)) else value)
        axes.plot([start if line is None else line, value], [place, place], color="#c8c8c8", linewidth=1.4)
        axes.plot(value, place, marker, color=colour, markersize=6)
        axes.annotate(shown, (value, place), (7, 0), textcoords="offset points", va="center", color=INK, bbox=PAPER)
    if line is not None:
        axes.axvline(line, color=FAINT, linewidth=0.9, linestyle=(0, (4, 2)))
    axes.set_yticks(range(len(rows)), [name for name, _, _ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")
    axes.set_xlabel(symbols(said.label), color=INK)
    return drawn


def _set_axis(axes: Axes, ends: Sequence[float], linear: bool) -> float:
    """Set the axis of numbers, logarithmic where they are far apart; returns where lines begin."""
    low, high = min(ends), max(ends)
    if not linear and low > 0 and high / low > FAR:
        axes.set_xscale("log")
        axes.set_xlim(low / (high / low) ** 0.06, high * (high / low) ** 0.1)
        return low
    start = min(0.0, low)
    if all(float(end).is_integer() for end in ends):
        axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    axes.set_xlim(start - 0.04 * (high - start), high + 0.1 * (high - start))
    return start


def guide_pages(content: SiteContent) -> Pages:
    shown = {name: path for name, path in documents().items() if name not in ELSEWHERE}
    docs = {name: path for name, path in shown.items() if not content.short or name in MAILED_GUIDE}
    known = ["reading", *docs, *([] if content.short else ["api"])]
    parts = {title: [name for name in names if name in known] for title, names in PARTS.items()}
    parts["More"] = [name for name in known if name not in sum(PARTS.values(), ())]
    index = [md.toctree(names, hidden=False, caption=title) for title, names in parts.items() if names]
    return {
        "guide/index": "\n".join([md.heading("Guide", target="guide"), *index]),
        "guide/reading": reading_page(docs),
        **({} if content.short else {"guide/api": api_page()}),
        **{f"guide/{name}": _linked(path.read_text(encoding="utf-8"), docs) for name, path in docs.items()},
    }


def _linked(page: str, docs: Mapping[str, Path]) -> str:
    """Lead the links of a page of the documentation to pages of the site, or nowhere."""

    def led(found: re.Match[str]) -> str:
        name = found[1].partition("#")[0]
        if name.endswith(".md"):
            stem = Path(name).stem
            if stem in ELSEWHERE:
                return f"](#{ELSEWHERE[stem]})"
            return f"]({stem}.md)" if "/" not in name and stem in docs else "](#guide)"
        return f"](../files/docs/{name})" if name.endswith(".svg") and "/" not in name else "](#guide)"

    return _LINK.sub(led, page)


def api_page() -> str:
    """Say what `import dpsco_bench` offers, from its docstrings."""
    names = []
    for name in sorted(dpsco_bench.__all__, key=lambda name: (name not in VERBS, name)):
        found = getattr(dpsco_bench, name)
        kind, members = ("class", "\n   :members:") if inspect.isclass(found) else ("function", "")
        names.append(f".. auto{kind}:: dpsco_bench.{name}{members}")
    intro = (
        "The verbs as functions, then what a plug-in needs. `Result` and `Choice` pickle, and have `table` (pyarrow), "
        "`to_pandas()` and `plot()`. Everything else may change without notice.\n"
    )
    return "\n".join([md.heading("From Python", target="api"), intro, md.fenced("\n\n".join(names), "{eval-rst}")])


def reading_page(docs: Mapping[str, Path]) -> str:
    """Explain every word for claims, noise and verdicts, in the colours that it has everywhere."""
    page = documents()["verdicts"].read_text(encoding="utf-8")
    return "(how-to-read)=\n" + _linked(_COMMENT.sub("", filled(page, md.badge, md.text, "{.plain}\n")), docs)


def filled(page: str, show: Show, tell: Callable[[str], str] = str, above: str = "") -> str:
    """Fill the regions ``<!-- name -->`` to ``<!-- end of name -->`` of a page with their tables."""
    for name, (titles, rows) in tables(show).items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        made = md.grid(titles, ([*first, tell(meaning)] for *first, meaning in rows))
        before, found, rest = page.partition(begin)
        page = f"{before}{begin}\n{above}{made}\n{end}{rest.partition(end)[2]}" if found else page
    return page


def tables(show: Show) -> dict[str, tuple[list[str], list[list[str]]]]:
    """Make titles and rows of the table of each region; a kind stands in the first row of its words."""
    words = [[show(word, ANSWER_TONES[word]), *meanings] for word, meanings in WORDS_MEAN.items()]
    marks = [[show(mark, ""), symbols(meaning)] for mark, meaning in MARKS.items()]
    verdicts = []
    known = {kind.name: kind for kind in all_kinds()}
    for name in [*(name for name in ORDER if name in known), *(name for name in known if name not in ORDER)]:
        for place, (word, meant) in enumerate(known[name].words.items()):
            title = "" if place else f"{known[name].title} (`{name}`)"
            verdicts.append([title, show(word.replace("_", " "), TONES[meant.outcome]), symbols(meant.meaning)])
    verdicts.append(["any kind", show("with a reservation", QUALIFIED), RESERVED])
    for word, said in COMMON_WORDS.items():
        verdicts.append(["", show(word.replace("_", " "), TONES[said.outcome]), said.meaning])
    noise = [[show(word, ""), meaning] for word, meaning in CALIBRATION_MEANINGS.items()]
    changes = [[show(word, ""), symbols(change.meaning)] for word, change in CHANGES.items()]
    return {
        "answers": (["word", "does it show", "is it private"], words),
        "marks": (["mark", "meaning"], marks),
        "noise": (["noise", "meaning"], noise),
        "verdicts": (["kind", "word", "meaning"], verdicts),
        "changes": (["word", "meaning"], changes),
    }
