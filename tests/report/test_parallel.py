"""Tasks beside other work give what they give one after the other, and an error of one is not lost."""

import os

import pytest

from dpsco_bench.report.parallel import beside


@pytest.mark.parametrize("cores", [1, 2])
def test_results_come_in_the_order_of_the_tasks_however_often_they_are_asked_for(cores):
    with beside([lambda: ["a"], lambda: {"b": 2}], cores) as results:
        assert results() == [["a"], {"b": 2}] == results()


def test_each_task_has_a_process_of_its_own_where_there_are_two_cores():
    with beside([os.getpid, os.getpid], 2) as results:
        assert len({*results(), os.getpid()}) == 3
    with beside([os.getpid, os.getpid], 1) as results:
        assert {*results()} == {os.getpid()}


@pytest.mark.parametrize("cores", [1, 2])
def test_an_error_of_a_task_comes_where_its_result_is_asked_for(cores):
    with beside([lambda: 1, lambda: 1 // 0], cores) as results, pytest.raises(ZeroDivisionError):
        results()
