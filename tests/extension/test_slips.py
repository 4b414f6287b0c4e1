"""Nine slips in one's own method: `check` or the run names each one in a line."""

import re
from pathlib import Path

import pytest

METHOD = "examples/own_method.py"
PAIR = ("problem=flipped_labels", "n=64", "d=3", "steps=6")
STEP = "x = objective.project(x - plan.step * gradient)"
SENSITIVITY = "no neighbour found changes a released value by more than declared"
RANDOMNESS = "the mechanism is the only source of randomness"
POST = "given the released values the output does not depend on the data"
COUNTS = "each query is released and sampled as often as declared"


def failed(dpsco, id, file, *keys):
    outcome = dpsco("check", id, "--plugin", file, *keys)
    lines = " ".join(outcome.out.split()).replace("FAIL ", "\nFAIL ").replace(" ok ", "\nok ").splitlines()
    assert outcome.code == 1 and outcome.err == "", outcome.err
    return " ".join(line for line in lines if line.startswith("FAIL"))


def stopped(dpsco, id, file):
    outcome = dpsco("run", f"algorithm={id}", "problem=ridge_logistic", "n=64", "d=3", "--plugin", file)
    (line,) = outcome.err.splitlines()
    assert outcome.code == 2 and outcome.out == "" and line.startswith("dpsco: algorithm "), outcome
    return line


LENGTH = STEP.replace("gradient", "gradient / (0.1 + abs(objective.mean_gradient(x)).max())")
BEST = [(STEP, f"{STEP}\n        seen.append(x)"), ("x = objective.start  #", "seen, x = [], objective.start  #")]
BEST += [("    return x\n", "    return min(seen, key=lambda x: float((objective.mean_gradient(x) ** 2).sum()))\n")]
IN_CHECK = {
    "half the sensitivity": (SENSITIVITY, [("sensitivity=2 * c.lipschitz / n", "sensitivity=c.lipschitz / n")]),
    "an unreleased step length": (POST, [(STEP, LENGTH)]),
    "the best iterate by the true gradient": (POST, BEST),
    "numpy.random in the run": (RANDOMNESS, [(STEP, f"{STEP} + 0.01 * np.random.default_rng().normal(size=x.shape)")]),
}


@pytest.mark.parametrize(("named", "changes"), IN_CHECK.values(), ids=IN_CHECK)
def test_check_names_it(dpsco, edit, named, changes):
    edit(METHOD, *changes)
    assert named in failed(dpsco, "mine.noisy_gd", METHOD, *PAIR)


BLOCKS = """
from dpsco_bench import GaussianQuery, Trait, algorithm, make_plan
from dpsco_bench.privacy.records import *


@algorithm("mine.blocks", source="a test", needs=(Trait.CONVEX, Trait.LIPSCHITZ, Trait.SMOOTH), order_invariant=False)
def plan(given, *, steps: int = 8):
    c, n, m = given.constants, given.n, given.n // 8
    query = GaussianQuery("gradient", sensitivity=2 * c.lipschitz / m, releases=steps, records={records})
    return make_plan(query, gradient_evaluations=steps * m, n=n, steps=steps, m=m, step=0.1)


@plan.run
def blocks(objective, plan, mechanism):
    x = objective.start
    for t in range(plan.steps):
        block = objective.range_gradient(x, t * plan.m, plan.m)
        x = objective.project(x - plan.step * mechanism.release("gradient", block, t))
    return x
"""
BATCHES = ("Poisson(m / n)", "SingleIndex(n)", "WithReplacement(n, m)", "WithoutReplacement(n, m)")
CHARGED = {**dict.fromkeys(BATCHES, "batches"), "RandomAllocation(n, m)": "order"}


@pytest.mark.parametrize("records", CHARGED)
def test_what_is_charged_as_drawn_and_never_is(dpsco, records):
    Path("blocks.py").write_text(BLOCKS.replace("{records}", records))
    said = rf"the {CHARGED[records]} that (is|are) charged for (is|are) never drawn"
    assert re.search(said, stopped(dpsco, "mine.blocks", "blocks.py"))
    told = failed(dpsco, "mine.blocks", "blocks.py", "n=64", "d=3")
    assert COUNTS in told and re.search(said, told)


SIZES = {
    "WithReplacement(2 * n, m)": "population of gradient = 128: must be 64",
    "WithoutReplacement(n - 1, m)": "population of gradient = 63: must be 64",
    "SingleIndex(10 * n)": "population of gradient = 640: must be 64",
    "RandomAllocation(n + 1, m)": "population of gradient = 65: must be 64",
    "Disjoint(2 * m)": "sizes of its blocks = 128 in all: must be at most 64",
    "Poisson(m / n)": "n of its plan = 128: must be 64",
}


@pytest.mark.parametrize("records", SIZES)
def test_a_plan_for_other_records_than_its_run_has(dpsco, records):
    text = BLOCKS.replace("{records}", records)
    Path("blocks.py").write_text(text.replace("n=n,", "n=2 * n,") if records.startswith("Poisson") else text)
    assert SIZES[records] in stopped(dpsco, "mine.blocks", "blocks.py")
    outcome = dpsco("account", "mine.blocks", "problem=ridge_logistic", "n=64", "d=3", "--plugin", "blocks.py")
    assert SIZES[records] in outcome.out + outcome.err and "proven" not in outcome.out
