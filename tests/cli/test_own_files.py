"""No verb removes or replaces a file that this program did not make."""

import pytest

SWEEP = ("run", "-m", "algorithm=wang2017/dp_gd_pl", "problem=ridge_logistic", "d=2", "replicates=2", "n=32,64")
CHOICE = ("choose", "problem=logistic_glm", "domain=l2_ball", "n=50", "d=2")


@pytest.mark.parametrize("name", ["sweep.parquet", "sweep.svg"])
def test_a_sweep_replaces_no_file_of_ones_own(dpsco, tmp_path, name):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / name).write_text("mine")
    outcome = dpsco(*SWEEP, "hydra.sweep.dir=mine")
    assert outcome.code == 2 and outcome.err.startswith(f"dpsco: hydra.sweep.dir = 'mine/{name}': ")
    assert (tmp_path / "mine" / name).read_text() == "mine" and len(list((tmp_path / "mine").iterdir())) == 1


@pytest.mark.parametrize(("out", "taken"), [("only.svg", ""), ("chart", ""), ("c.parquet", "c.svg"), ("c.pq", "c.pq")])
def test_a_choice_replaces_no_file_of_ones_own(dpsco, tmp_path, out, taken):
    if taken:
        (tmp_path / taken).write_text("mine")
    outcome = dpsco(*CHOICE, "--out", out)
    assert outcome.code == 2 and outcome.err.startswith(f"dpsco: --out = '{taken or out}': ")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"] * bool(taken)
