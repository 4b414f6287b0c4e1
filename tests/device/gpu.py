"""Check a GPU: `python -m tests.device.gpu pack` here, then `check` on the machine with the card.

`pack` writes plans, calibrations and stored results, so that the other machine needs neither Hydra nor an accountant
nor a network. `check` needs the checkout, that folder, CuPy, Numba, SciPy, pyarrow and pytest. It runs the tests for a
card, times a sequential step and the size from which the card is faster, and judges claims on the card and on a core.
Nothing begins that would end after --minutes; one report says what was found.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from dpsco_bench import __version__
from dpsco_bench.analysis.judge import judge_claim
from dpsco_bench.backend.namespace import get_namespace
from dpsco_bench.bench.card import NO_DEVICE, CardRow, crossing
from dpsco_bench.claims.plan import ClaimEntry, WorkPlan, read_plan
from dpsco_bench.cli.verbs.gate import predictor
from dpsco_bench.cli.verbs.plan import make_plan
from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.execution.job import execute
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.timing import Machine
from dpsco_bench.execution.worker import make
from dpsco_bench.jsonio import dumps_pretty, write_atomic
from dpsco_bench.plain import IF_GIVEN, Record
from dpsco_bench.registry import papers

FOLDER = Path("results/gpu")
NEEDED = ("numpy", "scipy", "numba", "pyarrow", "pytest", "cupy")
PROFILES = ("smoke", "ci")
MINUTES = 20.0
SCALES, SCALES_OF_TESTS = "scales.json", "DPSCO_SCALES"
"""The noise of the contract suite's cases, in the pack; the environment variable that names this file."""
TESTS = ("tests/device/test_draws.py", "tests/device/test_fused.py", "tests/contract/test_gpu.py")
SHARES = {"tests": 0.4, "bench": 0.15, "verdicts": 0.75}
"""Of the time; after the last no claim is begun, and what has begun is not broken off."""
LEAST_SECONDS = 0.05  # what a job is thought to take at the least, for the clock


@dataclass(frozen=True)
class Tests:
    """How the tests for a card ended: whether they passed, pytest's last line, and the lines of those that failed."""

    passed: bool = False
    said: str = ""
    failed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Compared:
    """A claim on a core and on a card."""

    profile: str
    claim: str
    paper: str
    same: bool = False  # whether the card gives the core's words; also where nothing ran
    words: tuple[str, ...] = ()  # of the core
    other: tuple[str, ...] = ()  # of the card, where the core does not give them
    apart: float = 0.0  # largest difference of a risk in units of the claim's largest
    core_s: float = 0.0
    card_s: float = 0.0
    left_out: str = ""  # why there are no words
    failed: str = ""

    @property
    def ran(self) -> bool:
        """Whether any run of it was made on both: without one its words cannot differ."""
        return self.card_s > 0

    @property
    def unlike(self) -> str:
        return self.left_out or self.failed or "; ".join(self.other) or "other words"


@dataclass
class Report(Record):
    """What is found on a machine with a card, as far as it is known; it begins nothing that ends after its minutes."""

    machine: Machine
    bench: list[CardRow] = field(default_factory=list)
    verdicts: list[Compared] = field(default_factory=list)
    tests: Tests = Tests()
    peak_memory_mb: float = 0.0
    seconds: float = 0.0
    date: str = field(default="", metadata=IF_GIVEN)
    version: str = field(default="", metadata=IF_GIVEN)
    minutes: float = field(default=MINUTES, metadata=IF_GIVEN)

    @property
    def passed(self) -> bool:
        """Whether the tests passed, and claims were compared that all agree but for those left out."""
        agree = all(claim.same or claim.left_out for claim in self.verdicts)
        return self.tests.passed and agree and any(claim.same and claim.ran for claim in self.verdicts)


def write_pack(folder: Path, own: list[str], planned: Callable[[str], WorkPlan], say: Callable[[str], None]) -> None:
    """Write plans of these papers' claims, with calibrations, and result tables where the store has them."""
    from ..contract import cases  # which registers problems of its own

    for profile in PROFILES:
        plan = planned(profile)
        claims = tuple(entry for entry in plan.claims if entry.paper in own)
        here, there = Layout(profile), Layout(profile, folder)
        taken = 0
        for job in (job for entry in claims for job in entry.jobs if not job.skipped):
            make("calibrate", job, here.measured)
            for kind, key in (*here.measured.items("calibrate", job), *here.measured.items("run", job)):
                content = here.measured.store.read(kind, key)
                if content is not None:
                    there.measured.store.write(kind, key, content, here.measured.store.costs(kind, key))
                    taken += kind == "runs"
        replace(plan, claims=claims, boards=()).write(there.plan)
        say(f"{profile}: {len(claims)} claims, {taken} result tables")
    write_scales(folder / SCALES, cases.LAWS)
    say(f"pack: {folder}")


def write_scales(path: Path, cases: Iterable[Any]) -> None:
    """Write the noise of cases of the contract suite, which takes an accountant."""
    write_atomic(path, dumps_pretty({case.id: case.scales for case in cases}))


def check(folder: Path, out: Path, minutes: float, say: Callable[[str], None]) -> bool:
    """Do all that a machine with a GPU can be asked; whether it passed. Writes ``out`` and a page beside it."""
    import cupy

    from dpsco_bench.bench import card

    if not (folder / SCALES).is_file():
        raise InputError("pack", str(folder), "a folder written by `make gpu-pack`")
    begin, seconds = time.monotonic(), 60.0 * minutes
    found = Report(card.about(cupy), date=datetime.now(UTC).date().isoformat(), version=__version__, minutes=minutes)

    def keep(line: str = "") -> None:
        found.seconds = time.monotonic() - begin
        write_atomic(out, dumps_pretty(found))
        write_atomic(out.with_suffix(".md"), markdown(found))
        if line:
            say(line)

    keep(card.NO_DEVICE if card.emulated(cupy) else str(found.machine.device))
    found.tests = _tests(folder, SHARES["tests"] * seconds)
    keep(f"tests: {found.tests.said}")
    work = card.TOUCHED if card.emulated(cupy) else card.FULL
    for row in card.card_rows(cupy, work, time.monotonic() + SHARES["bench"] * seconds):
        found.bench.append(row)
        keep(f"{row.id}: {row.case}: {timed(row)}")
    for claim in verdicts(folder, begin + SHARES["verdicts"] * seconds):
        found.verdicts.append(claim)
        keep("" if claim.same else f"{claim.profile} {claim.claim}: {claim.unlike}")
    found.peak_memory_mb = card.peak_mb(cupy)
    keep()
    say(f"{out}: {'passed' if found.passed else 'not passed'}, {found.seconds:.0f} s")
    return found.passed


def _tests(folder: Path, seconds: float) -> Tests:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", "gpu", *TESTS]
    environment = {**os.environ, SCALES_OF_TESTS: str((folder / SCALES).resolve())}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, env=environment)
    except subprocess.TimeoutExpired:
        return Tests(False, f"not done in {seconds:.0f} s")
    if done.returncode not in (0, 1):  # a plugin of pytest that fails, say: what else is asked of the card goes on
        return Tests(False, f"tests: {' '.join((done.stdout + done.stderr).split())[-400:]}")
    lines = [line for line in (done.stderr + "\n" + done.stdout).splitlines() if line.strip()]
    failed = tuple(line for line in lines if line.startswith(("FAILED", "ERROR")))
    return Tests(done.returncode == 0, lines[-1] if lines else "", failed)


class Clock:
    """Whether there is time left for what is predicted, by how long that took which was predicted before."""

    def __init__(self, deadline: float) -> None:
        self.deadline, self.took, self.thought = deadline, 0.0, 0.0

    def allows(self, predicted: float) -> bool:
        """Where too little was predicted so far, it counts for more."""
        factor = max(1.0, self.took / self.thought) if self.thought else 1.0
        return time.monotonic() + predicted * factor <= self.deadline

    def note(self, predicted: float, took: float) -> None:
        self.took, self.thought = self.took + took, self.thought + max(predicted, LEAST_SECONDS)


def verdicts(folder: Path, deadline: float) -> Iterator[Compared]:
    """Of each claim in the pack its words by a core and by a card, the quickest first, until the clock says so."""
    clock = Clock(deadline)
    for profile in PROFILES:
        files = Layout(profile, folder)
        claims = [files.measured.present(entry) for entry in read_plan(files.plan).claims]
        seconds = partial(predictor(profile), "run")
        for entry in sorted(claims, key=lambda entry: sum(map(seconds, _running(entry)))):
            row = Compared(profile, entry.id, entry.paper)
            try:
                yield _compared(row, entry, files, clock, seconds)
            except Exception as error:
                yield replace(row, failed=" ".join(f"{type(error).__name__}: {error}".split()))


def _running(entry: ClaimEntry) -> list[Job]:
    return [job for job in entry.jobs if job.has_run and not job.skipped]


def _compared(row: Compared, entry: ClaimEntry, files: Layout, clock: Clock, cost: Callable[[Job], float]) -> Compared:
    """With words by both, the largest difference of a risk in units of the claim's largest, and what both took."""
    apart, largest, seconds, tables = 0.0, 1e-300, {"numpy": 0.0, "cupy": 0.0}, dict[tuple[str, str], Any]()
    due = 2.0 * sum(map(cost, _running(entry)))  # on the card it is thought to take as long as on a core
    for job in _running(entry):
        if not clock.allows(due):
            return replace(row, left_out="no time left")
        due -= 2.0 * cost(job)
        begin = time.monotonic()
        for backend in seconds:
            start = time.monotonic()
            tables[job.key, backend] = _table(job, files, backend)
            seconds[backend] += time.monotonic() - start
        clock.note(2.0 * cost(job), time.monotonic() - begin)
        risks = [np.asarray(tables[job.key, backend]["risk"], dtype=np.float64) for backend in seconds]
        apart = max(apart, float(np.abs(risks[1] - risks[0]).max(initial=0.0)))
        largest = max(largest, float(np.abs(risks[0]).max(initial=0.0)))

    def words(backend: str) -> list[str]:
        rows = judge_claim(entry, lambda job: (tables.get((job.key, backend)), files.measured.calibrations(job) or ()))
        return [f"{row.part} [{row.calibration}]: {row.verdict}" for row in rows]

    core, card = words("numpy"), words("cupy")
    found = {"words": tuple(core), "other": tuple(word for word in card if word not in core)}
    took = {"core_s": seconds["numpy"], "card_s": seconds["cupy"]}
    return replace(row, same=core == card, apart=apart / largest, **found, **took)


def _table(job: Job, files: Layout, backend: str) -> Any:
    calibrations = files.measured.calibrations(job)
    if calibrations is None:
        raise InputError("calibrations", job.title, "in the pack")
    known = files.measured.table(job) if backend == "numpy" else None
    return execute(replace(job, backend=backend), calibrations) if known is None else known


def markdown(found: Report) -> str:
    rows = found.verdicts
    lines = ["# GPU report", "", *opening(found.machine), "", f"Tests: {found.tests.said.strip('= ')}.", ""]
    lines += [*(_untimed(found.bench) if found.machine.emulated else _times(found.bench)), ""]
    lines += [*_table_of_claims(rows), ""]
    lines += [f"* {row.profile} {row.claim}: {row.unlike}" for row in rows if not (row.same or row.left_out)]
    lines += _left_out(rows)
    agreeing = [row.apart for row in rows if row.same and row.ran]
    if agreeing:
        lines += ["", f"Where words of runs agree, risks differ by at most {max(agreeing):.1e} of a claim's largest."]
    day = f", on {found.date}" * bool(found.date) + f", by dpsco_bench {found.version}" * bool(found.version)
    lines += ["", f"Peak memory {found.peak_memory_mb:.0f} MB; {found.seconds:.0f} s in all{day}.", ""]
    late = f"It took longer than the {found.minutes:g} minutes that it was given. What has begun is not ended."
    lines += [late, ""] * (found.seconds > 60.0 * found.minutes)
    return "\n".join(lines)


def _table_of_claims(rows: Sequence[Compared]) -> list[str]:
    """How many claims of each paper ended how; those with nothing to run are no comparison."""
    lines = ["| claims | runs with the words of a core | other words | nothing to run | left out |"]
    lines.append("| --- | ---: | ---: | ---: | ---: |")
    for profile, paper in sorted({(row.profile, row.paper) for row in rows}, reverse=True):
        own = [row for row in rows if (row.profile, row.paper) == (profile, paper)]
        ran, still = (sum(row.same and row.ran is made for row in own) for made in (True, False))
        left = sum(bool(row.left_out) for row in own)
        lines.append(f"| {paper}, profile {profile} | {ran} | {len(own) - ran - still - left} | {still} | {left} |")
    return lines


def _times(bench: Sequence[CardRow]) -> list[str]:
    """What the card took against its goal, or against one core."""
    lines = ["| case | against | ours, ns | other, ns | peak MB | result |", "| --- | --- | ---: | ---: | ---: | --- |"]
    for row in bench:
        numbers = ["" if own is None else f"{own:,.4g}" for own in (row.ours_ns, row.peer_ns, row.peak_mb)]
        lines.append(f"| {row.id}: {row.case} | {row.peer} | {' | '.join(numbers)} | {timed(row)} |")
    return [*lines, "", f"A unit is a sequential step of all replicates. Crossover: {crossing(bench)}."]


def _untimed(bench: Sequence[CardRow]) -> list[str]:
    """In a sentence what an emulation ran without being timed, and in another what it left out."""
    lines = []
    for said, through in (("The bench ran through", True), ("No time was left for", False)):
        rows = [row for row in bench if (row.reason == NO_DEVICE) is through]
        lines += [f"{said}: {', '.join(f'{row.id} at R/d = {row.replicates}/{row.d}' for row in rows)}."] * bool(rows)
    return lines


def _left_out(rows: Sequence[Compared]) -> list[str]:
    """A paragraph for each profile and reason on the claims that were not compared."""
    found = dict[str, list[str]]()
    for row in (row for row in rows if row.left_out or row.same and not row.ran):
        why = f"Left out of profile {row.profile}, {row.left_out}" if row.left_out else ""
        found.setdefault(why or f"Nothing to run in profile {row.profile}", []).append(f"`{row.claim}`")
    return "\n\n".join(f"{why}: {', '.join(sorted(claims))}." for why, claims in found.items()).splitlines()


def opening(about: Machine) -> list[str]:
    """What it was measured on; first of all, whether that was a device."""
    machine = f"NumPy {about.numpy}, Python {about.python}; {about.processor}."
    if about.emulated:
        return [
            f"N{NO_DEVICE[1:]}. Kernels ran over a header on the host, arrays over NumPy. Words, risks and tests",
            "hold for the texts; times and memory say nothing of a card, so none is judged.",
            "",
            f"The stand-in has the names of CuPy {about.cupy}; {machine}",
        ]
    card = f"{about.device}, {about.memory_gb or 0.0:.0f} GB, CuPy {about.cupy}, driver {about.driver}"
    return [f"{card}, runtime {about.runtime}; {machine}"]


def timed(row: CardRow) -> str:
    if row.ratio is None:
        return row.reason
    if row.id == "G8":
        return f"{row.ratio:.2f} of the goal, {'met' if row.met else 'missed'}"
    return f"{row.ratio:.2g} times as fast"


def report(path: Path) -> str:
    """The page of a report that `check` wrote."""
    return markdown(Report.from_json(json.loads(path.read_text(encoding="utf-8"))))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pack, or check; a difference, and no comparison at all, is exit code 1."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", choices=("pack", "check"))
    parser.add_argument("--folder", type=Path, default=FOLDER, help=f"the pack (default: {FOLDER})")
    parser.add_argument("--papers", nargs="+", choices=list(papers()), help="whose claims to pack (default: all)")
    parser.add_argument("--minutes", type=float, default=MINUTES, help=f"time for the check (default: {MINUTES:g})")
    args = parser.parse_args(arguments)
    say = partial(print, flush=True)
    try:
        if args.work == "pack":
            write_pack(args.folder, args.papers or [*papers()], make_plan, say)
            return 0
        lacking = [name for name in NEEDED if name not in sys.modules and find_spec(name) is None]
        if lacking:
            raise DpscoError(f"{sys.executable} lacks {', '.join(lacking)}; the check needs {', '.join(NEEDED)}")
        get_namespace("cupy")
        return 0 if check(args.folder, args.folder / "report.json", args.minutes, say) else 1
    except DpscoError as error:
        print(f"gpu: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
