"""Figures and site are made anew where a paper changes how its claims are shown."""

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
    """Those of methods that no claim of a profile runs have pages as well; papers have digests of their own."""
    for paper, package in papers().items():
        shown = {name for kept in outline.SHOWN_IN for name in modules_in(f"{package}.{kept}")}
        assert any(".algorithms." in name for name in shown) and any(".bounds" in name for name in shown), paper
        assert drawing_digest(paper, outline.SHOWN_IN) != drawing_digest(paper)
    assert len(set(map(drawing_digest, papers()))) == len(papers()) and drawing_digest("nobody2026") == ""


def test_the_site_is_made_anew_where_what_it_speaks_of_changes(tmp_path, monkeypatch):
    """Documentation and its pictures, the verdicts on record of its profile, the lock; no other record."""
    spoken = ["docs/start.md", "docs/house.svg", "workflows/recorded/smoke.json", "requirements/lock.txt"]
    for name in (*spoken, "workflows/recorded/ci.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("before")
    monkeypatch.setattr(outline, "shared_dir", lambda name: tmp_path / name)
    monkeypatch.setattr(outline, "documents", lambda: {"start": tmp_path / "docs" / "start.md"})
    digests = [site_digest("smoke")]
    for name in ("workflows/recorded/ci.json", *spoken):
        (tmp_path / name).write_text("after")
        digests.append(site_digest("smoke"))
    assert digests[0] == digests[1] and len(set(digests)) == 1 + len(spoken)
