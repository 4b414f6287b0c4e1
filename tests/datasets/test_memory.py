"""What fits into the memory is known before a file is read."""

import numpy as np
import pyarrow.csv
import pytest

from dpsco_bench.datasets import columns, tables
from dpsco_bench.errors import InputError
from dpsco_bench.problems.registry import get_problem

GIGA = 1e9


def test_a_file_of_very_many_columns_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path, width = tmp_path / "wide.csv", 300_000
    path.write_text(",".join(map("c{}".format, range(width))) + ",y\n" + ("0.5," * width + "1\n") * 3)
    monkeypatch.setattr(columns, "available_memory", lambda: 2.0 * GIGA)

    def never(*arguments, **more):
        raise AssertionError("it was read")

    monkeypatch.setattr(pyarrow.csv, "read_csv", never)
    with pytest.raises(InputError, match="columns of wide.csv = 300001: must be at most 198098 with about 3 records"):
        tables.read(path, "y")


def test_many_records_count_too(tmp_path, monkeypatch):
    path = tmp_path / "long.csv"
    path.write_text("a,b,c,y\n" + "0.5,1.5,2.5,1\n" * 100_000)
    monkeypatch.setattr(columns, "available_memory", lambda: 0.01 * GIGA)
    with pytest.raises(InputError, match=r"columns of long.csv = 4: must be at most 3 with about 100000 records"):
        tables.read(path, "y")


@pytest.mark.parametrize("version", [1, 2])
def test_a_control_group_may_allow_less_than_the_machine_has(tmp_path, monkeypatch, version):
    meminfo, groups, mount = tmp_path / "meminfo", tmp_path / "cgroup", tmp_path / "mount"
    meminfo.write_text("MemTotal: 16000000 kB\nMemAvailable: 8000000 kB\n")
    groups.write_text("4:cpuset:/other\n3:memory:/outer/inner\n" if version == 1 else "0::/outer/inner\n")
    limit, used = (
        ("memory.limit_in_bytes", "memory.usage_in_bytes") if version == 1 else ("memory.max", "memory.current")
    )
    outer = mount / ("memory/outer" if version == 1 else "outer")
    (outer / "inner").mkdir(parents=True)
    for folder, most in ((outer, "3000000000"), (outer / "inner", str(2**63 - 4096) if version == 1 else "max")):
        (folder / limit).write_text(most + "\n")
        (folder / used).write_text("1000000000\n")
        (folder / "memory.stat").write_text("cache 7\ninactive_file 500000000\n")
    for name, path in (("MEMINFO", meminfo), ("GROUPS", groups), ("MOUNT", mount)):
        monkeypatch.setattr(columns, name, path)
    assert columns.available_memory() == 2.5 * GIGA
    (outer / limit).write_text("max\n")
    assert columns.available_memory() == 8000000 * 1024
    groups.unlink()
    assert columns.available_memory() == 8000000 * 1024


def test_a_matrix_of_columns_by_columns_that_does_not_fit_is_refused(tmp_path, monkeypatch):
    path, rng = tmp_path / "square.csv", np.random.default_rng(0)
    rows = rng.normal(size=(20, 30))
    path.write_text("\n".join([",".join([*map("c{}".format, range(30)), "y"]), *_lines(rows)]) + "\n")
    problem = get_problem("data_file", path=str(path), label="y", clip=1.0)
    assert problem.draw(20, None).features.shape == (20, 30)  # the file stays in memory
    monkeypatch.setattr(columns, "available_memory", lambda: 8.0 * columns.SQUARES * 29**2)
    with pytest.raises(InputError, match="columns of square.csv = 30: must be at most 29: the minimum needs 8 m"):
        problem.draw(20, None)


def _lines(rows):
    return [",".join([*map(str, row), str(number % 2)]) for number, row in enumerate(rows)]
