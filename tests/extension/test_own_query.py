"""Queries of one's own: one that answers otherwise than it is charged is refused in one line, at every door."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dpsco_bench.audit.released import KINDS

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


PROPERTIES = {
    "norm_kappa": "1e-9",
    "is_normal": "True",
    "law": "'laplace'",
    "law_parameters": "(1.0,)",
    "norm": "1e9",
    "contribution": "1e-9",
    "exact_minimiser": "False",
    "sensitivity": "1e-9",
    "releases": "1",
}
REDEFINING = {
    **{name: f"    @property\n    def {name}(self):\n        return {value}\n" for name, value in PROPERTIES.items()},
    "__getattribute__": "    def __getattribute__(self, name):\n        return super().__getattribute__(name)\n",
    "__getattr__": "    def __getattr__(self, name):\n        return 1.0\n",
    "__class__": "    __class__ = GaussianQuery\n",
    "factors": "    factors = staticmethod(lambda first, steps: None)\n",
}


@pytest.mark.parametrize("door", [("account", "mine.noisy_gd", PAIR[1]), ("run", *PAIR)], ids=["account", "run"])
@pytest.mark.parametrize("name", REDEFINING)
def test_what_a_query_is_charged_by_stays_as_it_is(dpsco, door, name):
    written(before=f"class Q(GaussianQuery):\n{REDEFINING[name]}")
    found = dpsco(*door, "n=256", "--plugin", METHOD)
    (line,) = found.err.splitlines()
    assert found.code == 2 and found.out == "", found
    assert "algorithm mine.noisy_gd: " in line
    if name not in ("sensitivity", "releases"):  # a frozen dataclass cannot be made with these
        assert f"class of query gradient = 'Q': must be one that leaves {name} as it is" in line


@pytest.mark.parametrize(
    "classes",
    [
        "class M:\n    norm_kappa = 1e-9\n\n\nclass Q(M, GaussianQuery):\n    pass\n",
        "class Q(GaussianQuery):\n    __module__ = 'dpsco_bench.privacy.plan'\n    norm_kappa = 1e-9\n",
        "class M(GaussianQuery):\n    norm_kappa = 1e-9\n\n\nclass Q(M):\n    pass\n",
        "class Q(GaussianQuery):\n    def __post_init__(self):\n        vars(self)['norm_kappa'] = 1e-9\n",
    ],
    ids=["mixin", "name", "base", "instance"],
)
def test_it_does_so_in_every_base(dpsco, classes):
    written(before=classes)
    found = dpsco("account", "mine.noisy_gd", PAIR[1], "n=256", "--plugin", METHOD)
    assert found.code == 2 and "leaves norm_kappa as it is" in found.err, found


def test_a_class_of_two_kinds_is_refused(dpsco):
    """The one would say what it is charged by, the other in which norm its sensitivity is measured."""
    known = "from dataclasses import dataclass\nfrom dpsco_bench.geometry.smooth_norm import SmoothNorm\n"
    known += "from dpsco_bench.privacy.queries import GeneralisedGaussianQuery\n"
    made = "@dataclass(frozen=True, kw_only=True)\nclass Q(GaussianQuery, GeneralisedGaussianQuery):\n"
    written(before=f"{known}{made}    smooth: SmoothNorm = SmoothNorm(1.0, 5)\n")
    found = dpsco("account", "mine.noisy_gd", PAIR[1], "n=256", "--plugin", METHOD)
    assert found.code == 2 and "must be one of one kind, not of GaussianQuery and GeneralisedGaussian" in found.err, (
        found
    )


@pytest.mark.parametrize(("key", "value"), [("sensitivity", "-1.0"), ("releases", "0"), ("records", "None")])
def test_fields_are_checked_after_a_post_init_of_ones_own(dpsco, key, value):
    method = f"    def __post_init__(self):\n        object.__setattr__(self, '{key}', {value})\n"
    written(before=f"class Q(GaussianQuery):\n{method}")
    found = dpsco("account", "mine.noisy_gd", PAIR[1], "n=256", "--plugin", METHOD)
    assert found.code == 2 and f"{key} of gradient = " in found.err and "must be " in found.err, found


def test_numbers_and_records_of_a_query_are_of_known_classes(dpsco):
    number = "class F(float):\n    def __truediv__(self, other):\n        return 1e-9\n"
    method = "    def __post_init__(self):\n        object.__setattr__(self, 'sensitivity', F(self.sensitivity))\n"
    written(before=f"{number}\n\nclass Q(GaussianQuery):\n{method}")
    found = dpsco("account", "mine.noisy_gd", PAIR[1], "n=256", "--plugin", METHOD)
    assert found.code == 2 and "class of sensitivity of query gradient = 'F': must be one of" in found.err, found


@pytest.mark.parametrize("module", ["", "    __module__ = 'builtins'\n"], ids=["told", "disguised"])
def test_numbers_within_its_records_are_too(dpsco, module):
    number = f"class F(float):\n{module}    def __neg__(self):\n        return -0.9\n"
    written(
        before=f"from dpsco_bench import Poisson\n\n{number}\n\nclass Q(GaussianQuery):\n"
        "    def __post_init__(self):\n        object.__setattr__(self, 'records', Poisson(F(0.001)))\n"
    )
    found = dpsco("account", "mine.noisy_gd", PAIR[1], "n=256", "--plugin", METHOD)
    assert found.code == 2 and "class of records of query gradient = 'F': must be one of" in found.err, found


def test_names_of_its_own_and_defaults_are_free(dpsco):
    own = (
        "from dataclasses import dataclass\n\n\n@dataclass(frozen=True)\nclass Q(GaussianQuery):\n"
        '    """Mine."""\n\n    share: float | None = None\n    extra: int = 3\n\n'
        "    def __post_init__(self):\n        super().__post_init__()\n\n"
        "    @property\n    def twice(self):\n        return 2 * self.extra\n"
    )
    written(before=own)
    found = dpsco("run", *PAIR, "n=256", "replicates=2", "--plugin", METHOD)
    assert found.code == 0 and "proven" in found.out, found


def test_the_list_in_the_documentation_is_what_kinds_define():
    """Names that accountants and mechanisms go by, of all kinds of queries."""
    text = (Path(__file__).resolve().parents[2] / "docs" / "own.md").read_text(encoding="utf-8")
    (said,) = re.findall(r"So\n(`answer`.*?) are left\s+alone", text, re.DOTALL)
    names = {
        name
        for kind in KINDS
        for base in kind.__mro__
        for name in vars(base)
        if base is not object and not name.startswith("__") and name not in kind.__dataclass_fields__
    }
    assert set(re.findall(r"`(\w+)`", said)) == names
