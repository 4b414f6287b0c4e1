"""Words of the command line, claims and leaderboards in files of others."""

import math
from pathlib import Path

from hypothesis import assume, given
from hypothesis import strategies as st

from dpsco_bench.algorithms.registry import get_algorithm, list_algorithms
from dpsco_bench.claims.parsing import parse_claim
from dpsco_bench.cli.main import verb_names
from dpsco_bench.errors import DpscoError
from dpsco_bench.execution.request import known_keys
from dpsco_bench.problems.registry import list_problems, problem_class

from .calls import ODD_NUMBERS, ODD_WORDS, judged, number_of_examples, own_folder, spoilt, yaml_text

WORDS = st.sampled_from([*ODD_WORDS, *map(str, ODD_NUMBERS)])
PRINTING = ["account", "list", "show", "compare", "choose", "gate"]
PRINTING += ["check", "audit", "leaderboard", "claim", "bench", "run"]
PROBLEMS = [name for name in list_problems() if not problem_class(name).needs_data_root]
CLAIM = {
    **{"id": "mine.a", "title": "t", "source": "s", "statement": "x"},
    "parts": [
        {
            **{"id": "p", "kind": "privacy", "calibrations": ["paper"], "algorithm": "wang2017.dp_gd_pl"},
            **{"problem": "ridge_logistic", "problem_options": {"ridge": 0.1}},
            "fixed": {"n": 64, "d": 3, "delta": 1e-5},
            "sweep": {"parameter": "epsilon", "values": {"smoke": [0.5, 1.0]}},
        },
        {
            **{"id": "q", "kind": "privacy", "calibrations": ["accounted"], "problem": "ridge_logistic"},
            **{"fixed": {"n": {"smoke": 64}, "d": 3, "epsilon": 1.0}, "replicates": {"smoke": 2}},
            "sweep": {"parameter": "delta", "values": {"smoke": [1e-5, 1e-4]}},
            "methods": [{"label": "long", "algorithm": "wang2017.dp_gd_pl", "options": {"steps": 8}}],
        },
    ],
}
"""Planned and accounted for, without a run."""
BOARD = {
    **{"title": "mine", "delta": 1e-5, "methods": ["wang2017.dp_gd_pl"], "replicates": 2},
    "instances": [{"id": "ridge", "problem": "ridge_logistic", "problem_options": {"ridge": 0.1}}],
    "grids": [{"n": [64], "d": [3], "epsilon": [1.0]}],
}


def small(value):
    """Whether nothing in a file asks for more than a moment: what is asked for in earnest may take its time."""
    if isinstance(value, dict | list):
        return all(map(small, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, int | float) or not 100 < abs(value) < 1e200


@st.composite
def lines(draw):
    """A verb with words; `account` has its algorithm, problem and n, and two keys with odd values, every other time."""
    if draw(st.booleans()):
        algorithm, problem = draw(st.sampled_from(list_algorithms())), draw(st.sampled_from(PROBLEMS))
        keys = [*known_keys(get_algorithm(algorithm), problem_class(problem)), "x", "calibration", "seed", ""]
        odd = {key: draw(WORDS) for key in draw(st.lists(st.sampled_from(keys), max_size=2))}
        given = {"problem": problem, "n": "64", **odd}
        return ["account", algorithm, *(f"{key}={word}" for key, word in given.items())]
    verb = draw(st.sampled_from([*PRINTING, *verb_names(), "x", ""]))
    options = st.sampled_from(["--profile", "--for", "--only", "--out", "--runs", "--x", "-m"])
    ids = st.sampled_from(["wang2017.dp_gd_pl", "wang2017.thm6.2", "algorithms", "problem=quad", "n=8", "colours"])
    words = draw(st.lists(st.one_of(options, WORDS, ids), max_size=4))
    assume(not (verb in LONG and not {"x", "--x", "(", "'"} & set(words)))
    return [verb, *words]


LONG = {"bench", "claim", "leaderboard", "audit", "check", "plan", "data", "site", "report", "help"}
"""Verbs that may work for longer, or open something, where their words are right."""


@number_of_examples(60)
@given(lines())
def test_words(words):
    with own_folder():
        judged(*words)


def told_of(verb, entry):
    """Call a verb for a file with this entry."""
    with own_folder():
        Path("x.yaml").write_text(yaml_text(entry))
        return judged(verb, "x.yaml", "--profile", "smoke")


@number_of_examples(30)
@given(spoilt(CLAIM))
def test_claim_files(entry):
    assume(small(entry))
    assert all(row["verdict"] for row in told_of("claim", entry) or ())


@number_of_examples(60)
@given(spoilt(CLAIM))
def test_what_a_claim_file_may_ask_for(entry):
    try:
        claim = parse_claim(entry)
    except DpscoError as error:
        assert "\n" not in str(error)
        return
    for part in claim.parts:
        counts = (*part.replicates.values(), *part.data_sets.values())
        assert all(1 <= count <= 10**8 for count in counts) and math.isfinite(part.exponent or 0.0)
        assert len(set(part.calibrations)) == len(part.calibrations) and len(set(part.uses)) == len(part.uses)
        named = {*part.replicates, *part.data_sets, *part.tolerances}
        assert not part.plans or named <= set(part.sweep.values)


@number_of_examples(20)
@given(spoilt(BOARD))
def test_board_files(entry):
    assume(small(entry))
    told_of("leaderboard", entry)


def test_what_is_spoilt_is_whole_before():
    assert told_of("claim", CLAIM) and told_of("leaderboard", BOARD)
