"""A method whose output leaves the domain is stopped with one line: its risk may be below the least of the domain."""

from pathlib import Path

import pytest

METHOD = "examples/own_method.py"
PROJECTED = "objective.project(x - plan.step * gradient)"
FREE = "algorithm=mine.noisy_gd"
POINT = ("problem=data_file", "path=examples/customers.csv", "label=renewed", "positive=yes", "clip=2", "epsilon=2")
POINT += ("regularisation=0.1", "domain=l2_ball")


@pytest.fixture
def unprojected(tmp_path):
    text = Path(METHOD).read_text()
    assert text.count(PROJECTED) == 1
    path = tmp_path / "free.py"
    path.write_text(text.replace(PROJECTED, PROJECTED.removeprefix("objective.project")))
    return str(path)


@pytest.mark.parametrize("call", [("run", FREE), ("check", "mine.noisy_gd")])
def test_an_output_outside_is_one_line(dpsco, unprojected, call):
    outcome = dpsco(*call, *POINT, "radius=0.1", "--plugin", unprojected)
    told = " ".join((outcome.out + outcome.err).split())
    assert outcome.code != 0 and "in the domain l2_ball" in told and "Traceback" not in told
