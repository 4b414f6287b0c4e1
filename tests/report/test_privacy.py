"""The privacy behind a verdict is one fact: JSON, tables, records and the terminal say the same of every row."""

import csv
import io
import math
from dataclasses import replace

import pytest

from dpsco_bench.analysis.noise import Noise
from dpsco_bench.jsonio import to_jsonable
from dpsco_bench.report.scores import claim_file_table, scoreboard
from dpsco_bench.report.tables import to_csv

DRAW = Noise("target_law_only", math.nan, "", 1.0, epsilon_law=19.68)
DEMOTED = Noise("target_law_only", math.nan, "", 1.0)
BARE = Noise("exceeds_claim", math.inf, "exact", 1.0)
BOUND = Noise("unproven", 8.4649, "upper", 8.0, delta_large=True)


@pytest.fixture
def odd(inputs):
    """The results with a draw, a minimiser that is not exact enough, no noise at all, and a loose bound among them."""
    noises = iter((DRAW, DEMOTED, BARE, BOUND))
    rows = [replace(row, noise=next(noises, row.noise)) for row in inputs.claims[0].rows]
    return replace(inputs, claims=[replace(inputs.claims[0], verdicts=rows), *inputs.claims[1:]])


def said(row):
    """What JSON says of a row, as the text of a CSV."""
    entry = to_jsonable(row)
    noise = entry.get("noise") or {"status": "none" if entry["calibration"] == "none" else None}
    names = ("status", "epsilon_claimed", "epsilon_real", "epsilon_real_kind")
    return tuple("" if noise.get(name) is None else str(noise[name]) for name in names)


def test_tables_say_what_json_says_in_every_row(odd):
    def shown(table):
        names = ("privacy_status", "epsilon_claimed", "epsilon_real", "epsilon_real_kind")
        return [tuple(line[name] for name in names) for line in csv.DictReader(io.StringIO(to_csv(table)))]

    rows = [row for claim in odd.claims for row in claim.rows]
    assert shown(scoreboard(odd)) == list(map(said, rows)) and len({*map(said, rows)}) > 6
    for claim in odd.claims:
        assert shown(claim_file_table(claim)) == list(map(said, claim.rows))
