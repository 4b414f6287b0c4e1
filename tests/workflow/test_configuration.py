"""Bad configuration is one line; nothing is run and no traceback shown. tests/cli/test_bad_inputs.py has more."""

from pathlib import Path

import pytest

from dpsco_bench.claims.files import read_yaml

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_bad_value_is_one_line(pristine):
    result = pristine.snakemake("--dry-run", "--", "claims/wang2017.delta")
    named = "dpsco: claim = 'wang2017.delta': must be "
    assert result.returncode == 2 and result.stderr.strip().splitlines()[-1].startswith(named)
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("name", ["default", "slurm", "gpu"])
def test_profiles_agree_on_what_makes_reruns_right(name):
    profile = read_yaml(ROOT / "profiles" / name / "config.yaml")
    assert profile["nolock"] and profile["rerun-incomplete"]
    assert profile["rerun-triggers"] == ["mtime", "params"]
