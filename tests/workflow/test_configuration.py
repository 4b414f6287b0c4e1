"""Bad configuration is one line that names key, value and what is allowed; nothing is run and no traceback shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsco_bench.claims.files import read_yaml
from tests.marks import rest_at_night

ROOT = Path(__file__).resolve().parents[2]
CASES = [
    ("profile=tiny", "profile = 'tiny': must be one of smoke, ci, full (--config)"),
    ("colour=red", "--config = 'colour': must be one of profile, data_root, backend, overrides"),
    ("backend=jax", "backend = 'jax': must be one of numpy, cupy (--config)"),
    (
        "data_root=absent/folder",
        "data_root = 'absent/folder': must be an existing folder (the one that contains covertype/) (--config)",
    ),
    ("data_root=5", "data_root = 5: must be an existing folder (the one that contains covertype/) (--config)"),
    ("plugins=absent.py", "plugins = 'absent.py': must be a list of existing Python files"),
    ("claims=absent.yaml", "claims = 'absent.yaml': must be a list of existing YAML files"),
    ("overrides=seed=abc", "seed = 'abc': must be an integer >= 0"),
    ("overrides=data.root='x", "overrides = "),
    ("overrides=colour=red", "colour = 'red': must be one of the settings"),
]


@pytest.mark.slow
@pytest.mark.parametrize("case", rest_at_night(CASES, 0, 4))
def test_bad_value_is_one_line(pristine, case):
    setting, message = case
    words = ["--config", setting] if setting.startswith("profile=") else ["--config", "profile=smoke", setting]
    result = pristine.snakemake(*words, "--dry-run")
    assert result.returncode == 2
    said = [line for line in result.stderr.splitlines() if line and not line.startswith("Using workflow specific")]
    assert len(said) == 1 and said[0].startswith("dpsco: " + message), result.stderr
    assert not (pristine.root / "results" / "smoke" / "plan.json").exists()


@pytest.mark.slow
def test_unknown_claim_is_one_line(pristine):
    result = pristine.snakemake("--dry-run", "--", "claims/wang2017.delta")
    assert result.returncode == 2
    last = result.stderr.strip().splitlines()[-1]
    assert last.startswith("dpsco: claim = 'wang2017.delta': must be one of wang2017.alpha, ")


@pytest.mark.parametrize("name", ["default", "slurm", "gpu"])
def test_profiles_agree_on_what_makes_reruns_right(name):
    profile = read_yaml(ROOT / "profiles" / name / "config.yaml")
    assert profile["nolock"] and profile["rerun-incomplete"]
    assert profile["rerun-triggers"] == ["mtime", "params"]
