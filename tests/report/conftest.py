"""Results of a small made-up profile: every kind of part, every verdict word, NaN, infinity, skipped and missing."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from dpsco_bench.analysis.noise import noise_behind
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.jobs import part_jobs
from dpsco_bench.claims.parsing import parse_claim
from dpsco_bench.claims.plan import ClaimEntry, Settings, WorkPlan
from dpsco_bench.execution.calibration import calibrate_job
from dpsco_bench.execution.job import execute
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.results import table_bytes, without_names
from dpsco_bench.execution.store import Cost
from dpsco_bench.execution.timing import Curve, Machine, Timings
from dpsco_bench.jsonio import dumps_canonical, sealed, write_atomic
from dpsco_bench.problems.base import Constants, Trait
from dpsco_bench.problems.families import SignalFamily
from dpsco_bench.problems.registry import PROBLEMS
from dpsco_bench.report.inputs import read_inputs
from dpsco_bench.report.ledger import charged_cells

NAN, INF = float("nan"), float("inf")
GRID = {"parameter": "n", "values": {"smoke": [256, 512, 1024]}}
FIXED = {"d": 4, "epsilon": 1.0, "delta": 1e-5}
RIDGE = {"algorithm": "wang2017.dp_gd_pl", "problem": "ridge_logistic", "fixed": FIXED, "sweep": GRID}
NASTY = 'R&D <b>100 %</b> of |x|_2 #1 ~ {"a"} \\ $ ^ *x* `y` α'


class Bumpy(SignalFamily):
    """A parabola in the ridge problem's place whose starting gap is its signal."""

    name = "bumpy"
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.POLYAK_LOJASIEWICZ, Trait.STRONGLY_CONVEX})
    population = True
    own_constants = Constants(1.0, 1.0, strong_convexity=1.0, initial_gap=1.0)

    def mean_gradient(self, x, data):
        return 0.5 * (x - self.by_row(self.strengths, x))

    def excess_risk(self, x, data):
        return 0.25 * ((x - self.by_row(self.strengths, x)) ** 2).sum(axis=-1)


CLAIMS = [
    {
        "id": "wang2017.kinds",
        "title": "All kinds of parts, d log(n)/(n eps)^2",
        "source": "Wang, Ye, Xu 2017, Theorem 0",
        "statement": f"Excess risk O(sqrt(d) n^-1.5). {NASTY}",
        "assumptions": [NASTY],
        "errata": ["E8"],
        "parts": [
            {
                "id": "rate-n",
                "kind": "rate",
                "tolerance": 0.15,
                "calibrations": ["paper", "accounted"],
                "replicates": {"smoke": 4},
                "bound": "wang2017.thm6_2",
                "exponent": -2,
                **RIDGE,
            },
            {
                "id": "exact-n",
                "kind": "rate",
                "tolerance": 0.15,
                "calibrations": ["paper"],
                "evaluation": "closed_form",
                "bound": "wang2017.thm6_2",
                **RIDGE,
                "problem": "diag_quadratic",
            },
            {
                "id": "explicit",
                "kind": "explicit",
                "calibrations": ["paper"],
                "uses": ["rate-n", "privacy-epsilon"],
                "bound": "wang2017.thm6_2_explicit",
            },
            {
                "id": "band",
                "kind": "band",
                "calibrations": ["accounted"],
                "uses": ["rate-n", "exact-n"],
                "band": [0, 16],
            },
            {"id": "law", "kind": "law", "calibrations": ["paper"], "bound": "wang2017.thm6_2", **RIDGE},
            {
                "id": "floor",
                "kind": "lower_bound",
                "calibrations": ["paper"],
                "bound": "wang2017.thm6_2",
                "constant": "none",
                **RIDGE,
            },
            {"id": "control", "kind": "control", "calibrations": ["paper"], "exponent": -2, **RIDGE},
            {"id": "look", "kind": "shown", "calibrations": ["paper"], "uses": ["rate-n"]},
            {
                "id": "several",
                "kind": "shown",
                "calibrations": ["accounted"],
                "methods": [
                    {"label": "one_way", "algorithm": "wang2017.dp_gd_pl"},
                    {"label": "another", "algorithm": "wang2017.dp_gd_pl", "options": {"steps": 3}},
                ],
                **{key: value for key, value in RIDGE.items() if key != "algorithm"},
            },
            {
                "id": "silent-n",
                "kind": "rate",
                "tolerance": 0.15,
                "calibrations": ["none"],
                "bound": "wang2017.thm6_2",
                "replicates": {"smoke": 3},
                **RIDGE,
                "problem": "bumpy",
                "signals": {"smoke": [0.5, 1.0, 2.0]},
            },
            {
                "id": "count-n",
                "kind": "complexity",
                "calibrations": ["paper"],
                "bound": "wang2017.thm6_2",
                "reservations": {"paper": "counts are doubled"},
                **RIDGE,
            },
            {
                "id": "privacy-epsilon",
                "kind": "privacy",
                "calibrations": ["paper", "accounted"],
                **RIDGE,
                "fixed": {"n": 256, "d": 4, "delta": 0.01},
                "sweep": {"parameter": "epsilon", "values": {"smoke": [0.5, 1.0]}},
            },
        ],
    },
    {
        "id": "wang2017.race",
        "title": "Orderings",
        "source": "Wang, Ye, Xu 2017, Figure 0",
        "statement": "The first is better.",
        "parts": [
            {
                "id": "race",
                "kind": "ordering",
                "calibrations": ["paper", "accounted"],
                "pair": ["first", "second"],
                "problem": "ridge_logistic",
                "fixed": {"n": 256, "d": 4, "delta": 1e-3},
                "sweep": {"parameter": "epsilon", "values": {"smoke": [0.5, 1.0]}},
                "replicates": {"smoke": 2},
                "record": 0.5,
                "timing": True,
                "methods": [
                    {"label": "first", "algorithm": "wang2017.dp_gd_pl", "options": {"steps": 20}},
                    {"label": "second", "algorithm": "wang2017.dp_gd_pl", "options": {"steps": 6}},
                    {"label": "output_perturbation", "algorithm": "wang2017.output_perturbation_zhang17"},
                ],
            },
        ],
    },
    {
        "id": "wang2017.absent",
        "title": "Skipped",
        "source": "Wang, Ye, Xu 2017, Figure 9",
        "statement": "Nothing can be run.",
        "parts": [
            {"id": "gone", "kind": "ordering", "pair": ["a", "b"], "calibrations": ["paper"], **RIDGE},
            {
                "id": "gone-n",
                "kind": "rate",
                "tolerance": 0.15,
                "calibrations": ["paper"],
                "bound": "wang2017.thm6_2",
                **RIDGE,
            },
        ],
    },
    {
        "id": "wang2017.unmeasured",
        "title": "No verdict file",
        "source": "Wang, Ye, Xu 2017, Theorem 99",
        "statement": "Not yet.",
        "parts": [
            {
                "id": "later-n",
                "kind": "rate",
                "tolerance": 0.15,
                "calibrations": ["paper"],
                "bound": "wang2017.thm6_2",
                **RIDGE,
                "fixed": {**FIXED, "epsilon": 0.125},  # else it would share the results of another claim
            }
        ],
    },
]
del CLAIMS[2]["parts"][0]["algorithm"]
CLAIMS[2]["parts"][0]["methods"] = [{"label": m, "algorithm": "wang2017.dp_gd_pl"} for m in "ab"]

SCHEDULE = "schedule: without noise the risk is 0.85 of it"
X, ONES = (256.0, 512.0, 1024.0), (0.1, 0.1, 0.1)
FITTED = {"slope": -1.9, "ci": (-2.0, -1.8), "bound_slope": -1.9, "claimed_exponent": -2.0, "tolerance": 0.15}
CELLS = {
    "parameter": "n",
    "values": X,
    "mean": (0.4, 0.1, 0.02),
    "stderr": (0.04, 0.01, NAN),
    "bound": (0.8, 0.2, 0.05),
}
UNBOUNDED = {**CELLS, "bound": ()}
SEVERAL = {**UNBOUNDED, "values": X + X, "mean": (0.4, 0.1, 0.02) * 2, "stderr": (0.04, 0.01, NAN) * 2}
STATED = {**FITTED, "bound_slope": NAN}
RACE = {"end, epsilon 0.5": 0.5, "equal evaluations, epsilon 0.5": 2.0, "end, epsilon 1": NAN}
RACE_CI = {"end, epsilon 0.5": (0.4, 0.6), "equal evaluations, epsilon 0.5": (1.5, 3.0), "end, epsilon 1": (0.0, INF)}
VERDICTS = {
    "wang2017.kinds": [
        (
            "rate-n",
            "paper",
            Verdict(
                *("match", "rate", "close"),
                **CELLS,
                **FITTED,
                noise_off_slope=-1.85,
                expected="match",
                reservations=(SCHEDULE, "not private: the real eps is 40"),
            ),
        ),
        ("rate-n", "accounted", Verdict("inconclusive", "rate", NASTY, **CELLS, **FITTED, notes=(NASTY,))),
        ("exact-n", "paper", Verdict("faster", "rate", "beyond", **CELLS, **FITTED)),
        ("explicit", "paper", Verdict("violated", "explicit", "x", worst_ratio=INF, **CELLS)),
        ("band", "accounted", Verdict("holds", "band", "inside", worst_ratio=2.0, **CELLS)),
        ("law", "paper", Verdict("holds", "law", "equal", worst_ratio=1.0, **CELLS)),
        ("floor", "paper", Verdict("shown", "lower_bound", "no constants", worst_ratio=3.0, **CELLS)),
        ("control", "paper", Verdict("holds", "control", "as stated", **UNBOUNDED, **STATED)),
        ("look", "paper", Verdict("shown", "shown", "no expectation", **UNBOUNDED, slope=-1.7, ci=(-1.8, -1.6))),
        ("several", "accounted", Verdict("shown", "shown", "no expectation", **SEVERAL)),
        (
            "silent-n",
            "none",
            Verdict("match", "rate", "close", **CELLS, **FITTED, notes=("largest mean over 3 signals",)),
        ),
        (
            "count-n",
            "paper",
            Verdict("match", "complexity", "equal", **CELLS, **FITTED, reservations=("counts are doubled",)),
        ),
        (
            *("privacy-epsilon", "paper"),
            Verdict(
                "fails (real eps 3.24e+05)",
                "privacy",
                epsilon_real=3.24e5,
                epsilon_real_kind="lower",
                epsilon_claimed=1,
            ),
        ),
        (
            *("privacy-epsilon", "accounted"),
            Verdict(
                "unproven (upper bound 1.2)", "privacy", epsilon_real=1.2, epsilon_real_kind="upper", epsilon_claimed=1
            ),
        ),
    ],
    "wang2017.race": [
        ("race", "paper", Verdict("reversed", "ordering", "worse", parameter="epsilon", ratio=RACE, ratio_ci=RACE_CI)),
        ("race", "accounted", Verdict("inconclusive", "ordering", "flat", parameter="epsilon")),
    ],
    "wang2017.absent": [
        ("gone", "paper", Verdict("skipped: data absent: `dpsco data covertype`", "ordering", "data absent")),
        ("gone-n", "paper", Verdict("skipped: data absent", "rate", "data absent")),
    ],
}
SETTINGS = Settings(seed=7)


def plan_entry(text):
    claim = parse_claim(text)
    jobs = [job for part in claim.parts if part.plans for job in part_jobs(claim, part, "smoke", SETTINGS)]
    if claim.id == "wang2017.absent":
        jobs = [replace(job, skipped="data absent") for job in jobs]
    return ClaimEntry.of(claim, jobs)


def write_job(store, job):
    calibrations = calibrate_job(job)
    if job.part == "privacy-epsilon" and job.calibration == "paper":
        odd = {"epsilon_real": INF, "epsilon_real_kind": "exact", "privacy_status": "exceeds_claim"}
        first, second, *others = calibrations
        unproven = replace(second, epsilon_real=NAN, privacy_status="unproven")
        calibrations = (replace(first, **odd), unproven, *others)
    store.write("calibrations", job.calibration_key, dumps_canonical({"cells": calibrations}))
    costs = [Cost(0, 100.0, 64.0), Cost(1, 23.4, 128.0)] if (job.part, job.calibration) == ("rate-n", "paper") else []
    for block in job.blocks if job.has_run else ():
        table = execute(job, calibrations, block=block)
        store.write("runs", block.key, table_bytes(without_names(table)), costs)


def write_timings(store, job):
    curve = ((10.0, 200.0, 6000.0), (0.001, 0.02, 0.5), 3)
    cells = tuple(Curve(i, "m", "n", 1.0, *curve, timed_cell=i) for i in range(6))
    machine = Machine(processor=NASTY, cores=2, system="Linux", python="3", numpy="2", backend="numpy")
    store.write("timings", job.key, dumps_canonical(Timings(machine, cells)))


@pytest.fixture(scope="module", autouse=True)
def bumpy():
    """Tests here know a problem of their own, others do not."""
    PROBLEMS.add(Bumpy.name, Bumpy, __name__)
    yield
    PROBLEMS.forget(Bumpy.name)


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """Folder ``results/smoke`` with plan, calibrations, runs, verdicts, timings and benchmarks."""
    known = Bumpy.name in PROBLEMS.registered()  # by the module's fixture, if its first tests used no results
    PROBLEMS.add(Bumpy.name, Bumpy, __name__)
    try:
        return write_results(tmp_path_factory)
    finally:
        PROBLEMS.forget(*([] if known else [Bumpy.name]))


def write_results(tmp_path_factory):
    files = Layout("smoke", tmp_path_factory.mktemp("report"))
    entries = tuple(plan_entry(text) for text in CLAIMS)
    WorkPlan("smoke", entries, stamp="abc123").write(files.plan)
    store = files.measured.store
    for job in (job for entry in entries for job in entry.jobs):
        if not job.skipped and job.claim != "wang2017.unmeasured":
            write_job(store, job)
        if job.claim == "wang2017.race" and job.calibration == "paper":
            write_timings(store, job)
    for results in read_inputs(files).claims:
        identity = {"id": results.id, "profile": "smoke"}
        found = [
            (replace(v, noise=noise_of(results, part, calibration)), part, calibration)
            for part, calibration, v in VERDICTS.get(results.id, ())
        ]
        rows = [{**v.to_json(), **identity, "part": part, "calibration": calibration} for v, part, calibration in found]
        if rows:
            write_verdicts(files, results.id, rows)
    return files


def noise_of(results, part, calibration):
    cells = [] if calibration == "none" else charged_cells(results, part, calibration)
    return noise_behind((cell.calibrated, cell.cell) for cell in cells)


def write_verdicts(files, claim, rows):
    text = dumps_canonical({"claim": claim, "digest": "d", "verdicts": rows})
    write_atomic(files.verdicts(claim), sealed(text))


@pytest.fixture(scope="session")
def inputs(written):
    return read_inputs(written)


@pytest.fixture
def copy(written, tmp_path):
    """A copy of the results that a test may change."""
    return Layout("smoke", Path(shutil.copytree(written.base, tmp_path / "copy")))
