"""Configuration files say what the code does: claims parse, bounds exist, cells plan, words are those of verdicts."""

import math
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.analysis.rates import LEAST
from dpsco_bench.analysis.record import read_record
from dpsco_bench.claims import catalogue
from dpsco_bench.claims.bounds.registry import get_bound
from dpsco_bench.claims.catalogue import claim_ids, find_claim_id, parse_table, read_claim, read_claims
from dpsco_bench.claims.files import read_shipped, read_yaml
from dpsco_bench.claims.jobs import amounts, claim_plan, costs, load_claim, part_jobs, plan_settings
from dpsco_bench.claims.kinds import get_kind
from dpsco_bench.claims.model import PROFILES
from dpsco_bench.claims.parsing import expected_words
from dpsco_bench.claims.plan import ClaimEntry
from dpsco_bench.execution.cell import Cell
from dpsco_bench.jsonio import dumps_canonical, loads, to_jsonable
from dpsco_bench.paths import shared_dir
from dpsco_bench.problems.registry import list_problems, problem_class


@pytest.fixture(scope="module")
def settings():
    return plan_settings("ci")


@pytest.fixture(scope="module")
def claims(settings):
    return {id: load_claim(id, settings) for id in claim_ids()}


@pytest.fixture(scope="module")
def jobs(claims, settings):
    made = {(id, profile): [] for id in claims for profile in PROFILES}
    for (id, profile), found in made.items():
        for part in claims[id].parts_of(profile):
            found += part_jobs(claims[id], part, profile, settings) if part.plans else ()
    return made


@pytest.mark.parametrize("id", claim_ids())
def test_a_claim_file_names_itself_and_what_exists(claims, id):
    claim = claims[id]
    assert claim.id == id and claim.title and claim.source and claim.statement
    for part in claim.parts:
        if part.bound:
            assert get_bound(part.bound).name == part.bound
        for method in part.methods:
            assert get_algorithm(method.algorithm).id == method.algorithm
        if part.problem:
            assert part.problem in list_problems()


@pytest.mark.parametrize("profile", ["ci", "full"])
@pytest.mark.parametrize("id", claim_ids())
def test_a_rate_has_as_many_sizes_as_its_profile_asks_for(claims, id, profile):
    """Else it cannot be decided; a part that expects just that may have fewer."""
    for part in claims[id].parts_of(profile):
        grid = part.sweep.values.get(profile, ()) if part.kind == "rate" and part.sweep and part.plans else ()
        if grid and "not_observable" not in part.expected:
            sizes, factor = LEAST[profile]
            assert len(set(grid)) >= sizes and max(grid) / min(grid) >= factor, part.id


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("id", claim_ids())
def test_every_part_that_a_profile_measures_has_its_jobs(claims, jobs, id, profile):
    names = [(job.part, job.calibration) for job in jobs[id, profile]]
    assert len(set(names)) == len(names)
    for part in claims[id].parts_of(profile):
        assert bool(part.uses) != (part.id in {name for name, _ in names})
    for job in jobs[id, profile]:
        assert job.cells and job.replicates >= 1


def test_equal_keys_mean_equal_work(jobs):
    seen = {}
    for job in chain(*jobs.values()):
        work = replace(job, claim="", part="", profile="", kind="", timing=False)
        assert seen.setdefault(job.key, work) == work


def test_the_plan_step_gives_the_same_jobs(jobs):
    entry = claim_plan("wang2017.thm6.1", "smoke")
    assert list(entry.jobs) == jobs["wang2017.thm6.1", "smoke"]
    assert ClaimEntry.from_json(loads(dumps_canonical(entry))) == entry
    assert [part.id for part in entry.claim.parts] == list(dict.fromkeys(job.part for job in entry.jobs))


def test_ids_as_users_write_them():
    assert find_claim_id("wang2017.thm4.2") == find_claim_id("wang2017/thm4_2") == "wang2017.thm4.2"


def test_rows_of_tables_name_parts_of_their_claims_or_are_computed():
    rows = [row for text in catalogue.table_texts() for row in text.rows]
    assert any(row.parts for row in rows)
    for row in rows:
        for claim, parts in row.parts.items():
            assert claim in row.claims
            assert set(parts) <= {part.id for part in read_claim(claim).parts}
    entry = {"id": "a.b", "computed": "c", "rows": [{"row": "r", "norm": 2}]}
    assert parse_table(entry).rows[0].own == {"norm": 2} and to_jsonable(parse_table(entry)) == entry


def test_every_claim_is_kept_as_its_file_says():
    for id, file in catalogue.claim_files().items():
        assert dumps_canonical(read_shipped(file)) == dumps_canonical(read_yaml(file)), id


def test_the_value_of_an_open_constant_is_what_its_part_runs():
    for claim in (claim for claim in read_claims() if not claim.id.endswith(".audit")):
        for part in (part for part in claim.parts if "paper" in part.calibrations and part.open_constant):
            given = []
            for method in part.methods:
                defaults = {key: option.default for key, option in get_algorithm(method.algorithm).options.items()}
                given += [{**defaults, **method.options}.get(name) for name in ("noise_constant", "constant")]
            assert (part.open_value or 1.0) in given, f"{claim.id} {part.id}"


def test_every_recorded_verdict_is_a_word_of_its_kind():
    for path in (shared_dir("workflows") / "recorded").glob("*.json"):
        for row in read_record(path):
            assert {row.word, row.verdict} & {*get_kind(row.kind).words, "skipped"}, row


def test_words_of_one_calibration():
    assert expected_words("", "paper") == expected_words("paper holds", "accounted") == ()
    assert expected_words("match or inconclusive", "none") == ("match", "inconclusive")
    assert expected_words("paper holds, accounted reversed", "accounted") == ("reversed",)


def test_the_determinants_of_su2023_e4():
    """On a disk of radius R with r beta = eps n Delta: beta/(n m_l) = eps R^2/r, with r = 2 in the plane."""
    epsilon, radius, n, delta = 1.0, 4.0, 10**6, 1.0
    beta, modulus = delta * epsilon * n / 2, delta / radius**2
    reached = math.log1p((beta - modulus) / (n * modulus))
    (entry,) = catalogue.find_errata("su2023", ["E4"])
    assert f"{reached:.2f} for eps = 1 and R = 4" in entry.calculation and reached > epsilon


def test_costs_are_of_registered_methods_and_their_terms_are_all_amounts():
    known = costs()
    assert known.families.keys() == known.methods.keys() and all(map(get_algorithm, known.methods))
    assert all(problem_class(name.partition(" on ")[0]) for own in known.families.values() for name in own)
    used = [*known.methods.values(), *chain(*(own.values() for own in known.families.values()))]
    assert all(used) and all(0 < seconds < math.inf for terms in used for seconds in terms.values())
    row = loads(Path(__file__).with_name("cell_times.json").read_text(encoding="utf-8"))[0]
    cell = Cell.from_json(row["cell"])
    names = amounts(cell, cell.plan(row["calibration"], 0, twice=False)[1], row["replicates"]).keys()
    assert {name for terms in used for name in terms} == names
