"""Configuration files say what the code does: claims parse, bounds exist, cells plan, options have equal defaults."""

import inspect
from dataclasses import replace

import pytest
import yaml
from omegaconf import OmegaConf

from dpsco_bench.algorithms.registry import get_algorithm, list_algorithms
from dpsco_bench.claims.bounds.registry import get_bound
from dpsco_bench.claims.compose import claim_ids, claim_plan, find_claim_id, load_claim, make_plan
from dpsco_bench.claims.jobs import checked_job, part_jobs
from dpsco_bench.claims.model import PROFILES
from dpsco_bench.claims.shipped import read_claim
from dpsco_bench.errors import InputError
from dpsco_bench.execution.plan import Entry
from dpsco_bench.jsonio import dumps_canonical, loads
from dpsco_bench.paths import conf_dir
from dpsco_bench.problems.registry import list_problems, problem_class


@pytest.fixture(scope="module")
def claims():
    """Every claim with its settings, composed once: the profiles differ in what the claims' files name by profile."""
    return {id: load_claim(id) for id in claim_ids()}


@pytest.fixture(scope="module")
def jobs(claims):
    """Jobs of every claim and profile; an impossible cell is refused here."""
    made = {}
    for id, (claim, settings) in claims.items():
        for profile in PROFILES:
            parts = [part for part in claim.parts_of(profile) if part.plans]
            made[id, profile] = [job for part in parts for job in part_jobs(claim, part, profile, settings)]
            for job in made[id, profile]:
                checked_job(job)
    return made


def test_there_are_claims():
    assert claim_ids()


@pytest.mark.parametrize("id", claim_ids())
def test_a_claim_file_names_itself_and_what_exists(claims, id):
    claim, _ = claims[id]
    assert claim.id == id and claim.title and claim.source and claim.statement
    for part in claim.parts:
        if part.bound:
            assert get_bound(part.bound).name == part.bound
        for method in part.methods:
            assert get_algorithm(method.algorithm).id == method.algorithm
        if part.problem:
            assert part.problem in list_problems()


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("id", claim_ids())
def test_every_part_that_a_profile_measures_has_its_jobs(claims, jobs, id, profile):
    names = [(job.part, job.calibration) for job in jobs[id, profile]]
    assert len(set(names)) == len(names)
    for part in claims[id][0].parts_of(profile):
        assert bool(part.uses) != (part.id in {name for name, _ in names})
    for job in jobs[id, profile]:
        assert job.cells and job.replicates >= 1


@pytest.mark.parametrize("id", claim_ids())
def test_every_claim_is_measured_in_ci_and_full(jobs, id):
    assert jobs[id, "ci"] and jobs[id, "full"]


def test_equal_keys_mean_equal_work(jobs):
    """A key never stands for two things: jobs that share one have the same cells and settings."""
    seen = {}
    for job in (job for made in jobs.values() for job in made):
        work = replace(job, claim="", part="", profile="", kind="", timing=False)
        assert seen.setdefault(job.key, work) == work


def test_the_plan_step_gives_the_same_jobs(jobs):
    """And its entry names the parts that the profile measures, as plain JSON."""
    entry = claim_plan("wang2017.thm6.1", "smoke")
    assert [replace(job, seconds=()) for job in entry.jobs] == jobs["wang2017.thm6.1", "smoke"]
    assert Entry.from_json(loads(dumps_canonical(entry.to_json()))) == entry
    assert [part["id"] for part in entry.claim["parts"]] == list(dict.fromkeys(job.part for job in entry.jobs))


@pytest.mark.parametrize("text", ["wang2017.thm4.2", "wang2017.thm4_2", "wang2017/thm4.2", "wang2017/thm4_2"])
def test_ids_as_users_write_them(text):
    assert find_claim_id(text) == "wang2017.thm4.2"


def test_unknown_claims_and_profiles():
    with pytest.raises(InputError, match="^claim = 'wang2017.thm9': must be one of "):
        find_claim_id("wang2017.thm9")
    with pytest.raises(InputError, match="^profile = 'quick': must be one of smoke, ci, full"):
        make_plan("quick")


def options_of(function):
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.name not in ("d", "constants", "variant")}


@pytest.mark.parametrize("id", list_algorithms())
def test_algorithm_files_have_the_plans_options_and_defaults(id):
    paper, name = id.split(".", 1)
    config = yaml.safe_load((conf_dir() / "algorithm" / paper / f"{name}.yaml").read_text())
    assert config["id"] == id and config["variant"] is None
    entry = get_algorithm(id)
    assert config["options"] == {key: parameter.default for key, parameter in entry.options.items()}
    assert list(config["options"]) == list(entry.options), "in the same order"


@pytest.mark.parametrize("name", list_problems())
def test_problem_files_have_the_constructors_options_and_defaults(name):
    config = yaml.safe_load((conf_dir() / "problem" / f"{name}.yaml").read_text())
    assert config["name"] == name
    defaults = options_of(problem_class(name))
    given = dict(config["options"])
    if "root" in defaults:
        assert given.pop("root") == "${data.root}" and defaults.pop("root")
    assert given == defaults


def test_no_file_is_left_over():
    algorithms = {f"{path.parent.name}.{path.stem}" for path in (conf_dir() / "algorithm").glob("*/*.yaml")}
    assert algorithms == {id for id in list_algorithms() if get_algorithm(id).module.startswith("dpsco_bench.")}
    problems = {name for name in list_problems() if problem_class(name).__module__.startswith("dpsco_bench.")}
    assert {path.stem for path in (conf_dir() / "problem").glob("*.yaml")} == problems


def test_rows_of_tables_name_parts_of_their_claims():
    from dpsco_bench.claims.catalogue import table_texts

    rows = [row for text in table_texts() for row in text.get("rows", ())]
    assert any("parts" in row for row in rows)
    for row in rows:
        for claim, parts in row.get("parts", {}).items():
            assert claim in row["claims"]
            assert set(parts) <= {part.id for part in load_claim(claim)[0].parts}


def test_claims_are_read_as_hydra_reads_them() -> None:
    for id in claim_ids():
        file = conf_dir() / "claim" / f"{id.replace('.', '/', 1)}.yaml"
        composed = OmegaConf.to_container(OmegaConf.load(file), resolve=True)
        assert dumps_canonical(read_claim(id)) == dumps_canonical(composed), id
