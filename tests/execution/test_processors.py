"""What is promised between processors: equal words, and results to 1e-12 whichever matrix kernels a BLAS picks."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

KERNELS = {"Prescott": "", "Haswell": "avx2", "Zen": "avx2", "SkylakeX": "avx512f"}
"""Kernels of OpenBLAS, and the instructions that they need."""
pytestmark = pytest.mark.slow
PROGRAM = """
import json, sys
import numpy as np
from dpsco_bench import run
from dpsco_bench.rng.streams import Stream, stream_key

stream = Stream(stream_key(3, "words", "of noise"), np)
found = {"words": [stream.normal(0, 2, 0, 5, 17).tobytes().hex(), stream.uniform(0, 1, 0, 2, 9).tobytes().hex()]}
for algorithm in sys.argv[1:]:
    for fused in (True, False):
        for count in (2, 6):
            result = run(algorithm, "ridge_logistic", 96, 5, epsilon=2.0, delta=1e-5, replicates=count, fused=fused)
            found[f"{algorithm} {fused} {count}"] = np.asarray(result.output[:2]).tolist()
print(json.dumps(found))
"""
ALGORITHMS = ["wang2017.dp_gd_pl", "wang2017.dp_svrg", "wang2017.output_perturbation_zhang17"]


@pytest.fixture(scope="module")
def found():
    printed, told = {}, Path("/proc/cpuinfo")
    has = told.read_text() if told.is_file() else ""
    for kernel, instructions in KERNELS.items():
        if instructions in has:
            environment = {**os.environ, "OPENBLAS_CORETYPE": kernel, "OPENBLAS_NUM_THREADS": "1"}
            command = [sys.executable, "-c", PROGRAM, *ALGORITHMS]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            printed[kernel] = json.loads(done.stdout)
    return printed


def test_words_are_equal(found):
    assert len({json.dumps(printed.pop("words")) for printed in (dict(one) for one in found.values())}) == 1


@pytest.mark.parametrize("fused", [True, False])
def test_results_agree(found, fused):
    for algorithm in ALGORITHMS:
        outputs = [one[f"{algorithm} {fused} {replicates}"] for one in found.values() for replicates in (2, 6)]
        for output in outputs:
            np.testing.assert_allclose(output, outputs[0], rtol=1e-12, atol=1e-12)
