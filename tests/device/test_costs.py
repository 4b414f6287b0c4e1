"""Every kernel compiles for three generations of cards, within recorded registers and without spills.

``DPSCO_RECORD=1`` writes what it finds to ``budgets.json``.
"""

import json
import os
from pathlib import Path

import pytest

import dpsco_bench
from dpsco_bench.backend.device import OPTIONS, cuda_source
from dpsco_bench.fused.device import WIDTHS

from . import emulated

PACKAGE = Path(dpsco_bench.__file__).parent
FILES = {str(path.relative_to(PACKAGE)): path for path in sorted(PACKAGE.rglob("*.cu")) if "_share" not in path.parts}
SIZES = [f"THREADS={threads} BLOCKS={blocks}" for threads, blocks in (min(WIDTHS.values()), max(WIDTHS.values()))]
"""Of rows: the fastest, and the one whose threads may have the fewest registers."""
RUNS = [(name, size) for name, path in FILES.items() for size in (SIZES if "BLOCKS" in cuda_source(path) else [""])]
BUDGETS = Path(__file__).with_name("budgets.json")


@pytest.mark.skipif(bool(emulated.missing_nvcc()), reason=emulated.missing_nvcc())
@pytest.mark.parametrize(("file", "size"), RUNS)
def test_registers_are_within_their_budgets(file, size, tmp_path):
    name = f"{file} {size}".strip()
    recorded = json.loads(BUDGETS.read_text()) if BUDGETS.exists() else {}
    found = emulated.costs(cuda_source(FILES[file]), (*OPTIONS, *(f"-D{define}" for define in size.split())), tmp_path)
    assert not {kernel: used for kernel, used in found.items() if any(spilled for _, spilled in used.values())}
    registers = {kernel: {a: used for a, (used, _) in by.items()} for kernel, by in sorted(found.items())}
    if os.environ.get("DPSCO_RECORD") == "1":
        kept = recorded | {"compiler": emulated.nvcc_release(), name: registers}
        BUDGETS.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n")
        return
    assert registers.keys() == recorded[name].keys()
    if emulated.nvcc_release() != recorded["compiler"]:
        pytest.skip(f"registers are recorded for {recorded['compiler']}")
    budget = recorded[name]
    assert not {(k, a): n for k, by in registers.items() for a, n in by.items() if n > budget[k][a]}


def test_a_text_has_its_includes_in_place():
    text = cuda_source(FILES["rng/draws.cu"])
    assert text.count("void philox(") == 1
    assert "#include" not in text
