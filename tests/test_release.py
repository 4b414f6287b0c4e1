"""Releases say the same of themselves everywhere; CONTRIBUTING.md and CITATION.cff name what exists."""

import re
import tomllib
from pathlib import Path

from omegaconf import OmegaConf

import dpsco_bench

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CITATION = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
CITED = OmegaConf.to_container(OmegaConf.create(CITATION))
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_version_stands_in_the_change_log_and_in_the_citation():
    newest = re.search(r"^## (\d\S*)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    cited = re.search(r"^version: (\S+)", CITATION, re.MULTILINE)
    assert dpsco_bench.__version__ == newest[1] == cited[1]


def test_the_description_is_the_same_wherever_it_stands():
    abstract = " ".join(re.search(r"abstract: >-\n((?:  .*\n)+)", CITATION)[1].split())
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert abstract == f"{PROJECT['project']['description']}."
    assert f"*dpsco_bench*, version {dpsco_bench.__version__}." in readme


def test_everything_that_a_build_takes_is_there():
    taken = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert [name for name in taken if not (ROOT / name.removeprefix("/")).exists()] == []
    shared = re.search(r"SHARED = \((.*?)\)", (ROOT / "hatch_build.py").read_text(encoding="utf-8"))
    assert set(re.findall(r'"(\w+)"', shared[1])) <= {name.removeprefix("/") for name in taken}


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
    assert CITED.keys() >= {"cff-version", "message", "title", "authors", "license"}


def test_every_paper_is_cited_and_a_venue_is_that_of_a_text_used_here():
    """Where no text says one, none is cited."""
    papers = {f"{paper['authors'][0]['family-names'].lower()}{paper['year']}": paper for paper in CITED["references"]}
    assert {
        folder.name for folder in (ROOT / "conf" / "claim").iterdir() if any(folder.glob("*.yaml"))
    } <= papers.keys()
    for id, paper in papers.items():
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
