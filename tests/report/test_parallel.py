"""Tasks beside other work give what they give one after the other, and an error of one is not lost."""

import os
import sys
from multiprocessing import get_context

import pytest

from dpsco_bench.report.parallel import beside


@pytest.mark.parametrize("cores", [1, 2])
def test_results_come_in_the_order_of_the_tasks_however_often_they_are_asked_for(cores):
    with beside([lambda: ["a"], lambda: {"b": 2}], cores) as results:
        assert results() == [["a"], {"b": 2}] == results()


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")
def test_tasks_run_beside_each_other_where_there_are_two_cores():
    """Each waits until all three are there: the two and what follows them."""
    gate = get_context("fork").Barrier(3)

    def meet():
        gate.wait(60)
        return os.getpid()

    with beside([meet, meet], 2) as results:
        met = meet()
        assert len({*results(), met}) == 3


def test_on_one_core_nothing_is_forked():
    with beside([os.getpid, os.getpid], 1) as results:
        assert results() == [os.getpid()] * 2


@pytest.mark.parametrize("cores", [1, 2])
def test_an_error_of_a_task_comes_where_its_result_is_asked_for(cores):
    with beside([lambda: 1, lambda: 1 // 0], cores) as results, pytest.raises(ZeroDivisionError):
        results()
