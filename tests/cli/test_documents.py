"""README and docs name files and verbs that exist, in sentences of at most thirty words."""

import re
from pathlib import Path

import pytest

from dpsco_bench.cli.main import verb_names

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere_and_every_verb_exists(page):
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:|#)([^)\s#]+)", text)
    assert [link for link in links if not (page.parent / link).exists()] == []
    named = re.findall(r"(?:-m dpsco_bench|`dpsco|^dpsco) ([a-z]+)\b", text, re.MULTILINE)
    assert set(named) <= set(verb_names())


FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[*+-]|\d+\.) )|\n(?=[|#])")
LONGEST = 30


def sentences(page: str) -> list[str]:
    """Sentences of a page's prose: without listings, tables and headings; a piece of code counts as a word."""
    found = []
    for block in BLOCK.split(FENCE.sub("\n\n", re.sub(r"<!--.*?-->", "", page, flags=re.DOTALL))):
        if block.strip()[:1] in {"", "|", "#"}:
            continue
        plain = re.sub(r"`[^`]+`", "Code", re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"\n> ?", " ", block)))
        found += re.split(r"(?<=[.!?:])[*\"')]*\s+(?=[A-Z*(\"\d])", " ".join(plain.split()))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_sentence_is_long(page):
    said = sentences(page.read_text(encoding="utf-8"))
    assert [one for one in said if len(re.findall(r"\S*\w\S*", one)) > LONGEST] == []


def test_every_verb_and_every_page_is_told_of():
    verbs, readme = ((ROOT / name).read_text(encoding="utf-8") for name in ("docs/verbs.md", "README.md"))
    assert [verb for verb in verb_names() if f"dpsco_bench {verb}" not in verbs] == []
    pages = [page.relative_to(ROOT).as_posix() for page in PAGES]
    assert [page for page in pages if page.startswith("docs/") and page not in readme] == []
    assert len(readme.splitlines()) <= 200
