import json

import pytest

from dpsco_bench.execution.digest import RUN_FORMAT

from . import cells, points


def test_no_byte_changes_without_a_new_run_format():
    """Where a change is meant: raise `RUN_FORMAT`, then `python -m tests.same --record`."""
    recorded = json.loads(cells.RECORD.read_text())
    assert recorded["format"] == RUN_FORMAT
    assert cells.differences(recorded, cells.fresh()) == []


def test_a_changed_number_and_a_changed_byte_are_seen():
    name = cells.CELLS[0]
    was = {"format": 1, "machine": "m", "cells": {name: {"sha256": "a", "mean": 1.0}}}

    def now(machine="m", sha256="a", mean=1.0, format=1):
        return {"format": format, "machine": machine, "cells": {name: {"sha256": sha256, "mean": mean}}}

    seen = [cells.differences(was, found) != [] for found in (now(), now(sha256="b"), now(mean=1.1))]
    assert seen == [False, True, True]
    assert cells.differences(was, now("other", "b")) == cells.differences(was, now(sha256="b", format=2)) == []


@pytest.mark.parametrize("part", points.PARTS)
def test_numbers_at_points_are_as_recorded(part):
    """Where a change is meant: `python -m tests.same --record`."""
    recorded, found = json.loads(points.RECORD.read_text())[part], points.fresh(part)
    assert points.differences(recorded, found) == []
    name = next(iter(found))
    for other in ({name: [2.0]}, {name: [2.0, 3.0]}, {"new": [1.0]}):
        assert points.differences(recorded, found | other) == [*other]
