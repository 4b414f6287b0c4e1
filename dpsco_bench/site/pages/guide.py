"""The guide: what the words mean, generated from the rules, and the documentation of the repository where it is."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import dpsco_bench
from dpsco_bench.analysis.answer import NO, OPEN, UNTESTED, YES
from dpsco_bench.claims.catalogue import CHANGES
from dpsco_bench.claims.kinds import COMMON_WORDS, all_kinds
from dpsco_bench.paths import documents
from dpsco_bench.report.opening import MARKS
from dpsco_bench.report.opening import TONES as ANSWER_TONES
from dpsco_bench.report.wording import CALIBRATION_MEANINGS, QUALIFIED, RESERVED, TONES, symbols
from dpsco_bench.site.content import Pages, SiteContent
from dpsco_bench.site.markdown import badge, heading, text, toctree

ELSEWHERE = {"verdicts": "how-to-read", "findings": "findings", "standing": "claims"}
"""Page of the documentation -> address of what the site has in its place, from the results of its own profile."""
PARTS = {  # pages in the order of the guide; what the documentation has besides follows
    "Reading": ("start", "reading", "faq", "glossary", "threats", "audits", "error_rates"),
    "Using": ("choosing", "own", "verbs", "accounting", "cluster", "others", "api"),
    "How it is built": ("design", "benchmarks", "scaling", "gpu"),
}
MAILED = (*PARTS["Reading"], "choosing", "accounting", "benchmarks")
"""Pages of the documentation that the one file to mail has."""
Show = Callable[[str, str], str]  # a word and its tone -> Markdown
ORDER = ("rate", "explicit", "privacy", "ordering", "complexity", "band", "law", "lower_bound", "control", "audit")
"""Kinds in the order in which a reader meets them; others follow."""
SKELETON = "".join(  # a page that has the tables and nothing else
    f"<!-- {name} -->\n<!-- end of {name} -->\n\n" for name in ("answers", "marks", "noise", "verdicts", "changes")
)
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
MEMBERS = "\n   :members:"
_COMMENT = re.compile(r"<!--.*?-->\n*")
_LINK = re.compile(r"\]\((?!https?:|#)([^)\s]+)\)")


def guide_pages(content: SiteContent) -> Pages:
    shown = {name: path for name, path in documents().items() if name not in ELSEWHERE}
    docs = {name: path for name, path in shown.items() if not content.short or name in MAILED}
    known = ["reading", *docs, *([] if content.short else ["api"])]
    parts = {title: [name for name in names if name in known] for title, names in PARTS.items()}
    parts["More"] = [name for name in known if name not in sum(PARTS.values(), ())]
    index = [toctree(names, hidden=False, caption=title) for title, names in parts.items() if names]
    found = {"guide/index": "\n".join([heading("Guide", target="guide"), *index])}
    found |= {"guide/reading": reading_page(docs)}
    found |= {} if content.short else {"guide/api": api_page()}
    for name, path in docs.items():
        found[f"guide/{name}"] = _linked(path.read_text(encoding="utf-8"), docs)
    return found


def _linked(page: str, docs: Mapping[str, Path]) -> str:
    """Lead the links of a page of the documentation to pages of the site, or nowhere."""

    def led(found: re.Match[str]) -> str:
        name = found[1].partition("#")[0]
        if name.endswith(".md"):
            stem = Path(name).stem
            if stem in ELSEWHERE:
                return f"](#{ELSEWHERE[stem]})"
            return f"]({stem}.md)" if "/" not in name and stem in docs else "](#guide)"
        return f"](../files/docs/{name})" if (name.endswith((".svg", ".png")) and "/" not in name) else "](#guide)"

    return _LINK.sub(led, page)


def api_page() -> str:
    """Say what `import dpsco_bench` offers, from its docstrings."""
    names = []
    for name in sorted(dpsco_bench.__all__, key=lambda name: (name not in VERBS, name)):
        found = getattr(dpsco_bench, name)
        is_class = inspect.isclass(found)
        names.append(f".. auto{'class' if is_class else 'function'}:: dpsco_bench.{name}{MEMBERS * is_class}")
    intro = (
        "The verbs as functions, then what a plug-in needs. `Result` and `Choice` pickle, and have `table` (pyarrow), "
        "`to_pandas()` and `plot()`. Everything else may change without notice.\n"
    )
    listed = "\n\n".join(names)
    return "\n".join([heading("From Python", target="api"), intro, f"```{{eval-rst}}\n{listed}\n```\n"])


def reading_page(docs: Mapping[str, Path]) -> str:
    """Explain every word for claims, noise and verdicts, in the colours that it has everywhere."""
    file = documents().get("verdicts")
    page = file.read_text(encoding="utf-8") if file else f"# Reading a verdict\n\n{SKELETON}"
    return "(how-to-read)=\n" + _linked(_COMMENT.sub("", filled(page, badge, text, "{.plain}\n")), docs)


def filled(page: str, show: Show, tell: Callable[[str], str] = str, above: str = "") -> str:
    """Fill the regions ``<!-- name -->`` to ``<!-- end of name -->`` of a page with their tables."""
    for name, (titles, rows) in tables(show).items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        lines = [titles, ["---"] * len(titles), *([*first, tell(meaning)] for *first, meaning in rows)]
        made = "".join(f"| {' | '.join(line)} |\n" for line in lines)
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
    noise = [[show(word, ""), meaning] for word, meaning in CALIBRATION_MEANINGS]
    changes = [[show(word, ""), symbols(change.meaning)] for word, change in CHANGES.items()]
    return {
        "answers": (["word", "does it show", "is it private"], words),
        "marks": (["mark", "meaning"], marks),
        "noise": (["noise", "meaning"], noise),
        "verdicts": (["kind", "word", "meaning"], verdicts),
        "changes": (["word", "meaning"], changes),
    }
