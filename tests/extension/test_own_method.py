"""One's own algorithm, problem and bound in one file outside the package, through every door."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import dpsco_bench
from dpsco_bench.cli.outline import state
from dpsco_bench.cli.verbs import plan as planning
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.plugins import load_plugins, plugin_files
from dpsco_bench.execution.results import read_table

ROOT = Path(__file__).resolve().parents[2]
METHOD, CLAIM = "examples/own_method.py", "examples/own_claim.yaml"
PAIR = ("algorithm=mine.noisy_gd", "problem=flipped_labels", f"plugins=[{METHOD}]")


def test_the_page_shows_the_files_as_they_are():
    shown = (ROOT / "docs" / "own.md").read_text()
    blocks = re.findall(r"```(?:python|yaml)\n(.*?)```", shown, re.DOTALL)
    for path in (METHOD, CLAIM, "examples/own_batches.py"):
        assert (ROOT / path).read_text() in blocks, f"{path} differs from what docs/own.md shows"


BLOCKS = re.findall(r"```console\n(.*?)```", (ROOT / "docs" / "own.md").read_text(), re.DOTALL)
SHOWN = [entry.split("\n", 1) for block in BLOCKS for entry in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]


@pytest.mark.parametrize(("command", "output"), SHOWN, ids=[command for command, _ in SHOWN])
def test_the_outputs_of_the_page_are_real(dpsco, command, output):
    python, module, package, *arguments = shlex.split(command)
    assert (python, module, package) == ("python", "-m", "dpsco_bench")
    assert dpsco(*arguments).said.strip() == output.strip()


def test_runs_through_hydra(dpsco):
    (row,) = dpsco("run", *PAIR, "n=256", "d=3", "replicates=4", "out=rows.parquet", "--json").rows
    assert row["algorithm"] == "mine.noisy_gd" and row["privacy_status"] == "proven"
    assert row["epsilon_real"] == pytest.approx(1) and 0 < row["risk"] < row["start_risk"]
    table, metadata = read_table(Path("rows.parquet"))
    assert table.num_rows == 4 and metadata["config"]["problem"]["name"] == "flipped_labels"
    assert METHOD not in json.dumps(metadata), "results do not say where files lay"
    swept = dpsco("run", "-m", *PAIR, "n=64,128", "steps=3", "replicates=2", "--json").rows
    assert [r["gradient_evaluations"] for r in swept] == [192, 384]


@pytest.mark.slow
def test_reported(dpsco, monkeypatch):
    monkeypatch.setattr("dpsco_bench.claims.catalogue.claim_ids", list)
    monkeypatch.setattr("dpsco_bench.leaderboard.board.board_ids", list)
    monkeypatch.setattr(planning, "profile_claims", lambda profile: [])
    assert dpsco("plan", "--profile", "smoke", f"plugins=[{METHOD}]", f"claims=[{CLAIM}]").code == 0
    files = Layout("smoke")
    for verb in (["worker", "claim", "mine.noisy_gd"], ["figure", "mine.noisy_gd"], ["site"]):
        assert dpsco(*verb, "--profile", "smoke", "--plugin", METHOD).code == 0
    page = (files.site.parent / "claims" / "mine.noisy_gd.html").read_text()
    assert (files.site.parent / "methods" / "mine.noisy_gd.html").is_file() and files.figure("mine.noisy_gd").is_file()
    for words in ("mine.noisy_gd", "flipped_labels-n", "match", "(L + λ) d G", "docs/own.md"):
        assert words in page, words
    assert "3 not recorded" in dpsco("compare", "--profile", "smoke").said
    assert "2 match" in dpsco("gate", "mine.noisy_gd", "--profile", "smoke").said


def test_a_need_that_is_no_trait(dpsco, edit):
    own = 'from enum import Enum\n\nOwn = Enum("Own", {"FLIPPED": "labels that are flipped"})\n\n\n@algorithm('
    edit(METHOD, ("Trait.STRONGLY_CONVEX", "Own.FLIPPED"), ("@algorithm(", own), ("c.strong_convexity", "0.1"))
    assert '"epsilon_real":' in dpsco("run", *PAIR, "n=64", "d=3", "steps=3", "out=rows.parquet", "--json").said
    refused = dpsco("account", "mine.noisy_gd", "problem=ridge_logistic", "n=64", "--plugin", METHOD).err
    assert "the problem lacks labels that are flipped" in refused


def test_a_changed_file_makes_the_plan_anew(dpsco):
    config = {"plugins": [METHOD], "claims": [CLAIM]}
    beside = Path(METHOD).with_name("beside.py")
    beside.write_text("STEP = 1\n")
    Path(METHOD).write_text("import beside\n" + Path(METHOD).read_text())
    for path in (METHOD, CLAIM, beside):
        before = state(config, map(str, plugin_files([METHOD])))
        assert state(config, map(str, plugin_files([METHOD]))) == before
        Path(path).write_text(Path(path).read_text() + "\n# edited\n")
        assert state(config, map(str, plugin_files([METHOD]))) != before


def test_the_library_takes_the_objects_themselves_and_batches_of_ones_own_keep_the_contract(dpsco):
    load_plugins([METHOD])
    result = dpsco_bench.run("mine.noisy_gd", "flipped_labels", n=256, d=3, replicates=3)
    assert result.output.shape == (3, 3) and np.isfinite(result.risk).all()
    entry = dpsco_bench.get_algorithm("mine.noisy_gd")
    passed = [finding.passed for finding in dpsco_bench.check_algorithm(entry, "flipped_labels", d=3, steps=5)]
    assert False not in passed and passed.count(True) > 6
    plugin = ("--plugin", "examples/own_batches.py")
    assert "gradient 1 of the charged" in " ".join(dpsco("check", *plugin, "mine.dp_sgd").said.split())
    assert "PLD" in dpsco("account", "mine.dp_sgd", *plugin, "problem=ridge_logistic", "n=2000").said


PROJECTED = "objective.project(x - plan.step * gradient)"
POINT = ("problem=data_file", "path=examples/customers.csv", "label=renewed", "positive=yes", "clip=2", "epsilon=2")
POINT += ("regularisation=0.1", "domain=l2_ball")


@pytest.mark.parametrize("call", [("run", "algorithm=mine.noisy_gd"), ("check", "mine.noisy_gd")])
def test_an_output_outside_is_one_line(dpsco, edit, call):
    edit(METHOD, (PROJECTED, PROJECTED.removeprefix("objective.project")))
    outcome = dpsco(*call, *POINT, "radius=0.1", "--plugin", METHOD)
    told = " ".join((outcome.out + outcome.err).split())
    assert outcome.code != 0 and "in the domain l2_ball" in told and "Traceback" not in told


CELLS = json.loads((Path(__file__).parents[2] / "examples" / "tour.ipynb").read_text(encoding="utf-8"))["cells"]
CODE = [cell for cell in CELLS if cell["cell_type"] == "code"]


def test_what_is_printed_is_what_it_shows(capsys):
    names = {}
    for cell in CODE:
        exec("".join(cell["source"]), names)
        assert capsys.readouterr().out == "".join(text for out in cell["outputs"] for text in out.get("text", ()))
        assert cell["outputs"] or "plot" not in "".join(cell["source"])
    ledger, choice = names["ledger"], names["choice"]
    assert ledger.paper.epsilon_real > 1 and ledger.accounted.privacy_status == "proven"
    assert names["slope"] < 0 and choice.best.risk < choice.trivial
