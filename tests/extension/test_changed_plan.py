"""A run that changes its plan or the scales of its noise is stopped with one line, wherever it is used."""

from pathlib import Path

import pytest
from dpsco_bench.execution.own_runs import ChangedPlan

import dpsco_bench
from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.plugins import load_plugins

METHOD, CLAIM = "examples/own_method.py", "examples/own_claim.yaml"
WHERE = ("problem=flipped_labels", "n=64", "d=3")
START = "    x = objective.start  # (replicates, d)\n"
END = "    return x\n\n\n@problem"
FIRST = "plan.queries[0]"
CHANGES = {
    "scales": ('mechanism.scales["gradient"] = 0.0\n', "noise scale of gradient = 0.0: must be "),
    "sensitivity": (
        f"object.__setattr__({FIRST}, 'sensitivity', 1e-9)\n",
        "sensitivity of gradient of queries = 1e-09",
    ),
    "schedule": ("object.__setattr__(plan, 'schedule', {**plan.schedule, 'step': 1.0})\n", "step of schedule = 1.0"),
    "leaks": ("vars(plan)['warnings'] = ('no',)\n", "warnings = "),
    "plan": ("import copy\n    mechanism.plan = copy.copy(plan)\n", "plan of its mechanism = another one"),
    "fields": ("object.__setattr__(plan, 'steps', 1)\n", "its run changes what it is handed"),
    "class": (f"type({FIRST}).answer = lambda query, value, noise: value\n", "leaves answer as it is"),
}


def write(dpsco, change, place=START):
    text = Path(METHOD).read_text()
    assert text.count(place) == 1
    new = f"{place}    {change}" if place == START else f"    {change}{place}"
    text = text.replace(place, new).replace('query = GaussianQuery("', 'query = Q("')
    Path(METHOD).write_text(text.replace('@algorithm("', 'class Q(GaussianQuery):\n    pass\n\n\n@algorithm("', 1))
    return dpsco


def stopped(outcome, said):
    assert outcome.code == 2 and outcome.out == "", outcome
    lines = [line for line in outcome.err.splitlines() if "mine.noisy_gd: " in line]
    assert lines and all(said in line for line in lines) and "Traceback" not in outcome.err, outcome
    assert not Path("x.parquet").exists() and not list(Path().glob("results/store/runs/*.parquet"))


@pytest.mark.parametrize(("change", "said"), CHANGES.values(), ids=CHANGES)
def test_each_change(dpsco, change, said):
    write(dpsco, change, END)
    arguments = ("run", "algorithm=mine.noisy_gd", *WHERE, "replicates=2", f"plugins=[{METHOD}]", "out=x.parquet")
    outcome = dpsco(*arguments)
    stopped(outcome, said)
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "algorithm=mine.noisy_gd", *WHERE, "replicates=2", "out=x.parquet", "--plugin", METHOD),
        ("claim", CLAIM, "--profile", "smoke", "--plugin", METHOD),
        ("check", "mine.noisy_gd", *WHERE, "--plugin", METHOD),
        ("audit", "mine.noisy_gd", *WHERE, "--runs", "200", "--plugin", METHOD),
    ],
    ids=lambda arguments: arguments[0],
)
@pytest.mark.parametrize("change", ["scales", "sensitivity"])
def test_verbs(dpsco, arguments, change):
    stopped(write(dpsco, CHANGES[change][0])(*arguments), CHANGES[change][1])


def test_every_later_call_is_stopped_too(dpsco):
    write(dpsco, "if not CALLS:\n        CALLS.append(1)\n        mechanism.scales['gradient'] = 0.0\n")
    Path(METHOD).write_text(Path(METHOD).read_text().replace("@algorithm(", "CALLS = []\n\n\n@algorithm(", 1))
    load_plugins([METHOD])
    for _ in range(2):
        with pytest.raises(ChangedPlan, match="noise scale of gradient"):
            dpsco_bench.run("mine.noisy_gd", "flipped_labels", n=64, d=3)


def test_an_error_names_its_line_as_before(dpsco):
    write(dpsco, "raise ValueError('mine')\n")
    found = dpsco("run", "algorithm=mine.noisy_gd", *WHERE, f"plugins=[{METHOD}]")
    line = Path(METHOD).read_text().splitlines().index("    raise ValueError('mine')") + 1
    assert f"its run failed with ValueError: mine (own_method.py, line {line})" in found.err


def test_the_code_and_the_place_of_a_run_stay_reachable(dpsco):
    load_plugins([METHOD])
    run = get_algorithm("mine.noisy_gd").run_function
    assert run.__name__ == "noisy_gd" and run.__code__.co_filename.endswith("own_method.py")
    assert run.__module__ == get_algorithm("mine.noisy_gd").module


GONE = "        mechanism.scales['gradient'], was = 0.0, mechanism.scales['gradient']\n"
BACK = "        mechanism.scales['gradient'] = was\n"


@pytest.mark.parametrize("verb", [("run", "replicates=2"), ("check",)], ids=["run", "check"])
@pytest.mark.parametrize("how", ["an entry", "all of them", "past the dict", "past the mechanism"])
def test_a_change_that_is_taken_back_is_seen(dpsco, verb, how):
    """No release is made without its noise."""
    text = Path(METHOD).read_text()
    line = next(line for line in text.splitlines(keepends=True) if "mechanism.release(" in line)
    gone, back = GONE, BACK
    if how == "all of them":
        gone = "        was, mechanism.scales = mechanism.scales, {'gradient': 0.0}\n"
        back = "        mechanism.scales = was\n"
    elif how == "past the dict":
        gone = (
            "        was = mechanism.scales['gradient']\n        dict.__setitem__(mechanism.scales, 'gradient', 0.0)\n"
        )
        back = "        dict.__setitem__(mechanism.scales, 'gradient', was)\n"
    elif how == "past the mechanism":
        gone = "        was, vars(mechanism)['scales'] = mechanism.scales, {'gradient': 0.0}\n"
        back = "        vars(mechanism)['scales'] = was\n"
    Path(METHOD).write_text(text.replace(line, gone + line + back))
    method = "mine.noisy_gd" if verb[0] == "check" else "algorithm=mine.noisy_gd"
    found = dpsco(verb[0], method, *WHERE, *verb[1:], "--plugin", METHOD)
    assert found.code == 2 and "its run changes what it is handed" in found.err and "scale" in found.err


def test_what_a_run_was_handed_is_itself_again(dpsco):
    """A mechanism that others go on with has its class and its scales."""
    load_plugins([METHOD])
    watched = get_algorithm("mine.noisy_gd").run_function
    seen = []

    class Handed:
        answers_steps = False

        def __init__(self):
            self.scales, self.plan = {"gradient": 1.0}, None

    def run(objective, plan, mechanism):
        seen.append((type(mechanism), dict(mechanism.scales), mechanism.answers_steps))
        mechanism.noted = 1
        return objective

    mechanism, (_, plan) = Handed(), Cell("wang2017.dp_gd", "ridge_logistic", 64, 1.0, 1e-6, 3).plan("accounted", 0)
    mechanism.plan = plan
    type(watched)(run, "mine.noisy_gd")(None, plan, mechanism)
    ((kind, scales, answers),) = seen
    assert issubclass(kind, Handed) and scales == {"gradient": 1.0} and not answers
    assert type(mechanism) is Handed and type(mechanism.scales) is dict and mechanism.noted == 1


PAST = {
    "object": "object.__setattr__(mechanism, 'scales', {'gradient': 0.0})\n",
    "vars": "vars(mechanism)['scales'] = {'gradient': 0.0}\n",
    "dict": "dict.__setitem__(mechanism.scales, 'gradient', 0.0)\n",
}


@pytest.mark.parametrize("change", PAST.values(), ids=PAST)
def test_a_change_past_the_mechanism_is_seen_too(dpsco, change):
    found = write(dpsco, change)("run", "algorithm=mine.noisy_gd", *WHERE, "replicates=2", "--plugin", METHOD)
    stopped(found, "noise scale of gradient = 0.0: must be ")


def test_scales_may_be_copied_and_a_method_may_run_another(dpsco):
    change = "import copy, pickle\n    was = pickle.loads(pickle.dumps(copy.deepcopy(mechanism.scales)))\n"
    change += "    assert was == mechanism.scales\n"
    found = write(dpsco, change)("run", "algorithm=mine.noisy_gd", *WHERE, "replicates=2", "--plugin", METHOD)
    assert found.code == 0, found.err


@pytest.mark.parametrize("value", ["0.9", "1.0"])
def test_what_it_takes_back_is_seen_when_it_draws(dpsco, value):
    """Written past a frozen object before the releases, and as it was after them."""
    text = Path(METHOD).read_text()
    changed = "    object.__setattr__(plan.queries[0], 'sensitivity', SENSITIVITY)\n"
    text = text.replace(START, f"    was = plan.queries[0].sensitivity\n{changed.replace('SENSITIVITY', value)}{START}")
    text = text.replace(END, f"{changed.replace('SENSITIVITY', 'was')}{END}")
    Path(METHOD).write_text(text)
    arguments = ("run", "algorithm=mine.noisy_gd", *WHERE, "replicates=2", f"plugins=[{METHOD}]", "out=x.parquet")
    stopped(dpsco(*arguments), f"sensitivity of gradient of queries = {value}: must be ")


def test_other_queries_that_it_takes_back_are_seen(dpsco):
    """A release looks its query up in the plan: the frozen plan itself is held too, and not what it has alone."""
    text = Path(METHOD).read_text()
    other = "    from dataclasses import replace\n    was = plan.queries\n"
    other += "    object.__setattr__(plan, 'queries', (replace(was[0], releases=10**6),))\n"
    text = text.replace(START, f"{other}{START}").replace(END, f"    object.__setattr__(plan, 'queries', was)\n{END}")
    Path(METHOD).write_text(text)
    found = dpsco("run", "algorithm=mine.noisy_gd", *WHERE, "replicates=2", f"plugins=[{METHOD}]", "out=x.parquet")
    stopped(found, "queries of its plan = ")


ANSWERS = {
    "class": ("type(plan.queries[0]).answer = lambda query, value, noise: value", "del type(plan.queries[0]).answer"),
    "query": (
        "vars(plan.queries[0])['answer'] = lambda value, noise: value",
        "del vars(plan.queries[0])['answer']",
    ),
    "other class": (
        "object.__setattr__(plan.queries[0], '__class__', type('P', (Q,), {'answer': lambda s, value, noise: value}))",
        "object.__setattr__(plan.queries[0], '__class__', Q)",
    ),
}


@pytest.mark.parametrize(("first", "last"), ANSWERS.values(), ids=ANSWERS)
def test_another_answer_that_it_takes_back_is_seen(dpsco, first, last):
    """What a query answers with stands in its class."""
    write(dpsco, f"{first}\n")
    Path(METHOD).write_text(Path(METHOD).read_text().replace(END, f"    {last}\n{END}"))
    found = dpsco("run", "algorithm=mine.noisy_gd", *WHERE, "replicates=2", f"plugins=[{METHOD}]", "out=x.parquet")
    stopped(found, "class of gradient of queries" if first != ANSWERS["query"][0] else "answer of gradient of queries")


def test_a_property_that_a_run_reads_first_is_no_change(dpsco):
    """It keeps its value in the query, under the name that its class has for it."""
    write(dpsco, "plan.queries[0].width\n")
    text = Path(METHOD).read_text().replace("import numpy", "from functools import cached_property\n\nimport numpy", 1)
    own = "    @cached_property\n    def width(self):\n        return 2.0\n\n"
    Path(METHOD).write_text(text.replace("class Q(GaussianQuery):\n", f"class Q(GaussianQuery):\n{own}", 1))
    found = dpsco("run", "algorithm=mine.noisy_gd", *WHERE, "replicates=2", f"plugins=[{METHOD}]", "out=x.parquet")
    assert found.code == 0, found.err
