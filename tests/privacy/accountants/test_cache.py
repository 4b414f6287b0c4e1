"""Cached values are those of the function, survive damage, and are shared between processes."""

import json
import math
import subprocess
import sys

import pytest

from dpsco_bench.privacy.accountants import cache, gaussian
from dpsco_bench.privacy.accountants.cache import cached

ARGUMENTS = {"epsilon": 1.0, "delta": 1e-5}


def only_file(folder):
    (path,) = folder.iterdir()
    return path


def forge(path, value):
    entry = json.loads(path.read_text())
    path.write_text(json.dumps(entry | {"value": value}))


def test_value_is_computed_once_and_comes_back_bit_for_bit(tmp_path):
    first = cached(gaussian.gdp_mu, tmp_path / "cache", **ARGUMENTS)
    assert first == gaussian.gdp_mu(**ARGUMENTS) == cached(gaussian.gdp_mu, tmp_path / "cache", **ARGUMENTS)
    forge(only_file(tmp_path / "cache"), 7.0)
    assert cached(gaussian.gdp_mu, tmp_path / "cache", **ARGUMENTS) == 7.0


def test_no_directory_means_no_cache():
    assert cached(gaussian.gdp_mu, None, **ARGUMENTS) == gaussian.gdp_mu(**ARGUMENTS)


def test_infinity_survives(tmp_path):
    for _ in range(2):
        assert cached(gaussian.gdp_epsilon, tmp_path, mu=math.inf, delta=1e-5) == math.inf


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"value": 3}', '{"request": {}, "value": 3}', "\xff"])
def test_damaged_entries_are_computed_anew(tmp_path, damage):
    cached(gaussian.gdp_mu, tmp_path, **ARGUMENTS)
    only_file(tmp_path).write_bytes(damage.encode("latin-1"))
    assert cached(gaussian.gdp_mu, tmp_path, **ARGUMENTS) == gaussian.gdp_mu(**ARGUMENTS)
    assert json.loads(only_file(tmp_path).read_text())["value"] == gaussian.gdp_mu(**ARGUMENTS)


def test_function_arguments_library_and_code_all_count(tmp_path, monkeypatch):
    cached(gaussian.gdp_mu, tmp_path, **ARGUMENTS)
    cached(gaussian.gdp_mu, tmp_path, epsilon=1.0, delta=1e-6)
    cached(gaussian.gdp_delta, tmp_path, mu=1.0, epsilon=1.0)
    with monkeypatch.context() as patch:
        patch.setattr(cache, "_library_version", lambda: "0.0")
        cached(gaussian.gdp_mu, tmp_path, **ARGUMENTS)
    monkeypatch.setattr(cache, "_code_digest", lambda source: "other code")
    cached(gaussian.gdp_mu, tmp_path, **ARGUMENTS)
    assert len(list(tmp_path.iterdir())) == 5


def test_errors_are_not_cached(tmp_path):
    with pytest.raises(ValueError, match="epsilon"):
        cached(gaussian.gdp_mu, tmp_path, epsilon=-1.0, delta=1e-5)
    assert list(tmp_path.iterdir()) == []


def test_processes_share_the_cache(tmp_path):
    code = (
        "import sys; from dpsco_bench.privacy.accountants import cache, gaussian\n"
        "for k in range(1, 40): cache.cached(gaussian.gdp_mu, sys.argv[1], epsilon=float(k % 8 + 1), delta=1e-5)"
    )
    workers = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)]) for _ in range(3)]
    assert [worker.wait() for worker in workers] == [0, 0, 0]
    values = {
        entry["request"]["arguments"]["epsilon"]: entry["value"]
        for entry in map(json.loads, map(lambda p: p.read_text(), tmp_path.iterdir()))
    }
    assert values == {float(k): gaussian.gdp_mu(float(k), 1e-5) for k in range(1, 9)}
