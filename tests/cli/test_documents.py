"""README and docs name files and verbs that exist."""

import re
from pathlib import Path

import pytest

from dpsco_bench.cli.main import verb_names

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page):
    links = re.findall(r"\]\((?!https?:|#)([^)\s#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_verb_exists(page):
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"(?:-m dpsco_bench|`dpsco|^dpsco) ([a-z]+)\b", text, re.MULTILINE)
    assert set(named) <= set(verb_names())


def test_the_readme_has_at_most_two_hundred_lines():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 200
