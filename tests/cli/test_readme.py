"""README, docs/standing.md and docs/changes.md say what is recorded."""

import re
import runpy
import shlex
from pathlib import Path

import pytest

from dpsco_bench.execution.predict import read_seconds
from dpsco_bench.site.findings import finding_files, read_finding

ROOT = Path(__file__).parents[2]
STANDING = runpy.run_path(str(ROOT / "docs" / "standing.py"))
CHANGES = runpy.run_path(str(ROOT / "docs" / "changes.py"))
FINDINGS = runpy.run_path(str(ROOT / "docs" / "findings.py"))


def test_the_page_of_standings_is_that_of_the_record():
    assert (ROOT / "docs" / "standing.md").read_text(encoding="utf-8") == STANDING["page"](), "python docs/standing.py"


def test_the_page_of_changed_words_is_that_of_the_record():
    assert (ROOT / "docs" / "changes.md").read_text(encoding="utf-8") == CHANGES["page"](), "python docs/changes.py"


def test_the_readme_counts_the_claims_as_they_are_recorded():
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").replace("\n> ", " ").split())
    assert STANDING["headline_of"]("ci") in text, "python docs/standing.py"


def test_the_findings_of_the_readme_are_those_of_the_page():
    """docs/findings.md is written from the run whose verdicts are recorded."""
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    shown = re.search(
        f"{FINDINGS['BEGIN']}((?s:.*)){FINDINGS['END']}", (ROOT / "README.md").read_text(encoding="utf-8")
    )
    lines = [" ".join(line.split()) for line in shown[1].split("* **")[1:]]
    assert len(lines) == len(FINDINGS["FIRST"]) == 5
    for line in lines:
        title, _, sentence = line.partition(".** ")
        assert f". {title}\n\n{sentence}\n" in page, "python docs/findings.py"


def test_the_page_has_every_finding_of_the_profile():
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    texts = [read_finding(path, id) for id, path in finding_files().items()]
    titles = [text.title for text in texts if "ci" in (text.profiles or ["ci"])]
    assert re.findall(r"^## \d+\. (.*)$", page, re.MULTILINE) == titles


def test_the_readme_says_what_the_recorded_runs_took():
    seconds = read_seconds(ROOT / "workflows" / "seconds" / "ci.json")
    minutes = sum(run for jobs in seconds.values() for _, run, _ in jobs.values()) / 60
    (said,) = re.findall(r"of which runs (\d+)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert int(said) == round(minutes)


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
