"""The guide: what the words mean, generated from the rules, and the documentation of the repository where it is."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import dpsco_bench
from dpsco_bench.analysis.answer import STANDINGS
from dpsco_bench.paths import documents
from dpsco_bench.report.opening import RESERVED as RESERVED_STANDINGS
from dpsco_bench.report.wording import CALIBRATION_MEANINGS, TONES, meanings
from dpsco_bench.site.content import Content, Pages
from dpsco_bench.site.markdown import badge, heading, text, toctree

LEFT_OUT = ("benchmarks", "standing")
"""Pages of the documentation that the site has elsewhere, from the results of its own profile."""
PARTS = {
    "Reading": ("reading", "faq", "glossary", "verdicts", "error_rates"),
    "Using": ("choosing", "own", "accounting", "threats", "verbs", "cluster", "api"),
    "How it is built": ("design", "fused", "cost", "scaling"),
}
"""Pages in the order of the guide; what the documentation has besides follows."""
_LINK = re.compile(r"\]\((?!https?:|#)([^)\s]+)\)")
READING = (
    "A claim is a theorem, a row of a table or a figure. Each of its parts is one experiment, with a grid and a "
    "tolerance that were fixed before the run. A rate fits log(mean excess risk) on log(parameter), and compares "
    "the slope with that of the full bound formula over the same grid. The paper's bare exponent, without "
    "logarithms, stands beside it. Noise off is the slope of the same schedule without noise: where it equals the "
    "bound's, the slope says nothing about the noise. A law compares every mean with a computed value. A negative "
    "control has a stated slope. A part that is only shown has no verdict. Where an instance has a free signal "
    "strength, the risk is the largest mean over a grid of it."
)
LETTERS = (
    "n records, d dimension, l = ln(1/delta), G Lipschitz constant, L smoothness, mu strong convexity (or the "
    "Polyak-Lojasiewicz constant), kappa = L/mu, T steps or epochs, D0 the excess risk of the starting point. "
    "Excess risk is F(x) - F*, with the exact optimum, over the sample or, where an axis says so, over the "
    "population. Intervals are 95 % bootstrap intervals over replicates, and over data sets where there are "
    "several."
)


def guide_pages(content: Content) -> Pages:
    """How to read a verdict, then the documentation."""
    docs = shown_documents()
    known = ["reading", *docs, "api"]
    parts = {title: [name for name in names if name in known] for title, names in PARTS.items()}
    parts["More"] = [name for name in known if name not in sum(PARTS.values(), ())]
    index = [toctree(names, hidden=False, caption=title) for title, names in parts.items() if names]
    found = {"guide/index": "\n".join([heading("Guide", target="guide"), *index])}
    found |= {"guide/reading": reading_page(), "guide/api": api_page()}
    for name, path in docs.items():
        found[f"guide/{name}"] = _linked(path.read_text(encoding="utf-8"), docs)
    return {**found, **benchmark_page()}


def shown_documents() -> dict[str, Path]:
    """Pages of the documentation that the guide shows."""
    return {name: path for name, path in documents().items() if name not in LEFT_OUT}


def benchmark_page() -> Pages:
    """The measured speed, as the documentation has it."""
    file = documents().get("benchmarks")
    if file is None:
        return {"benchmarks": f"{heading('Benchmarks')}\nThey stand in the documentation of the repository.\n"}
    return {"benchmarks": _linked(file.read_text(encoding="utf-8"), {}, "files/docs/")}


def _linked(page: str, docs: dict[str, Path], files: str = "../files/docs/") -> str:
    """A page of the documentation whose links lead to pages of the site, or nowhere."""

    def led(found: re.Match[str]) -> str:
        name = found[1].partition("#")[0]
        if name.endswith(".md"):
            stem = Path(name).stem
            return f"]({stem}.md)" if "/" not in name and stem in docs else "](#guide)"
        return f"]({files}{name})" if (name.endswith((".svg", ".png")) and "/" not in name) else "](#guide)"

    return _LINK.sub(led, page)


def api_page() -> str:
    """What `import dpsco_bench` offers, from its docstrings."""
    names = "\n\n".join(_documented(name) for name in dpsco_bench.__all__)
    intro = "What `import dpsco_bench` offers. Everything else may change without notice.\n"
    return "\n".join([heading("From Python", target="api"), intro, f"```{{eval-rst}}\n{names}\n```\n"])


def _documented(name: str) -> str:
    """Sphinx's directive for a public name, with the members of a class."""
    found = getattr(dpsco_bench, name)
    kind = "class" if inspect.isclass(found) else "function"
    members = "\n   :members:" if kind == "class" else ""
    return f".. auto{kind}:: dpsco_bench.{name}{members}"


def reading_page() -> str:
    """Every word for claims, noise and verdicts, with its meaning."""
    standings = []
    for word, meant in STANDINGS.items():
        tone = "qualified" if word in RESERVED_STANDINGS else TONES[meant.outcome]
        standings.append((badge(word, tone), meant.meaning))
    words = [(badge(word, tone), meaning) for word, tone, meaning in meanings()]
    noises = [(text(word), meaning) for word, meaning in CALIBRATION_MEANINGS]
    return "\n".join(
        [
            heading("Reading a verdict", target="reading"),
            text(READING) + "\n",
            heading("What a claim comes to", 2),
            "Every claim counts once, by all of its verdicts. Whatever contradicts it under the paper's own noise, or "
            "without noise, outweighs the rest.\n",
            _meanings("Standing", standings),
            heading("Noise", 2),
            _meanings("Noise", noises),
            heading("Verdicts of experiments", 2),
            _meanings("Verdict", words),
            heading("Letters", 2),
            text(LETTERS) + "\n",
        ]
    )


def _meanings(title: str, rows: list[tuple[str, str]]) -> str:
    body = "\n".join(f"| {word} | {text(meaning)} |" for word, meaning in rows)
    return f"{{.plain}}\n| {title} | Meaning |\n| --- | --- |\n{body}\n"
