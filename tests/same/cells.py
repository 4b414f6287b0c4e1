"""Run a few cells of ci anew and digest their tables: a changed byte asks for another `RUN_FORMAT`."""

import hashlib
from dataclasses import replace
from pathlib import Path
from threading import Lock

import llvmlite.binding
import numba
import numpy as np

from dpsco_bench.claims.jobs import claim_plan
from dpsco_bench.execution.calibration import calibrate_job
from dpsco_bench.execution.digest import RUN_FORMAT
from dpsco_bench.execution.job import execute
from dpsco_bench.execution.results import join_parts, table_bytes, without_names

RECORD = Path(__file__).with_name("cells.json")
REPLICATES = 16
CELLS = """
bassily2021.cor14 p4-n.paper
bassily2021.table1.p1 n.paper
bassily2021.table1.p_below_2 noisy_smd-n.paper
bassily2021.thm19 n.accounted
gopi2022.audit axis_exact.replace_one-accounted.accounted
gopi2022.cor3.erm gibbs_check.paper
gopi2022.prop9 per_call.paper
su2023.thm2 objp-d.paper
su2023.thm8 privacy.paper
su2023.thm11 n.paper
wang2017.table1.bst14 ridge_logistic-n.paper
wang2017.table1.cms11 ridge_logistic-n.paper
wang2017.table3.frank_wolfe_ttz15 face_quadratic-n.paper
wang2017.thm4.2 ridge_logistic-n.paper
wang2017.thm4.4 batch_rule-n.accounted
wang2017.thm5.4 soft_quadratic_l2-n.accounted
wang2017.thm6.2 diag_quadratic-n.paper
zhang2022.table1.dp_sgd eps1.accounted
zhang2022.thm4 lp_n.paper
zhang2022.thm10 grid-rho1.paper
""".strip().splitlines()
"""Claim and job: of each its first cell is run."""
CLOSE = 1e-9  # another processor rounds differently; there the mean risks are compared
PLANNING = Lock()  # steps run in two threads, and Hydra composes one configuration at a time


def machine():
    """Name what a table's last digits depend on beside this code."""
    return f"{llvmlite.binding.get_host_cpu_name()}, NumPy {np.__version__}, Numba {numba.__version__}"


def planned(claim, profile):
    with PLANNING:
        return claim_plan(claim, profile).jobs


def digested(job, blocks=None):
    """Run a job, or some of its blocks, without the store, and digest its table."""
    calibrated = calibrate_job(job)
    tables = [execute(job, calibrated, block=block) for block in (blocks or [None])]
    return of_table(join_parts([*map(without_names, tables)]))


def of_table(table):
    content = table_bytes(table.replace_schema_metadata(None))
    return {"sha256": hashlib.sha256(content).hexdigest(), "mean": float(np.mean(table["risk"].to_numpy()))}


def fresh():
    found = {}
    for line in CELLS:
        claim, name = line.split()
        job = next(job for job in planned(claim, "ci") if job.name == name)
        few = job.replicates if job.evaluation == "audit" else min(job.replicates, REPLICATES)
        found[line] = digested(replace(job, cells=job.cells[:1], seconds=job.seconds[:1], replicates=few))
    return about(found)


def about(found):
    return {"format": RUN_FORMAT, "machine": machine(), "cells": found}


def differences(recorded, found):
    """Say which cells differ from the record, a line each; none where `RUN_FORMAT` was raised."""
    if recorded["format"] != found["format"]:
        return []
    same_machine, lines = recorded["machine"] == found["machine"], []
    for name, now in found["cells"].items():
        was = recorded["cells"].get(name)
        if was is None or abs(was["mean"] - now["mean"]) > CLOSE * abs(was["mean"]):
            lines.append(f"{name}: mean risk {was and was['mean']} -> {now['mean']}")
        elif same_machine and was["sha256"] != now["sha256"]:
            lines.append(f"{name}: other bytes, the same mean risk to {CLOSE}")
    return lines
