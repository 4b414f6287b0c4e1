"""Every kernel compiles for three generations of cards, within recorded registers and stack, and without spills.

``DPSCO_RECORD=1`` writes what it finds to ``budgets.json``.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import dpsco_bench
from dpsco_bench.backend.device import OPTIONS, cuda_source
from dpsco_bench.fused.device import WIDTHS

from . import emulated

pytestmark = pytest.mark.slow
PACKAGE = Path(dpsco_bench.__file__).parent
FILES = {str(path.relative_to(PACKAGE)): path for path in sorted(PACKAGE.rglob("*.cu")) if "_share" not in path.parts}
SIZES = [f"THREADS={threads} BLOCKS={blocks}" for threads, blocks in WIDTHS.values()]
RUNS = [(name, size) for name, path in FILES.items() for size in (SIZES if "BLOCKS" in cuda_source(path) else [""])]
BUDGETS = Path(__file__).with_name("budgets.json")


@pytest.mark.skipif(bool(emulated.missing_nvcc()), reason=emulated.missing_nvcc())
@pytest.mark.parametrize(("file", "size"), RUNS)
def test_registers_and_stack_are_within_their_budgets(file, size, tmp_path):
    name = f"{file} {size}".strip()
    recorded = json.loads(BUDGETS.read_text()) if BUDGETS.exists() else {}
    found = emulated.costs(cuda_source(FILES[file]), (*OPTIONS, *(f"-D{define}" for define in size.split())), tmp_path)
    assert not {kernel: used for kernel, used in found.items() if any(spilled for *_, spilled in used.values())}
    kept = {kernel: {a: [*used] for a, (*used, _) in by.items()} for kernel, by in sorted(found.items())}
    if os.environ.get("DPSCO_RECORD") == "1":
        known = {key: value for key, value in recorded.items() if key in {"compiler", *map(" ".join, RUNS), *FILES}}
        known |= {"compiler": emulated.nvcc_release(), name: kept}
        lines = (f" {json.dumps(key)}: {json.dumps(value)}" for key, value in sorted(known.items()))
        BUDGETS.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        return
    assert kept.keys() == recorded[name].keys()
    if emulated.nvcc_release() != recorded["compiler"]:
        pytest.skip(f"registers are recorded for {recorded['compiler']}")
    both = [(used, recorded[name][k][a]) for k, by in kept.items() for a, used in by.items()]
    assert not [(used, most) for used, most in both if np.any(np.array(used) > most)]
