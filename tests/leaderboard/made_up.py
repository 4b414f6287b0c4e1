"""A board's file, and made-up standings, for the tests of this folder."""

from dpsco_bench.execution.jobs import Settings
from dpsco_bench.leaderboard.standings import Ranked, Reference, Standing

SETTINGS = Settings(seed=1, data_root="absent")
RIDGE = {"id": "ridge", "title": "r", "problem": "ridge_logistic"}
REAL = {"id": "real", "title": "c", "problem": "covertype", "grids": {"smoke": [{"n": [64], "epsilon": [1]}]}}
FILE = {"id": "leaderboard.test", "title": "t", "delta": 1e-5, "data_sets": {"smoke": 1}}
FILE |= {"most_seconds": {"smoke": 1}, "most_seconds_at_smallest_n": {"smoke": 1}}


def ranked(name, risk, **more):
    usual = {"algorithm": f"p.{name}", "variant": "v", "ci": (risk, risk), "signal": None}
    usual |= {"gradient_evaluations": 1000.0, "epsilon_real": 1.0, "epsilon_real_kind": "exact"}
    usual |= {"privacy_status": "proven", "ranked": True, "tied": False, "at_start": False}
    return Ranked(method=name, risk=risk, **{**usual, **more})


def standing(methods, tied, **more):
    usual = {"instance": "i", "title": "t", "n": 64, "d": 8, "epsilon": 1.0, "delta": 1e-6, "p": 2.0, "left_out": ()}
    usual |= {"trivial": 9.0, "without_privacy": Reference(0.0, (0.0, 0.0)), "lower_bound": None}
    usual |= {"lower_bound_cut": False, "winner": tied[0], "runner_up": None, "margin": 0.5, "margin_ci": (0.1, 0.6)}
    return Standing(methods=tuple(methods), tied=tuple(tied), **{**usual, **more})
