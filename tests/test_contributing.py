"""CONTRIBUTING.md, CITATION.cff and the templates name what exists."""

import re
from pathlib import Path

from omegaconf import OmegaConf

ROOT = Path(__file__).parents[1]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
CITATION = OmegaConf.to_container(OmegaConf.load(ROOT / "CITATION.cff"))


def test_what_it_names_exists(dpsco):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    assert set(re.findall(r"`make ([a-z-]+)", CONTRIBUTING)) <= targets
    for script in re.findall(r"`python (docs/\w+\.py)`", CONTRIBUTING):
        assert (ROOT / script).is_file()
    for place in re.findall(r"`([\w.]+/[\w./]*)`", CONTRIBUTING):
        assert (ROOT / place).exists(), place
    known = dpsco("help").out
    for verb in re.findall(r"`(?:dpsco|python -m dpsco_bench) (\w+)", CONTRIBUTING):
        assert re.search(rf"\b{verb}\b", known), verb
    assert CITATION.keys() >= {"cff-version", "message", "title", "authors", "license"}


def test_every_paper_is_cited():
    names = {folder.name for folder in (ROOT / "conf" / "claim").iterdir() if any(folder.glob("*.yaml"))}
    cited = {f"{paper['authors'][0]['family-names'].lower()}{paper['year']}" for paper in CITATION["references"]}
    assert names <= cited


def test_a_venue_is_that_of_a_text_used_here():
    """And where no text says one, none is cited."""
    for paper in CITATION["references"]:
        id = f"{paper['authors'][0]['family-names'].lower()}{paper['year']}"
        published = OmegaConf.load(ROOT / "conf" / "paper" / f"{id}.yaml").get("published", "")
        pages = f"{paper['collection-title']} {paper['volume']}" if published else ""
        assert pages in published and bool(published) == ("collection-title" in paper)
        assert not published or published.endswith(f"{paper['start']}-{paper['end']}")


def test_continuous_integration_calls_one_script():
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    assert set(re.findall(r"run: (.*)", text)) == {"bash .ci/run"}


def test_it_names_every_file_of_a_paper_that_ships():
    said = " ".join(CONTRIBUTING.split())
    for path in (ROOT / "conf").rglob("wang2017*"):
        if "__pycache__" in path.parts:
            continue
        place = path.relative_to(ROOT).as_posix().replace("wang2017", "<paper>")
        assert f"`{place}{'/' * path.is_dir()}`" in said, place
