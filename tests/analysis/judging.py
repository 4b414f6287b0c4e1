"""Claims of one part and made-up results of their jobs, judged as the workflow does."""

from dataclasses import replace
from json import dumps, loads

import numpy as np
from jsonschema import Draft202012Validator

from dpsco_bench.analysis.judge import judge_claim
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.files import read_yaml
from dpsco_bench.claims.kinds import all_kinds, get_kind
from dpsco_bench.claims.parsing import parse_claim
from dpsco_bench.claims.plan import ClaimEntry
from dpsco_bench.execution.cell import CalibratedCell, Cell
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.results import FINAL, RESULT_FIELDS, build_block, join_blocks
from dpsco_bench.paths import shared_dir
from dpsco_bench.privacy.fingerprint import PlanRecord
from dpsco_bench.privacy.plan import make_plan
from dpsco_bench.problems.base import Constants


def verdict_schema():
    """Schema of a row of any kind; a kind's own fields are required of its rows only."""
    schema = dict(read_yaml(shared_dir("workflows") / "schemas" / "verdict.schema.yaml"))
    kinds = [kind for kind in all_kinds() if kind.own_fields]
    owners, cases = {}, []
    for kind in kinds:
        own = {name: field.schema for name, field in kind.own_fields.items()}
        cases.append(({"properties": {"kind": {"const": kind.name}}}, {"properties": own, "required": list(own)}))
        for name in own:
            owners.setdefault(name, []).append(kind.name)
    cases += [({"required": [name]}, {"properties": {"kind": {"enum": kinds}}}) for name, kinds in owners.items()]
    schema["properties"] = {**schema["properties"], **dict.fromkeys(owners, {})}
    return schema | {"allOf": [{"if": given, "then": then} for given, then in cases]}


SCHEMA = Draft202012Validator(verdict_schema())
GRID = [256.0, 512.0, 1024.0, 2048.0]
BLANK = {"string": "", "bool": False}
CONSTANTS = Constants(lipschitz=1.0, smoothness=1.0, strong_convexity=0.1)


def part(id, kind, **more):
    entry = {"id": id, "kind": kind, "calibrations": ["paper"]}
    if kind in ("complexity", "control", "law", "rate"):
        entry["tolerance"] = 0.15
    if "uses" not in more:
        entry |= {
            "methods": [{"algorithm": "wang2017.dp_gd_pl", "label": label} for label in more.pop("labels", ["gd"])],
            "problem": "diag_quadratic",
            "sweep": {"parameter": "n", "values": {"ci": GRID}},
        }
    return entry | more


def job(part_id, kind, calibration="paper", labels=("gd",), evaluation="run", skipped=""):
    cells = [
        Cell("wang2017.dp_gd_pl", "diag_quadratic", int(n), 1.0, 1e-5, 4, method=label, parameter="n", value=n, cell=i)
        for i, (label, n) in enumerate((label, n) for label in labels for n in GRID)
    ]
    names = {"claim": "wang2017.made_up", "part": part_id, "calibration": calibration, "profile": "ci", "key": "k"}
    run = {"seed": 1, "replicates": 8, "data_sets": 1, "evaluation": evaluation, "skipped": skipped}
    return Job(**names, **run, kind=kind, cells=tuple(cells))


def calibrations(made, **changes):
    one = {
        "calibration": made.calibration,
        "variant": "standard",
        "schedule": {"steps": 5},
        "scales": {"gradient": 0.1},
        "epsilon_real": 0.9,
        "epsilon_real_kind": "exact",
        "accountant": "made up",
        "privacy_status": "proven",
        "gradient_evaluations": 100,
        "constants": CONSTANTS,
        "dimension": 4,
        "signal_capped": False,
        "warnings": (),
        "plan": make_plan(gradient_evaluations=100),
    } | changes

    def charged(schedule, gradient_evaluations, **rest):
        return CalibratedCell(charged=PlanRecord(schedule, (), gradient_evaluations, (), "", (), None), **rest)

    return tuple(charged(**{k: v(c) if callable(v) else v for k, v in one.items()}) for c in made.cells)


def table(made, risk, start=1e3, checkpoints=(), cost=lambda c: 100.0, replicates=8, extras=None, **same):
    """Rows in any order; `risk` and `cost` give a cell's final values, `checkpoints` earlier ones, `same` the rest."""
    rows = []
    blank = {name: BLANK.get(str(kind), 0) for name, kind in RESULT_FIELDS} | same
    for cell in made.cells:
        noise = 1 + 0.02 * np.random.default_rng(cell.cell).standard_normal(replicates)
        begin = start(cell) if callable(start) else start
        means = [(FINAL, cost(cell), risk(cell)), *((i, spent, at(cell)) for i, (spent, at) in enumerate(checkpoints))]
        for replicate in range(replicates):
            ids = {"cell": cell.cell, "data_set": 0, "replicate": replicate, "start_risk": begin}
            for checkpoint, spent, mean in means:
                found = {"checkpoint": checkpoint, "gradient_evaluations": spent, "risk": mean * noise[replicate]}
                rows.append(blank | ids | found)
    columns = {name: np.array([row[name] for row in rows[::-1]]) for name in rows[0]}
    noted = {name: np.full(len(rows), value) for name, value in (extras or {}).items()}
    return join_blocks([build_block({**columns, "extras": noted})], {})


def at_signals(made, signals=(0.5, 1.0, 2.0)):
    cells = [replace(cell, signal=signal) for cell in made.cells for signal in signals]
    return replace(made, cells=tuple(replace(cell, cell=number) for number, cell in enumerate(cells)))


def claim_of(parts, jobs, **more):
    claim = {"id": "wang2017.made_up", "title": "t", "source": "s", "statement": "x", "parts": parts, **more}
    return ClaimEntry.of(parse_claim(claim), jobs)


def judge(parts, jobs, **more):
    loaded = {(made.part, made.calibration): (rows, fixed) for made, rows, fixed in jobs}
    entry = claim_of(parts, (made for made, _, _ in jobs), **more)
    rows = [v.to_json() for v in judge_claim(entry, lambda made: loaded[made.part, made.calibration])]
    for row in rows:
        SCHEMA.validate(loads(dumps(row)))
        rules, verdict = get_kind(row["kind"]), Verdict.from_json(row)
        assert set(rules.fields) <= set(row)
        assert verdict.word == "skipped" or {verdict.word, verdict.verdict} & set(rules.words)
    return rows


def rate_jobs(exponent, off=0.0, **changes):
    made, noise_off = job("n", "rate"), job("n", "rate", "none")
    return [
        (made, table(made, lambda c: c.n**exponent), calibrations(made, **changes)),
        (noise_off, table(noise_off, lambda c: c.n**off), calibrations(noise_off, privacy_status="none")),
    ]


RATE = part("n", "rate", bound="wang2017.strongly_convex", exponent=-2, note="a note", expected="match")
