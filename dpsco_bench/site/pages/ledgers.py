"""The privacy ledger: whose noise, what is claimed, what is real, and why; and all audits on one axis."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import subprocess
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from dpsco_bench import __version__
from dpsco_bench.analysis.answer import audits_text
from dpsco_bench.analysis.record import read_record
from dpsco_bench.claims.catalogue import BY_HAND, CHANGES, WEIGHTIEST, Erratum, counted_changes
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.timing import Machine, machine
from dpsco_bench.paths import shared_dir
from dpsco_bench.privacy.ledger import STATUS_WORDS
from dpsco_bench.report.inputs import Charged, Inputs
from dpsco_bench.report.ledger import COLUMNS, LAW_MEANING, LAW_TITLE, LedgerRow
from dpsco_bench.report.numbers import NOTHING, count, number, seconds
from dpsco_bench.report.rebuilt import errata_note
from dpsco_bench.report.tables import Column, Columns, Number, ReportTable, address, leads_to
from dpsco_bench.site import markdown as md
from dpsco_bench.site.content import Pages, SiteContent

VARIANT = "Variant, options"
ORDER = (
    *("Algorithm", VARIANT, "Calibration", "ε claimed", "ε real", "It is", "Status", "Charged on", "n", "d", "δ"),
    *("Kind", "ε of all answers", "Why not shown", "δ ≥ 1/n", LAW_TITLE, "Accountant"),
)
SELDOM = (LAW_TITLE, "ε of all answers", "Why not shown", "δ ≥ 1/n")
"""Titles of columns that are left out where no row has anything to say there."""


def privacy_page(content: SiteContent) -> Pages:
    rows = content.ledger.rows
    counts = Counter(row.first.noise.status for row in rows)
    said = ", ".join(f"{STATUS_WORDS[status]} {count}" for status, count in counts.most_common())
    intro = (
        "What an accountant of the actual sampling scheme says about the noise that was used, beside what is claimed "
        f"for it. Of {len(rows)} rows: {said}."
    )
    pieces = [
        md.NO_SEARCH,
        md.heading("Privacy ledger", target="privacy"),
        md.text(intro) + "\n",
        f"How a mechanism is charged: {md.code('dpsco account METHOD')}, and [accounting](guide/accounting.md).\n",
    ]
    if content.audits:
        audits = (
            f"Runs on neighbouring data sets bound ε from below. {audits_text(content.audits)} All bounds hold "
            "together at 99.9 %. An audit can refute a claim; it never proves privacy."
        )
        pieces += [md.heading("Audits", 2), f"{md.text(audits)} [How they are made](guide/audits.md).\n"]
        pieces += [md.figure("figures/site/audits.svg", "Audits", content.own / "audits.svg")]
    pieces += [
        md.heading("Every mechanism", 2),
        "What exceeds its claim stands first, by how far it does.\n",
        ledger_table(content, sorted(rows, key=lambda row: row.rank), note=content.ledger.note),
        f"{md.downloads('privacy')}.\n",
    ]
    return {"privacy": md.page(*pieces)}


def ledger_table(content: SiteContent, rows: Sequence[LedgerRow], hidden: Sequence[str] = (), note: str = "") -> str:
    """Show rows of the ledger but for ``hidden`` columns; the column for draws is explained where there is one."""
    empty = [title for title in SELDOM if not any(COLUMNS[title].text(row) for row in rows)]
    columns = {title: COLUMNS[title] for title in ORDER if title not in (*hidden, *empty)}
    columns[VARIANT] = Column(lambda row: with_erratum(content, row.first, row.variant))
    shown = md.table(ReportTable("privacy", "Privacy ledger", columns, rows, note))
    return f"{md.text(LAW_MEANING)}\n\n{shown}" if any(row.known("law") for row in rows) else shown


def with_erratum(content: SiteContent, charged: Charged, variant: str) -> str:
    """Add to a variant of the paper's noise the erratum that corrects it."""
    erratum = content.corrected.get((charged.cell.algorithm, charged.calibrated.variant))
    if not erratum or charged.calibration != "paper":
        return variant
    return f"{variant} by {erratum}" if variant == "corrected" else f"{variant} (corrected by {erratum})"


ENTRY = "An entry is a place where a text used here, as printed, needs a correction or a remark."


def errata_pages(content: SiteContent) -> Pages:
    known = {paper: entries for paper, entries in content.errata.items() if entries}
    every = [entry for entries in known.values() for entry in entries]
    columns = {
        "Entry": Column(lambda entry: f"{entry.paper} {entry.id}", link=leads_to("paper", "id")),
        "What": Column("title"),
        "Changes": Column("changes", kind="code"),
        "What follows": Column("consequence", lambda words: words.split(". ")[0].rstrip(".") + "."),
    }
    index = [
        md.heading("Errata", target="errata"),
        md.text(f"{counted_changes(every)} {ENTRY} {errata_note([])}") + "\n",
        md.bullets(f"{md.code(word)}: {md.text(change.meaning)}" for word, change in CHANGES.items()),
        f"{WEIGHTIEST}\n",
        md.table(ReportTable("errata.list", "Errata", columns, every)),
        md.toctree([*known]),
    ]
    pages = {"errata/index": "\n".join(index)}
    for paper, entries in known.items():
        title = md.heading(f"Errata: {content.names[paper]}", target=address("errata", paper))
        told = f"{md.text(counted_changes(entries))} [What the words mean](#errata). {md.text(errata_note(entries))}\n"
        pages[f"errata/{paper}"] = "\n".join([title, told, *(_entry(content, entry) for entry in entries)])
    return pages


def _entry(content: SiteContent, entry: Erratum) -> str:
    touched = [c.id for c in content.inputs.of_paper(entry.paper) if entry.id in c.claim.errata]
    claims = ", ".join(md.link(md.code(id), address(id)) for id in touched)
    return md.page(
        md.heading(f"{entry.id}. {entry.title}", 2, address(entry.paper, entry.id)),
        f"**Printed.** {md.text(entry.printed)}\n",
        f"**Calculation.** {md.text(entry.calculation)}\n",
        f"**What follows.** {md.text(entry.consequence)}\n",
        f"**Changes.** {md.code(entry.changes)}\n",
        (f"Touches {claims}. " if claims else "") + ("Check it with\n" if entry.command else f"Check it {BY_HAND}.\n"),
        *([md.fenced(entry.command, "console")] if entry.command else []),
    )


PACKAGES = ("numpy", "scipy", "pyarrow", "numba", "dp-accounting", "matplotlib")
SHOWN = 3  # packages that differ from the lock and are named
_PIN = re.compile(r"^([\w.-]+)==([^\s;]+)", re.MULTILINE)


def provenance_page(content: SiteContent) -> Pages:
    inputs, table = content.inputs, jobs_table(content.inputs)
    jobs = [job for _, job in inputs.all_jobs()]
    versions = [f"{name} {found}" for name in PACKAGES if (found := _installed(name))]
    ours = [f"Python {platform.python_version()}", f"dpsco_bench {__version__}"]  # metadata may be of an older install
    timings = (claim.timing(job) for claim, job in inputs.all_jobs())
    spent = {row["job"].calibration_key: row["calibrate"][0] for row in table.rows if row["calibrate"]}
    spent |= {row["job"].key: row["run"][0] for row in table.rows if row["run"]}  # what jobs share was made once
    cpu_time = f"{seconds(sum(spent.values()))} in {len(spent)} calibrations and runs" if spent else "not measured"
    facts = [
        ("Profile", inputs.profile),
        ("Commit that wrote this page", _commit()),
        ("Verdicts on record", _on_record(inputs)),
        ("Versions", ", ".join([*ours, *versions])),
        ("Lock of all packages", _lock()),
        ("Root seed", "; ".join(dict.fromkeys(str(job.seed) for job in jobs)) or NOTHING),
        ("Arithmetic", "; ".join(dict.fromkeys(f"{job.backend}, {job.dtype}" for job in jobs)) or NOTHING),
        ("Digest of the plan", inputs.stamp or NOTHING),
        ("Page and figures made on", _machine(machine("numpy"))),
        *(
            ("Running times of figures taken on", one)
            for one in dict.fromkeys(_machine(t.machine) for t in timings if t)
        ),
        ("CPU time of all jobs", cpu_time),
    ]
    page = md.page(
        md.heading("Provenance", target="provenance"),
        "On one machine, the same commit, lock and seed give the same bytes of every result table, on any number "
        "of cores.\n",
        "{.plain}\n" + md.grid(["What", "Value"], (map(md.text, fact) for fact in facts)),
        md.heading("Jobs", 2),
        f"Keys, sizes, run times and memory of all {len(table.rows)} jobs: {md.downloads('jobs')}.\n",
    )
    return {"provenance": page}


def _machine(entry: Machine) -> str:
    return ", ".join(filter(None, [entry.processor, f"{entry.cores} cores", entry.system, entry.device]))


def _on_record(inputs: Inputs) -> str:
    """Name the commit of the recorded verdicts of this profile, and count those that differ from this page's."""
    path = shared_dir("workflows") / "recorded" / f"{inputs.profile}.json"
    known = {(row.id, row.part, row.calibration): row.verdict for row in read_record(path)}
    differ = sum(known.get((row.id, row.part, row.calibration)) != row.verdict for row in inputs.rows)
    commit, of = _git(path.parent, "log", "-1", "--format=%H of %cI", "--", path.name), count(len(inputs.rows))
    told = f"{differ} of {of} differ" if differ else f"none of {of} differs"
    return f"{told} from those here" + (f"; recorded at {commit}" if commit else "")


def _commit() -> str:
    """Name the commit of the checkout and its date, and say whether tracked files differ from it."""
    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists():
        return "not known: the package was installed without its repository"
    changed = len(_git(root, "status", "--porcelain", "--untracked-files=no").splitlines())
    more = f", with changes in {changed} file{'s' * (changed > 1)}" if changed else ""
    found = _git(root, "log", "-1", "--format=%H of %cI")
    return found + more if found else "not known: git does not read the repository"


def _git(root: Path, *words: str) -> str:
    """Run git; empty where it is not there or fails."""
    own = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}  # a hook names other trees
    try:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, env=own)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _lock() -> str:
    """Digest the lock of all packages, and count how many are installed at its versions; others are named."""
    lock = (shared_dir("requirements") / "lock.txt").read_bytes()
    pins = dict(_PIN.findall(lock.decode("utf-8")))
    found = {name: _installed(name) for name in pins}
    same = sum(found[name] == pin for name, pin in pins.items())
    others = [f"{name} {found[name]}" for name, pin in pins.items() if found[name] not in (None, pin)]
    more = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
    told = f"; at other versions {', '.join(others[:SHOWN])}{more}" if others else ""
    installed = f"{same} of its {len(pins)} packages are installed as it names them{told}"
    return f"sha256 {hashlib.sha256(lock).hexdigest()}; {installed}"


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _replicates(job: Job) -> str:
    several = f" × {job.data_sets} data sets" * (job.data_sets > 1)
    return count(job.replicates) + several if job.evaluation == "run" else NOTHING


JOBS: Columns = {
    "Claim": Column("job.claim", kind="code"),
    "Part": Column("job.part", kind="code"),
    "Noise": Column("job.calibration"),
    "Cells": Number(lambda row: len(row["job"].cells), str, "cells"),
    "Replicates": Number("job", _replicates, {"replicates": "job.replicates", "data_sets": "job.data_sets"}),
    "Evaluation": Column("job.evaluation", lambda name: name.replace("_", " ")),
    "Calibration (CPU)": Number("calibrate.0", seconds, "calibrate_cpu_s"),
    "Run (CPU)": Number("run.0", seconds, "run_cpu_s"),
    "Memory (MB)": Number("run.1", number, "peak_mb"),
    "Key": Column("job.key", raw={"key": "job.key", "calibration_key": "job.calibration_key"}, kind="code"),
}


def jobs_table(inputs: Inputs) -> ReportTable:
    """List every job with (CPU seconds, peak memory in MB) of its calibration and its run; None where unmeasured."""
    jobs = [*(job for _, job in inputs.all_jobs()), *(job for board in inputs.boards for job in board.entry.jobs)]
    cost = inputs.files.measured.cost
    rows = [{"job": j, "calibrate": cost("calibrate", j), "run": cost("run", j) if j.has_run else None} for j in jobs]
    note = "A key is the digest of all that affects a job's numbers: its configuration and the code that it uses."
    return ReportTable("jobs", "Jobs", JOBS, rows, note)
