"""The verbs claim and account."""

import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.claims.catalogue import claim_ids
from dpsco_bench.claims.jobs import plan_settings
from dpsco_bench.claims.kinds import ROW_FIELDS
from dpsco_bench.cli.verbs.claim import asked_claims
from dpsco_bench.errors import InputError


def test_rows_have_the_documented_schema(dpsco):
    rows = dpsco("claim", "wang2017.thm6_1", "wang2017/thm6.2", "--profile", "smoke", "--json").rows
    assert all(set(row) >= {*ROW_FIELDS, "answers", "answer"} for row in rows)
    assert {row["id"] for row in rows} == {"wang2017.thm6.1", "wang2017.thm6.2"}
    assert {row["kind"] for row in rows if "risk_kind" not in row} <= {"privacy", "complexity"}
    assert {row["risk_kind"] for row in rows if "risk_kind" in row} == {"excess empirical"}
    privacy = [row for row in rows if row["kind"] == "privacy"]
    assert privacy and all("epsilon_real" in row for row in privacy)
    assert any(row["verdict"].startswith("fails") for row in privacy)  # and yet the exit code is 0
    assert {tuple(row["answers"]) for row in rows} == {("noise",), ("printed", "noise", "private")}


def test_settings_reach_the_jobs(dpsco):
    call = ("claim", "wang2017.table1.zhang17", "--profile", "smoke", "--json")
    one, two = dpsco(*call).rows[0], dpsco(*call, "seed=5").rows[0]
    assert one["mean"] != two["mean"] and one["key"] != two["key"] and one["runtime_s"] > 0


def test_absent_data_are_skipped_with_the_command_that_gets_them(dpsco):
    rows = dpsco("claim", "wang2017.fig1", "data.root=nowhere", "--profile", "ci", "--json").rows
    assert rows and all(row["verdict"].startswith("skipped: data absent") for row in rows)


def test_a_paper_and_a_pattern_are_sets_of_claims():
    known = claim_ids()
    paper = [id for id in known if id.startswith("wang2017.")]
    theorems = [id for id in known if id.startswith("wang2017.thm4.")]
    assert asked_claims(["wang2017"])[0] == asked_claims(["wang2017.*"])[0] == paper and len(paper) > len(theorems) > 1
    assert asked_claims(["wang2017.thm4.*", "wang2017_thm4_2"])[0] == theorems
    with pytest.raises(InputError):
        asked_claims(["wang2018"])


@pytest.mark.parametrize("text", ["1000", "1e3", "1_000"])
def test_a_seed_is_an_integer_however_it_is_written(text):
    _, settings = asked_claims(["wang2017.thm6.1", f"seed={text}"])
    seed = plan_settings("smoke", settings).seed
    assert seed == 1000 and isinstance(seed, int)


SVRG = ("account", "wang2017.dp_svrg", "problem=ridge_logistic", "n=16384", "d=10", "epsilon=1", "delta=1e-5")


def test_plain_keys_set_constants_and_add_remove_epsilon_stands_beside_replace_one(dpsco):
    report = dpsco(*SVRG, "strong_convexity=.1", "smoothness=1", "initial_gap=1", "--json").rows
    assert report["paper"]["epsilon_real"] == pytest.approx(14646, rel=0.002)
    assert report["paper"]["schedule"]["inner_steps"] == 1921
    assert report["constants"]["smoothness"] == 1 and report["constants"]["status"] == "global"
    assert dpsco(*SVRG, "lipschitz=0.5", "--json").rows["constants"]["status"] == "nominal"
    report = dpsco("account", "wang2017/dp_gd_pl", "problem=ridge_logistic", "n=4096", "--json").rows
    for calibration in ("paper", "accounted"):
        assert 0 < report[calibration]["epsilon_add_remove"] < report[calibration]["epsilon_real"]
    assert report["accounted"]["epsilon_sequence"] == pytest.approx(1)


def test_an_output_alone_needs_less_noise_than_all_gradients(dpsco):
    keys = ("account", "wang2017/dp_gd_pl", "problem=canary_huber", "canary=steady", "n=4096", "d=10", "--json")
    whole, output = (dpsco(*keys, f"release={what}").rows["accounted"] for what in ("sequence", "output"))
    assert output["epsilon_output"] == pytest.approx(1) and output["epsilon_sequence"] > 3.9
    assert output["noise"]["gradient"] < 0.45 * whole["noise"]["gradient"]


def test_nominal_constants_and_plans_that_release_nothing(dpsco):
    report = dpsco("account", "wang2017.dp_gd_pl", "problem=rank8_least_squares", "n=512", "--json").rows
    assert report["constants"]["status"] == "nominal" and report["accounted"]["privacy_status"] == "unproven"
    assert report["data_dependent_constants"] and report["constants"]["smoothness"] != 1 / 8
    report = dpsco("account", "bassily2021.noisy_smd", "problem=cube_fixed", "n=50", "d=32", "--json").rows
    for entry in (report["paper"], report["accounted"]):
        assert entry["epsilon_real"] == 0 and entry["noise"] == {} and entry["gradient_evaluations"] == 0
        assert "degenerate" in entry["warnings"][0]


LIMITS = [
    ("bassily2021.noisy_smd", "cube_fixed", "n=4000 epsilon=2 variant=fullbatch", "epsilon = 2: must be at most 1 "),
    ("su2023.app_objp", "interior_mean", "n=4000 epsilon=2", "epsilon = 2: must be at most 1 "),
    ("su2023.truncated_batched_md", "heavy_linear_t", "n=100000 epsilon=2", "epsilon = 2: must be at most 1 "),
    ("su2023.shuffled_truncated_md", "heavy_linear_t", "n=100000 d=8", "epsilon = 1.0: must be at most 0.01517 "),
]


@pytest.mark.parametrize(("algorithm", "problem", "keys", "said"), LIMITS)
def test_noise_outside_the_papers_range_is_refused_by_key_value_limit_and_source(dpsco, algorithm, problem, keys, said):
    report = dpsco("account", algorithm, f"problem={problem}", *keys.split(), "--json").rows
    refused = report["paper"]["refused"]
    assert refused.startswith(said) and get_algorithm(algorithm).source[:8] in refused
    assert report["accounted"]["refused"] == "" and report["accounted"]["noise"]


def test_a_name_alone_finds_its_algorithm(dpsco):
    assert dpsco("account", "dp_svrg", *SVRG[2:]) == dpsco(*SVRG)
    run = ["run", "problem=ridge_logistic", "--cfg"]
    assert dpsco(*run, "algorithm=dp_svrg") == dpsco(*run, "algorithm=wang2017/dp_svrg")
