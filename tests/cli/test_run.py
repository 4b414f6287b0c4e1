import json
import shutil
from itertools import chain, repeat
from pathlib import Path
from unittest.mock import DEFAULT, Mock

import pytest

import dpsco_bench
from dpsco_bench.execution import worker
from dpsco_bench.execution.results import RESULT_SCHEMA, parquet_table, read_table

SMALL = ("run", "algorithm=wang2017/dp_gd_pl", "problem=ridge_logistic", "n=64", "d=3", "replicates=4")


def test_one_line_and_the_rows_with_their_configuration_and_their_summary(dpsco, tmp_path):
    outcome = dpsco(*SMALL)
    assert outcome.code == 0 and outcome.out.count("\n") == 1 and "proven), delta 1e-05, " in outcome.out
    (path,) = tmp_path.glob("results/runs/*.parquet")
    table, metadata = read_table(path)
    assert table.schema.remove_metadata() == RESULT_SCHEMA and table.num_rows == 4
    assert metadata["config"]["n"] == 64 and metadata["config"]["algorithm"]["id"] == "wang2017.dp_gd_pl"
    assert "data" not in metadata["config"] and str(tmp_path) not in json.dumps(metadata)
    assert str(path.relative_to(tmp_path)) in outcome.err
    (row,) = dpsco(*SMALL, "out=here/rows.parquet", "--json").rows
    risk = read_table(Path("here/rows.parquet"))[0]["risk"].to_numpy()
    assert row["risk"] == pytest.approx(risk.mean()) and row["out"] == "here/rows.parquet"
    assert row["stderr"] == pytest.approx(risk.std(ddof=1) / 2)
    assert row["epsilon_sequence"] == pytest.approx(1) and row["replicates"] == 4
    assert row["epsilon_real"] == row["epsilon_output"] < 0.6 and row["epsilon_of"] == "output"


def test_the_library_gives_the_same_numbers(dpsco):
    (alone,) = dpsco(*SMALL[:-1], "replicates=1", "--json").rows
    assert (alone["replicates"], alone["data_sets"], alone["stderr"]) == (1, 1, None)
    (row,) = dpsco(*SMALL, "noise_constant=2", "calibration=paper", "--json").rows
    given = {"calibration": "paper", "replicates": 4, "noise_constant": 2}
    result = dpsco_bench.run("wang2017.dp_gd_pl", "ridge_logistic", 64, 3, **given)
    assert result.mean == row["risk"] and result.stderr == pytest.approx(row["stderr"])
    assert result.calibration.epsilon_real == row["epsilon_real"]


def test_a_sweep_runs_every_cell_through_hydra(dpsco, tmp_path):
    arguments = ("run", "-m", "n=32,64", "calibration=paper,none", "d=2", "replicates=2", "step=0.5")
    swept = dpsco(*arguments, "--json").rows
    assert [(row["n"], row["calibration"]) for row in swept] == [(n, c) for n in (32, 64) for c in ("paper", "none")]
    assert len(list(tmp_path.glob("results/runs/*.parquet"))) == 4
    assert {path.name for path in tmp_path.iterdir()} == {"results"}
    single = dpsco("run", "n=64", "calibration=paper", "d=2", "replicates=2", "step=0.5", "--json").rows
    assert single == [swept[2]]


def test_what_is_finished_stays_and_is_not_run_again(dpsco, monkeypatch):
    asked = (*SMALL, "data_sets=3")
    assert dpsco(*asked, "out=a.parquet").code == 0
    shutil.rmtree("results/store")
    execute = Mock(wraps=worker.execute, side_effect=chain([DEFAULT, KeyboardInterrupt], repeat(DEFAULT)))
    monkeypatch.setattr(worker, "SHARE_SECONDS", 1e-12)
    monkeypatch.setattr(worker, "execute", execute)
    interrupted = dpsco(*asked, "out=b.parquet")
    assert (interrupted.code, interrupted.err) == (130, "dpsco: interrupted\n")
    for out in "bc":
        assert dpsco(*asked, f"out={out}.parquet").code == 0
        assert [call.kwargs["share"][0] for call in execute.call_args_list] == [0, 1, 1, 2]
    assert Path("a.parquet").read_bytes() == Path("b.parquet").read_bytes() == Path("c.parquet").read_bytes()


def test_a_refused_pair_is_a_row_with_its_reason_and_ends_no_sweep(dpsco, tmp_path):
    pair = "algorithm=wang2017.dp_gd_pl,bassily2021.noisy_sgd"
    swept = dpsco("run", "-m", pair, "n=32,64", "d=2", "replicates=4", "--json").rows
    assert ["refused" in row for row in swept] == [False, False, True, True]
    assert "the problem lacks an l_p ball" in swept[2]["refused"] and swept[2]["n"] == 32
    table = parquet_table(next(tmp_path.glob("results/runs/sweeps/*.parquet")))
    assert table["swept.n"].to_pylist() == ["32", "64"] * 2 and table["risk"].null_count == 2
    assert table["refused"].to_pylist()[:2] == [None, None]


def test_a_sweep_ends_with_one_table_one_file_and_one_plot_and_leaves_what_lies_in_its_folder(dpsco, tmp_path):
    (tmp_path / "mine" / "failures").mkdir(parents=True)
    (tmp_path / "mine" / "failures" / "important.txt").write_text("x")
    sweep = ("run", "-m", "n=32,64", "epsilon=1,4", "d=2", "replicates=4", "steps=3", "hydra.sweep.dir=mine")
    outcome = dpsco(*sweep)
    _, ended = outcome.out.split("\n\n")
    assert ended.splitlines()[0].split()[:2] == ["n", "epsilon"] and len(ended.splitlines()) == 6
    first, second = (tmp_path / line.split(": ")[1] for line in outcome.err.splitlines()[-2:])
    assert parquet_table(first).num_rows == 4 and second.read_text().startswith("<?xml")
    before = second.read_bytes()
    assert dpsco(*sweep).code == 0 and second.read_bytes() == before
    assert [path.read_text() for path in (tmp_path / "mine").rglob("important.txt")] == ["x"]


def test_a_sweep_in_which_all_is_refused_ends_with_the_table_of_its_reasons(dpsco, tmp_path):
    outcome = dpsco("run", "-m", "algorithm=bassily2021.noisy_sgd", "n=32,64")
    assert outcome.code == 2 and "lacks an l_p ball" in " ".join(outcome.out.split())
    table = parquet_table(next(tmp_path.glob("results/runs/sweeps/*.parquet")))
    assert table["swept.n"].to_pylist() == ["32", "64"] and all(table["refused"].to_pylist())
    assert not list(tmp_path.glob("results/runs/sweeps/*.svg"))
