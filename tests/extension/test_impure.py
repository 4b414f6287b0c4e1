"""A plan function that charges one release and then asks for 200 is stopped with one line, wherever it is used."""

from pathlib import Path

import pytest

import dpsco_bench
from dpsco_bench.execution.cell import ImpurePlan
from dpsco_bench.execution.plugins import load_plugins

METHOD, CLAIM = "examples/own_method.py", "examples/own_claim.yaml"
WHERE = ("problem=flipped_labels", "n=64", "d=3")
STEPS = "    steps = steps or"
COUNTED = "    CALLS.append(1)\n    steps = 1 if len(CALLS) == 1 else 200\n" + STEPS
DRAWN = "    steps = int(np.random.default_rng().integers(1, 10**9))\n" + STEPS
NOT_PURE = "its plan function is not pure"


@pytest.fixture(params=[COUNTED, DRAWN], ids=["counted", "drawn"])
def impure(dpsco, request):
    text = Path(METHOD).read_text()
    assert STEPS in text
    Path(METHOD).write_text(text.replace(STEPS, request.param).replace("@algorithm(", "CALLS = []\n\n\n@algorithm(", 1))
    return dpsco


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "algorithm=mine.noisy_gd", *WHERE, "replicates=2", f"plugins=[{METHOD}]", "out=x.parquet"),
        ("claim", CLAIM, "--profile", "smoke", "--plugin", METHOD),
        ("check", "mine.noisy_gd", *WHERE, "--plugin", METHOD),
        ("audit", "mine.noisy_gd", *WHERE, "--plugin", METHOD),
        ("account", "mine.noisy_gd", *WHERE, "--plugin", METHOD),
        ("plan", "--profile", "smoke", f"plugins=[{METHOD}]", f"claims=[{CLAIM}]"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_verbs(impure, arguments):
    outcome = impure(*arguments)
    assert outcome.code == 2 and outcome.out == "" and outcome.err.count("\n") == 1, outcome
    assert "algorithm mine.noisy_gd: " in outcome.err and NOT_PURE in outcome.err
    assert not Path("x.parquet").exists() and not list(Path().glob("results/**/*.parquet"))


def test_the_library(impure):
    load_plugins([METHOD])
    with pytest.raises(ImpurePlan, match=NOT_PURE):
        dpsco_bench.run("mine.noisy_gd", "flipped_labels", n=64, d=3)
