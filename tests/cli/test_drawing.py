"""Figures and site are made anew where a paper changes how its claims are shown."""

import pytest

from dpsco_bench.cli import outline
from dpsco_bench.cli.outline import DRAWN_IN, drawing_digest, site_digest
from dpsco_bench.registry import modules_in, papers
from dpsco_bench.report.own_figures import FIGURES, METHOD_STYLES, PANELS
from dpsco_bench.report.rebuilt import COMPUTED
from dpsco_bench.report.wording import LABELS


def test_every_module_that_says_how_claims_are_shown_counts():
    counted = {name for package in papers().values() for kept in DRAWN_IN for name in modules_in(f"{package}.{kept}")}
    for registry in (FIGURES, PANELS, METHOD_STYLES, LABELS, COMPUTED):
        registry.load()
        own = {module for module in registry.registered().values() if ".papers." in module}
        assert own <= counted, registry
        assert own


def test_the_site_depends_on_listings_and_formulas_too():
    """Those of methods that no claim of a profile runs have pages as well."""
    for paper, package in papers().items():
        shown = {name for kept in outline.SHOWN_IN for name in modules_in(f"{package}.{kept}")}
        assert any(".algorithms." in name for name in shown) and any(".bounds" in name for name in shown), paper
        assert drawing_digest(paper, outline.SHOWN_IN) != drawing_digest(paper)


def test_papers_have_digests_of_their_own():
    found = [drawing_digest(paper) for paper in sorted(papers())]
    assert all(found) and len(set(found)) == len(found)
    assert drawing_digest("nobody2026") == ""


@pytest.mark.parametrize(
    "place", ["docs/start.md", "docs/house.svg", "workflows/recorded/smoke.json", "requirements/lock.txt"]
)
def test_the_site_is_made_anew_where_what_it_speaks_of_changes(tmp_path, monkeypatch, place):
    """Documentation and its pictures, the verdicts on record of its profile, the lock; no other record."""
    for name in ("docs/start.md", "docs/house.svg", "workflows/recorded/smoke.json", "requirements/lock.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("before")
    monkeypatch.setattr(outline, "shared_dir", lambda name: tmp_path / name)
    monkeypatch.setattr(outline, "documents", lambda: {"start": tmp_path / "docs" / "start.md"})
    before = site_digest("smoke")
    (tmp_path / "workflows" / "recorded" / "ci.json").write_text("another profile's")
    assert site_digest("smoke") == before
    (tmp_path / place).write_text("after")
    assert site_digest("smoke") != before
