"""What a release says of itself is the same everywhere."""

import re
import tomllib
from pathlib import Path

import dpsco_bench

ROOT = Path(__file__).resolve().parents[1]
CITATION = (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_version_stands_in_the_change_log_and_in_the_citation():
    newest = re.search(r"^## (\d\S*)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    cited = re.search(r"^version: (\S+)", CITATION, re.MULTILINE)
    assert dpsco_bench.__version__ == newest[1] == cited[1]


def test_the_description_is_the_same_wherever_it_stands():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    abstract = " ".join(re.search(r"abstract: >-\n((?:  .*\n)+)", CITATION)[1].split())
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert abstract == f"{project['description']}."
    assert f"*dpsco_bench*, version {dpsco_bench.__version__}." in readme


def test_everything_that_a_build_takes_is_there():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    taken = project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert [name for name in taken if not (ROOT / name.removeprefix("/")).exists()] == []
    shared = re.search(r"SHARED = \((.*?)\)", (ROOT / "hatch_build.py").read_text(encoding="utf-8"))
    assert set(re.findall(r'"(\w+)"', shared[1])) <= {name.removeprefix("/") for name in taken}
