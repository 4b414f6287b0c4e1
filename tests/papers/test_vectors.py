"""Numbers that a chapter prints or that were computed by hand: schedules, noise, real epsilons, and what is refused.

A row of a paper's ``vectors.yaml`` is one plan, or several where values are lists. A text in place of a number is a
formula: in n, d, eps, delta, l = ln(1/delta), m (the Gaussian-DP parameter of eps and delta) and the plan's schedule.
"""

import math
from functools import partial
from pathlib import Path

import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.claims.bounds.registry import BoundContext, get_bound
from dpsco_bench.claims.files import read_yaml
from dpsco_bench.errors import DpscoError
from dpsco_bench.geometry.ball import feasible_set, mean_largest, mean_largest_square
from dpsco_bench.papers.bassily2021.laws import largest_excess
from dpsco_bench.papers.su2023.algorithms.lp import shuffled_epsilon
from dpsco_bench.privacy.accountants.allocation import largest_shift
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.privacy.accountants.zcdp import epsilon_each_for
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.privacy.records import Disjoint, Full, Poisson, SingleIndex, WithReplacement
from dpsco_bench.problems.constants import Constants
from dpsco_bench.problems.registry import get_problem

LETTERS = {name: getattr(math, name) for name in ("ceil", "floor", "isqrt", "sqrt", "log", "log2", "log1p", "e", "inf")}
LETTERS |= {name: getattr(math, name) for name in ("exp", "lgamma")} | {"shuffled": shuffled_epsilon}
LETTERS |= {kind.__name__: kind for kind in (Disjoint, Full, Poisson, SingleIndex, WithReplacement)}
LETTERS |= {"width2": mean_largest_square, "each": epsilon_each_for, "allocation": largest_shift}
LETTERS |= {"width": mean_largest, "support_width": feasible_set("k_support_ball:4", 1.0).width}
LETTERS |= {"min": min, "max": max, "round": round, "excess": largest_excess}
BOOKS = {file.parent.name: read_yaml(file) for file in sorted(Path(__file__).parent.glob("*/vectors.yaml"))}
VARIANTS = [f"{paper}.{name}" for paper, book in BOOKS.items() for name in book.get("variants", {})]


def picked(value, place):
    if isinstance(value, dict):
        return {key: picked(held, place) for key, held in value.items()}
    return value[place] if isinstance(value, list) else value


def longest(value):
    held = value.values() if isinstance(value, dict) else ()
    return max([len(value) if isinstance(value, list) else 1, *map(longest, held)])


def unfolded(row):
    """Rows of one plan each, or of one wrong value each."""
    whole = {key: value for key, value in row.items() if key != "refused"}
    for place in range(longest(whole)):
        one = picked(whole, place)
        wrong = row.get("refused")
        if not isinstance(wrong, dict):
            yield one | ({"refused": picked(wrong, place)} if wrong else {})
            continue
        for key, values in wrong.items():
            for value in values if isinstance(values, list) else [values]:
                yield one | {"options": one.get("options", {}) | {key: value}, "refused": key}


def rows(refused):
    for paper, book in BOOKS.items():
        every = [book["defaults"] | own for row in book["rows"] for own in unfolded(row)]
        for number, row in enumerate(row for row in every if ("refused" in row) is refused):
            id = row["method"] if "." in row["method"] else f"{paper}.{row['method']}"
            yield pytest.param(book.get("constants", {}), id, row, id=f"{id}-{number}")


def number(value, known):
    return eval(value, {}, LETTERS | known) if isinstance(value, str) else value


class Planned:
    def __init__(self, constants, id, row):
        self.entry, self.row = get_algorithm(id), row
        given = {key: number(row[key], {}) for key in ("n", "d", "eps", "delta")}
        n, d, eps, delta = given.values()
        self.privacy = PrivacySpec(eps, delta)
        self.known = given | {"l": self.privacy.log_inverse_delta, "m": gdp_mu(eps, delta)}
        on = row["for"] if isinstance(row["for"], dict) else constants[row["for"]]
        if "problem" in on:
            options = {key: value for key, value in on.items() if key != "problem"}
            problem = get_problem(on["problem"], d, **options).at(n, eps, delta)
            found = self.entry.visible_constants(problem.constants, problem)
        else:
            found = Constants(**on)
        calibration = row.get("calibration", "paper")
        variant = row["variant"] if "variant" in row else self.entry.variant_for(calibration)
        self.plan = partial(self.entry.plan, found, n, d, self.privacy, variant, calibration, **row.get("options", {}))


@pytest.mark.parametrize(("constants", "id", "row"), [*rows(refused=False)])
def test_plans_are_those_of_the_chapter(constants, id, row):
    planned = Planned(constants, id, row)
    plan, rel = planned.plan(), float(row.get("rel", 1e-9))
    known = planned.known | plan.schedule
    for name, value in row.get("plan", {}).items():
        found = getattr(plan, name)
        wanted = number(value, known)
        assert (bool(found) if isinstance(wanted, bool) else found) == close(wanted, rel), name
    for name, wanted in row.get("queries", {}).items():
        query = plan.queries[name] if isinstance(name, int) else plan.query(name)
        for key, value in wanted.items():
            assert getattr(query, key) == close(number(value, known), rel), (name, key)
    scales = {}
    for calibration in ("paper", "accounted"):
        if calibration in row:
            scales[calibration] = calibrated(planned, plan, calibration, known, row[calibration], scales)


def close(wanted, rel):
    return pytest.approx(wanted, rel=rel) if type(wanted) in (int, float) else wanted


def calibrated(planned, plan, calibration, known, wanted, before):
    """Hold noise and real epsilon of a calibration against a row; its scales."""
    if "refused" in wanted:
        with pytest.raises(DpscoError, match=f"^{wanted['refused']}"):
            calibrate(plan, planned.privacy, calibration)
        return {}
    found, rel = calibrate(plan, planned.privacy, calibration), float(wanted.get("rel", 1e-9))
    if "eps" in wanted:
        assert found.charge.epsilon == pytest.approx(number(wanted["eps"], known), rel=rel)
    assert number(wanted.get("least", -math.inf), known) <= found.charge.epsilon or "least" not in wanted
    assert found.charge.epsilon <= number(wanted.get("most", math.inf), known) * (1 + 1e-9) or "most" not in wanted
    assert found.charge.kind == wanted.get("kind", found.charge.kind)
    assert found.privacy_status == wanted.get("status", found.privacy_status)
    for name, value in wanted.get("scales", {}).items():
        assert found.scales[name] == pytest.approx(number(value, known), rel=rel), name
    for name in found.scales if "ratio" in wanted else ():
        assert found.scales[name] / before["paper"][name] == pytest.approx(wanted["ratio"], rel=rel), name
    return found.scales


@pytest.mark.parametrize(("constants", "id", "row"), [*rows(refused=True)])
def test_what_the_theorem_does_not_cover_is_refused_by_its_name(constants, id, row):
    planned = Planned(constants, id, row)
    with pytest.raises(DpscoError) as error:
        planned.plan()
    assert str(error.value).startswith(row["refused"])


@pytest.mark.parametrize("id", VARIANTS)
def test_the_variant_of_each_calibration(id):
    paper, _, name = id.partition(".")
    wanted = dict(zip(("paper", "accounted", "none"), BOOKS[paper]["variants"][name], strict=True))
    assert {calibration: get_algorithm(id).variant_for(calibration) for calibration in wanted} == wanted


def bounds():
    for paper, book in BOOKS.items():
        for place, block in enumerate(book.get("bounds", ())):
            for how in ("values", "terms"):
                for name, wanted in block.get(how, {}).items():
                    id = f"{block.get('family', paper)}.{name}"
                    yield pytest.param(id, how, block, wanted, id=f"{id}-{how}-{place}")


@pytest.mark.parametrize(("id", "how", "block", "wanted"), [*bounds()])
def test_bounds_are_the_formulas_written_out(id, how, block, wanted):
    privacy = PrivacySpec(block["eps"], block["delta"])
    given = {key: block.get(key, {}) for key in ("schedule", "scales", "extras")}
    context = BoundContext(
        block["n"], block["d"], privacy.epsilon, privacy.delta, Constants(**block["constants"]),
        block.get("calibration", "paper"), start_risk=block.get("start_risk", math.nan), **given,
    )  # fmt: skip
    known = {"n": context.n, "d": context.d, "eps": privacy.epsilon, "l": privacy.log_inverse_delta}
    known["m"] = gdp_mu(privacy.epsilon, privacy.delta)
    for letter, formula in block.get("letters", {}).items():
        known[letter] = number(formula, known)
    bound = get_bound(id)
    found = bound.value(context) if how == "values" else bound.named_term(context)
    assert found == pytest.approx(float(number(wanted, known)), rel=1e-12)
