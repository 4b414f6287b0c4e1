import copy

import pytest

from dpsco_bench.claims.model import Claim
from dpsco_bench.claims.parsing import parse_claim
from dpsco_bench.errors import InputError, InputErrors
from dpsco_bench.jsonio import dumps_canonical, loads
from dpsco_bench.kinds.explicit import ExplicitPart
from dpsco_bench.kinds.rate import RatePart

PART = {
    "id": "p",
    "kind": "rate",
    "calibrations": ["paper"],
    "algorithm": "wang2017.dp_gd_pl",
    "options": {"steps": 3},
    "problem": "ridge_logistic",
    "fixed": {"d": 3, "epsilon": 1.0, "delta": 1e-5},
    "sweep": {"parameter": "n", "values": {"smoke": [64, 128], "ci": [64, 128]}},
    "replicates": {"smoke": 2},
    "bound": "wang2017.thm6_2",
    "tolerance": 0.15,
}
USER = {"id": "u", "kind": "explicit", "calibrations": ["paper"], "uses": ["p"], "bound": "wang2017.thm6_2_explicit"}
FULL = {**PART, "id": "q", "sweep": {"parameter": "n", "values": {"full": [64, 128]}}, "replicates": 2}
CLAIM = {"id": "wang2017.test", "title": "t", "source": "s", "statement": "x", "parts": [PART, USER, FULL]}


def changed(part=None, **claim):
    entry = {**copy.deepcopy(CLAIM), **claim}
    for key, value in (part or {}).items():
        entry["parts"][0][key] = value
        if value is None:
            del entry["parts"][0][key]
    return entry


def test_a_claim_as_data_and_as_json():
    claim = parse_claim(CLAIM)
    assert claim.paper == "wang2017" and [part.id for part in claim.parts] == ["p", "u", "q"]
    part = claim.part("p")
    assert part.methods[0].algorithm == "wang2017.dp_gd_pl" and part.methods[0].options == {"steps": 3}
    assert part.runs and part.plans and not claim.part("u").plans
    assert [part.id for part in claim.parts_of("smoke")] == ["p", "u"]
    assert [part.id for part in claim.parts_of("full")] == ["q"]
    claim = parse_claim(CLAIM)
    assert [type(part) for part in claim.parts] == [RatePart, ExplicitPart, RatePart]
    assert Claim.from_json(loads(dumps_canonical(claim))) == claim
    assert not claim.part("u").methods and claim.part("u").sweep is None
    assert not hasattr(claim.part("u"), "speed")


def test_a_band_needs_all_its_parts_and_other_kinds_one():
    band = {"id": "b", "kind": "band", "calibrations": ["paper"], "uses": ["p", "q"], "band": [1, 2]}
    claim = parse_claim(changed(parts=[*CLAIM["parts"], band, {**USER, "id": "w", "uses": ["p", "q"]}]))
    assert [part.id for part in claim.parts_of("smoke")] == ["p", "u", "w"]
    assert next(part for part in claim.parts_of("smoke") if part.id == "w").uses == ["p"]


def test_a_profile_has_its_own_tolerance_and_only_calibrations_with_rows():
    part = {**PART, "tolerances": {"ci": 0.02}}
    other = {**PART, "id": "q", "calibrations": ["accounted"], "replicates": 2}
    other["sweep"] = {"parameter": "n", "values": {"ci": [64, 128]}}
    user = {**USER, "calibrations": ["paper", "accounted"], "uses": ["p", "q"]}
    claim = parse_claim({**CLAIM, "parts": [part, user, other]})
    of = {profile: {part.id: part for part in claim.parts_of(profile)} for profile in ("smoke", "ci")}
    assert (of["smoke"]["p"].tolerance, of["ci"]["p"].tolerance) == (0.15, 0.02)
    assert (of["smoke"]["u"].calibrations, of["ci"]["u"].calibrations) == (["paper"], ["paper", "accounted"])


WRONG_PARTS = [
    ({"amended": "E99"}, "amended = 'E99': must be one of the claim's errata"),
    ({"calibrations": None}, "calibrations is missing: must be given"),
    ({"speed": 3}, "key = 'speed': must be a known one, such as "),
    ({"sweep": {"parameter": "n", "values": {"quick": [1]}}}, "profile of sweep = 'quick'"),
    ({"fixed": {"d": {"smoke": 3}}}, "d = .'smoke'.: must be given for smoke, ci"),
    ({"sweep": None}, "sweep, algorithm, problem is missing: must be given"),
    ({"bound": None}, "bound is missing: must be given for kind rate"),
    ({"tolerance": 0.26}, "part p: tolerance = 0.26: must be at most 0.25"),
    ({"exponent": 0.5}, "part p: tolerance = 0.15: must be at most 0.125 for exponent 0.5"),
    ({"exponent": -0.1, "tolerance": 0.08, "tolerances": {"ci": 0.09}}, "tolerance = 0.09: must be at most 0.08"),
    ({"axis": "ln"}, "part p: axis = 'ln': must be a formula in the notation of bounds, in "),
    ({"axis": "n", "bound": None, "kind": "shown"}, "axis = 'n': must be left out: it belongs to measured slopes"),
    ({"axis": "n", "kind": "complexity"}, "axis = 'n': must be left out"),
    ({"signals": "0.5 .. cap x1"}, "signals = '0.5 .. cap x1': must be a list of numbers"),
    ({"requires": {"moved": "far"}}, "requires = .*: must be a mapping of names to a number"),
    ({"calibrations": "paper"}, "calibrations = 'paper': must be a list of text"),
    ({"sweep": {"parameter": "n", "values": "1 .. 9 x2"}}, "sweep = '1 .. 9 x2': must be a list of numbers, FIRST"),
    (
        {"sweep": {"parameter": "n", "values": {"ci+full": [1, 2], "full": [1, 2]}}},
        "sweep = 'full': must be given once",
    ),
    ({"kind": "explicit", "uses": []}, "uses = \\[\\]: must be at least one part"),
    ({"kind": "ordering"}, "pair is missing: must be given for kind ordering"),
    ({"kind": "ordering", "pair": ["a", "b"]}, "pair = .*: must be two labels of methods"),
    ({"kind": "band", "uses": ["q"]}, "band is missing: must be given for kind band"),
    ({"kind": "lower_bound", "constant": "some"}, "constant = 'some'"),
    ({"kind": "control"}, "exponent is missing: must be given for kind control"),
    ({"statistic": "max"}, "statistic = 'max': must be left out, or null: it belongs to kind explicit"),
    ({"kind": "explicit", "uses": ["q"], "statistic": "median"}, "statistic = 'median'"),
    ({"kind": "explicit", "uses": ["q"], "statistic": "fraction"}, "probability is missing: must be a number in"),
    (
        {"kind": "explicit", "uses": ["q"], "statistic": "fraction", "probability": 2},
        "probability = 2: must be a number",
    ),
    ({"kind": "explicit", "probability": 0.9}, "probability = 0.9: must be left out: it belongs to statistic fraction"),
    ({"signals": {"smoke": [1, 2]}}, "signals of ci = \\[\\]: must be increasing numbers"),
    ({"signals": {"smoke": [1, 1], "ci": [1]}}, "signals of smoke = \\[1, 1\\]: must be increasing numbers"),
    ({"along": {"epsilon": {"smoke": [1, 2]}}}, "along epsilon = .*: must be lists as long as the sweep's"),
    ({"methods": ["dp_gd"], "algorithm": None, "options": None}, "= 'dp_gd': must be a mapping of keys to values"),
    ({"sweep": {"parameter": "n", "values": {"ci": [1024, 64, 1024.0]}}}, "sweep of ci = .*1024 is there twice"),
    ({"calibrations": ["paper", "paper"]}, "calibrations = .*: must be each once"),
    ({"exponent": float("inf")}, "exponent = inf: must be a finite number"),
    ({"replicates": {"smoke": 10**12}}, "replicates of smoke = 1000000000000: must be an integer from 1 to 100000000"),
    *(
        ({key: {"smoke+full": 0.1 if key == "tolerances" else 2}}, f"{key} = .*: must be given for smoke, ci alone")
        for key in ("replicates", "data_sets", "tolerances")
    ),
    ({"fixed": {"d": {"smoke+ci+full": 3}}}, "d = .*: must be given for smoke, ci alone"),
    ({"expected": "matches"}, "expected = 'matches': must be empty, or for kind rate one of match, faster"),
    ({"expected": "paper match, accounted match"}, "expected = 'paper match, accounted match'"),
    ({"expected": "paper match, paper fails"}, "expected = 'paper match, paper fails'"),
    ({"problem_options": {"d": 3}}, "problem_options = 'd': must be an option; this is said by d"),
    ({"problem_options": {"constants": 3}}, "problem_options: constants = 3: must be a mapping of names of constants"),
    ({"options": {"n": 3}}, "options = 'n': must be an option; this is said by n"),
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
        (
            {"parts": [PART, USER, {**USER, "id": "z", "uses": ["u"]}]},
            "part z: uses = 'u': must be a part that has cells",
        ),
        (
            {"parts": [PART, {**USER, "calibrations": ["accounted"]}]},
            "part u: calibrations = 'accounted': must be one of",
        ),
        ({"authors": "x"}, "^claim wang2017.test: key = 'authors'"),
    ],
)
def test_mistakes_in_a_claim_are_named_in_one_line(claim, message):
    with pytest.raises(InputError, match=message) as caught:
        parse_claim(changed(**claim))
    assert "\n" not in str(caught.value)


def test_an_ordering_of_some_values_is_judged_in_their_profiles_alone():
    some = {"id": "o", "kind": "ordering", "calibrations": ["paper"], "uses": ["p"], "pair": ["a", "b"]}
    value = parse_claim(changed()).part("p").sweep.values["ci"][0]
    claim = parse_claim(changed(parts=[PART, {**some, "only": {"ci": [value]}}]))
    assert [part.id for part in claim.parts_of("ci")] == ["p", "o"] and claim.part("o").only == {"ci": [value]}
    for wrong in ({"ci": [-1.0]}, {"ci": []}, {"smoke": [-1.0]}):
        with pytest.raises(InputError, match="part o: only of"):
            parse_claim(changed(parts=[PART, {**some, "only": wrong}]))
    with pytest.raises(InputError, match="only = .*: must be left out, or null: it belongs to kind ordering"):
        parse_claim(changed(parts=[PART, {**USER, "only": {"ci": [value]}}]))


def test_kinds_that_run_may_judge_the_rows_of_others():
    law = {"id": "l", "kind": "law", "calibrations": ["paper"], "uses": ["p"], "bound": "wang2017.thm6_2"}
    claim = parse_claim(changed(parts=[PART, law, {**PART, "id": "m", "kind": "law"}]))
    assert not claim.part("l").runs and claim.part("m").runs
    assert [part.id for part in claim.parts_of("ci")] == ["p", "l", "m"]


def test_a_rate_gives_its_tolerance_and_a_count_has_the_stated_one():
    bare = {key: value for key, value in PART.items() if key != "tolerance"}
    with pytest.raises(InputError, match="part p: tolerance is missing: must be given for kind rate"):
        parse_claim(changed(parts=[bare]))
    assert parse_claim(changed(parts=[{**bare, "kind": "complexity"}])).parts[0].tolerance == 0.05
    merged = {**PART, "kind": "shown", "tolerance": None}
    assert parse_claim(changed(parts=[merged])).parts[0].tolerance is None, "null takes back what a merge brings"


def test_all_that_is_wrong_with_a_file_is_told_at_once():
    first = {**PART, "tolerance": 0.3, "better": "more", "band": [1, 2], "replicates": {"smoke": 0}, "kind": "rate"}
    second = {**USER, "speed": 3, "statistic": "median", "problem": "ridge_logistic"}
    with pytest.raises(InputErrors) as caught:
        parse_claim(changed(parts=[{**first, "better": "larger"}, second, {**PART, "id": "q", "kind": "guess"}]))
    told = str(caught.value)
    assert "\n" not in told and told.count("part p: ") == told.count("part u: ") == told.count("part q: ") == 1
    for key in ("band = [1, 2]: must be left out", "replicates of smoke = 0", "tolerance = 0.3: must be at most 0.25"):
        assert key in told
    for key in ("key = 'speed'", "statistic = 'median'", "problem = 'ridge_logistic'", "kind = 'guess'"):
        assert key in told
