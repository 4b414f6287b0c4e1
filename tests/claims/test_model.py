"""Claims as data, their mistakes, and the grammar of their grids."""

import copy
from pathlib import Path

import pytest

from dpsco_bench.claims.files import read_shipped
from dpsco_bench.claims.model import PROFILES, Claim, expanded, numbers, spread, to_the_cap
from dpsco_bench.claims.parsing import parse_claim
from dpsco_bench.errors import InputError, InputErrors
from dpsco_bench.jsonio import dumps_canonical, loads
from dpsco_bench.kinds.explicit import ExplicitPart
from dpsco_bench.kinds.rate import RatePart
from tests.execution.parts import PART as GD

SWEEP = {"parameter": "n", "values": {"smoke": [64, 128], "ci": [64, 128]}}
PART = {**GD, "id": "p", "sweep": SWEEP, "replicates": {"smoke": 2}}
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


def names(claim, profile):
    return [part.id for part in claim.parts_of(profile)]


def test_a_claim_as_data_and_as_json():
    claim = parse_claim(CLAIM)
    assert claim.paper == "wang2017" and [part.id for part in claim.parts] == ["p", "u", "q"]
    part, user = claim.part("p"), claim.part("u")
    assert part.methods[0].algorithm == "wang2017.dp_gd_pl" and part.methods[0].options == {"steps": 3}
    assert part.runs and part.plans and not (user.plans or user.methods or user.sweep or hasattr(user, "speed"))
    assert names(claim, "smoke") == ["p", "u"] and names(claim, "full") == ["q"]
    assert [type(part) for part in claim.parts] == [RatePart, ExplicitPart, RatePart]
    assert Claim.from_json(loads(dumps_canonical(claim))) == claim


def test_a_band_needs_all_its_parts_and_other_kinds_one():
    band = {"id": "b", "kind": "band", "calibrations": ["paper"], "uses": ["p", "q"], "band": [1, 2]}
    claim = parse_claim(changed(parts=[*CLAIM["parts"], band, {**USER, "id": "w", "uses": ["p", "q"]}]))
    assert names(claim, "smoke") == ["p", "u", "w"]
    assert [part.uses for part in claim.parts_of("smoke")] == [[], ["p"], ["p"]]


def test_a_profile_has_its_own_tolerance_and_only_calibrations_with_rows():
    sweep = {"parameter": "n", "values": {"ci": [64, 128]}}
    other = {**PART, "id": "q", "calibrations": ["accounted"], "replicates": 2, "sweep": sweep}
    user = {**USER, "calibrations": ["paper", "accounted"], "uses": ["p", "q"]}
    claim = parse_claim({**CLAIM, "parts": [{**PART, "tolerances": {"ci": 0.02}}, user, other]})
    of = {profile: {part.id: part for part in claim.parts_of(profile)} for profile in ("smoke", "ci")}
    assert (of["smoke"]["p"].tolerance, of["ci"]["p"].tolerance) == (0.15, 0.02)
    assert (of["smoke"]["u"].calibrations, of["ci"]["u"].calibrations) == (["paper"], ["paper", "accounted"])


SHARE = {"kind": "explicit", "uses": ["q"], "statistic": "fraction"}
WRONG_PARTS = [
    ({"amended": "E99"}, "amended = 'E99': must be one of the claim's errata"),
    ({"calibrations": None}, "calibrations is missing: must be given"),
    ({"speed": 3}, "key = 'speed': must be a known one, such as "),
    ({"sweep": {"parameter": "n", "values": {"quick": [1]}}}, "profile of sweep = 'quick'"),
    ({"fixed": {"d": {"smoke": 3}}}, "d = .'smoke'.: must be given for smoke, ci"),
    ({"bound": None}, "bound is missing: must be given for kind rate"),
    ({"exponent": -0.1, "tolerance": 0.08, "tolerances": {"ci": 0.09}}, "tolerance = 0.09: must be at most 0.08"),
    ({"axis": "ln"}, "part p: axis = 'ln': must be a formula in the notation of bounds, in "),
    ({"axis": "n", "bound": None, "kind": "shown"}, "axis = 'n': must be left out: it belongs to measured slopes"),
    ({"signals": "0.5 .. cap x1"}, "signals = '0.5 .. cap x1': must be a list of numbers"),
    ({"requires": {"moved": "far"}}, "requires = .*: must be a mapping of names to a number"),
    ({"sweep": {"parameter": "n", "values": {"ci+full": [1], "full": [1]}}}, "sweep = 'full': must be given once"),
    ({"kind": "ordering", "pair": ["a", "b"]}, "pair = .*: must be two labels of methods"),
    ({"kind": "band", "uses": ["q"], "band": [-1, 2]}, "band = .*: must be two numbers 0 <= low < high"),
    ({"kind": "lower_bound", "constant": "some"}, "constant = 'some'"),
    ({"statistic": "max"}, "statistic = 'max': must be left out, or null: it belongs to kind explicit"),
    ({**SHARE}, "probability is missing: must be a number in"),
    ({**SHARE, "probability": 2}, "probability = 2: must be a number"),
    ({"kind": "explicit", "probability": 0.9}, "probability = 0.9: must be left out: it belongs to statistic fraction"),
    ({"signals": {"smoke": [1, 2]}}, "signals of ci = \\[\\]: must be increasing numbers"),
    ({"along": {"epsilon": {"smoke": [1, 2]}}}, "along epsilon = .*: must be lists as long as the sweep's"),
    ({"methods": ["dp_gd"], "algorithm": None, "options": None}, "= 'dp_gd': must be a mapping of keys to values"),
    ({"sweep": {"parameter": "n", "values": {"ci": [1024, 64, 1024.0]}}}, "sweep of ci = .*1024 is there twice"),
    ({"calibrations": ["paper", "paper"]}, "calibrations = .*: must be each once"),
    *(
        ({key: {"smoke+full": 0.1 if key == "tolerances" else 2}}, f"{key} = .*: must be given for smoke, ci alone")
        for key in ("replicates", "data_sets", "tolerances")
    ),
    ({"expected": "matches"}, "expected = 'matches': must be empty, or for kind rate one of match, faster"),
    ({"expected": "paper match, accounted match"}, "expected = 'paper match, accounted match'"),
    ({"problem_options": {"d": 3}}, "problem_options = 'd': must be an option; this is said by d"),
    ({"problem_options": {"constants": 3}}, "problem_options: constants = 3: must be a mapping of names of constants"),
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
        ({"parts": [PART, USER, {**USER, "id": "z", "uses": ["u"]}]}, "z: uses = 'u': must be a part that has cells"),
        ({"parts": [PART, {**USER, "calibrations": ["accounted"]}]}, "u: calibrations = 'accounted': must be one of"),
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
    assert names(claim, "ci") == ["p", "o"] and claim.part("o").only == {"ci": [value]}
    for wrong in ({"ci": [-1.0]}, {"ci": []}, {"smoke": [-1.0]}):
        with pytest.raises(InputError, match="part o: only of"):
            parse_claim(changed(parts=[PART, {**some, "only": wrong}]))
    with pytest.raises(InputError, match="only = .*: must be left out, or null: it belongs to kind ordering"):
        parse_claim(changed(parts=[PART, {**USER, "only": {"ci": [value]}}]))


def test_kinds_that_run_may_judge_the_rows_of_others():
    law = {"id": "l", "kind": "law", "calibrations": ["paper"], "uses": ["p"], "bound": "wang2017.thm6_2"}
    claim = parse_claim(changed(parts=[PART, law, {**PART, "id": "m", "kind": "law"}]))
    assert not claim.part("l").runs and claim.part("m").runs
    assert names(claim, "ci") == ["p", "l", "m"]


def test_a_rate_gives_its_tolerance_and_a_count_has_the_stated_one():
    bare = {key: value for key, value in PART.items() if key != "tolerance"}
    with pytest.raises(InputError, match="part p: tolerance is missing: must be given for kind rate"):
        parse_claim(changed(parts=[bare]))
    assert parse_claim(changed(parts=[{**bare, "kind": "complexity"}])).parts[0].tolerance == 0.05
    shown = parse_claim(changed(parts=[{**PART, "kind": "shown", "tolerance": None}])).parts[0]
    assert shown.tolerance is None, "null takes back what a merge brings"


def test_all_that_is_wrong_with_a_file_is_told_at_once():
    first = {**PART, "tolerance": 0.3, "better": "larger", "band": [1, 2], "replicates": {"smoke": 0}}
    second = {**USER, "speed": 3, "statistic": "median", "problem": "ridge_logistic"}
    with pytest.raises(InputErrors) as caught:
        parse_claim(changed(parts=[first, second, {**PART, "id": "q", "kind": "guess"}]))
    told = str(caught.value)
    assert "\n" not in told and told.count("part p: ") == told.count("part u: ") == told.count("part q: ") == 1
    slips = ["band = [1, 2]: must be left out", "replicates of smoke = 0", "tolerance = 0.3: must be at most 0.25"]
    slips += ["key = 'speed'", "statistic = 'median'", "problem = 'ridge_logistic'", "kind = 'guess'"]
    assert [slip for slip in slips if slip not in told] == []


@pytest.mark.parametrize(
    "first", [{"record": "often"}, {"fixed": {"d": "1 .. 9 x5"}}, {"sped": 3}, {"replicates": 2.5}]
)
def test_a_key_that_cannot_be_read_hides_no_other_slip(first):
    """Neither of its part, nor between parts; and what rests on that key alone is not told."""
    part = {**PART, **first, "tolerance": -1, "noted": ["none"], "amended": "E99"}
    with pytest.raises(InputErrors) as caught:
        parse_claim(changed(parts=[part, {**USER, "uses": ["p", "nobody"]}], states="mood", title=3))
    told, slips = str(caught.value), [next(iter(first)), "tolerance = -1", "noted = ['none']", "amended = 'E99'"]
    assert [slip for slip in (*slips, "'nobody'", "states = 'mood'", "title = 3") if slip not in told] == []
    assert "is missing" not in told and told.count(": must be ") == 7


@pytest.mark.parametrize(
    "wrong", [{"sweep": "n"}, {"grid": 3, "sweep": None}, {"algorithm": 3}, {"calibrations": "paper"}]
)
def test_what_rests_on_a_wrong_key_is_not_told(wrong):
    with pytest.raises(InputError) as caught:
        parse_claim(changed(wrong))
    assert str(caught.value).count(": must be ") == 1 and next(iter(wrong)) in str(caught.value)
    with pytest.raises(InputError, match=r"errata = 3: must be a list of text$"):
        parse_claim(changed({"amended": "E1"}, errata=3))


def test_all_combinations_the_last_fastest():
    grid = {"ci": {"n": [10, 100], "problem.p": [1.5, 2.0, 1.2]}, "full": {"n": [5], "problem.p": [2.0]}}
    found = expanded(grid, "x")
    assert found["sweep"] == {"parameter": "cell", "values": {"ci": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "full": [1.0]}}
    assert found["along"]["n"] == {"ci": [10, 10, 10, 100, 100, 100], "full": [5]}
    assert found["along"]["problem.p"]["ci"] == [1.5, 2.0, 1.2, 1.5, 2.0, 1.2]
    found = spread({"sweep": {"parameter": "n", "values": [1, 2]}, "replicates": {"ci": 2, "full": 3}}, "x")
    assert found["sweep"]["values"] == {"ci": [1, 2], "full": [1, 2]} and found["replicates"] == {"ci": 2, "full": 3}
    assert expanded({"n": [1], "d": "2 .. 4 x2"}, "x")["along"]["d"] == {"ci": [2, 4], "full": [2, 4]}


def test_a_geometric_list_is_a_text():
    """Integers stay integers."""
    assert repr(numbers("1024 .. 8192 x2", "x")) == "[1024, 2048, 4096, 8192]"
    assert repr(numbers("0.1 .. 0.0125 x0.5", "x")) == "[0.1, 0.05, 0.025, 0.0125]"
    assert repr(numbers("1.0..100 x10", "x")) == "[1.0, 10.0, 100.0]"
    assert numbers("0.5 .. 4.0 in 7", "x") == [0.5, 0.707107, 1.0, 1.414214, 2.0, 2.828427, 4.0]


def test_a_grid_up_to_the_cap():
    assert to_the_cap("0.5 .. cap x2") == (0.5, 2.0)
    assert to_the_cap("0 .. cap x2") is to_the_cap("2 .. cap x0.5") is to_the_cap(3) is None


@pytest.mark.parametrize(
    "text",
    ["", "many", "1 .. 8", "1 .. 9 x2", "8 .. 1 x2", "1 .. 8 x1", "-1 .. 8 x2", "1 .. 8 in 1"],
)
def test_no_geometric_list(text):
    with pytest.raises(InputError, match="^x = "):
        numbers(text, "x")


def test_what_profiles_share_is_said_once():
    short = {
        "sweep": {"parameter": "n", "values": {"smoke": [10, 20], "ci+full": "10 .. 40 x2"}},
        "along": {"problem.ridge": {"smoke": [1, 2], "ci+full": [1, 2, 3]}},
        "fixed": {"d": {"smoke": 2, "ci+full": 3}, "epsilon": 1.0},
        "signals": [0.5, 1],
        "replicates": 4,
        "only": [10],
    }
    assert spread(short, "x") == {
        "sweep": {"parameter": "n", "values": {"smoke": [10, 20], "ci": [10, 20, 40], "full": [10, 20, 40]}},
        "along": {"problem.ridge": {"smoke": [1, 2], "ci": [1, 2, 3], "full": [1, 2, 3]}},
        "fixed": {"d": {"smoke": 2, "ci": 3, "full": 3}, "epsilon": 1.0},
        "signals": {"smoke": [0.5, 1], "ci": [0.5, 1], "full": [0.5, 1]},
        "replicates": {"smoke": 4, "ci": 4, "full": 4},
        "only": {"smoke": [10], "ci": [10], "full": [10]},
    }
    assert spread(spread(short, "x"), "x") == spread(short, "x"), "the long form is the same grammar"


def said_twice(node, place=""):
    """Places of a file where profiles have equal values and each has its own."""
    if isinstance(node, list):
        node = dict(enumerate(node))
    if not isinstance(node, dict):
        return []
    names = [profile for key in node for profile in str(key).split("+")]
    values = list(node.values())
    twice = bool(set(names) <= set(PROFILES) and any(value in values[:i] for i, value in enumerate(values)))
    return [place] * twice + [found for key, value in node.items() for found in said_twice(value, f"{place}/{key}")]


def test_no_file_says_for_each_profile_what_they_share():
    root = Path(__file__).resolve().parents[2]
    files = [*root.glob("conf/**/*.yaml"), *root.glob("examples/**/*.yaml")]
    found = {str(path.relative_to(root)): said_twice(read_shipped(path)) for path in files}
    assert len(files) > 150 and not {path: places for path, places in found.items() if places}
    assert said_twice({"a": [{"ci": 1, "full": 2}, {"ci": [1], "full": [1]}]}) == ["/a/1"]
    assert said_twice({"smoke": 2, "ci": 1, "full": 2}) == [""] and not said_twice({"smoke+full": 2, "ci": 1})
