"""A method of one's own in several files: an edit of any of them, and of no other file, makes its results due."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.marks import rest_at_night

ROOT = Path(__file__).resolve().parents[2]
CLAIM = """\
id: mine.claim
title: One step
source: a test
statement: The risk falls like 1/n.
parts:
  - id: n
    kind: rate
    calibrations: [accounted]
    algorithm: mine.step
    problem: ridge_logistic
    fixed: {d: 3, epsilon: 1.0, delta: 1.0e-6}
    sweep: {parameter: n, values: {smoke: [64, 128, 256, 512]}}
    replicates: 2
    bound: su2023.one_pass
    exponent: -1
    tolerance: 0.15
"""
PLAN = """\
from dpsco_bench import GaussianQuery, Trait, algorithm, make_plan


@algorithm("mine.step", source="a test", needs=(Trait.LIPSCHITZ,))
def plan(given):
    query = GaussianQuery("gradient", 2 * given.constants.lipschitz / given.n, 1, paper_scale=1.0)
    return make_plan(query, gradient_evaluations=given.n, n=given.n)
"""
STEP = """\
def step(objective, plan, mechanism, factor=1.0):
    return objective.start - factor * mechanism.release("gradient", objective.mean_gradient(objective.start))
"""
GIVEN = "from schedules import plan\nfrom steps import step\n\n\n@plan.run\ndef run(objective, plan, mechanism):\n"
GIVEN += "    return step(objective, plan, mechanism)\n"
PARTIAL = "from functools import partial\nfrom schedules import plan\nfrom steps import step\n\n"
PARTIAL += "plan.run(partial(step, factor=1.0))\n"
FACTORY = "from schedules import plan\n\n\ndef made(step):\n    def run(objective, plan, mechanism):\n"
FACTORY += "        return step(objective, plan, mechanism)\n\n    return run\n"
KEY = "from dpsco_bench.claims.compose import claim_plan, plan_settings\n"
KEY += "from dpsco_bench.cli.claiming import check_settings\n"
KEY += "print(claim_plan('mine.claim', 'smoke', check_settings({settings})).jobs[0].key)\n"
INHERITS = "a problem of another plugin's class"
FILES = {
    "plan and run in two files": {"schedules": PLAN, "steps": STEP, "mine": GIVEN},
    "a partial": {"schedules": PLAN, "steps": STEP, "mine": PARTIAL},
    "a factory": {
        "schedules": PLAN,
        "steps": STEP,
        "making": FACTORY,
        "mine": "from making import made\nfrom schedules import plan\nfrom steps import step\n\nplan.run(made(step))\n",
    },
    "a partial of what ships": {
        "schedules": PLAN,
        "mine": "from functools import partial\nfrom dpsco_bench.algorithms.registry import get_algorithm\n"
        "from schedules import plan\n\nplan.run(partial(get_algorithm('wang2017.dp_gd_pl').run_function))\n",
    },
}
FILES["a function that registers"] = {
    "family": "def add(id, factor):\n"
    + "".join(f"    {line}\n" for line in f"{PLAN}\n".splitlines() if line)
    + "    plan.run(lambda objective, plan, mechanism: objective.start * factor)\n",
    "mine": "from family import add\n\nadd('mine.step', 1.0)\n",
}
FILES[INHERITS] = {
    "first": "from dpsco_bench import Constants, Data, Logistic, problem\n\n\n@problem\nclass Mine(Logistic):\n"
    "    name, summary, source = 'mine_base', 'a base', 'a test'\n"
    "    own_constants = Constants(lipschitz=1, smoothness=0.25, initial_gap=0.7)\n\n"
    "    def draw(self, n, streams):\n        rows = streams('rows').normal(0, 1, 0, n, self.dimension)[0]\n"
    "        return Data(n, 0.1 * rows.astype('float64'), [1.0] * n)\n",
    "mine": "from dpsco_bench import problem\nfrom dpsco_bench.problems.registry import problem_class\n\n\n"
    "@problem\nclass Own(problem_class('mine_base')):\n    name, summary = 'ridge_mine', 'another'\n\n\n"
    f"{PLAN}\n\n@plan.run\ndef run(objective, plan, mechanism):\n    return objective.start\n",
}
FILES["a learner of a function"] = {
    "learners": "from dpsco_bench.papers.zhang2022.learners.base import Learner, learner\n\n\n"
    "def add(name, step):\n    @learner(name)\n    class Own(Learner):\n        summary = 'steps of one length'\n\n"
    "        def update(self, g):\n            self.w = self.setting.project(self.w - step * g)\n\n"
    "        def regret_bound(self):\n            return None\n",
    "mine": "from learners import add\n\nadd('mine_steps', 0.1)\n",
}
CASES = [(files, by) for by in ("plugin", "script") for files in FILES if (files, by) != (INHERITS, "script")]


@pytest.mark.parametrize(("files", "by"), rest_at_night(CASES, 1, 4, 5, 6, 9, several=True))
def test_an_edit_of_any_file_of_a_method_changes_its_key(tmp_path, files, by):
    for name, text in FILES[files].items():
        (tmp_path / f"{name}.py").write_text(text)
    first = "first" in FILES[files]
    claim = CLAIM.replace("ridge_logistic", "ridge_mine") if first else CLAIM
    if "learners" in FILES[files]:
        claim = claim.replace("mine.step", "zhang2022.dp_otb\n    options: {learner: mine_steps}")
        claim = claim.replace("ridge_logistic", "linear_ball")
    (tmp_path / "claim.yaml").write_text(claim)
    plugins = "plugins=[first.py,mine.py]" if first else "plugins=[mine.py]"
    settings = [plugins] * (by == "plugin") + ["claims=[claim.yaml]"]
    (tmp_path / "key.py").write_text(FILES[files]["mine"] * (by == "script") + KEY.format(settings=settings))

    def key():
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (tmp_path, ROOT)))}
        command = [sys.executable, "key.py"]
        found = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert found.returncode == 0, found.stderr
        return found.stdout

    keys = [key()]
    for name in FILES[files]:
        path = tmp_path / ("key.py" if by == "script" and name == "mine" else f"{name}.py")
        path.write_text(path.read_text() + "EDITED = 1\n")
        keys.append(key())
    (tmp_path / "besides.py").write_text("OTHER = 1\n")
    assert len(set(keys)) == len(keys) and key() == keys[-1]
