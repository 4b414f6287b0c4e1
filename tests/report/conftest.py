"""Results of a small made-up profile: every kind of part, every verdict word, NaN, infinity, skipped and missing."""

from dataclasses import replace

import pytest

from dpsco_bench.analysis.noise import noise_behind
from dpsco_bench.analysis.verdict import JudgedClaim, Verdict
from dpsco_bench.claims.plan import WorkPlan
from dpsco_bench.execution.calibration import calibrate_job
from dpsco_bench.execution.job import execute
from dpsco_bench.execution.jobs import Settings
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.results import table_bytes, without_names
from dpsco_bench.execution.store import Cost
from dpsco_bench.execution.timing import Curve, Machine, Timings
from dpsco_bench.jsonio import dumps_canonical
from dpsco_bench.report.inputs import read_inputs
from tests.execution.parts import entry_of

NAN, INF = float("nan"), float("inf")
GRID = {"parameter": "n", "values": {"smoke": [256, 512, 1024]}}
FIXED = {"d": 4, "epsilon": 1.0, "delta": 1e-5}
RIDGE = {"algorithm": "wang2017.dp_gd_pl", "problem": "ridge_logistic", "fixed": FIXED, "sweep": GRID}
NASTY = 'R&D <b>100 %</b> of |x|_2 #1 ~ {"a"} \\ $ ^ *x* `y` α'


def part(id, kind, *calibrations, **more):
    return {"id": id, "kind": kind, "calibrations": [*calibrations] or ["paper"], **more}


def swept(id, kind, *calibrations, **more):
    return part(id, kind, *calibrations, **{**RIDGE, "bound": "wang2017.thm6_2", **more})


def rate(id, *calibrations, **more):
    return swept(id, "rate", *calibrations, tolerance=0.15, **more)


def of_methods(**methods):
    """In place of an algorithm."""
    return {"algorithm": None, "methods": [{"label": label, **method} for label, method in methods.items()]}


def entry(name, title, statement, *parts, **more):
    kept = [{key: value for key, value in one.items() if value is not None} for one in parts]
    told = {"title": title, "source": f"Wang, Ye, Xu 2017, of {name}", "statement": statement}
    return entry_of(f"wang2017.{name}", *kept, settings=Settings(seed=7), **told, **more)


PL = "wang2017.dp_gd_pl"
NO_BOUND = {"bound": None}
ON_COINS = {"algorithm": "wang2017.dp_gd", "problem": "coord_pseudo_huber", "bound": "wang2017_tables.convex"}


def on_epsilon(delta):
    sweep = {"parameter": "epsilon", "values": {"smoke": [0.5, 1.0]}}
    return {**NO_BOUND, "fixed": {"n": 256, "d": 4, "delta": delta}, "sweep": sweep}


def skipped(entry):
    return replace(entry, jobs=tuple(replace(job, skipped="data absent") for job in entry.jobs))


WAYS = of_methods(one_way={"algorithm": PL}, another={"algorithm": PL, "options": {"steps": 3}})
WAYS_RACE = {**NO_BOUND, **WAYS, "pair": ["one_way", "another"]}
RACERS = of_methods(
    first={"algorithm": PL, "options": {"steps": 20}},
    second={"algorithm": PL, "options": {"steps": 6}},
    output_perturbation={"algorithm": "wang2017.output_perturbation_zhang17"},
)
RACE_RUNS = {**on_epsilon(1e-3), **RACERS, "pair": ["first", "second"]}
RACE_RUNS |= {"replicates": {"smoke": 2}, "record": 0.5, "timing": True}


def entries():
    return [
        entry(
            "kinds",
            "All kinds of parts, d log(n)/(n eps)^2",
            f"Excess risk O(sqrt(d) n^-1.5). {NASTY}",
            rate("rate-n", "paper", "accounted", replicates={"smoke": 4}, exponent=-2),
            rate("exact-n", evaluation="closed_form", problem="diag_quadratic"),
            part("explicit", "explicit", uses=["rate-n", "privacy-epsilon"], bound="wang2017.thm6_2_explicit"),
            part("band", "band", "accounted", uses=["rate-n", "exact-n"], band=[0, 16]),
            swept("law", "law"),
            swept("floor", "lower_bound", constant="none"),
            swept("control", "control", exponent=-2, **NO_BOUND),
            part("look", "shown", uses=["rate-n"]),
            swept("several", "shown", "accounted", **NO_BOUND, **WAYS),
            rate("silent-n", "none", **ON_COINS, replicates={"smoke": 3}, signals={"smoke": [0.5, 1.0, 2.0]}),
            swept("count-n", "complexity", reservations={"paper": "counts are doubled"}),
            swept("privacy-epsilon", "privacy", "paper", "accounted", **on_epsilon(0.01)),
            assumptions=[NASTY],
            errata=["E8"],
        ),
        entry("race", "Orderings", "One is better.", swept("race", "ordering", "paper", "accounted", **RACE_RUNS)),
        skipped(entry("absent", "Skipped", "Nothing runs.", swept("gone", "ordering", **WAYS_RACE), rate("gone-n"))),
        # Its epsilon is its own: else it would share the results of another claim.
        entry("unmeasured", "No verdict file", "Not yet.", rate("later-n", fixed={**FIXED, "epsilon": 0.125})),
    ]


SCHEDULE = "schedule: without noise the risk is 0.85 of it"
X = (256.0, 512.0, 1024.0)
FITTED = {"slope": -1.9, "ci": (-2.0, -1.8), "bound_slope": -1.9, "claimed_exponent": -2.0, "tolerance": 0.15}
CELLS = {"parameter": "n", "values": X, "bound": (0.8, 0.2, 0.05)}
CELLS |= {"mean": (0.4, 0.1, 0.02), "stderr": (0.04, 0.01, NAN)}
UNBOUNDED = {**CELLS, "bound": ()}
SEVERAL = {**UNBOUNDED, "values": X + X, "mean": (0.4, 0.1, 0.02) * 2, "stderr": (0.04, 0.01, NAN) * 2}
STATED = {**FITTED, "bound_slope": NAN}
RACE = {"end, epsilon 0.5": 0.5, "equal evaluations, epsilon 0.5": 2.0, "end, epsilon 1": NAN}
RACE_CI = {"end, epsilon 0.5": (0.4, 0.6), "equal evaluations, epsilon 0.5": (1.5, 3.0), "end, epsilon 1": (0.0, INF)}
NOT_PRIVATE = {"noise_off_slope": -1.85, "reservations": (SCHEDULE, "not private: the real eps is 40")}
UNPROVEN = {"epsilon_real": 1.2, "epsilon_real_kind": "upper", "epsilon_claimed": 1}
EXCEEDED = {"epsilon_real": 3.24e5, "epsilon_real_kind": "lower", "epsilon_claimed": 1}
DOUBLED = {**CELLS, **FITTED, "reservations": ("counts are doubled",)}
VERDICTS = {
    "wang2017.kinds": {
        ("rate-n", "paper"): Verdict("match", "rate", "close", **CELLS, **FITTED, **NOT_PRIVATE, expected="match"),
        ("rate-n", "accounted"): Verdict("inconclusive", "rate", NASTY, **CELLS, **FITTED, notes=(NASTY,)),
        ("exact-n", "paper"): Verdict("faster", "rate", "beyond", **CELLS, **FITTED),
        ("explicit", "paper"): Verdict("violated", "explicit", "x", worst_ratio=INF, **CELLS),
        ("band", "accounted"): Verdict("holds", "band", "inside", worst_ratio=2.0, **CELLS),
        ("law", "paper"): Verdict("holds", "law", "equal", worst_ratio=1.0, **CELLS),
        ("floor", "paper"): Verdict("shown", "lower_bound", "no constants", worst_ratio=3.0, **CELLS),
        ("control", "paper"): Verdict("holds", "control", "as stated", **UNBOUNDED, **STATED),
        ("look", "paper"): Verdict("shown", "shown", "x", **UNBOUNDED, slope=-1.7, ci=(-1.8, -1.6)),
        ("several", "accounted"): Verdict("shown", "shown", "x", **SEVERAL),
        ("silent-n", "none"): Verdict("match", "rate", "close", **CELLS, **FITTED, notes=("over 3 signals",)),
        ("count-n", "paper"): Verdict("match", "complexity", "equal", **DOUBLED),
        ("privacy-epsilon", "paper"): Verdict("fails (real eps 3.24e+05)", "privacy", **EXCEEDED),
        ("privacy-epsilon", "accounted"): Verdict("unproven (upper bound 1.2)", "privacy", **UNPROVEN),
    },
    "wang2017.race": {
        ("race", "paper"): Verdict("reversed", "ordering", "x", parameter="epsilon", ratio=RACE, ratio_ci=RACE_CI),
        ("race", "accounted"): Verdict("inconclusive", "ordering", "flat", parameter="epsilon"),
    },
    "wang2017.absent": {
        ("gone", "paper"): Verdict("skipped: data absent: `dpsco data covertype`", "ordering", "data absent"),
        ("gone-n", "paper"): Verdict("skipped: data absent", "rate", "data absent"),
    },
}


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


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    files = Layout("smoke", tmp_path_factory.mktemp("report"))
    plan = WorkPlan("smoke", tuple(entries()), stamp="abc123")
    plan.write(files.plan)
    store = files.measured.store
    for job in plan.jobs():
        if not job.skipped and job.claim != "wang2017.unmeasured":
            write_job(store, job)
        if job.claim == "wang2017.race" and job.calibration == "paper":
            write_timings(store, job)
    for results in read_inputs(files).claims:
        rows = []
        for (part, calibration), verdict in VERDICTS.get(results.id, {}).items():
            charged = results.charged(part, calibration) if calibration != "none" else []
            named = {"id": results.id, "profile": "smoke", "part": part, "calibration": calibration}
            named["noise"] = noise_behind((cell.calibrated, cell.cell) for cell in charged)
            rows.append(replace(verdict, **named))
        if rows:
            JudgedClaim(results.id, "d", verdicts=tuple(rows)).write(files.verdicts(results.id))
    return files


@pytest.fixture(scope="session")
def inputs(written):
    return read_inputs(written)
