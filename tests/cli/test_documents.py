"""README and docs name files and verbs that exist, in sentences of at most thirty words."""

import re
from pathlib import Path

import pytest

from dpsco_bench.cli.main import verb_names

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page):
    links = re.findall(r"\]\((?!https?:|#)([^)\s#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_verb_exists(page):
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"(?:-m dpsco_bench|`dpsco|^dpsco) ([a-z]+)\b", text, re.MULTILINE)
    assert set(named) <= set(verb_names())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_history_stands_in_the_change_logs(page):
    """Whatever else is written speaks of the tree beside it; and no page names a commit."""
    title, text = page.read_text(encoding="utf-8").split("\n", 1)
    assert not re.search(r"\bcommits? `?[0-9a-f]{7,40}\b", text)
    assert not re.search(r"\bfirst record\b|\bit was \d", text) or title.startswith("# Change")


def test_the_readme_has_at_most_two_hundred_lines():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 200


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


def test_every_verb_is_told_of():
    page = (ROOT / "docs" / "verbs.md").read_text(encoding="utf-8")
    assert [verb for verb in verb_names() if f"dpsco_bench {verb}" not in page] == []


def test_every_page_of_the_documentation_is_reached_from_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = [page.relative_to(ROOT).as_posix() for page in PAGES]
    assert [page for page in pages if page.startswith("docs/") and page not in readme] == []
