import numpy as np
import pytest

from dpsco_bench.errors import InputError
from dpsco_bench.privacy.plan import GaussianQuery, make_plan
from dpsco_bench.privacy.records import Poisson
from dpsco_bench.privacy.transcript import Recorder, Replay

PLAN = make_plan(GaussianQuery("a", 1.0, 2), GaussianQuery("b", 1.0, 1, Poisson(0.5)), gradient_evaluations=0, n=8)
ARGUMENTS = (PLAN, {"a": 1.0, "b": 2.0}, "what", 1, 0, 3)


def recorded():
    recorder = Recorder(*ARGUMENTS)
    for step in range(2):
        recorder.release("a", np.full((3, 2), float(step)), step)
    recorder.sample("b")
    recorder.release("b", np.zeros((3, 2)))
    return recorder


def test_a_recorder_behaves_like_the_mechanism_and_keeps_everything():
    recorder = recorded()
    transcript = recorder.transcript
    assert dict(recorder.released) == {"a": 2, "b": 1} and dict(recorder.sampled) == {"b": 1}
    np.testing.assert_array_equal(transcript.values["a"][1], np.ones((3, 2)))
    assert transcript.noise("a").shape == (2, 3, 2) and np.all(transcript.noise("a") != 0)
    assert transcript.batches["b"][0].expected_size == 4.0


def test_kept_values_are_copies():
    recorder = Recorder(*ARGUMENTS)
    value = np.zeros((3, 2))
    released = recorder.release("a", value)
    value += 7.0
    released += 7.0
    np.testing.assert_array_equal(recorder.transcript.values["a"][0], 0.0)
    assert np.abs(recorder.transcript.released["a"][0]).max() < 7


def test_a_replay_gives_the_recorded_values_whatever_is_passed_in():
    first = recorded().transcript
    replay = Replay(first, *ARGUMENTS)
    for step in range(2):
        got = replay.release("a", np.full((3, 2), 5.0), step)
        np.testing.assert_array_equal(got, first.released["a"][step])
    assert replay.sample("b") is first.batches["b"][0]
    np.testing.assert_array_equal(replay.transcript.value("a"), np.full((2, 3, 2), 5.0))
    assert dict(replay.released) == {"a": 2} and dict(replay.sampled) == {"b": 1}


def test_a_replay_keeps_the_books_of_the_mechanism():
    replay = Replay(recorded().transcript, *ARGUMENTS)
    replay.release("a", np.zeros((3, 2)))
    with pytest.raises(InputError, match="released before"):
        replay.release("a", np.zeros((3, 2)))
    with pytest.raises(InputError, match="as the plan declares"):
        replay.release("a", np.zeros((3, 2)), 2)
    empty = Replay(Recorder(*ARGUMENTS).transcript, *ARGUMENTS)
    with pytest.raises(InputError, match="^step of a = 0: must be one that the recorded run made"):
        empty.release("a", np.zeros((3, 2)))
