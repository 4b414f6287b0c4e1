"""Bad configuration is one line; nothing is run and no traceback shown. tests/cli/test_bad_inputs.py has more."""

from pathlib import Path

import pytest

from dpsco_bench.claims.files import read_yaml

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--config", "profile=tiny"], "profile = 'tiny'"),
        (["--config", "data_root=5"], "data_root = 5"),
        (["--", "claims/wang2017.delta"], "claim = 'wang2017.delta'"),
    ],
)
def test_bad_value_is_one_line(pristine, words, named):
    result = pristine.snakemake("--dry-run", *words)
    assert result.returncode == 2 and result.stderr.strip().splitlines()[-1].startswith(f"dpsco: {named}: must be ")
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("name", ["default", "slurm", "gpu"])
def test_profiles_agree_on_what_makes_reruns_right(name):
    profile = read_yaml(ROOT / "profiles" / name / "config.yaml")
    assert profile["nolock"] and profile["rerun-incomplete"]
    assert profile["rerun-triggers"] == ["mtime", "params"]
