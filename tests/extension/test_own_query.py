"""Queries of one's own: one that answers otherwise than it is charged is refused in one line, at every door."""

from __future__ import annotations

from pathlib import Path

import pytest

METHOD, CLAIM = "examples/own_method.py", "examples/own_claim.yaml"
PAIR = ("algorithm=mine.noisy_gd", "problem=flipped_labels")
CALLS = """class Q(GaussianQuery):
    def answer(self, value, noise):
        calls.append(1)
        return value if len(calls) > 2 else super().answer(value, noise)
"""
FIXED = "class Q(GaussianQuery):\n    def answer(self, value, noise):\n        return value\n"
HARMLESS = "class Q(GaussianQuery):\n    pass\n"


def indented(text: str) -> str:
    return "".join(f"    {line}" for line in text.splitlines(keepends=True))


def written(before: str = "", within: str = "") -> None:
    """The example with a query class before its plan function, or within it."""
    text = Path(METHOD).read_text().replace('query = GaussianQuery("', 'query = Q("')
    text = text.replace('@algorithm("mine', f'calls = []\n{before}\n\n@algorithm("mine')
    Path(METHOD).write_text(text.replace("    c, n = given", f"{indented(within)}    c, n = given"))


@pytest.mark.parametrize(
    "arguments",
    [
        ("claim", CLAIM, "--plugin", METHOD, "--profile", "smoke"),
        ("check", "mine.noisy_gd", "--plugin", METHOD),
        ("run", *PAIR, "n=256", f"plugins=[{METHOD}]"),
    ],
    ids=["claim", "check", "run"],
)
def test_a_class_that_its_plan_function_defines_is_refused(dpsco, arguments):
    written(within=CALLS)
    found = dpsco(*arguments)
    (line,) = found.err.splitlines()
    assert found.code == 2 and "algorithm mine.noisy_gd: class of query gradient = 'plan.<locals>.Q': must be" in line
    assert not list(Path().glob("results/store/*/*.*"))


def test_a_class_that_answers_itself_is_refused_and_another_is_not(dpsco):
    written(before=FIXED)
    found = dpsco("run", *PAIR, "n=256", f"plugins=[{METHOD}]")
    assert found.code == 2 and "must be one that leaves answer as it is: no accountant sees that" in found.err


def test_a_class_of_a_module_that_only_declares_is_none_of_this(dpsco):
    written(before=HARMLESS)
    found = dpsco("account", "mine.noisy_gd", "problem=flipped_labels", "n=256", "--plugin", METHOD)
    assert "class of query" not in found.err
