"""An answer from fewer values than the statement has says which, from the claim's own grids."""

import json

import pytest

from dpsco_bench.analysis.answer import answer, answers
from dpsco_bench.analysis.record import read_record
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.catalogue import read_claims
from dpsco_bench.claims.model import MeasuredPart, SweptParameter
from dpsco_bench.paths import shared_dir

CI, FULL = [0.5], [0.2, 0.5, 1.0]


def part(ci, full, parameter="epsilon", **fixed):
    values = {name: grid for name, grid in (("ci", ci), ("full", full)) if grid}
    return MeasuredPart("own", "ordering", ["paper"], sweep=SweptParameter(parameter, values), fixed=fixed)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (part(CI, FULL), "eps = 0.5 alone"),
        (part(CI, FULL, n={"ci": 20000, "full": 200000}), "eps = 0.5 alone, n = 20,000 in place of 200,000"),
        (part([16000, 64000], [16000, 64000, 256000], "n"), "n = 16,000 and 64,000 alone"),
        (part([1, 2, 4], [1, 2, 4, 8], "problem.radius"), "radius = 1, 2 and 4 alone"),
        (part(FULL, FULL, n={"ci": 20000, "full": 200000}), ""),
        (part([0.3], FULL), ""),  # not of the same grid
        (part(CI, None), ""),
        (part(None, FULL), ""),
    ],
)
def test_fewer_values_are_named(made, said):
    assert made.scope("ci") == said and made.scope("full") == ""


def test_an_answer_says_which_values_its_orderings_are_of():
    noise = {"calibration": "none", "id": "p.fig"}
    holds = Verdict("holds", "ordering", parameter="epsilon", scope="eps = 0.5 alone", **noise)
    rate = Verdict("match", "rate", parameter="n", slope=1.0, **noise)
    aside = Verdict("reversed", "ordering", beside="other data", scope="eps = 2 alone", **noise)
    limit = ". The ordering is measured at eps = 0.5 alone."
    assert answer([holds]).text == f"The ordering holds without noise{limit}"
    assert answer([rate, holds, holds]).text.endswith(limit)
    assert "eps = 2" not in answer([rate, aside]).text and "he ordering is" not in answer([rate]).text
    skipped = Verdict("skipped: data absent", "ordering", "data absent", scope="eps = 0.5 alone", **noise)
    assert "eps = 0.5" not in answer([skipped]).text
    assert Verdict.from_json(json.loads(json.dumps(holds.to_json()))).scope == "eps = 0.5 alone"


@pytest.mark.parametrize("profile", ["ci", "full"])
def test_recorded_orderings_say_what_their_claims_grids_say(profile):
    claims = {claim.id: claim for claim in read_claims()}
    rows = read_record(shared_dir("workflows") / "recorded" / f"{profile}.json")
    for row in rows:
        claim = claims[row.id]
        grids = {claim.part(name).scope(profile) for name in claim.part(row.part).uses or [row.part]}
        assert {row.scope or ""} == (grids if row.kind == "ordering" else {""})
    said = "The ordering is measured at eps = 0.5 alone, n = 20,000 in place of 200,000"
    told = answers(rows)
    for name in ("wang2017.fig1", "wang2017.fig2"):
        assert (said in told[name].text) == (profile == "ci")


@pytest.mark.parametrize(
    ("word", "scope", "standing"),
    [
        ("holds", None, "holds without noise"),
        ("holds", "eps = 0.5 alone", "undecided"),
        ("reversed", "eps = 0.5 alone", "fails"),
    ],
)
def test_what_holds_at_some_of_the_values_of_the_statement_is_undecided(word, scope, standing):
    """A contradiction at one of them is one of the statement."""
    row = Verdict(word, "ordering", parameter="epsilon", scope=scope, calibration="none", id="p.fig")
    assert answer([row]).standing == standing
