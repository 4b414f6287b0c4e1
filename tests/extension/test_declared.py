"""What installed packages declare as papers: one that cannot be used is named in one line, and stops nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIST = ("list", "algorithms")
EXAMPLE = ROOT / "examples" / "paper" / "example2026"
ACCOUNT = ("account", "example2026.one_step", "problem=sign_mean", "n=64", "d=3")
RUN = ("run", "algorithm=example2026.one_step", "problem=sign_mean", "n=64", "d=3", "replicates=2")
LINE = "dpsco: paper = 'vend.sub (distribution vend-dp 1.0)': must be a package that can be imported ("


@pytest.fixture
def site(tmp_path):
    return tmp_path / "site"


@pytest.fixture
def declare(site):
    def write(distribution, name, value):
        folder = site / f"{distribution.replace('-', '_')}-1.0.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text(f"[dpsco_bench.papers]\n{name} = {value}\n")

    return write


@pytest.fixture
def call(site, tmp_path):
    def run(*arguments):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (site, ROOT)))}
        command = [sys.executable, "-m", "dpsco_bench", *arguments]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)

    return run


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("raise RuntimeError('no licence')\n", "RuntimeError: no licence)"),
        ("import absent_of_all\n", "ModuleNotFoundError: No module named 'absent_of_all')"),
    ],
    ids=["raises", "imports what is missing"],
)
def test_a_broken_parent_package_stops_what_needs_it_alone(site, declare, call, text, reason):
    (site / "vend" / "sub").mkdir(parents=True)
    (site / "vend" / "__init__.py").write_text(text)
    (site / "vend" / "sub" / "__init__.py").touch()
    declare("vend-dp", "sub2027", "vend.sub")
    listed = call(*LIST)
    assert listed.returncode == 0 and "wang2017.dp_gd_pl" in listed.stdout
    assert listed.stderr == f"{LINE}{reason}\n"
    needing = call("account", "sub2027.noisy", "problem=ridge_logistic", "n=64")
    assert needing.returncode == 2 and set(needing.stderr.splitlines()) == {f"{LINE}{reason}"}


def test_an_attribute_in_place_of_a_package_is_named(site, declare, call):
    (site / "vend").mkdir(parents=True)
    (site / "vend" / "__init__.py").touch()
    declare("vend-dp", "sub2027", "vend:paper")
    listed = call(*LIST)
    (line,) = listed.stderr.splitlines()
    assert listed.returncode == 0 and "an entry point names a package, without an attribute" in line


def test_two_distributions_with_one_name_are_both_named(site, declare, call):
    for name in ("first", "second"):
        shutil.copytree(EXAMPLE, site / name)
        declare(f"{name}-dp", "example2026", name)
    listed = call(*LIST)
    (line,) = listed.stderr.splitlines()
    assert line.startswith("dpsco: paper = 'example2026': must be declared by one distribution only, not by ")
    assert "first-dp 1.0 and second-dp 1.0" in line and "example2026" not in listed.stdout
    needing = call(*ACCOUNT)
    assert needing.returncode == 2 and set(needing.stderr.splitlines()) == {line}


def test_a_paper_that_ships_stays_and_the_other_is_named(site, declare, call):
    (site / "mywang").mkdir(parents=True)
    (site / "mywang" / "__init__.py").touch()
    declare("mywang-dp", "wang2017", "mywang")
    found = call("account", "wang2017.dp_gd_pl", "problem=ridge_logistic", "n=64", "d=3")
    (line,) = found.stderr.splitlines()
    assert found.returncode == 0 and "mywang-dp 1.0 (left out: mywang)" in line


TAKEN = {
    "a problem": ("problems.py", '"sign_mean"', '"linear_ball"', "problem name = 'linear_ball'"),
    "a bound": ("bounds.py", '"example2026.', '"gopi2022_law.', "bound name = 'gopi2022_law."),
    "an algorithm": (
        "algorithms.py",
        '"example2026.one_step"',
        '"zhang2022.dp_otb"',
        "algorithm id = 'zhang2022.dp_otb'",
    ),
}


@pytest.mark.parametrize("how", ["installed", "its folder"])
@pytest.mark.parametrize("what", TAKEN)
def test_a_name_that_ships_stays_where_it_is(site, declare, call, what, how):
    """Whatever is loaded first: the paper that takes it is the one that is named, and shipped numbers are as before."""
    shutil.copytree(EXAMPLE, site / "example2026")
    file, old, new, said = TAKEN[what]
    text = (site / "example2026" / file).read_text()
    assert old in text
    (site / "example2026" / file).write_text(text.replace(old, new))
    given = ("--plugin", str(site / "example2026"))
    if how == "installed":
        declare("theirs-dp", "example2026", "example2026")
        given = ()
    listed = call("list", {"bounds.py": "claims"}.get(file, file.removesuffix(".py")), *given)
    assert said in listed.stderr and listed.stderr.count("\n") == 1 and "paper = 'dpsco_bench" not in listed.stderr
    assert listed.returncode == (0 if how == "installed" else 2)
    if how == "installed":
        asked = ("account", "zhang2022.dp_otb", "problem=linear_ball", "n=64", "d=3")
        beside = call(*asked)
        shutil.rmtree(site)
        assert beside.returncode == 0 and beside.stdout == call(*asked).stdout


@pytest.mark.parametrize("how", ["installed", "its folder"])
def test_an_error_in_a_papers_code_is_one_line_with_its_place(site, declare, call, how):
    shutil.copytree(EXAMPLE, site / "example2026")
    file = site / "example2026" / "algorithms.py"
    file.write_text(file.read_text().replace("    c, n = given", "    1 / 0\n    c, n = given"))
    number = file.read_text().splitlines().index("    1 / 0") + 1
    if how == "installed":
        declare("theirs-dp", "example2026", "example2026")
    given = () if how == "installed" else (f"plugins=[{site / 'example2026'}]",)
    found = call(*RUN, *given)
    (line,) = found.stderr.splitlines()
    assert found.returncode == 2 and line.startswith("dpsco: ")
    assert f"ZeroDivisionError: division by zero (algorithms.py, line {number})" in line
