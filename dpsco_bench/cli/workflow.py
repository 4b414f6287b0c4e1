"""What the Snakefile knows: configuration, plan, the files of each job, and the digests that decide what is run again.

Nothing here runs an algorithm. The rules in ``workflows/`` turn these answers into a graph.
"""

from __future__ import annotations

import hashlib
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dpsco_bench.backend.namespace import BACKENDS
from dpsco_bench.claims.grids import PROFILES
from dpsco_bench.cli.main import failed_file
from dpsco_bench.cli.overrides import file_list
from dpsco_bench.cli.verbs.gate import read_verdicts, stored_digests, summary, verdicts_digest
from dpsco_bench.cli.verbs.plan import current_plan
from dpsco_bench.errors import DpscoError, InputError, nearest
from dpsco_bench.execution.digest import ROOT as PACKAGE_ROOT
from dpsco_bench.execution.digest import code_digest
from dpsco_bench.execution.layout import (
    Layout,
    effective_key,
    find_job,
    has_run,
    job_name,
    judged_name,
    read_plan_text,
    stored_json,
)
from dpsco_bench.execution.lock import ResultsLock
from dpsco_bench.execution.present import present_results
from dpsco_bench.jsonio import dumps_canonical, write_text_atomic
from dpsco_bench.paths import conf_dir, shared_dir
from dpsco_bench.report.own_figures import figure_names

Entry = Mapping[str, Any]
JOB = {"claim": "{claim}", "part": "{part}", "calibration": "{calibration}"}
"""A job whose names are wildcards: `Layout` makes the rules' patterns of it."""


@contextmanager
def one_line() -> Iterator[None]:
    """Turn a user's error into one line and exit code 2, without Snakemake's traceback."""
    try:
        yield
    except DpscoError as error:
        print(f"dpsco: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        print(f"dpsco: {failed_file(error)}", file=sys.stderr)
        sys.exit(2)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _are_texts(value: Any) -> bool:
    return all(map(_is_text, value)) if isinstance(value, list) else _is_text(value)


CONFIG: dict[str, tuple[Callable[[Any], bool], str]] = {
    "profile": (lambda value: value in PROFILES, "one of " + ", ".join(PROFILES)),
    "data_root": (_is_text, "a folder (the one that contains covertype/)"),
    "backend": (lambda value: value in BACKENDS, "one of " + ", ".join(BACKENDS)),
    "overrides": (
        lambda value: value == "" or _are_texts(value),
        "Hydra overrides of conf/plan.yaml, a string or list of KEY=VALUE",
    ),
    "plugins": (_are_texts, "a Python file or a list of them, with one's own algorithms, problems and bounds"),
    "claims": (_are_texts, "a YAML file or a list of them, with one's own claims"),
}
"""What ``snakemake --config KEY=VALUE`` takes: key -> whether it takes a value, and what it takes in words."""


def check_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """Check ``--config`` and fill in the default profile.

    Raises
    ------
    InputError
        Naming the first bad key, its value and what is allowed.
    """
    for key, value in config.items():
        if key not in CONFIG:
            raise InputError("--config", key, nearest(key, CONFIG))
        takes, allowed = CONFIG[key]
        if not takes(value):
            raise InputError(key, value, allowed, "--config")
    return {"profile": "ci", **config}


def config_overrides(settings: Mapping[str, Any]) -> list[str]:
    """Hydra overrides that the configuration asks for."""
    overrides = settings.get("overrides", [])
    try:
        result = shlex.split(overrides) if isinstance(overrides, str) else list(overrides)
    except ValueError as error:
        raise InputError("overrides", overrides, f"KEY=VALUE ... ({str(error).lower()})", "--config") from None
    if "backend" in settings:
        if settings["backend"] == "cupy" and find_spec("cupy") is None:
            allowed = "numpy here: CuPy is not installed (extra cuda12 or cuda13)"
            raise InputError("backend", "cupy", allowed, "--config")
        result.append(f"backend={settings['backend']}")
    for key in ("plugins", "claims"):
        if key in settings:
            files = [settings[key]] if isinstance(settings[key], str) else settings[key]
            result.append(file_list(key, files))
    if "data_root" in settings:
        if not Path(settings["data_root"]).is_dir():
            raise InputError("data_root", settings["data_root"], "an existing folder", "--config")
        result.append("data.root='" + settings["data_root"].replace("'", "\\'") + "'")
    return result


class Workflow:
    """The plan of one profile as the rules need it.

    Parameters
    ----------
    config : mapping
        Snakemake's ``config``.
    replan : bool
        Whether a stale plan is written anew; jobs on a cluster parse the Snakefile too, and must not.

    Raises
    ------
    InputError
        For a bad configuration.
    ResultsInUse
        If the plan is stale while another run works on the same results.
    """

    def __init__(self, config: Mapping[str, Any], replan: bool = True) -> None:
        settings = check_config(config)
        self.profile: str = settings["profile"]
        self.files = Layout(self.profile)
        self.lock = ResultsLock(self.files.lock)
        overrides = config_overrides(settings)
        plan = current_plan(self.profile, overrides, self.files) if replan else read_plan_text(self.files.plan)
        entries = [present_results(entry, self.files.calibrations, self.files.run) for entry in plan["claims"]]
        self.entries: dict[str, Entry] = {entry["claim"]["id"]: entry for entry in entries}
        boards = [present_results(e, self.files.calibrations, self.files.run) for e in plan.get("boards", ())]
        self.boards: dict[str, Entry] = {entry["claim"]["id"]: entry for entry in boards}

    @property
    def claims(self) -> list[str]:
        """Ids of the claims of this profile."""
        return list(self.entries)

    def job(self, wildcards: Any) -> dict[str, Any]:
        """The job that a rule's wildcards name."""
        return find_job(self.entry(wildcards.claim), f"{wildcards.part}.{wildcards.calibration}")

    def entry(self, id: str) -> Entry:
        """The plan's entry of a claim or leaderboard."""
        return self.boards[id] if id in self.boards else self.entries[id]

    def calibrations(self, claim: str) -> list[Path]:
        """Calibrations of the jobs of a claim or leaderboard."""
        return [self.files.calibrations(job) for job in self.entry(claim)["jobs"]]

    def runs(self, claim: str) -> list[Path]:
        """Result tables of the jobs of a claim or leaderboard."""
        return [self.files.run(job) for job in self.entry(claim)["jobs"] if has_run(job)]

    def timings(self, claim: str) -> list[Path]:
        """Timing files of a claim's parts that ask for them."""
        return [self.files.timing(job) for job in self.entries[claim]["jobs"] if has_run(job) and job["timing"]]

    def verdicts(self, claims: Iterable[str] | None = None) -> list[Path]:
        """Verdict files, of all claims by default."""
        return [self.files.verdicts(claim) for claim in (self.claims if claims is None else claims)]

    def figures(self, claims: Iterable[str] | None = None) -> list[Path]:
        """Figures, of all claims by default."""
        return [self.files.figure(claim) for claim in (self.claims if claims is None else claims)]

    def standings(self) -> list[Path]:
        """Standings of all leaderboards."""
        return [self.files.standings(board) for board in self.boards]

    def board_figures(self) -> list[Path]:
        """Phase diagrams of all leaderboards."""
        return [self.files.figure(board) for board in self.boards]

    def chapters(self, suffix: str) -> list[Path]:
        """The papers' own figures, which the report step draws."""
        return [self.files.figure(name, suffix) for name in figure_names(self.claims)]

    def gpus(self, wildcards: Any) -> int:
        """GPUs that a job needs."""
        return int(self.job(wildcards)["backend"] == "cupy")

    def key(self, wildcards: Any) -> str:
        """Key of a job: the digest of all that affects its numbers, its code included."""
        return effective_key(self.job(wildcards))

    def ready(self, wildcards: Any) -> Path:
        """Where a job's table lies if another process made it."""
        return self.files.ready(self.job(wildcards))

    def calibration_key(self, wildcards: Any) -> str:
        """Key of a job's calibrations: what they depend on, code included."""
        return effective_key(self.job(wildcards), "calibration_key")

    def timing_key(self, wildcards: Any) -> str:
        """Key of a job's timings; where it cannot run here, of those that are there."""
        job = self.job(wildcards)
        stored = stored_json(self.files.timing(job)) if job.get("present") else {}
        there = stored.get("key") == job["key"] and not stored.get("skipped")
        return effective_key(job if there else {**job, "skipped": job.get("present") or job["skipped"]})

    @cached_property
    def timing_code(self) -> str:
        """Digest of the code that times."""
        return code_digest(["dpsco_bench.execution.timing"])

    def judge_digest(self, wildcards: Any) -> str:
        """Digest of what a claim's verdicts depend on."""
        return self.digests[wildcards.claim]

    @property
    def draw(self) -> str:
        """Option that lets `judge` draw what it has in memory; drawing in a process of its own starts from nothing."""
        return "" if "verdicts" in sys.argv[1:] else "--draw"

    @property
    def measuring(self) -> int:
        """Priority of measuring over judging: short profiles judge at the end, many claims in one process."""
        return 0 if self.profile == "full" else 1

    def judged(self, wildcards: Any) -> Path:
        """Where a claim's figures lie if they were drawn when it was judged, and with suffix ``.json`` its verdicts."""
        return self.files.judged / judged_name(wildcards.claim, self.judge_digest(wildcards))

    def start(self, snakemake: Any) -> None:
        """Take the results for this run, and note what it calibrates and judges.

        Figures and verdicts that an earlier run left undelivered may be of other code; they go.
        """
        self.lock.acquire()
        shutil.rmtree(self.files.judged, ignore_errors=True)
        claims: dict[str, set[str]] = {"calibrate": set(), "judge": set()}
        for job in snakemake.dag.needrun_jobs():
            if job.rule.name in claims:
                claims[job.rule.name].add(job.wildcards.claim)
        judged = {claim: self.digests[claim] for claim in claims["judge"]}
        text = dumps_canonical({"calibrated": sorted(claims["calibrate"]), "judged": judged})
        write_text_atomic(self.files.wanted, text)

    def rank_digest(self, wildcards: Any) -> str:
        """Digest of what a leaderboard's standings depend on."""
        return board_digest(self.boards[wildcards.board])

    def board_figure_digest(self, wildcards: Any) -> str:
        """Digest of a leaderboard's standings and of the code and style that draw them."""
        return _digest([self.rank_digest(wildcards), _verb_digest("figure")])

    @cached_property
    def digests(self) -> dict[str, str]:
        """Claim -> digest of what its verdicts depend on, as it was when the workflow was read."""
        return {id: claim_digest(entry) for id, entry in self.entries.items()}

    @cached_property
    def verdicts_digest(self) -> str:
        """Digest of what all verdicts depend on."""
        return verdicts_digest(self.digests)

    def figure_digest(self, wildcards: Any) -> str:
        """Digest of a claim's verdicts and of the code and style that draw them."""
        return _digest([self.judge_digest(wildcards), _verb_digest("figure")])

    @cached_property
    def report_digest(self) -> str:
        """Digest of all verdicts, of the configuration tree and of the code and templates that write the report."""
        conf = [path for path in sorted(conf_dir().rglob("*.yaml")) if path.parent.name != "site"]
        return _digest(
            [
                *(self.verdicts_digest, _verb_digest("report"), [(path.name, _file_digest(path)) for path in conf]),
                [board_digest(entry) for entry in self.boards.values()],
            ]
        )

    @property
    def recorded(self) -> list[Path]:
        """The recorded verdicts of this profile, if there are any."""
        path = shared_dir("workflows") / "recorded" / f"{self.profile}.json"
        return [path] if path.is_file() else []

    def title(self, wildcards: Any) -> str:
        """Title of a claim."""
        return self.entries[wildcards.claim]["claim"]["title"]

    def paper(self, wildcards: Any) -> str:
        """Paper of a claim: its category in Snakemake's report."""
        return wildcards.claim.split(".", 1)[0]

    def labels(self, wildcards: Any) -> dict[str, str]:
        """Columns of a figure in Snakemake's report."""
        return {"claim": wildcards.claim, "title": self.title(wildcards)}

    def summary(self, claims: Sequence[str]) -> str:
        """One line on the claims of a target."""
        if len(claims) == 1:
            return self.entries[claims[0]]["claim"]["title"]
        return f"all {len(claims)} claims of this paper"

    def targets(self, arguments: Sequence[str]) -> dict[str, list[str]]:
        """Target ``claims/...`` -> ids of the claims it stands for.

        There is one for each claim and each paper; in one that the command line asks for, ``_`` may stand for ``.``.

        Raises
        ------
        InputError
            If the command line asks for an unknown claim.
        """
        papers = dict.fromkeys(id.split(".", 1)[0] for id in self.claims)
        targets = {f"claims/{paper}": [id for id in self.claims if id.startswith(f"{paper}.")] for paper in papers}
        targets.update({f"claims/{id}": [id] for id in self.claims})
        for argument in arguments:
            if argument.startswith("claims/") and argument not in targets:
                targets[argument] = [self._find(argument.removeprefix("claims/"))]
        return targets

    def _find(self, text: str) -> str:
        wanted = text.replace("/", ".", 1).replace("_", ".")
        for id in self.claims:
            if id.replace("_", ".") == wanted:
                return id
        raise InputError("claim", text, f"one of profile {self.profile}: " + ", ".join(self.claims))


def lift_rate_limit(snakemake: Any) -> None:
    """Let jobs of this machine start as fast as they can.

    Snakemake's limit per second, which is meant for clusters, makes every look at the ready jobs start a timer for
    another look. After some hundred short jobs it would do nothing else.

    Parameters
    ----------
    snakemake : snakemake.workflow.Workflow
        About to start its jobs.
    """
    if snakemake.local_exec and hasattr(snakemake.scheduler, "job_rate_limiter"):
        snakemake.scheduler.job_rate_limiter = None


def farewell(snakemake: Any, flow: Workflow) -> None:
    """Print the verdicts of the claims that a run was asked for, and where the report is, as the last thing it says.

    Called at exit, because Snakemake's own hooks are silent when there was nothing to do.

    Parameters
    ----------
    snakemake : snakemake.workflow.Workflow
    flow : Workflow
    """
    if flow.lock.held:
        shutil.rmtree(flow.files.judged, ignore_errors=True)
    ran = snakemake.is_main_process and snakemake.scheduler is not None and not snakemake.dryrun
    if not ran or not (flow.lock.held or len(snakemake.dag) == 0):
        return
    jobs = list(snakemake.dag.jobs)
    claims = {job.wildcards.claim for job in jobs if job.rule.name == "judge"}
    reported = any(job.rule.name == "write_report" for job in jobs)
    stored = stored_digests(flow.files)
    judged = {claim for claim in claims if stored.get(claim) == flow.digests[claim]}
    if judged:
        print("\n" + summary(flow.files, read_verdicts(flow.files, judged), reported)[0], flush=True)
    earlier = judged & {job.wildcards.claim for job in snakemake.dag.needrun_jobs() if job.rule.name == "judge"}
    if earlier:
        print("of an earlier run, this one ended before them: " + ", ".join(sorted(earlier)), flush=True)
    if claims - judged:
        print("no verdict, see the errors above: " + ", ".join(sorted(claims - judged)), flush=True)


def claim_digest(entry: Entry) -> str:
    """Digest of what a claim's verdicts depend on: its entry in the plan, its jobs, and the code that judges."""
    from dpsco_bench.analysis.judge import judge_modules
    from dpsco_bench.execution.plugins import job_plugins, load_plugins

    load_plugins(job_plugins(entry["jobs"]))
    code = code_digest(judge_modules(entry))
    jobs = [
        (job_name(job), job["key"], job["calibration_key"], job["skipped"], job.get("present", ""))
        for job in entry["jobs"]
    ]
    return _digest([entry["claim"]["digest"], jobs, code])


def board_digest(entry: Entry) -> str:
    """Digest of what a leaderboard's standings depend on: its entry in the plan, its jobs, and the code that ranks."""
    from dpsco_bench.claims.bounds.registry import BOUNDS

    names = {instance["lower_bound"] for instance in entry["board"]["instances"]} - {""}
    modules = sorted({BOUNDS.module(name) for name in names})
    jobs = [(job_name(job), job["key"], job["calibration_key"], job["skipped"]) for job in entry["jobs"]]
    return _digest([entry["claim"]["digest"], jobs, code_digest(["dpsco_bench.analysis.standings", *modules])])


@cache
def _verb_digest(verb: str) -> str:
    """Digest of a verb's code and of the templates and styles of the report."""
    templates = [path for path in sorted((PACKAGE_ROOT / "report").rglob("*")) if path.suffix not in (".py", ".pyc")]
    return code_digest([f"dpsco_bench.cli.verbs.{verb}"], [path for path in templates if path.is_file()])


def _file_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _digest(value: Any) -> str:
    return hashlib.sha256(dumps_canonical(value).encode()).hexdigest()[:32]
