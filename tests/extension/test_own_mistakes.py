"""Mistakes in one's own file: the example with one change in it, and the one line that names what is wrong with it.

Then nine slips in one's own method, which `check` or the run names, and a claim on a paper that is not here.
"""

import json
import re
from pathlib import Path

import pytest

from dpsco_bench import registry
from dpsco_bench.claims.files import read_yaml

METHOD, CLAIM = "examples/own_method.py", "examples/own_claim.yaml"
RUN = ("run", "algorithm=mine.noisy_gd", "problem=flipped_labels", "n=64", "d=3", "steps=3", "replicates=2")
SECOND = 'make_plan(query, GaussianQuery("extra", sensitivity=1.0, releases=1{}),'
HEAD = "(given, *, steps: int | None = None)"
CONSTANTS = "own_constants = Constants(lipschitz=1,"
RETURNED = "    return x\n\n\n@problem"
DATA = "return Data(n, rows,"
LABELS = "np.where((rows[:, 0] > 0) ^ flipped, 1.0, -1.0)"
FILE = "own_method.py"

PLANS = [
    ("make_plan(query,", SECOND.format(""), "share of gradient and extra is missing", "all queries but one"),
    ("=2 * c.lipschitz / n", '="small"', "sensitivity of gradient = 'small'", "a finite number > 0"),
    ("return make_plan(", "return None and make_plan(", "plan returned NoneType", "make_plan"),
]
FUNCTIONS = [
    ('@algorithm("mine.noisy_gd"', '@algorithm("mine"', f"{FILE}, line 10: algorithm id = 'mine'", "paper.name"),
    ("needs=(Trait.SMOOTH, Trait.LIPSCHITZ, Trait.STRONGLY_CONVEX)", 'needs="smooth"', "needs = 'smooth'", "Trait"),
    (HEAD, "(given, *, steps: int)", "plan = 'takes (given, *, steps: int)'", "missing a required argument: 'steps'"),
    ("(objective, plan, mechanism)", "(objective)", "run = 'takes (objective)'", "(objective, plan, mechanism)"),
    (HEAD, "(given, *, steps: list | None = None)", "type of option steps = 'list | None'", "int, float, str, bool"),
    (HEAD, "(given, *, steps=None)", "type of option steps is missing", "int, float, str, bool"),
    (
        'source="',
        'variants={"standard": ("all",)}, source="',
        "variants = {'standard'",
        "a mapping of variants to tuples",
    ),
    ("@plan.run\n", "", "mine.noisy_gd", "@plan.run"),
    ('release("gradient"', 'release("grad"', "query = 'grad'", f"one of gradient ({FILE}, line 24)"),
    ("range(plan.steps)", "range(plan.steps - 1)", "released 2 times", "declares 3"),
    ("plan.step *", "plan.stepp *", "no 'stepp'", f"{FILE}, line 25"),
    ("objective.mean_gradient(x), t)", "objective.mean_gradient(x) * np.nan, t)", "non-finite", "n = 64, d = 3"),
    ("objective.mean_gradient(x), t)", "objective.mean_gradient(x)[:, :2], t)", "(2,2) (2,3)", f"{FILE}, line 24"),
    (RETURNED, RETURNED.replace("x", "None"), "returned NoneType", "(replicates, d) = (2, 3)"),
]
PROBLEMS = [
    ('"flipped_labels", "logistic', '"ridge_logistic", "logistic', "name = 'ridge_logistic'", "no other problem"),
    ("Logistic.traits | {Trait.STRONGLY_CONVEX}", '{"smooth"}', "traits = ['smooth']", "Trait"),
    ("class FlippedLabels(Logistic)", "class FlippedLabels", "FlippedLabels", "a subclass of Problem"),
    (CONSTANTS, CONSTANTS.replace("=1", "=-1"), f"{FILE}, line 34: lipschitz = -1", "> 0"),
    ("own_constants = ", "constants_of_it = ", "own_constants is missing", "lipschitz=1"),
    (CONSTANTS, f"own_constants = 3 or {CONSTANTS.partition(' = ')[2]}", "own_constants = 'int'", "a Constants"),
    (DATA, "return (n, rows,", "draw returned tuple, must be a Data", "problem flipped_labels"),
    ("def draw(self, n, streams)", "def draw(self, n)", "draw = 'takes (self, n)'", "(self, n, streams)"),
    (DATA, "rows[0] = np.nan\n        return Data(n, rows,", "features drawn = 'not all finite'", "finite numbers"),
    (LABELS, "np.ones(3)", "labels drawn = 'of shape (3,)'", "(64,)"),
    (LABELS, 'np.array(["1"] * n)', "labels drawn = 'of type <U1'", "numbers"),
]


def refused(outcome, *named):
    one_line = outcome.err.startswith("dpsco: ") and outcome.err.count("\n") == 1
    return outcome.code == 2 and outcome.out == "" and one_line and all(text in outcome.err for text in named)


@pytest.mark.parametrize(("old", "new", "named", "allowed"), PLANS + FUNCTIONS + PROBLEMS)
def test_one_line_names_what_is_wrong(dpsco, edit, old, new, named, allowed):
    edit(METHOD, (old, new))
    outcome = dpsco(*RUN, f"plugins=[{METHOD}]", "out=x.parquet")
    assert refused(outcome, named, allowed) and not Path("x.parquet").exists(), outcome.err


CLAIMS = [
    ("kind: rate", "kind: rates", "part flipped_labels-n: kind = 'rates'", "one of audit, band"),
    ("algorithm: mine.noisy_gd", "algorithm: mine.noisy", "algorithm = 'mine.noisy'", "mine.noisy_gd"),
    ("exponent: -2", "options: {stepz: 3}", "option = 'stepz'", "one of steps"),
]


@pytest.mark.parametrize(("old", "new", "named", "allowed"), CLAIMS)
def test_mistakes_in_ones_own_claim_name_the_file_and_the_key(dpsco, edit, old, new, named, allowed):
    edit(CLAIM, (old, new))
    outcome = dpsco("claim", CLAIM, "--plugin", METHOD, "--profile", "smoke")
    assert refused(outcome, f"dpsco: {CLAIM}: claim mine.", named, allowed), outcome.err
    outcome = dpsco("plan", "--profile", "smoke", f"plugins=[{METHOD}]", f"claims=[{CLAIM}]")
    assert refused(outcome, CLAIM, named, allowed), outcome.err


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
    assert refused(outcome, "dpsco: algorithm "), outcome
    return outcome.err


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


def test_a_part_with_a_method_of_an_absent_paper_is_skipped_and_the_others_are_judged(dpsco, monkeypatch, request):
    folder, gone = Path("site/gone-1.0.dist-info"), "gone2020"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: gone\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(f"[dpsco_bench.papers]\n{gone} = {gone}\n")
    monkeypatch.syspath_prepend(folder.parent.resolve())
    request.addfinalizer(registry._declared.cache_clear)
    registry._declared.cache_clear()
    entry = read_yaml(Path(CLAIM))
    theirs = {**entry["parts"][0], "id": "theirs", "algorithm": f"{gone}.sgd"}
    Path(CLAIM).write_text(json.dumps(entry | {"parts": [entry["parts"][1], theirs]}))
    rows = dpsco("claim", CLAIM, "--profile", "smoke", "--plugin", METHOD, "--json").rows
    words = {(row["part"], row["verdict"].split(" (")[0]) for row in rows}
    assert ("theirs", f"skipped: paper {gone} is not installed") in words
    assert all("skipped" not in word for part, word in words if part != "theirs") and len(words) > 1
