"""Every kind of file that is damaged or missing is made anew by the next run, whatever was concluded from it stands.

A dry run says so and changes nothing.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dpsco_bench.execution.packs import STEPS
from tests.marks import rest_at_night

pytestmark = pytest.mark.slow
LONG = pytest.mark.long
"""Also of a file of which half is missing: of one that is sealed, one comparison sees that and a flipped bit."""
BOARD = """
title: a tiny leaderboard
delta: 1.0e-5
methods: [wang2017.dp_gd_pl]
instances:
  - {id: ridge, title: ridge, problem: ridge_logistic}
grids:
  smoke: [{n: [128], d: [3], epsilon: [1.0]}]
replicates: {smoke: 3}
data_sets: {smoke: 1}
most_seconds: {smoke: 60.0}
most_seconds_at_smallest_n: {smoke: 60.0}
"""
KINDS = {
    "results/store/calibrations/*.json": "calibrate",
    "results/store/runs/*.parquet": "run",
    "results/store/runs/*.manifest": "run",
    "results/store/timings/*.json": "time",
    "results/smoke/verdicts/*.json": "judge",
    "results/smoke/standings/*.json": "rank",
    "results/smoke/plan.json": "",
    "figures/smoke/wang2017.alpha.svg": "judge",
    "figures/smoke/wang2017.beta.2.pdf": "judge",
}
"""What is damaged -> the step that makes it anew; the plan is made anew by whoever starts."""
DRAWN = {
    "figures/smoke/leaderboard.tiny.svg": "figure",
    "results/smoke/site/index.html": "site",
    "results/smoke/tables/scoreboard.*": "site",
}
"""The same of what is looked at where it is asked for."""
LEFT = {
    "results/smoke/packs.json": "",
    "results/smoke/concluded/wang2017.json": "judge",
    "results/smoke/gate.txt": "compare",
    "results/smoke/benchmarks/judge/wang2017.tsv": "",
    "results/smoke/logs/judge/wang2017.log": "",
    "results/smoke/.told.drawn": "",
    "results/smoke/.gate.drawn": "compare",
    "results/smoke/.lock": "",
}
"""The same of what a run leaves besides: no conclusion is made from it. Logs and benchmarks come with the next job."""
LOOK = """
import contextlib, io, json, sys
from pathlib import Path
from dpsco_bench.cli.workflow import Workflow
found = []
for name in sys.argv[1:]:
    path, said = Path(name), io.StringIO()
    content = path.read_bytes()
    middle = len(content) // 2
    path.write_bytes(content[:middle] + bytes([content[middle] ^ 4]) + content[middle + 1 :])
    with contextlib.redirect_stderr(said):
        flow = Workflow({"profile": "smoke"}, [])
    found.append((said.getvalue(), [pack.step for pack in flow.packing.packs], sorted(flow.due)))
    path.write_bytes(content)
print(json.dumps(found))
"""
"""Damages one file after the other, and says what a run would find and do."""


@pytest.fixture(scope="module", autouse=True)
def whole(project):
    """One complete run, of which nothing is damaged in the end; results and figures by path."""
    board = project.root / "conf" / "leaderboard" / "tiny.yaml"
    board.parent.mkdir()
    board.write_text(BOARD)
    done = project.snakemake()
    assert done.returncode == 0, done.stderr
    return contents(project)


def contents(project):
    """Every file of results and figures with its bytes and its time, but for what says how long something took."""
    folders = [project.root / "results", project.root / "figures"]
    paths = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path.relative_to(project.root): (path.stat().st_mtime_ns, path.read_bytes()) for path in paths}


def first(project, pattern):
    """A file, of the store one of a claim and not of the leaderboard; manifests are not those of the items."""
    paths = sorted(project.root.glob(pattern))
    if "/store/" in pattern:
        claims = json.loads((project.results / "plan.json").read_text())["claims"]
        keys = {job[key] for claim in claims for job in claim["jobs"] for key in ("key", "calibration_key")}
        paths = [path for path in paths if path.stem in keys or "timings" in pattern]
    return paths[-1 if "manifest" in pattern else 0]


def damage(path):
    """Truncate a file of rows and a page, flip a byte of any other."""
    content = path.read_bytes()
    middle = len(content) // 2
    flipped = content[:middle] + bytes([content[middle] ^ 4]) + content[middle + 1 :]
    path.write_bytes(content[:-5] if path.suffix in (".parquet", ".html") else flipped)


def said(done):
    return [line for line in done.stderr.splitlines() if line.startswith("dpsco: ")]


def planned(done):
    return re.findall(r"^Job \d+: (\S+)", done.stdout + done.stderr, re.MULTILINE)


def test_whatever_is_damaged_is_named_once_and_its_conclusions_are_due(project):
    paths = [first(project, pattern) for pattern in KINDS]
    before = {name: content for name, (_, content) in contents(project).items()}
    names = [path.relative_to(project.root).as_posix() for path in paths]
    command = [sys.executable, "-c", LOOK, *names]
    done = subprocess.run(command, cwd=project.root, env=project.environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for name, step, (text, steps, due) in zip(names, KINDS.values(), json.loads(done.stdout), strict=True):
        (line,) = text.splitlines()
        assert line.startswith(f"dpsco: {name} is damaged (") and line.endswith("to be set aside and made anew")
        assert steps == [step] * (step in STEPS) and bool(due) == bool(step)
        assert step not in ("judge", "rank") or due == [Path(name).stem]
    assert {name: content for name, (_, content) in contents(project).items()} == before


@LONG
def test_a_dry_run_changes_nothing_and_the_next_run_makes_everything_anew(project, whole):
    paths = [first(project, pattern) for pattern in (KINDS | DRAWN)]
    for path in paths:
        damage(path)
    names = {path.relative_to(project.root).as_posix() for path in paths}
    before = contents(project)
    dry = project.snakemake("--dry-run")
    assert dry.returncode == 0, dry.stderr
    assert {*planned(dry)} >= {*KINDS.values(), *DRAWN.values(), "compare"} - {""}
    assert contents(project) == before
    done = project.snakemake()
    assert done.returncode == 0, done.stderr
    for lines in (said(dry), said(done)):
        assert len(lines) == len(names) and {line.split()[1] for line in lines} == names
    kept = [path.with_name(path.name + ".damaged") for path in paths if path.parent.name not in ("tables", "site")]
    assert all(path.is_file() for path in kept)
    healed = contents(project)
    for name, (_, content) in whole.items():
        results = name.parent.name in ("calibrations", "runs", "verdicts", "standings") and name.suffix != ".manifest"
        if results or (name.suffix in (".svg", ".pdf") and ".time." not in name.name):
            assert healed[name][1] == content, name  # manifests tell what it cost
    assert "Nothing to be done" in project.snakemake().stderr


@pytest.mark.parametrize("targets", rest_at_night([(), ("verdicts",)], 1), ids=["all", "verdicts"])
def test_what_is_missing_below_what_was_concluded_is_made_again(project, targets):
    paths = [first(project, "results/store/runs/*.parquet"), first(project, "results/store/calibrations/*.json")]
    if not targets:
        paths += [project.results / "site" / "index.html", first(project, "results/smoke/standings/*.json")]
    kept = {path: path.read_bytes() for path in paths}
    for path in paths:
        path.unlink()
    before = contents(project)
    dry = project.snakemake("--dry-run", "--", *targets)
    assert {"calibrate", "run", "judge"} <= {*planned(dry)} and contents(project) == before
    done = project.snakemake("--", *targets)
    assert done.returncode == 0, done.stderr
    assert all(path.read_bytes() == content for path, content in kept.items() if path.suffix != ".html")
    assert all(path.is_file() for path in paths)
    assert project.snakemake().returncode == 0  # what these targets do not ask for, for the next test


@pytest.mark.parametrize(
    "way", ["flipped", pytest.param("truncated", marks=LONG), pytest.param("folder", marks=LONG)]
)  # one comparison sees a flipped bit and a missing half
@pytest.mark.parametrize("name", rest_at_night(LEFT, 0))
def test_what_a_run_leaves_besides_is_named_once_set_aside_and_made_anew(project, name, way):
    path, kept = project.root / name, contents(project)
    content = path.read_bytes()
    if way == "folder":
        path.unlink()
        (path / "within").mkdir(parents=True)
    elif name.endswith(".lock"):
        pytest.skip("a lock holds the number of its process, for people to read: nothing is concluded from it")
    else:
        middle = len(content) // 2
        tail = bytes([content[middle] ^ 4]) + content[middle + 1 :] if way == "flipped" else b""
        path.write_bytes(content[:middle] + tail)
    before = contents(project)
    dry = project.snakemake("--dry-run")
    assert dry.returncode == 0 and contents(project) == before
    assert (LEFT[name] in {*planned(dry)}) if LEFT[name] else not planned(dry)
    done = project.snakemake()
    assert done.returncode == 0, done.stderr
    for lines in (said(dry), said(done)):
        (line,) = lines
        assert line.startswith(f"dpsco: {name} is damaged (") and line.endswith("to be set aside and made anew")
    aside = path.with_name(f"{path.name}.damaged")
    assert aside.is_dir() if way == "folder" else aside.read_bytes() == before[path.relative_to(project.root)][1]
    shutil.rmtree(aside) if aside.is_dir() else aside.unlink()
    assert said(project.snakemake()) == []  # and it is whole
    again = contents(project)
    gone = {file for file in kept if file not in again and file.suffix != ".done"}  # marks are of one run
    assert gone <= {Path(name)}
    same = [
        file for file in kept if file in again and file.parent.name in ("verdicts", "standings", "concluded", "runs")
    ]
    assert all(again[file][1] == kept[file][1] for file in same)
    if LEFT[name]:
        assert path.read_bytes() == content
    elif not path.exists():
        path.write_bytes(content)  # for the next test


PLACES = (
    "smoke/logs",
    "smoke/packs",
    "smoke/failures",
    "smoke/verdicts",
    "smoke/site",
    "store/timings",
    "store/shards",
)
"""Folders in whose places a file may stand."""


@LONG
def test_a_file_in_a_folders_place_is_named_set_aside_and_the_folder_made_anew(project):
    kept, paths = contents(project), {f"results/{name}": project.root / "results" / name for name in PLACES}
    for path in paths.values():
        if path.exists():
            shutil.rmtree(path)
        path.write_text("not a folder")
    before = contents(project)
    dry = project.snakemake("--dry-run")
    assert dry.returncode == 0 and contents(project) == before, dry.stderr
    done = project.snakemake()
    assert done.returncode == 0, done.stderr
    what = "is damaged (a file stands in its place): to be set aside and made anew"
    for lines in (said(dry), said(done)):
        assert sorted(lines) == sorted(f"dpsco: {name} {what}" for name in paths)
    for path in paths.values():
        path.with_name(f"{path.name}.damaged").unlink()
    assert said(project.snakemake()) == []
    again, folders = contents(project), ("verdicts", "standings", "runs")
    words = [file for file in kept if file.parent.name in folders and file.suffix != ".damaged"]
    assert words and all(again[file][1] == kept[file][1] for file in words)


LOOP = "is damaged (a link to itself stands in its place)"
FOLDERS = ("results/smoke/logs", "results/smoke/site", "results/store/timings", "results/store/runs")
"""Folders in whose places a link to itself may stand, beside whole ones."""


WHOLE = rest_at_night([(), ("results/store", "figures/smoke"), ("results/smoke",)], 2)


@pytest.mark.parametrize("whole_ones", WHOLE, ids=str)
def test_a_link_to_itself_is_set_aside_at_once_and_what_it_replaced_made_anew(project, whole_ones):
    """In a dry run too: Snakemake breaks off at such a link."""
    kept, paths = contents(project), [project.root / name for name in whole_ones or (*FOLDERS, *LEFT)]
    if not whole_ones:
        paths += [first(project, pattern) for pattern in (KINDS | DRAWN)]
    paths = [path for path in paths if not any(other in path.parents for other in paths)]
    for path in paths:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        path.symlink_to(path.name)
    dry = project.snakemake("--dry-run")
    assert dry.returncode == 0, dry.stderr + dry.stdout
    lines = [
        f"dpsco: {path.relative_to(project.root)} {LOOP}: set aside as {path.name}.damaged, to be made anew"
        for path in paths
    ]
    assert sorted(said(dry)) == sorted(lines)
    done = project.snakemake()
    assert done.returncode == 0 and said(done) == [], done.stderr
    for path in paths:
        path.with_name(f"{path.name}.damaged").unlink(missing_ok=True)
    assert said(project.snakemake()) == []
    again = contents(project)
    words = [file for file in kept if file.parent.name in ("verdicts", "standings") and file.suffix == ".json"]
    assert words and all(again[file][1] == kept[file][1] for file in words)


@LONG
def test_what_another_verb_set_aside_is_made_again(project):
    path = first(project, "results/store/runs/*.parquet")
    content = path.read_bytes()
    damage(path)
    shown = [project.dpsco("figure", f"wang2017.{id}", "--profile", "smoke").stderr for id in ("alpha", "beta.2")]
    assert "is damaged" in "".join(shown) and not path.exists()
    assert project.snakemake().returncode == 0
    assert path.read_bytes() == content


def test_a_dry_run_of_nothing_leaves_nothing(pristine):
    assert pristine.snakemake("--dry-run").returncode == 0
    assert not (pristine.root / "results").exists() and not (pristine.root / "figures").exists()


def test_a_stale_plan_is_written_by_a_run_that_has_nothing_to_do(project, edited):
    edited(project.root / "dpsco_bench" / "cli" / "verbs" / "list.py", lambda text: text + "\n# edited\n")
    plan = project.results / "plan.json"
    stamp = json.loads(plan.read_text())["stamp"]
    assert project.snakemake("--dry-run").returncode == 0
    assert json.loads(plan.read_text())["stamp"] == stamp
    assert "Nothing to be done" in project.snakemake().stderr
    assert json.loads(plan.read_text())["stamp"] != stamp
