import copy
from dataclasses import replace
from functools import cache

import pytest

from dpsco_bench.claims.jobs import part_jobs
from dpsco_bench.claims.parsing import parse_claim
from dpsco_bench.errors import InputError
from dpsco_bench.execution.digest import CALIBRATION_MODULES, RUN_MODULES, kernels_beside
from dpsco_bench.execution.jobs import Settings, stage_ends
from dpsco_bench.problems.base import Constants, Trait
from dpsco_bench.problems.linear import SignalFamily
from dpsco_bench.problems.registry import PROBLEMS
from tests.execution.parts import PART as GD

PART = {
    **GD,
    "id": "p",
    "calibrations": ["paper", "accounted"],
    "algorithm": "wang2017.dp_svrg",
    "options": {},
    "sweep": {"parameter": "n", "values": {"smoke": [64, 128]}},
    "replicates": {"smoke": 16},
}
TWICE = {"sweep": {"parameter": "n", "values": {"smoke+ci": [64, 128]}}, "replicates": {"smoke+ci": 16}}
"""The part in two profiles."""
BARE = {"bound": None, "tolerance": None}
"""For kinds that have neither."""


def jobs(profile="smoke", settings=None, **part):
    entry = {"id": "wang2017.test", "title": "t", "source": "s", "statement": "x", "parts": [{**PART, **part}]}
    claim = parse_claim(copy.deepcopy(entry))
    return part_jobs(claim, claim.parts[0], profile, Settings(**{"seed": 1, **(settings or {})}))


def swept(parameter, *values):
    """A sweep over a parameter that is not n."""
    return {"sweep": {"parameter": parameter, "values": {"smoke": [*values]}}, "fixed": {"n": 64, **GD["fixed"]}}


@cache
def base():
    return jobs()[0]


def test_a_rate_has_a_job_per_calibration_and_a_noise_off_companion():
    def told(**part):
        return [f"{job.calibration} {job.replicates} {job.cells[0].variant}" for job in jobs(**part)]

    assert told() == ["paper 16 literal", "accounted 16 poisson", "none 4 literal"]
    assert told(calibrations=["accounted", "none"]) == ["accounted 16 poisson", "none 16 poisson"]
    assert told(calibrations=["none"], algorithm="wang2017.dp_gd_pl") == ["none 16 standard"]
    assert [job.calibration for job in jobs(kind="privacy", **BARE)] == ["paper", "accounted"]
    planned, counted = (jobs(kind="complexity", quantity=quantity)[0] for quantity in ("risk", "value_queries"))
    assert (planned.evaluation, counted.evaluation) == ("plan_only", "run")
    assert (planned.charged, counted.charged) == (False, True)
    assert planned.calibration_key != counted.calibration_key


def test_what_else_changes_along_a_sweep():
    along = {"problem.kappa": {"smoke": [4.0, 8.0]}, "epsilon": {"smoke": [1, 2]}}
    width = swept("width", 2.5, 3.5) | {"fixed": {"n": 64, "d": 3, "delta": 1e-5}}
    cells = jobs(problem="diag_quadratic", along=along, **width)[0].cells
    found = [(cell.parameter, cell.value, cell.epsilon, cell.problem_options) for cell in cells]
    assert found == [("width", 2.5, 1.0, {"kappa": 4.0}), ("width", 3.5, 2.0, {"kappa": 8.0})]
    cells = jobs(along={"epsilon": {"smoke": [1, 2]}})[0].cells
    assert [(cell.n, cell.epsilon) for cell in cells] == [(64, 1.0), (128, 2.0)]
    with pytest.raises(InputError, match="^sweep parameter of p = 'speed': must be n, d"):
        jobs(along={"speed": {"smoke": [1, 2]}})


class Signalled(SignalFamily):
    name = "signalled"
    default_dimension = 3
    own_constants = Constants(1.0, 1.0, strong_convexity=1.0)
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.STRONGLY_CONVEX})

    @property
    def unit(self):
        return 8 / self.count


def test_a_cell_for_each_signal():
    PROBLEMS.add("signalled", Signalled, __name__)
    grid = {"smoke": [0.5, 2]}
    cells = jobs(problem="signalled", signals=grid)[0].cells
    assert [(c.cell, c.n, c.signal) for c in cells] == [(0, 64, 0.5), (1, 64, 2.0), (2, 128, 0.5), (3, 128, 2.0)]
    assert all(c.problem_options == {"signal": c.signal} for c in cells)
    assert base().cells[0].signal is None
    with pytest.raises(InputError, match="^signals of p = .*: must be none: ridge_logistic has no free signal"):
        jobs(signals=grid)
    with pytest.raises(InputError, match="^signals of p = .*: must be without, and signal not given otherwise"):
        jobs(problem="signalled", signals=grid, problem_options={"signal": 1.0})


def test_signals_up_to_the_largest_admissible_one():
    """The unit shrinks with n, so that larger cells have more signals; every grid ends with the first capped one."""
    PROBLEMS.add("signalled", Signalled, __name__)
    cells = jobs(problem="signalled", signals="0.5 .. cap x2")[0].cells
    grids = {n: [cell.signal for cell in cells if cell.n == n] for n in (64, 128)}
    assert grids == {64: [0.5, 1.0, 2.0, 4.0, 8.0], 128: [0.5, 1.0, 2.0, 4.0, 8.0, 16.0]}
    assert [cell.cell for cell in cells] == list(range(11))
    with pytest.raises(InputError, match="^signals of p = .* reaches the largest admissible signal of signalled in 40"):
        jobs(problem="signalled", signals="1e-9 .. cap x1.01")


def test_cells_take_the_swept_and_the_fixed_values():
    first, second = base().cells
    assert (first.n, second.n, first.d, first.cell, second.cell) == (64, 128, 3, 0, 1)
    assert (first.parameter, first.value, first.method) == ("n", 64.0, "dp_svrg")
    assert jobs("ci", fixed={**GD["fixed"], "d": {"smoke": 3, "ci": 4}}, **TWICE)[0].cells[0].d == 4
    by_option = jobs(**swept("algorithm.theta", 0.01, 0.02))[0].cells[0]
    assert by_option.options == {"theta": 0.01} and by_option.parameter == "theta"
    by_problem = jobs(problem="diag_quadratic", **swept("problem.kappa", 8.0, 9.0))[0].cells[0]
    assert by_problem.problem_options == {"kappa": 8.0}
    with pytest.raises(InputError, match="^sweep parameter of p = 'kappa': must be n, d, epsilon, delta, problem"):
        jobs(**swept("kappa", 8.0, 9.0))


SAME = [
    {"settings": {"data_root": "elsewhere"}},
    {"kind": "ordering", "pair": ["", ""], **BARE},
    {"note": "a remark", "expected": "match", "tolerance": 0.25, "exponent": -2},
    {"timing": True},
]
OTHER_RUN = [
    {"settings": {"seed": 2}},
    {"settings": {"backend": "cupy"}},
    {"settings": {"dtype": "float32"}},
    {"replicates": {"smoke": 17}},
    {"data_sets": {"smoke": 2}},
    {"record": 0.5},
    {"options": {"theta": 0.01}},
    {"variant": "literal", "calibrations": ["paper"], "options": {"noise_constant": 2.0}},
    {"sweep": {"parameter": "n", "values": {"smoke": [64, 256]}}},
    {"fixed": {"d": 3, "epsilon": 2.0, "delta": 1e-5}},
    {"problem_options": {"constants": {"smoothness": 1.0}}},
]


@pytest.mark.parametrize("changes", SAME)
def test_names_places_and_judgement_do_not_change_the_key(changes):
    made = jobs(**changes)[0]
    assert made.key == base().key and made.calibration_key == base().calibration_key


@pytest.mark.parametrize("changes", OTHER_RUN)
def test_whatever_affects_the_numbers_changes_the_key(changes):
    assert jobs(**changes)[0].key != base().key


@pytest.mark.parametrize("changes", OTHER_RUN[1:6])
def test_calibrations_do_not_depend_on_how_often_or_where_a_job_runs(changes):
    assert jobs(**changes)[0].calibration_key == base().calibration_key


@pytest.fixture
def seen(monkeypatch):
    base()  # of the real code, whichever test comes first
    found = []
    digest = lambda modules, *_, **keyed: found.append(set(modules)) or "0" * 16  # noqa: E731
    monkeypatch.setattr("dpsco_bench.claims.jobs.code_digest", digest)
    return found


@pytest.mark.parametrize(("options", "chosen"), [({}, "exact"), ({"sampler": "gibbs"}, "chains")])
def test_a_job_depends_on_what_its_options_name_and_on_nothing_beside_it(seen, options, chosen):
    jobs(algorithm="gopi2022.reg_exp_mech", problem="axis_linear", options=options)
    named = {name.rpartition(".")[2] for modules in seen for name in modules if ".gopi2022.algorithms." in name}
    assert named == {"mechanism", chosen}


ON_A_SET = {"problem": "boundary_mean", "problem_options": {"domain": "k_support_ball", "size": 2}}


@pytest.mark.parametrize(
    ("part", "sets"),
    [({"algorithm": "wang2017.dp_gd_pl"}, set()), ({"algorithm": "su2023.objp", **ON_A_SET}, {"sets"})],
)
def test_accountants_and_sets_count_for_the_jobs_that_have_them(seen, part, sets):
    jobs(**part)
    last = [{(name.split(".")[-2], name.split(".")[-1]) for name in modules} for modules in seen]
    charging = [{name for folder, name in names if folder == "composition"} for names in last[::2]]
    assert charging == [{"shifts"}, {"shifts"}, set()]
    assert all({name for folder, name in names if folder == "geometry"} == sets for names in last)


def test_profiles_share_equal_work_and_absent_data_skip_the_job(tmp_path):
    assert jobs("smoke", **TWICE)[0].key == jobs("ci", **TWICE)[0].key
    fixed = {"d": 54, "epsilon": 1.0, "delta": 1e-3}
    made = jobs(problem="covertype", fixed=fixed, settings={"data_root": str(tmp_path)})
    assert all(job.skipped.startswith("data absent: `") for job in made)


def test_code_in_use_changes_the_key(seen):
    made = jobs()[0]
    calibrating, running = seen[:2]
    parts = {"dpsco_bench.papers.wang2017.algorithms.svrg", "dpsco_bench.problems.glm"}
    charging = {f"dpsco_bench.privacy.composition.{name}" for name in ("sampled", "refutation")}
    assert calibrating == parts | charging | {*CALIBRATION_MODULES}
    assert running == parts | {*RUN_MODULES, "dpsco_bench.papers.wang2017.fused.steps"}
    assert made.key != base().key


@pytest.mark.parametrize(
    ("replicates", "ends"),
    [(1, [1]), (15, [15]), (16, [8, 16]), (20, [8, 16, 20]), (64, [8, 16, 32, 64]), (224, [16, 56, 112, 224])],
)
def test_stages_end_at_multiples_of_eight(replicates, ends):
    assert stage_ends(replicates) == ends
    blocks = replace(base(), replicates=replicates).blocks
    assert [block.first + block.count for block in blocks] == ends and blocks[0].first == 0


def test_jobs_that_differ_in_their_replicates_alone_share_stages():
    few, many, other = (replace(base(), replicates=count).blocks for count in (16, 32, 15))
    assert few == many[:2] and few[0].key != few[1].key
    assert other[0].first == few[0].first and other[0].key != few[0].key
    assert replace(base(), evaluation="closed_form", replicates=64).blocks[0].count == 64


def test_kernels_count_for_jobs_of_a_gpu():
    """Files of CUDA that lie beside modules in use: those of the random numbers always."""
    assert {"draws.cu", "philox.cuh"} <= {path.name for path in kernels_beside(RUN_MODULES)}


def test_another_version_of_the_accountant_makes_calibrations_anew(monkeypatch):
    before = jobs()
    monkeypatch.setattr("dpsco_bench.claims.jobs.version", lambda name: "0.0")
    for old, new in zip(before, jobs(), strict=True):
        kept = old.calibration == "none"
        assert (old.calibration_key == new.calibration_key) == (old.key == new.key) == kept
