"""The functions of the package: results travel between processes, and numbers of NumPy are numbers."""

import inspect
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import dpsco_bench
import dpsco_bench.audit.auditor
import dpsco_bench.leaderboard.board  # noqa: F401 - packages of these names are imported, and are called all the same
from dpsco_bench import account, audit, choose, claim, get_algorithm, get_problem, leaderboard, run
from dpsco_bench.cli import library
from dpsco_bench.datasets.tables import write_records
from dpsco_bench.errors import InputError

METHOD, PROBLEM = "wang2017.dp_gd_pl", "ridge_logistic"
SMALL = {"epsilon": 1.0, "delta": 1e-5, "replicates": 2, "seed": 3}


def test_results_of_other_processes_are_those_of_this_one():
    here = run(METHOD, PROBLEM, 100, 5, **SMALL)
    with ProcessPoolExecutor(1) as pool:
        there = pool.submit(run, METHOD, PROBLEM, 100, 5, **SMALL).result()
    assert there.table == here.table and repr(there.cell) == repr(here.cell)
    assert there.calibration.scales == here.calibration.scales
    assert METHOD in there._repr_html_() and "<svg" in there.plot()._repr_svg_()


def test_entries_are_found_again_by_name_and_numbers_of_numpy_are_numbers():
    assert pickle.loads(pickle.dumps(get_algorithm(METHOD))) is get_algorithm(METHOD)
    problem = get_problem("data_twin", 5, loss="huber")
    again = pickle.loads(pickle.dumps(problem))
    assert repr(again) == repr(problem) == "DataTwin(d=5, loss='huber', label_clip=1.0)"
    assert again.constants == problem.constants
    boxed = {"epsilon": np.float32(1), "delta": np.float64(1e-5), "replicates": np.int32(2), "seed": np.int64(3)}
    plain, found = run(METHOD, PROBLEM, 100, 5, **SMALL), run("dp_gd_pl", PROBLEM, np.int64(100), np.int8(5), **boxed)
    assert found.table == plain.table and account(METHOD, PROBLEM, np.int64(100), seed=np.int64(3)).n == 100


def test_verbs_are_functions():
    found = account("dp_svrg", PROBLEM, 2000, 5)
    assert found.paper.epsilon_real > 1 >= found.accounted.epsilon_real
    assert found.table["epsilon_real"].to_pylist() == [found.paper.epsilon_real, found.accounted.epsilon_real]
    assert "privacy_status" in found._repr_html_()
    assert audit("dp_gd_pl", runs=100, epsilon=1.0).runs in (0, 100)
    with pytest.raises(InputError, match="profile = nothing|profile = 'nothing'"):
        claim("wang2017.thm42", profile="nothing")
    with pytest.raises(InputError, match="^leaderboard = 'nothing'"):
        leaderboard("nothing")
    assert callable(dpsco_bench.audit) and dpsco_bench.audit.auditor.audit_cell


@pytest.mark.parametrize(("key", "here"), [("random_state", "seed"), ("eps", "epsilon")])
def test_names_of_other_libraries_lead_to_those_here(key, here):
    for call, given in ((run, (METHOD, PROBLEM, 100)), (choose, ("logistic", 100, 3))):
        with pytest.raises(InputError, match=f"^{key} = 1: must be written {here} "):
            call(*given, **{key: 1})


def test_verbs_that_are_packages_tell_what_they_take_and_pickle():
    for verb, others in ((audit, library.audit), (leaderboard, library.leaderboard)):
        assert inspect.signature(verb) == inspect.signature(others) and verb.__doc__ == others.__doc__
        assert pickle.loads(pickle.dumps(verb)) is verb


def test_arrays_and_frames_are_chosen_for_as_files_are(tmp_path):
    features = np.random.default_rng(0).standard_normal((200, 3))
    labels = np.where(features[:, 0] > 0, 1, 0)
    keys = {"positive": 1, "clip": 1.0, "domain": "l2_ball", "replicates": 2, "limit": 1.0}
    found = choose(features, labels, store=tmp_path / "store", **keys)
    path = write_records(features, labels, tmp_path)
    file = choose("data_file", path=str(path), label="y", store=tmp_path / "other", **keys)
    risks, of_file = ({row["method"]: row["risk"] for row in one.table.to_pylist()} for one in (found, file))
    assert risks and {**risks, **of_file} == {**of_file, **risks}
    assert pickle.loads(pickle.dumps(found)) == found and "<table>" in found._repr_html_()
    mixed = features.astype(object)
    mixed[7, 2] = "a"
    with pytest.raises(InputError, match="column 2 of X = 'a'"):
        choose(mixed, labels, **keys)
    with pytest.raises(InputError, match="^shapes of X and y"):
        choose(features, labels[:5], **keys)
