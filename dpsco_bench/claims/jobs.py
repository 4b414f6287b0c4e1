"""From a claim to its jobs: cells, predicted seconds, and the key over their numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from dpsco_bench.algorithms.registry import ALGORITHMS, get_algorithm
from dpsco_bench.claims import catalogue
from dpsco_bench.claims.bounds.registry import get_bound
from dpsco_bench.claims.files import check_names, read_shipped
from dpsco_bench.claims.model import NO_STAGES, Claim, MeasuredPart, Method, Part, check_profile, to_the_cap
from dpsco_bench.claims.parsing import parse_claim
from dpsco_bench.claims.plan import ClaimEntry
from dpsco_bench.errors import DpscoError, InputError, integral
from dpsco_bench.execution.cell import Cell, ImpurePlan, check_data_sets, located, pinned, without_places
from dpsco_bench.execution.digest import (
    CALIBRATION_MODULES,
    DEVICE_ONLY,
    RUN_FORMAT,
    RUN_MODULES,
    code_digest,
    kernels_beside,
)
from dpsco_bench.execution.jobs import PLAN_ONLY, RUN, Job, Settings
from dpsco_bench.execution.plugins import load_plugins
from dpsco_bench.execution.predict import Terms, amounts, predicted_seconds
from dpsco_bench.execution.request import CELL_KEYS, check_sampled
from dpsco_bench.execution.run import NO_ROUNDS, OBSERVERS
from dpsco_bench.fused.registry import fused_module, has_steps
from dpsco_bench.geometry.ball import set_module
from dpsco_bench.jsonio import digest
from dpsco_bench.paths import conf_dir
from dpsco_bench.privacy.calibrate import charging_modules
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.problems.data import form_of
from dpsco_bench.problems.registry import PROBLEMS, problem_class
from dpsco_bench.registry import absent_paper, papers

NOISE_OFF_REPLICATES = 4
MOST_SIGNALS = 40
"""A grid up to the largest admissible signal that takes more steps is a slip."""
UNTIMED = ("ci",)
"""Profiles whose runs are too small for figures with a time axis; a timing job has the machine to itself."""
OPTIONS = {"problem": "problem_options", "algorithm": "options"}
"""Where a cell has the options that ``problem.<option>`` and ``algorithm.<option>`` sweep."""
CELL_SECONDS = 1e-3
"""No cell takes less: its data, their optimum and a row for each replicate."""


def part_jobs(claim: Claim, part: Part, profile: str, settings: Settings) -> list[Job]:
    """Jobs of one part: one per judged calibration, and for rates the noise-off companion, where it is not judged.

    They have their keys; those of a part with a method of an absent paper are skipped, without cells. Raises InputError
    or Refusal for an impossible cell, before anything runs.
    """
    jobs = [_job(claim, part, profile, calibration, settings) for calibration in part.calibrations]
    if part.noise_off and "none" not in part.calibrations:
        jobs.append(_job(claim, part, profile, "none", settings))
    return jobs


def _job(claim: Claim, part: Part, profile: str, calibration: str, settings: Settings) -> Job:
    replicates = int(part.replicates.get(profile, 1))
    if calibration == "none" and "none" not in part.calibrations:
        replicates = min(replicates, NOISE_OFF_REPLICATES)
    cells: list[Cell] = []
    of = ALGORITHMS if claim.id.partition(".")[0] in papers() else None
    gone = absent_paper(*(method.algorithm for method in part.methods), of=of, left_out=f"{claim.id} {part.id}")
    for method in () if gone else part.methods:
        for number in range(len(part.sweep.values[profile])):
            cell = _cell(part, method, profile, calibration, number, settings.data_root)
            for found in _at_signals(part, cell, profile):
                cells.append(replace(found, cell=len(cells)))
    job = settings.job(
        claim=claim.id,
        part=part.id,
        kind=part.kind,
        calibration=calibration,
        profile=profile,
        replicates=replicates,
        data_sets=int(part.data_sets.get(profile, 1)),
        evaluation=part.rules.evaluations[part.evaluation] if part.runs else PLAN_ONLY,
        record=part.record,
        rounds=part.rounds,
        charged=part.runs or part.rules.charged,
        timing=part.timing and calibration != "none" and profile not in UNTIMED,
        cells=tuple(cells),
        skipped=f"paper {gone} is not installed" if gone else "",
    )
    return finished(job, checked=True)


def finished(job: Job, checked: bool = False) -> Job:
    """Complete a job: its reason to be skipped, if any, and its keys of calibrations and numbers.

    It has the predicted seconds of its cells too, where all their plans can be made; ``checked``, all of them can.
    """
    problems = sorted({cell.problem for cell in job.cells})
    absent = (problem_class(name).unavailable(Path(job.data_root)) for name in problems)
    skipped = job.skipped or next(filter(None, absent), "")
    seconds, sets, charging = _planned(job, checked and not skipped)
    job = replace(job, skipped=skipped, seconds=job.seconds or (() if skipped else seconds))
    job = replace(job, calibration_key=_key(job, {*CALIBRATION_MODULES, *sets, *charging}, calibrating=True))
    run_key = _key(job, {*RUN_MODULES, *sets})
    return replace(job, run_key=run_key, key=digest([run_key, job.replicates, *job.spares]))


def _at_signals(part: Part, cell: Cell, profile: str) -> Iterator[Cell]:
    """Repeat a cell at every signal of the part's grid; alone without a grid.

    Raises InputError for a problem without a free signal, for one that is given otherwise, and for a grid up to a
    largest signal that the problem does not have, or not within `MOST_SIGNALS` steps.
    """
    grid = part.signals.get(profile)
    if grid is None:
        yield cell
        return
    option = problem_class(part.problem).signal_option
    if not option or option in cell.problem_options:
        allowed = f"without, and {option} not given otherwise" if option else f"none: {part.problem} has no free signal"
        raise InputError(f"signals of {part.id}", list(part.signals), allowed)
    if not isinstance(grid, str):
        yield from map(cell.at_signal, grid)
        return
    first, ratio = to_the_cap(grid) or (math.nan, math.nan)
    for step in range(MOST_SIGNALS):
        found = cell.at_signal(first * ratio**step)
        yield found
        if found.problem_entry.signal_capped:
            return
    allowed = f"one that reaches the largest admissible signal of {part.problem} in {MOST_SIGNALS} steps"
    raise InputError(f"signals of {part.id}", grid, allowed)


def _cell(part: Part, method: Method, profile: str, calibration: str, number: int, data_root: str) -> Cell:
    """Make a cell of a part's grid; of a file it has all records, where nothing else is said."""
    value = part.sweep.values[profile][number]
    options = {**method.options, **method.profile_options.get(profile, {})}
    given: dict[str, Any] = {
        "method": method.label or method.algorithm.split(".")[-1],
        "algorithm": method.algorithm,
        "variant": method.variant or _judged_variant(part, method, calibration),
        "options": {k: v for k, v in options.items() if v is not None},
        "problem": part.problem,
        "problem_options": dict(part.problem_options),
        "parameter": part.sweep.parameter.split(".")[-1],
        "value": float(value),
    }
    for key, fixed in part.fixed.items():
        if key not in CELL_KEYS:
            raise InputError(f"fixed of {part.id}", key, "one of " + ", ".join(CELL_KEYS))
        given[key] = fixed[profile] if isinstance(fixed, Mapping) else fixed
    swept = {key: values[profile][number] for key, values in part.along.items()}
    if not part.along or part.sweep.parameter.split(".")[0] in (*CELL_KEYS, *OPTIONS):
        swept = {part.sweep.parameter: value, **swept}
    for key, one in swept.items():
        target, _, option = key.partition(".")
        if option and target in OPTIONS:
            check_names(OPTIONS[target], [option], f"sweep of {part.id}: {target}")
            given[OPTIONS[target]][option] = one
        elif option or target not in CELL_KEYS:
            allowed = "n, d, epsilon, delta, problem.<option> or algorithm.<option>"
            raise InputError(f"sweep parameter of {part.id}", key, allowed)
        else:
            given[target] = integral(float(one)) if target in ("n", "d") else float(one)
    return pinned(given, data_root)


def _judged_variant(part: Part, method: Method, calibration: str) -> str:
    """Choose the variant of a calibration; without noise, that of the first judged one with noise, if it allows."""
    judged = [other for other in part.calibrations if other != "none"] or ["none"]
    entry = get_algorithm(method.algorithm)
    variant = entry.variant_for(judged[0] if calibration == "none" else calibration)
    return variant if calibration in entry.variants[variant] else entry.variant_for(calibration)


def _modules(job: Job) -> Iterator[str]:
    """Modules that the algorithms, problems and observers of a job use."""
    for cell in job.cells:
        yield from (ALGORITHMS.module(cell.algorithm), PROBLEMS.module(cell.problem))
        yield from cell.algorithm_entry.modules(cell.options)
        yield problem_class(cell.problem).__module__
        observer = job.rounds or cell.algorithm_entry.rounds
        if observer not in ("", NO_ROUNDS):
            yield OBSERVERS.module(observer)


def _planned(job: Job, checked: bool) -> tuple[tuple[float, ...], set[str], set[str]]:
    """Predict the cells' seconds, none where a plan fails here; list the modules of their sets, and what charges."""
    seconds, sets, charging = list[float](), set[str](), set[str]()
    for planned in job.cells:
        cell, plan = located(replace(planned), job.data_root), None  # what it keeps goes with this copy
        try:
            if checked:
                check_data_sets(cell.problem, job.data_sets)
                cell.problem_entry.check_records(cell.n)
            if checked and job.evaluation == RUN:
                check_sampled(cell)
            sets.add(set_module(cell.problem_entry.own_constants.domain))
            if not cell.problem_entry.data_dependent_constants:
                _, plan = cell.plan(job.calibration, job.seed, twice=not seconds)
                seconds.append(predicted_seconds(cell, plan, job.replicates * job.data_sets, job.fused))
        except DpscoError as error:
            if checked or isinstance(error, ImpurePlan):
                raise
        charging.update(charging_modules(plan, job.calibration))
    return tuple(seconds) if len(seconds) == len(job.cells) else (), sets - {""}, charging


def _key(job: Job, base: Iterable[str], calibrating: bool = False) -> str:
    """Digest what affects the numbers of a job's replicates (its calibrations): code of the mathematics included.

    Neither names, places nor profile count, nor whether the data are here: a result that was made with them is the
    job's result wherever it is judged. Of libraries the accountant's version counts, since its bounds get tighter.
    """
    numbers = {**job.numbers([without_places(cell) for cell in job.cells], calibrating), "format": RUN_FORMAT}
    numbers.pop("replicates", None)
    if calibrating and job.calibration != "none":
        numbers["accountant"] = ""
        with suppress(PackageNotFoundError):  # a machine that runs what another one has charged
            numbers["accountant"] = version("dp-accounting")
    compiled = set() if calibrating else {fused_module(cell.algorithm) for cell in job.cells}
    used = {*compiled, *base, *_modules(job)} - {""}
    device = job.backend == "cupy" and not calibrating
    code = code_digest(used, kernels_beside(used) if device else (), frozenset() if device else DEVICE_ONLY, keyed=True)
    return digest({"numbers": numbers, "code": code})


def family(cell: Cell) -> str:
    """Return what a method's cost depends on: the problem, and the set on which its steps project."""
    return f"{cell.problem} on {cell.problem_entry.own_constants.domain}"


@dataclass(frozen=True)
class Costs:
    """Measured costs of cells, in CPU seconds a unit: by algorithm, and by `family` too where that was measured."""

    methods: Mapping[str, Terms] = field(default_factory=dict)
    families: Mapping[str, Mapping[str, Terms]] = field(default_factory=dict)


@cache
def costs() -> Costs:
    return Costs(**read_shipped(conf_dir() / "cost.yaml"))


def expected_seconds(cell: Cell, plan: Plan, replicates: int, fused: bool = True) -> float:
    """CPU seconds of so many replicates of a cell; of the model, where the method was not measured as it is to run.

    What was measured ran fused where it could. So a method with compiled steps, on a loss that they do not know, is the
    model's unless that loss was measured.
    """
    known = costs()
    own = known.families.get(cell.algorithm, {}).get(family(cell))
    listed = has_steps(cell.algorithm) and (not fused or (own is None and form_of(cell.problem_entry) is None))
    terms = None if listed else own or known.methods.get(cell.algorithm)
    if terms is None:
        return predicted_seconds(cell, plan, replicates, fused)
    does = amounts(cell, plan, replicates)
    return max(sum(seconds * does[name] for name, seconds in terms.items()), CELL_SECONDS)


def load_claim(id: str, settings: Settings) -> Claim:
    """Read one claim, which ships or is in a user's file."""
    load_plugins(settings.plugins)
    own = {} if catalogue.claim_file(id) else catalogue.own_claims(settings.claims)
    with catalogue.errors_of(id, settings.claims):
        claim = parse_claim(own[id]) if id in own else catalogue.read_claim(id)
        catalogue.find_errata(claim.paper, claim.errata)
    return claim


def claim_plan(id: str, profile: str, overrides: Sequence[str] = (), settings: Settings | None = None) -> ClaimEntry:
    """One claim's entry of the plan: the claim as data, and the jobs of the parts that the profile measures."""
    settings = settings or plan_settings(profile, overrides)
    claim = load_claim(id, settings)
    parts, jobs = claim.parts_of(profile), list[Job]()
    for part in parts:
        with catalogue.errors_of(id, settings.claims), catalogue.naming(f"claim {claim.id}, part {part.id}"):
            for formula in filter(None, (part.bound, part.closed_form)):
                get_bound(formula)
            if part.checked_by and not claim.part(part.checked_by).rules.knows_the_law:
                raise InputError("checked_by", part.checked_by, "a part whose kind knows the law, such as law")
            jobs += part_jobs(claim, part, profile, settings) if part.plans else []
    if not settings.stages:
        whole = {NO_STAGES: "asked for by stages=false"}
        parts = [replace(part, stages=whole) if isinstance(part, MeasuredPart) else part for part in parts]
    return ClaimEntry.of(replace(claim, parts=parts), jobs)


def left_out(id: str, profile: str, overrides: Sequence[str] = ()) -> list[str]:
    """Parts of a claim that a profile does not measure, in the claim's order."""
    claim = load_claim(id, plan_settings(profile, overrides))
    measured = {part.id for part in claim.parts_of(profile)}
    return [part.id for part in claim.parts if part.id not in measured]


def plan_settings(profile: str, overrides: Sequence[str] = ()) -> Settings:
    """Compose with Hydra the settings that all jobs of a plan share."""
    from hydra import compose, initialize_config_dir
    from omegaconf import OmegaConf

    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        config = compose("plan", [f"profile={check_profile(profile)}", *overrides])
    found: Any = OmegaConf.to_container(config, resolve=True)
    return Settings.of(found)


def unmeasured(profile: str, ids: Sequence[str]) -> InputError:
    """Name the claims of which no part has values for a profile."""
    return InputError("profile", profile, f"one in whose grid {', '.join(ids)} has values")
