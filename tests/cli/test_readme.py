"""README, docs/standing.md and docs/changes.md say what is recorded."""

import re
import runpy
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STANDING = runpy.run_path(str(ROOT / "docs" / "standing.py"))
CHANGES = runpy.run_path(str(ROOT / "docs" / "changes.py"))


def test_the_page_of_standings_is_that_of_the_record():
    assert (ROOT / "docs" / "standing.md").read_text(encoding="utf-8") == STANDING["page"](), "python docs/standing.py"


def test_the_page_of_changed_words_is_that_of_the_record():
    assert (ROOT / "docs" / "changes.md").read_text(encoding="utf-8") == CHANGES["page"](), "python docs/changes.py"


def test_the_readme_counts_the_claims_as_they_are_recorded():
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").replace("\n> ", " ").split())
    assert STANDING["headline_of"]("ci") in text, "python docs/standing.py"


@pytest.mark.parametrize("profile", STANDING["PROFILES"])
def test_every_claim_stands_on_the_page(profile):
    found = STANDING["recorded"](profile)
    lines = [line for line in STANDING["page"]().splitlines() if line.startswith("| `")]
    assert len(found) > 100
    assert {f"`{claim}`" for claim in found} <= {line.split(":")[0].removeprefix("| ") for line in lines}


def test_the_account_that_the_readme_shows_is_what_is_printed(dpsco):
    command, shown = re.search(
        r"\$ python -m dpsco_bench (account .*)\n((?s:.*?))```", (ROOT / "README.md").read_text(encoding="utf-8")
    ).groups()
    outcome = dpsco(*shlex.split(command))
    assert outcome.code == 0
    assert outcome.out.rstrip() == shown.rstrip()
