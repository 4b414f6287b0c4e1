"""Mistakes in one's own file: the example with one change in it, and the one line that names what is wrong with it."""

from pathlib import Path

import pytest

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
