import shlex

import pytest

from dpsco_bench.algorithms.registry import get_algorithm, list_algorithms
from dpsco_bench.claims.catalogue import claim_ids, counted_changes, errata_papers, load_errata, read_claim
from dpsco_bench.cli.describe import PRINTERS, describe, paragraphs
from dpsco_bench.cli.verbs.list import SCREEN
from dpsco_bench.problems.registry import list_problems
from tests.marks import rest_at_night

KNOWN = {"algorithms": list_algorithms, "problems": list_problems, "claims": claim_ids}


@pytest.mark.parametrize("what", ["algorithms", "claims", "errata", "kinds", "papers", "problems", "tables"])
def test_list_has_an_entry_per_item_in_text_and_json(dpsco, what):
    lines, entries = dpsco("list", what).said.splitlines(), dpsco("list", what, "--json").rows
    assert max(map(len, lines)) <= 100 and len(lines) == 2 + len(entries) + (2 if len(entries) > SCREEN else 0)
    assert all({"id", "source", "summary"} <= set(entry) and entry["summary"] for entry in entries)
    if what in KNOWN:
        assert [entry["id"] for entry in entries] == KNOWN[what]()


def test_words_leave_entries_that_have_all_of_them(dpsco):
    found = [entry["id"] for entry in dpsco("list", "claims", "WANG2017", "thm4", "--json").rows]
    assert found == [id for id in claim_ids() if id.startswith("wang2017.thm4")]
    assert len(dpsco("list", "claims", "wang2017", "thm4").out.splitlines()) == 2 + len(found)
    assert dpsco("list", "claims", "no-such-word").code == 2


@pytest.mark.parametrize("id", list_algorithms())
def test_show_algorithm(dpsco, id):
    text, entry = dpsco("show", id).out, dpsco("show", id.replace(".", "/"), "--json").rows
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
    text = " ".join(" ".join(PRINTERS[entry["kind"]](entry)).split())
    for option in entry["options"]:
        assert option["meaning"] and option["meaning"].replace("``", "") in text, option["name"]


@pytest.mark.parametrize("id", claim_ids())
def test_show_claim(dpsco, id):
    text, entry = dpsco("show", id.replace(".", "_")).out, dpsco("show", id, "--json").rows
    claim = read_claim(id)
    assert entry["id"] == id and entry["statement"] == claim.statement
    assert [part["id"] for part in entry["parts"]] == [part.id for part in claim.parts]
    assert all(part["formula"] for part in entry["parts"] if part.get("bound"))
    assert [erratum["id"] for erratum in entry["errata"]] == list(claim.errata)
    assert all(part.id in text for part in claim.parts) and f"dpsco claim {id}" in text


REFUSED_COMMANDS = {"wang2017.E4": "theta = 0.05: must be", "zhang2022.E13": "norm = inf: must be p in (1, 2]"}
"""Errata whose command is meant to be refused, with what the refusal says; all others exit with 0."""
ERRATA = [entry for paper in errata_papers() for entry in load_errata(paper)]
COMMANDS = {f"{entry.paper}.{entry.id}": entry.command for entry in ERRATA if entry.command}


@pytest.mark.parametrize("id", rest_at_night(COMMANDS, *range(0, len(COMMANDS), 3)))
def test_the_command_of_an_erratum_works(dpsco, id):
    program, *arguments = shlex.split(COMMANDS[id])
    assert program == "dpsco"
    outcome = dpsco(*arguments, *(["--profile", "smoke"] if arguments[0] == "claim" else []))
    refusal = REFUSED_COMMANDS.get(id, "")
    assert outcome.code == (2 if refusal else 0) and refusal in outcome.err, outcome.err


def test_show_one_erratum_and_the_ledger(dpsco):
    assert len(load_errata("wang2017")) == 16
    ledger = dpsco("show", "wang2017").out
    assert "https://arxiv.org/abs/1802.05251" in ledger and "wang2017.E16" in ledger
    assert counted_changes(load_errata("wang2017")) in " ".join(ledger.split())
    shown = dpsco("show", "wang2017", "--json").rows["errata"]
    assert [entry["changes"] for entry in shown] == [entry.changes for entry in load_errata("wang2017")]
    for entry in ERRATA:
        for id in (f"{entry.paper}.{entry.id.lower()}", f"{entry.paper}/{entry.id.removeprefix('E')}"):
            assert [one.id for one in describe(id)["errata"]] == [entry.id], id


def test_algorithms_that_accept_a_problem_and_why_the_others_refuse(dpsco):
    found = dpsco("list", "algorithms", "--json", "--for", "problem=ridge_logistic").rows
    accepts = {entry["id"]: entry["accepts"] for entry in found}
    assert accepts["wang2017.dp_svrg"] and not accepts["bassily2021.gg_lmo"] and set(accepts) == set(list_algorithms())
    assert all(bool(entry["reason"]) != entry["accepts"] for entry in found)
