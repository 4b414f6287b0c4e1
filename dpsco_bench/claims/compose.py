"""The plan step: Hydra composes every claim once, and what comes out is plain JSON for the workflow.

The plan is written only when its stamp (configuration files, overrides, package sources) is stale.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from dpsco_bench.claims.bounds.registry import get_bound
from dpsco_bench.claims.catalogue import (
    check_id,
    claim_file,
    claim_files,
    errors_of,
    find_claim_id,
    find_errata,
    load_errata,
    own_claims,
    read_claim,
)
from dpsco_bench.claims.files import read_shipped
from dpsco_bench.claims.jobs import checked_job, part_jobs
from dpsco_bench.claims.model import NO_STAGES, Claim, MeasuredPart, Part, check_profile
from dpsco_bench.claims.parsing import parse_claim
from dpsco_bench.claims.plan import ClaimEntry, Settings
from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.plugins import load_plugins
from dpsco_bench.paths import conf_dir


def load_claim(
    id: str, profile: str = "ci", overrides: Sequence[str] = (), settings: Settings | None = None
) -> tuple[Claim, Settings]:
    """Compose one claim with Hydra, and the settings of a plan.

    ``settings`` are what the same overrides compose for all claims: with them a claim that ships and that no override
    changes is only read.
    """
    file = claim_file(id)
    changed = any(re.match(r"[+~]*claim\b", override) for override in overrides)  # claim=, +claim.title=, not claims=
    if settings is not None and file is not None and not changed:
        claim = read_claim(id)
        _check_errata(claim)
        return claim, settings
    shipped = file is not None and file.is_relative_to(conf_dir())
    config = _compose([*([f"claim={id.replace('.', '/', 1)}"] if shipped else []), f"profile={profile}", *overrides])
    load_plugins(config["plugins"])
    if not shipped:  # a paper that brings its own, or a user's file
        known, own = claim_files(), own_claims(config["claims"])
        id = find_claim_id(id, [*known, *own])
        config["claim"] = own[id] if id in own else read_shipped(known[id])
        if id not in own:
            check_id(str(config["claim"].get("id", id)), known[id])
    with errors_of(id, config["claims"]):
        claim = parse_claim(config["claim"])
        _check_errata(claim)
    return claim, Settings.of(config)


def _check_errata(claim: Claim) -> None:
    """Check that a claim names entries of its paper's errata."""
    try:
        find_errata(claim.paper, claim.errata)
    except InputError as error:
        known = error.allowed if load_errata(claim.paper) else f"left out: there is no errata ledger of {claim.paper}"
        raise InputError(f"claim {claim.id}: errata", error.value, known) from None


def _compose(overrides: Sequence[str]) -> dict[str, Any]:
    from hydra import compose, initialize_config_dir
    from omegaconf import OmegaConf

    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        config = compose("plan", list(overrides))
    resolved = OmegaConf.to_container(config, resolve=True)
    assert isinstance(resolved, dict)
    return resolved  # type: ignore[return-value]


def claim_plan(id: str, profile: str, overrides: Sequence[str] = (), settings: Settings | None = None) -> ClaimEntry:
    """One claim's entry of the plan: the claim as data, and the jobs of the parts that the profile measures."""
    claim, settings = load_claim(id, profile, overrides, settings)
    parts, jobs = claim.parts_of(profile), list[Job]()
    for part in parts:
        with errors_of(id, settings.claims), errors_of_part(claim, part):
            for formula in filter(None, (part.bound, part.closed_form)):
                get_bound(formula)
            if part.checked_by and not claim.part(part.checked_by).rules.knows_the_law:
                raise InputError("checked_by", part.checked_by, "a part whose kind knows the law, such as law")
            jobs += [checked_job(job) for job in part_jobs(claim, part, profile, settings)] if part.plans else []
    if not settings.stages:
        whole = {NO_STAGES: "asked for by stages=false"}
        parts = [replace(part, stages=whole) if isinstance(part, MeasuredPart) else part for part in parts]
    return ClaimEntry.of(replace(claim, parts=parts), jobs)


def left_out(id: str, profile: str, overrides: Sequence[str] = ()) -> list[str]:
    """Parts of a claim that a profile does not measure, in the claim's order."""
    claim, _ = load_claim(id, profile, overrides)
    measured = {part.id for part in claim.parts_of(profile)}
    return [part.id for part in claim.parts if part.id not in measured]


@contextmanager
def errors_of_part(claim: Claim, part: Part) -> Iterator[None]:
    """Name the part in the error for what it asks for."""
    try:
        yield
    except DpscoError as error:
        raise DpscoError(f"claim {claim.id}, part {part.id}: {error}") from error


def plan_settings(profile: str, overrides: Sequence[str] = ()) -> Settings:
    """Collect the settings that all jobs of a plan share."""
    return Settings.of(_compose([f"profile={check_profile(profile)}", *overrides]))


def unmeasured(profile: str, ids: Sequence[str]) -> InputError:
    """Name the claims of which no part has values for a profile."""
    return InputError("profile", profile, f"one in whose grid {', '.join(ids)} has values")
