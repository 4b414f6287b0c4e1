"""A private copy of the project with three tiny claims, and a way to run Snakemake in it."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("Snakefile", "snakemake_logger_plugin_dpsco", "pyproject.toml", "conf", "docs", "dpsco_bench", "profiles")
PARTS += ("requirements", "workflows")
CLAIM = "id: wang2017.{}\ntitle: {}\nsource: test\nstatement: none\nparts:"
CLAIMS = {
    # Two parts with runs, by different algorithms, and a judged-only part.
    ("alpha", "two tiny rates"): """
  - {id: closed-n, kind: rate, calibrations: [paper], algorithm: wang2017.dp_gd_pl, problem: diag_quadratic,
     evaluation: closed_form, fixed: {d: 4, epsilon: 1.0, delta: 1.0e-5}, bound: wang2017.thm6_2, tolerance: 0.15,
     sweep: {parameter: n, values: {smoke: [512, 1024, 2048]}}}
  - {id: output-n, kind: rate, calibrations: [paper], algorithm: wang2017.output_perturbation_zhang17,
     problem: ridge_logistic, fixed: {d: 3, epsilon: 1.0, delta: 1.0e-5}, replicates: {smoke: 8},
     sweep: {parameter: n, values: {smoke: [128, 256, 512]}}, bound: wang2017.strongly_convex, tolerance: 0.15}
  - {id: explicit, kind: explicit, calibrations: [paper], uses: [closed-n], bound: wang2017.thm6_2_explicit}
""",
    # A part that is timed, and one that is only planned.
    ("beta.2", "a tiny ordering"): """
  - {id: race, kind: ordering, calibrations: [paper], pair: [long, short], problem: ridge_logistic,
     fixed: {n: 256, d: 3, delta: 1.0e-5}, sweep: {parameter: epsilon, values: {smoke: [1.0, 2.0]}},
     replicates: {smoke: 3}, record: 1.0, timing: true,
     methods: [{label: long, algorithm: wang2017.dp_gd_pl, options: {steps: 40}},
               {label: short, algorithm: wang2017.dp_gd_pl, options: {steps: 5}}]}
  - {id: privacy-epsilon, kind: privacy, calibrations: [paper], algorithm: wang2017.dp_gd_pl, problem: ridge_logistic,
     fixed: {n: 256, d: 3, delta: 1.0e-5}, sweep: {parameter: epsilon, values: {smoke: [0.5, 1.0]}}}
""",
    # A part whose data set is absent.
    ("gamma", "absent data"): """
  - {id: real, kind: privacy, calibrations: [paper], algorithm: wang2017.dp_gd_pl, problem: covertype,
     fixed: {n: 500, delta: 1.0e-3}, sweep: {parameter: epsilon, values: {smoke: [1.0]}}}
""",
}
_JOB = re.compile(r"^rule (claim|part|time|rank):$(?:\n .*)*?\n    wildcards: (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Project:
    root: Path

    @property
    def results(self) -> Path:
        return self.root / "results" / "smoke"

    def claim_file(self, name: str) -> Path:
        return self.root / "conf" / "claim" / "wang2017" / f"{name}.yaml"

    @property
    def environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SNAKEMAKE", "PYTEST"))}
        return {**kept, "PYTHONPATH": str(self.root), "MPLBACKEND": "agg"}

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "snakemake", "--config", "profile=smoke", *arguments]

    def snakemake(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return self.run(self.command(*arguments), **options)

    def run(self, command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        options |= {"cwd": self.root, "env": self.environment, "capture_output": True, "text": True}
        return subprocess.run(command, **options, timeout=600)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        nowhere = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        command = self.command(*arguments)
        return subprocess.Popen(command, cwd=self.root, env=self.environment, start_new_session=True, **nowhere)

    def planned(self, *targets: str) -> set[str]:
        """The jobs of claims and leaderboards that a dry run would do: their rule and what it is of."""
        done = self.snakemake("--dry-run", "--", *targets)
        assert done.returncode == 0, done.stderr
        found = _JOB.findall(done.stdout + done.stderr)
        return {" ".join([rule, *re.findall(r"\w+=([^,]+)", words)]) for rule, words in found}

    def dpsco(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run([sys.executable, "-m", "dpsco_bench", *arguments])

    def measured(self) -> dict[str, bytes]:
        """List the results in the store: timings and costs are none, nor are drafts of a killed run."""
        return self.files("store/runs/[!.]*.parquet", "store/calibrations/[!.]*.json")

    def tables(self) -> dict[str, bytes]:
        return {**self.measured(), **self.files("smoke/verdicts/[!.]*.json")}

    def files(self, *patterns: str) -> dict[str, bytes]:
        results = self.root / "results"
        paths = [path for pattern in patterns for path in results.glob(pattern)]
        return {str(path.relative_to(results)): path.read_bytes() for path in paths}

    def forget(self) -> None:
        for name in ("results", "figures", ".snakemake"):
            shutil.rmtree(self.root / name, ignore_errors=True)


def copy_project(target: Path) -> Project:
    """Copy the parts of the project that a run needs, and put the tiny claims in place of the real ones.

    What Python and Numba compiled goes along: times of files are kept, so that it holds for the copies too.
    """
    for name in PARTS:
        source = ROOT / name
        if source.is_dir():
            own = ("claim", "leaderboard", "site") if name == "conf" else ()  # the last has settings of this machine
            momentary = ["*.part.*", "*.pyc.*", "*.tmp.*"]  # caches that other tests are writing
            left_out = shutil.ignore_patterns("recorded", "seconds", *own, *momentary)
            shutil.copytree(source, target / name, ignore=left_out, dirs_exist_ok=True)
        elif source.is_file():
            shutil.copyfile(source, target / name)
    shutil.rmtree(target / "conf" / "profile" / "smoke")  # it names claims that are not here
    project = Project(target)
    for (name, title), parts in CLAIMS.items():
        project.claim_file(name).parent.mkdir(parents=True, exist_ok=True)
        project.claim_file(name).write_text(CLAIM.format(name, title) + parts)
    return project


@pytest.fixture(scope="session")
def pristine(tmp_path_factory) -> Project:
    return copy_project(tmp_path_factory.mktemp("pristine"))


@pytest.fixture(scope="module")
def project(pristine, tmp_path_factory) -> Project:
    target = tmp_path_factory.mktemp("project") / "copy"
    shutil.copytree(pristine.root, target)
    return Project(target)


@pytest.fixture
def edited(request):
    saved: dict[Path, str] = {}

    def edit(path: Path, change) -> None:
        saved.setdefault(path, path.read_text())
        path.write_text(change(path.read_text()))

    yield edit
    for path, text in saved.items():
        path.write_text(text)
