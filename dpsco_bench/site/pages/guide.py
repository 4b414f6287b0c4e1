"""The guide: what the words mean, generated from the rules, and the documentation of the repository where it is."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from pathlib import Path

import dpsco_bench
from dpsco_bench.paths import documents
from dpsco_bench.report.reading import SKELETON, filled
from dpsco_bench.site.content import Content, Pages
from dpsco_bench.site.markdown import badge, heading, text, toctree

ELSEWHERE = {"verdicts": "how-to-read", "findings": "findings", "standing": "claims", "benchmarks": "benchmarks"}
"""Page of the documentation -> address of what the site has in its place, from the results of its own profile."""
PARTS = {
    "Reading": ("start", "reading", "faq", "glossary", "threats", "audits", "error_rates"),
    "Using": ("choosing", "own", "verbs", "accounting", "cluster", "api"),
    "How it is built": ("design", "fused", "scaling", "gpu", "mutants"),
}
"""Pages in the order of the guide; what the documentation has besides follows."""
MAILED = (*PARTS["Reading"], "choosing", "accounting")
"""Pages of the documentation that the one file to mail has."""
_COMMENT = re.compile(r"<!--.*?-->\n*")
_LINK = re.compile(r"\]\((?!https?:|#)([^)\s]+)\)")


def guide_pages(content: Content) -> Pages:
    """Say how to read a verdict, then the documentation."""
    docs = {name: path for name, path in shown_documents().items() if not content.short or name in MAILED}
    known = ["reading", *docs, *([] if content.short else ["api"])]
    parts = {title: [name for name in names if name in known] for title, names in PARTS.items()}
    parts["More"] = [name for name in known if name not in sum(PARTS.values(), ())]
    index = [toctree(names, hidden=False, caption=title) for title, names in parts.items() if names]
    found = {"guide/index": "\n".join([heading("Guide", target="guide"), *index])}
    found |= {"guide/reading": reading_page(docs)}
    found |= {} if content.short else {"guide/api": api_page()}
    for name, path in docs.items():
        found[f"guide/{name}"] = _linked(path.read_text(encoding="utf-8"), docs)
    return {**found, **benchmark_page()}


def shown_documents() -> dict[str, Path]:
    """Pages of the documentation that the guide shows."""
    return {name: path for name, path in documents().items() if name not in ELSEWHERE}


def benchmark_page() -> Pages:
    """The measured speed, as the documentation has it."""
    file = documents().get("benchmarks")
    if file is None:
        absent = "They stand in the documentation of the repository.\n"
        return {"benchmarks": "\n".join([heading("Benchmarks", target="benchmarks"), absent])}
    return {"benchmarks": "(benchmarks)=\n" + _linked(file.read_text(encoding="utf-8"), {}, "files/docs/")}


def _linked(page: str, docs: Mapping[str, Path], files: str = "../files/docs/") -> str:
    """A page of the documentation whose links lead to pages of the site, or nowhere."""

    def led(found: re.Match[str]) -> str:
        name = found[1].partition("#")[0]
        if name.endswith(".md"):
            stem = Path(name).stem
            if stem in ELSEWHERE:
                return f"](#{ELSEWHERE[stem]})"
            return f"]({stem}.md)" if "/" not in name and stem in docs else "](#guide)"
        return f"]({files}{name})" if (name.endswith((".svg", ".png")) and "/" not in name) else "](#guide)"

    return _LINK.sub(led, page)


def api_page() -> str:
    """Say what `import dpsco_bench` offers, from its docstrings."""
    names = "\n\n".join(_documented(name) for name in dpsco_bench.__all__)
    intro = "What `import dpsco_bench` offers. Everything else may change without notice.\n"
    return "\n".join([heading("From Python", target="api"), intro, f"```{{eval-rst}}\n{names}\n```\n"])


def _documented(name: str) -> str:
    """Sphinx's directive for a public name, with the members of a class."""
    found = getattr(dpsco_bench, name)
    kind = "class" if inspect.isclass(found) else "function"
    members = "\n   :members:" if kind == "class" else ""
    return f".. auto{kind}:: dpsco_bench.{name}{members}"


def reading_page(docs: Mapping[str, Path]) -> str:
    """Every word for claims, noise and verdicts, in the colours that it has everywhere."""
    file = documents().get("verdicts")
    page = file.read_text(encoding="utf-8") if file else f"# Reading a verdict\n\n{SKELETON}"
    return "(how-to-read)=\n" + _linked(_COMMENT.sub("", filled(page, badge, text, "{.plain}\n")), docs)
