"""Digests of what verdicts, figures, standings and the site are made from."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

from dpsco_bench.claims.catalogue import conf_files
from dpsco_bench.claims.files import read_shipped
from dpsco_bench.claims.plan import BoardEntry, ClaimEntry
from dpsco_bench.errors import InputError
from dpsco_bench.execution.digest import ROOT as PACKAGE_ROOT
from dpsco_bench.execution.digest import code_digest
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.plugins import check_given
from dpsco_bench.jsonio import digest
from dpsco_bench.paths import documents, shared_dir
from dpsco_bench.registry import REGISTRIES, modules_in, papers, roots
from dpsco_bench.report.findings import FINDINGS

DRAWN_IN = ("figures", "tables")
"""Modules or folders of a paper that say how its claims are shown."""
SHOWN_IN = (*DRAWN_IN, "findings", "algorithms", "bounds")
"""Those that pages show besides: findings, listings, formulas, and the words of letters."""
PANELS, OF_A_PAPER = "claim with further panels", ("style of method", "label")
OF_THE_SITE = ("figure", "computed table", "finding")
"""Kinds of entries that are of one claim, of the claims of a paper, and of the site."""


def figure_digest(id: str) -> str:
    """Digest of the code and style that draw the figures of a claim or leaderboard, one's own included."""
    paper = id.partition(".")[0]
    return digest([verb_digest("figure"), drawing_digest(paper), code_digest(own_drawing(id))])


def site_digest(profile: str) -> str:
    """Digest of what pages show besides results: configuration, documentation, the record, the code of the site."""
    groups = ("claim/*/*", "table/*/*", "errata/*", "paper/*")
    files = [(path.name, file_digest(path)) for group in groups for path in conf_files(f"{group}.yaml")]
    files += [(path.name, sha256(path.read_bytes()).hexdigest()) for path in _beside(profile)]
    drawn = [*(drawing_digest(paper, SHOWN_IN) for paper in sorted(papers())), code_digest(own_drawing())]
    found = code_digest([f"dpsco_bench.{FINDINGS.core}"])
    return digest([verb_digest("site"), drawn, found, files])


def _beside(profile: str) -> list[Path]:
    """Files that the site shows, or speaks of: documentation with its pictures, recorded verdicts, the lock."""
    pages = documents().values()
    pictures = [path for folder in {page.parent for page in pages} for path in sorted(folder.glob("*.svg"))]
    found = [*pages, *pictures]
    for folder, name in (("workflows", f"recorded/{profile}.json"), ("requirements", "lock.txt")):
        with suppress(InputError):  # a package without it
            found.append(shared_dir(folder) / name)
    return [path for path in found if path.is_file()]


def file_digest(path: Path) -> str:
    """Digest what a file of the configuration tree says. Raises InputError for a wrong one."""
    return digest(read_shipped(path))


def claim_digest(entry: ClaimEntry) -> str:
    """Digest of what a claim's verdicts depend on: its entry in the plan, its jobs, and the code that judges.

    Raises InputError for plugins that this process was not given.
    """
    from dpsco_bench.analysis.judge import judge_modules

    check_given(path for job in entry.jobs for path in job.plugins)
    code = code_digest(judge_modules(entry))
    return digest([entry.digest, [(*_keys(job), job.present) for job in entry.jobs], code])


def board_digest(entry: BoardEntry) -> str:
    """Digest of what a leaderboard's standings depend on: its entry in the plan, its jobs, and the code that ranks."""
    from dpsco_bench.claims.bounds.registry import bound_modules
    from dpsco_bench.leaderboard.board import Board

    names = {instance.lower_bound for instance in Board.of(entry).instances} - {""}
    bounds = {module for name in names for module in bound_modules(name)}
    code = code_digest(["dpsco_bench.leaderboard.standings", *sorted(bounds)])
    return digest([entry.digest, [_keys(job) for job in entry.jobs], code])


def _keys(job: Job) -> tuple[str, ...]:
    return job.name, job.key, job.calibration_key, job.skipped


@cache
def drawing_digest(paper: str, places: Sequence[str] = DRAWN_IN) -> str:
    """Digest of the modules in which a paper keeps figures, labels, styles and computed tables; it may have none."""
    package = papers().get(paper)
    if package is None:
        return ""
    own = [package] if package.split(".")[0] != "dpsco_bench" else []  # its own ``__init__`` may register some
    return code_digest([*own, *(name for kept in places for name in modules_in(f"{package}.{kept}"))])


def own_drawing(claim: str = "") -> list[str]:
    """Modules of plugins and of helpers that say how a claim, or a leaderboard, is shown; by default all of the site.

    Those of papers are found by their places (`drawing_digest`), since not all are loaded here.
    """
    found, of_papers = set[str](), roots()
    for registry in (registry for registry in REGISTRIES if registry.folder in (*DRAWN_IN, FINDINGS.folder)):
        own = [name for name, home in registry.registered().items() if home.split(".")[0] not in of_papers]
        found |= {registry.module(name) for name in own if not claim or _is_of(registry.kind, name, claim)}
    return sorted(found)


def _is_of(kind: str, name: str, claim: str) -> bool:
    """Whether an entry may be seen in a claim's figure."""
    if kind == PANELS:
        return name == claim
    return name.split(".")[0] == claim.split(".")[0] if kind in OF_A_PAPER else kind not in OF_THE_SITE


@cache
def verb_digest(verb: str) -> str:
    """Digest of a verb's code and of the styles of figures and pages."""
    kept = [path for room in ("report", "site") for path in sorted((PACKAGE_ROOT / room).rglob("*"))]
    files = [path for path in kept if path.is_file() and path.suffix not in (".py", ".pyc")]
    return code_digest([f"dpsco_bench.cli.verbs.{verb}"], [p for p in files if p.parent.name != "__pycache__"])
