"""Figures and site are made anew where a paper changes how its claims are shown."""

from dpsco_bench.cli.depends import DRAWN_IN, drawing_digest
from dpsco_bench.registry import modules_in, papers
from dpsco_bench.report.computed import COMPUTED
from dpsco_bench.report.method_styles import METHOD_STYLES
from dpsco_bench.report.own_figures import FIGURES, PANELS
from dpsco_bench.report.wording import LABELS


def test_every_module_that_says_how_claims_are_shown_counts():
    counted = {name for package in papers().values() for kept in DRAWN_IN for name in modules_in(f"{package}.{kept}")}
    for registry in (FIGURES, PANELS, METHOD_STYLES, LABELS, COMPUTED):
        registry.load()
        own = {module for module in registry.registered().values() if ".papers." in module}
        assert own <= counted, registry
        assert own


def test_papers_have_digests_of_their_own():
    found = [drawing_digest(paper) for paper in sorted(papers())]
    assert all(found) and len(set(found)) == len(found)
    assert drawing_digest("nobody2026") == ""
