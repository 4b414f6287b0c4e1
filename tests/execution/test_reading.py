"""Result tables are read without threads: a process that ends while one of Arrow's still runs may abort."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from dpsco_bench.execution.results import parquet_table, table_bytes

COUNT = """
import os, sys
from pathlib import Path
from dpsco_bench.execution.results import parquet_table
before = len(os.listdir("/proc/self/task"))
parquet_table(Path(sys.argv[1]))
parquet_table(Path(sys.argv[1]).read_bytes())
print(len(os.listdir("/proc/self/task")) - before)
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted where the system shows them")
def test_reading_starts_no_thread(tmp_path):
    table = pa.table({"cell": list(range(1000)), "name": ["a"] * 1000}).replace_schema_metadata({"dpsco.schema": "1"})
    (tmp_path / "a.parquet").write_bytes(table_bytes(table))
    assert parquet_table(tmp_path / "a.parquet").schema.equals(table.schema, check_metadata=True)
    command = [sys.executable, "-c", COUNT, tmp_path / "a.parquet"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == ["0"]
