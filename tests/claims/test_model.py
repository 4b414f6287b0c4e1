import copy

import pytest

from dpsco_bench.claims.model import parse_claim
from dpsco_bench.errors import InputError

PART = {
    "id": "p",
    "kind": "rate",
    "calibrations": ["paper"],
    "algorithm": "wang2017.dp_gd_pl",
    "options": {"steps": 3},
    "problem": "ridge_logistic",
    "fixed": {"d": 3, "epsilon": 1.0, "delta": 1e-5},
    "sweep": {"parameter": "n", "values": {"smoke": [64, 128], "ci": [64]}},
    "replicates": {"smoke": 2},
    "bound": "wang2017.thm6_2",
}
USER = {"id": "u", "kind": "explicit", "calibrations": ["paper"], "uses": ["p"], "bound": "wang2017.thm6_2_explicit"}
CLAIM = {
    "id": "wang2017.test",
    "title": "t",
    "source": "s",
    "statement": "x",
    "parts": [PART, USER, {**PART, "id": "q", "sweep": {"parameter": "n", "values": {"full": [64]}}}],
}


def changed(part=None, **claim):
    """The claim with keys of its first part replaced, or removed where None."""
    entry = {**copy.deepcopy(CLAIM), **claim}
    for key, value in (part or {}).items():
        entry["parts"][0][key] = value
        if value is None:
            del entry["parts"][0][key]
    return entry


def test_a_claim_as_data():
    claim = parse_claim(CLAIM)
    assert claim.paper == "wang2017" and [part.id for part in claim.parts] == ["p", "u", "q"]
    part = claim.part("p")
    assert part.methods[0].algorithm == "wang2017.dp_gd_pl" and part.methods[0].options == {"steps": 3}
    assert part.runs and part.plans and not claim.part("u").plans
    assert [part.id for part in claim.parts_of("smoke")] == ["p", "u"]
    assert [part.id for part in claim.parts_of("full")] == ["q"]


def test_a_band_needs_all_its_parts_and_other_kinds_one():
    band = {"id": "b", "kind": "band", "calibrations": ["paper"], "uses": ["p", "q"], "band": [1, 2]}
    claim = parse_claim(changed(parts=[*CLAIM["parts"], band, {**USER, "id": "w", "uses": ["p", "q"]}]))
    assert [part.id for part in claim.parts_of("smoke")] == ["p", "u", "w"]
    assert next(part for part in claim.parts_of("smoke") if part.id == "w").uses == ["p"]


WRONG_PARTS = [
    ({"kind": "guess"}, "kind = 'guess': must be one of rate, explicit"),
    ({"kind": None}, "kind = 'missing': must be given"),
    ({"calibrations": None}, "calibrations = 'missing': must be given"),
    ({"calibrations": []}, "calibrations = \\[\\]: must be some of paper, accounted, none"),
    ({"calibrations": ["papr"]}, "calibrations = .'papr'.: must be some of"),
    ({"speed": 3}, "key = 'speed': must be one of id, kind"),
    ({"sweep": {"parameter": "n"}}, "sweep: values = 'missing': must be given"),
    ({"sweep": {"parameter": "n", "values": {}, "step": 1}}, "sweep: key = 'step'"),
    (
        {"sweep": {"parameter": "n", "values": {"quick": [1]}}},
        "profile of sweep = 'quick': must be one of smoke, ci, full",
    ),
    ({"replicates": {"quick": 3}}, "profile of replicates = 'quick'"),
    ({"fixed": {"d": {"smoke": 3}}}, "d = .'smoke'.: must be given for smoke, ci"),
    ({"sweep": None}, "sweep, algorithm, problem = 'missing': must be given"),
    ({"problem": None}, "sweep, algorithm, problem = 'missing': must be given"),
    ({"algorithm": None, "options": None}, "sweep, algorithm, problem = 'missing'"),
    ({"bound": None}, "bound = 'missing': must be given for kind rate"),
    ({"evaluation": "exact"}, "evaluation = 'exact': must be run or closed_form"),
    ({"tolerance": 0}, "tolerance = 0: must be a number > 0"),
    ({"tolerance": "small"}, "tolerance = 'small': must be a number"),
    ({"tolerance": True}, "tolerance = True: must be a number"),
    ({"calibrations": "paper"}, "calibrations = 'paper': must be a list of text"),
    ({"fixed": 3}, "fixed = 3: must be a mapping of names to values"),
    ({"replicates": 16}, "replicates = 16: must be a mapping of names to an integer"),
    ({"replicates": {"ci": 2.5}}, "replicates = .*: must be a mapping of names to an integer"),
    ({"sweep": 3}, "sweep = 3: must be a mapping"),
    ({"sweep": {"parameter": "n", "values": {"ci": ["many"]}}}, "values = .*: must be a mapping of names to"),
    ({"sweep": {"parameter": "n", "values": [1, 2]}}, "values = .*: must be a mapping of names to a list of a number"),
    ({"problem": 3}, "problem = 3: must be text"),
    ({"exponent": "two"}, "exponent = 'two': must be a number or null"),
    ({"timing": "yes"}, "timing = 'yes': must be true or false"),
    ({"methods": "dp_gd", "algorithm": None}, "methods = 'dp_gd': must be a list"),
    ({"kind": "explicit", "uses": []}, "uses = \\[\\]: must be at least one part"),
    ({"kind": "ordering"}, "pair = \\[\\]: must be two labels of methods"),
    ({"kind": "ordering", "pair": ["a", "b"]}, "pair = .*: must be two labels of methods"),
    ({"kind": "band", "uses": ["q"]}, "band = \\[\\]: must be two increasing numbers"),
    ({"kind": "band", "uses": ["q"], "band": [2, 1]}, "band = \\[2, 1\\]"),
    ({"methods": ["dp_gd"], "algorithm": None, "options": None}, "= 'dp_gd': must be a mapping of keys to values"),
]


@pytest.mark.parametrize(("part", "message"), WRONG_PARTS, ids=[message for _, message in WRONG_PARTS])
def test_mistakes_in_a_part_are_named_in_one_line(part, message):
    with pytest.raises(InputError, match=message) as caught:
        parse_claim(changed(part))
    text = str(caught.value)
    assert "\n" not in text and text.startswith("claim wang2017.test, part p")


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ({"id": "test"}, "^claim test = 'test': must be an id paper.name with at least one part"),
        ({"parts": []}, "must be an id paper.name with at least one part"),
        ({"parts": [PART, PART]}, r"parts = \['p', 'p'\]: must be distinct ids"),
        ({"parts": ["p"]}, "^claim wang2017.test: part = 'p': must be a mapping"),
        ({"parts": [PART, {**USER, "uses": ["z"]}]}, "^part of wang2017.test = 'z': must be one of p, u"),
        ({"authors": "x"}, "^claim wang2017.test: key = 'authors'"),
    ],
)
def test_mistakes_in_a_claim_are_named_in_one_line(claim, message):
    with pytest.raises(InputError, match=message) as caught:
        parse_claim(changed(**claim))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", ["id", "title", "source", "statement"])
def test_missing_keys_of_a_claim(key):
    entry = {k: v for k, v in CLAIM.items() if k != key}
    with pytest.raises(InputError, match=f": {key} = 'missing': must be given"):
        parse_claim(entry)
