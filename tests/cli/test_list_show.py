from __future__ import annotations

import json
import re
import shlex

import pytest

from dpsco_bench.algorithms.registry import get_algorithm, list_algorithms
from dpsco_bench.claims.catalogue import (
    CHANGES,
    claim_ids,
    counted_changes,
    errata_papers,
    find_errata,
    load_errata,
    read_claim,
)
from dpsco_bench.cli.describe import PRINTERS, describe, paragraphs
from dpsco_bench.cli.verbs.list import SCREEN
from dpsco_bench.problems.registry import list_problems
from tests.marks import rest_at_night

KNOWN = {"algorithms": list_algorithms, "problems": list_problems, "claims": claim_ids}


@pytest.mark.parametrize("what", ["algorithms", "claims", "errata", "kinds", "papers", "problems", "tables"])
def test_list_has_an_entry_per_item_in_text_and_json(dpsco, what):
    text, entries = dpsco("list", what), json.loads(dpsco("list", what, "--json").out)
    assert text.code == 0 and all(len(line) <= 100 for line in text.out.splitlines())
    assert len(text.out.splitlines()) == 2 + len(entries) + (2 if len(entries) > SCREEN else 0)
    assert all({"id", "source", "summary"} <= set(entry) and entry["summary"] for entry in entries)
    if what in KNOWN:
        assert [entry["id"] for entry in entries] == KNOWN[what]()


def test_words_leave_entries_that_have_all_of_them(dpsco):
    found = [entry["id"] for entry in json.loads(dpsco("list", "claims", "WANG2017", "thm4", "--json").out)]
    assert found == [id for id in claim_ids() if id.startswith("wang2017.thm4")]
    assert len(dpsco("list", "claims", "wang2017", "thm4").out.splitlines()) == 2 + len(found)
    nothing = dpsco("list", "claims", "no-such-word")
    assert nothing.code == 2 and nothing.err.startswith("dpsco: word = 'no-such-word': must be in an entry of ")


@pytest.mark.parametrize("id", list_algorithms())
def test_show_algorithm(dpsco, id):
    text, entry = dpsco("show", id).out, json.loads(dpsco("show", id.replace(".", "/"), "--json").out)
    algorithm = get_algorithm(id)
    assert entry["kind"] == "algorithm" and entry["id"] == id and entry["source"] == algorithm.source
    assert [option["name"] for option in entry["options"]] == list(algorithm.options)
    for calibration, variant in entry["default_variants"].items():
        assert algorithm.variant_for(calibration) == variant
    assert algorithm.source.split(",")[0] in text and "----" not in text
    docs = (" ".join(said.replace("``", "").split()) for said in paragraphs(entry["doc"]))
    assert all(said in " ".join(text.split()) for said in docs)
    assert all(name in text for name in algorithm.options)


@pytest.mark.parametrize("id", [*list_algorithms(), *list_problems()])
def test_show_says_what_every_option_means(id):
    """As its docstring says, or the one that this refers to."""
    entry = describe(id)
    lines = [" ".join(line.split()) for line in "\n".join(PRINTERS[entry["kind"]](entry)).splitlines()]
    text = " ".join(lines)
    for option in entry["options"]:
        assert option["meaning"] and option["meaning"].replace("``", "") in text, option["name"]


@pytest.mark.parametrize("id", claim_ids())
def test_show_claim(dpsco, id):
    text, entry = dpsco("show", id.replace(".", "_")).out, json.loads(dpsco("show", id, "--json").out)
    claim = read_claim(id)
    assert entry["id"] == id and entry["statement"] == claim.statement
    assert [part["id"] for part in entry["parts"]] == [part.id for part in claim.parts]
    assert all(part["formula"] for part in entry["parts"] if part.get("bound"))
    assert [erratum["id"] for erratum in entry["errata"]] == list(claim.errata)
    assert all(part.id in text for part in claim.parts) and f"dpsco claim {id}" in text


def test_ledger_of_wang2017_has_all_sixteen():
    assert len(load_errata("wang2017")) == 16


REFUSED_COMMANDS = {"wang2017.E4": "theta = 0.05: must be", "zhang2022.E13": "norm = inf: must be p in (1, 2]"}
"""Errata whose command is meant to be refused, with what the refusal says; all others exit with 0."""
ERRATA = [entry for paper in errata_papers() for entry in load_errata(paper) if entry.command]


@pytest.mark.parametrize(
    "entry", rest_at_night(ERRATA, *range(0, len(ERRATA), 3)), ids=[f"{e.paper}.{e.id}" for e in ERRATA]
)
def test_the_command_of_an_erratum_works(dpsco, entry):
    program, *arguments = shlex.split(entry.command)
    assert program == "dpsco"
    outcome = dpsco(*arguments, *(["--profile", "smoke"] if arguments[0] == "claim" else []))
    refusal = REFUSED_COMMANDS.get(f"{entry.paper}.{entry.id}", "")
    assert outcome.code == (2 if refusal else 0), outcome.err
    assert refusal in outcome.err


def test_show_has_neither_marks_nor_mappings(dpsco):
    assert "printed       Non-smooth regulariser?: Yes\n" in dpsco("show", "wang2017.table2").out
    assert "``" in describe("wang2017.dp_svrg")["doc"] and "``" not in dpsco("show", "wang2017.dp_svrg").out


def test_show_one_erratum_and_the_ledger(dpsco):
    text = dpsco("show", "wang2017.e4").out
    assert "1/24" in text and find_errata("wang2017", ["E4"])[0].command in text
    assert "by hand: the calculation above" in dpsco("show", "wang2017.E13").out
    assert CHANGES["constant"].meaning in " ".join(text.split()) and "changes       constant: " in text
    ledger = dpsco("show", "wang2017").out
    assert "https://arxiv.org/abs/1802.05251" in ledger and "Di Wang, Minwei Ye, Jinhui Xu" in ledger
    assert "wang2017.E16" in ledger and counted_changes(load_errata("wang2017")) in " ".join(ledger.split())
    shown = json.loads(dpsco("show", "wang2017", "--json").out)["errata"]
    assert [entry["changes"] for entry in shown] == [entry.changes for entry in load_errata("wang2017")]
    assert [e["id"] for e in json.loads(dpsco("show", "wang2017.E4", "--json").out)["errata"]] == ["E4"]


def test_algorithms_that_accept_a_problem_and_why_the_others_refuse(dpsco):
    found = json.loads(dpsco("list", "algorithms", "--json", "--for", "problem=ridge_logistic").out)
    accepts = {entry["id"]: entry["accepts"] for entry in found}
    assert accepts["wang2017.dp_svrg"] and not accepts["bassily2021.gg_lmo"] and set(accepts) == set(list_algorithms())
    assert all(bool(entry["reason"]) != entry["accepts"] for entry in found)
    text = dpsco("list", "algorithms", "--for", "problem=ridge_logistic", "d=3").out
    first, second = text.split("\nrefuse it, and why\n")
    assert "wang2017.dp_svrg " in first and re.search(r"^bassily2021.gg_lmo +needs linear records", second, re.M)


def test_every_erratum_that_is_listed_can_be_shown():
    for paper in errata_papers():
        for entry in load_errata(paper):
            for id in (f"{paper}.{entry.id}", f"{paper}.{entry.id.lower()}", f"{paper}/{entry.id.removeprefix('E')}"):
                assert [shown.id for shown in describe(id)["errata"]] == [entry.id], id
