"""README, docs/standing.md and docs/verdicts.md say what is recorded, and what the code has."""

import re
import runpy
import shlex
from pathlib import Path

from dpsco_bench.analysis.record import read_record
from dpsco_bench.cli.verbs.gate import recorded_seconds_path
from dpsco_bench.execution.predict import read_seconds
from dpsco_bench.jsonio import loads
from dpsco_bench.report.findings import all_findings

ROOT = Path(__file__).parents[2]
STANDING, VERDICTS, FINDINGS = (runpy.run_path(f"{ROOT}/docs/{it}.py") for it in ("standing", "verdicts", "findings"))


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


README, PAGE = text("README.md"), text("docs/findings.md")


def test_the_pages_of_standings_and_verdicts_and_the_counts_of_the_readme_are_those_of_the_record():
    assert text("docs/standing.md") == STANDING["page"](), "python docs/standing.py"
    assert "\n".join(STANDING["counts"]("ci")) in README, "python docs/standing.py"
    (said,) = re.findall(r"^0 of (\d+) verdicts changed", README, re.MULTILINE)
    assert int(said) == len(read_record(ROOT / "workflows" / "recorded" / "ci.json"))
    shown = re.search(rf"dpsco_bench claim {STANDING['SHOWN']}\n((?s:.*?))\.\.\.\n", README)
    assert shown[1] == STANDING["claim_answer"]("ci", STANDING["SHOWN"]) + "\n", "python docs/standing.py"
    page = text("docs/verdicts.md")
    assert page == VERDICTS["page"](page), "python docs/verdicts.py"


def test_the_findings_of_the_readme_are_those_of_the_page():
    """docs/findings.md is written from the run whose verdicts are recorded."""
    shown = re.search(f"{FINDINGS['BEGIN']}((?s:.*)){FINDINGS['END']}", README)
    lines = [" ".join(line.split()) for line in shown[1].split("* **")[1:]]
    assert len(lines) == len(FINDINGS["FIRST"]) == 5
    for line in lines:
        title, _, sentence = line.partition(".** ")
        found = rf"## {re.escape(title)}\n\n`(?:full|ci)`(?: and `ci`)?: {re.escape(sentence)}(?:\n| )"
        assert re.search(found, PAGE), "python docs/findings.py"


def test_the_page_has_every_finding_and_says_of_which_profile():
    profiles = FINDINGS["PROFILES"]
    for finding, part in zip(all_findings(), re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:], strict=True):
        title, *_, behind = part.strip().split("\n\n")
        assert re.fullmatch(re.escape(finding.title).replace("…", ".+"), title), "python docs/findings.py"
        assert behind.startswith("Behind it: "), title
        named = re.findall(r"^(`ci`|`full`|`full` and `ci`): ", part, re.MULTILINE)
        assert re.findall(r"`(\w+)`", " ".join(named)) == [p for p in profiles if p in (finding.profiles or profiles)]


def test_how_far_the_leaderboard_decides():
    points = loads(text("workflows/recorded/boards/full.json"))
    decided = [point for point in points if not point["contenders"]]
    far, wide = max(point["n"] for point in decided), max(point["n"] for point in decided if point["d"] > 64)
    said = f"decides no point above n = {far:,}, and with more than 64 dimensions none above n = {wide:,}"
    assert said in " ".join(text("docs/choosing.md").split())


def test_the_readme_says_how_long_its_commands_take():
    kept = loads(text("docs/whole.json"))
    replicate, tests = kept["commands"]["replicate"], kept["commands"]["test"]
    (lasted,) = re.findall(r"^\$ make replicate .*: (\d+) min on two cores$", README, re.MULTILINE)
    (tested,) = re.findall(r"^\$ make test .*: (\d+) min on two cores;", README, re.MULTILINE)
    assert (int(lasted), int(tested)) == (round(replicate["wall"] / 60), round(tests["wall"] / 60))
    recorded = read_seconds(recorded_seconds_path("full"))
    spent = sum(calibrate + run for jobs in recorded.values() for calibrate, run, _ in jobs.values())
    assert f"in {round(kept['smoke']['after']['wall'] / 60)} min; `make replicate PROFILE=full`" in README
    assert f"whose runs take {spent / 3600:.1f} h of processor time" in " ".join(README.split())


def test_the_account_that_the_readme_shows_is_what_is_printed(dpsco):
    command, shown = re.search(r"\$ python -m dpsco_bench (account .*)\n((?s:.*?))```", README).groups()
    said = dpsco(*shlex.split(command)).said
    assert [piece for piece in shown.split("...\n") if piece not in said] == []
