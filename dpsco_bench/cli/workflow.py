"""Give the Snakefile a profile: claims and leaderboards with the digests that decide what is made again.

The outline is made from the plan whenever a file of the package, its configuration or the user's plug-ins has changed,
and read otherwise. Nothing here loads a numerical library, so that a dry run is quick.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from logging import LogRecord
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase

from dpsco_bench.claims.catalogue import find_claim_id
from dpsco_bench.claims.model import check_profile
from dpsco_bench.cli.console import quoted
from dpsco_bench.cli.forking import Forks
from dpsco_bench.cli.outline import Outlined, read_outline, state
from dpsco_bench.errors import DpscoError, InputError, nearest
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.progress import Pace
from dpsco_bench.paths import shared_dir
from dpsco_bench.plain import Plain

PREFIX = "leaderboard."
PREDICTED: dict[str, dict[str, float]] = {}
"""Rule -> job -> predicted seconds, of the profile that this process runs."""
FILES = ("plugins", "claims", "boards")  # keys that take a file or a list of files
KEYS = ("profile", "data_root", "backend", "overrides", *FILES)
"""Keys of ``snakemake --config KEY=VALUE``."""
HIDDEN = ("job_info", "job_started", "job_finished", "job_error", "progress", "shellcmd", "resources_info")
"""Snakemake's own messages of a run that lines here stand for."""
CHATTER = ("Select jobs to execute", "At least one job did not complete", "Assuming unrestricted", "Complete log")
OTHER_SECONDS = {"write_site": 30.0}  # of jobs without a prediction; others take a second


@contextmanager
def one_line() -> Iterator[None]:
    """Turn a user's error into one line and exit code 2, without Snakemake's traceback."""
    try:
        yield
    except (DpscoError, OSError) as error:
        print(f"dpsco: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(2)


def check_config(config: Plain) -> Plain:
    """Check the keys of ``--config`` that are no overrides; files become lists. Raises InputError for a slip."""
    for key in config:
        if key not in KEYS:
            raise InputError("--config", key, nearest(key, KEYS))
    check_profile(config.get("profile", "ci"))
    root, backend = config.get("data_root", "."), config.get("backend")
    if not isinstance(root, str) or not Path(root).is_dir():
        raise InputError("data_root", root, "an existing folder (the one that contains covertype/)", "--config")
    if backend == "cupy" and find_spec("cupy") is None:
        raise InputError("backend", backend, "numpy here: CuPy is not installed (extra cuda12 or cuda13)", "--config")
    given = {key: config[key] if isinstance(config[key], list) else [config[key]] for key in FILES if key in config}
    return {"profile": "ci", **config, **{key: [*map(str, files)] for key, files in given.items()}}


def config_overrides(config: Plain) -> list[str]:
    """List the overrides of ``conf/plan.yaml`` that a configuration asks for; whoever makes the plan checks them."""
    from dpsco_bench.cli.overrides import file_list

    given = config.get("overrides", "")
    try:
        result = list(given) if isinstance(given, list) else shlex.split(str(given))
    except ValueError as error:
        raise InputError("overrides", given, f"KEY=VALUE ... ({str(error).lower()})", "--config") from None
    result += [f"backend={config['backend']}"] if "backend" in config else []
    result += [f"data.root={quoted(config['data_root'])}"] if "data_root" in config else []
    return result + [file_list(key, config[key]) for key in FILES if key in config]


def check_writable(folder: Path) -> None:
    """Refuse a folder that cannot be written, or made."""
    there = next(place for place in (folder, *folder.parents) if place.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        name = there.resolve() if there == Path() else there
        raise InputError("folder", str(name), "a folder that can be written to")


def set_environment(folder: str) -> None:
    """Have jobs find the package in a folder, wherever results go, and run one thread each."""
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))
    for name in ("OPENBLAS", "OMP", "MKL", "NUMBA"):
        os.environ[f"{name}_NUM_THREADS"] = "1"


class Flow:
    """The outline of a profile, with the paths and words that the rules need.

    Raises InputError for a bad configuration, or an unknown claim among the targets, and DpscoError if the outline
    is stale while another run works on the same results. In a target ``claims/...`` ``_`` may stand for ``.``. Only the
    ``main`` process, which the user started, makes the outline anew: jobs on a cluster take it as it is.
    """

    def __init__(self, config: Plain, arguments: Sequence[str], main: bool = True) -> None:
        if main and not Path(".snakemake").is_dir():  # Snakemake makes it before any rule
            check_writable(Path())
        checked = check_config(config)
        self.profile: str = checked["profile"]
        self.files = Layout(self.profile)
        known = read_outline(self.files.outline)
        if known is None or (main and known.made_from != state(checked, known.watched)):
            from dpsco_bench.cli.verbs.plan import make_outline

            known = make_outline(self.files, checked, config_overrides(checked))
        self.outline = known
        plugins = (f" --plugin {shlex.quote(file)}" for file in checked.get("plugins", ()))
        self.options = f"--profile {self.profile}{''.join(plugins)}"
        self.chapters = [*map(self.files.figure, known.chapters)]
        self.verdicts = [*map(self.files.verdicts, known.claims)]
        self.recorded = [*shared_dir("workflows").glob(f"recorded/{self.profile}.json")]
        self.targets = dict(self._targets(arguments))
        self._forks: Forks | None = None
        for rule, made in (("claim", known.claims), ("rank", known.boards)):
            PREDICTED[rule] = {id: one.seconds[""] + 2.0 for id, one in made.items()}  # to start, to judge and to draw
        every = {**known.claims, **known.boards}.items()
        PREDICTED["part"] = {f"{id}.{p}": s + 0.1 for id, one in every for p, s in one.seconds.items() if p}

    def __getitem__(self, id: str) -> Outlined:
        return {**self.outline.claims, **self.outline.boards}[id]

    def _targets(self, arguments: Sequence[str]) -> Iterator[tuple[str, tuple[str, list[Path]]]]:
        """Each target that is no file, with what it is and the files that it stands for."""
        claims, boards = self.outline.claims, self.outline.boards
        yield "verdicts", ("Verdicts of all claims, without leaderboards and site.", self.verdicts)
        yield "figures", ("Figures of all claims.", [self.files.figure(id) for id in claims])
        yield "leaderboard", ("Standings and phase diagrams of all leaderboards.", self.made(boards))
        yield "site", ("The site without the comparison with recorded verdicts.", [self.files.site])
        papers = dict.fromkeys(id.partition(".")[0] for id in claims)
        for paper in papers:
            ids = [id for id in claims if id.startswith(f"{paper}.")]
            yield f"claims/{paper}", (f"All {len(ids)} claims of this paper.", self.made(ids))
        asked = [word.removeprefix("claims/") for word in arguments if word.startswith("claims/")]
        for text in dict.fromkeys([*claims, *(text for text in asked if text not in papers)]):
            id = find_claim_id(text, claims)
            yield f"claims/{text}", (claims[id].title, self.made([id]))
        for id, board in boards.items():
            yield f"leaderboards/{id.removeprefix(PREFIX)}", (board.title, self.made([id]))

    def made(self, ids: Iterable[str]) -> list[Path]:
        ids, boards = list(ids), self.outline.boards
        verdicts = [self.files.standings(id) if id in boards else self.files.verdicts(id) for id in ids]
        return [*verdicts, *map(self.files.figure, ids)]

    def measured(self, wildcards: Any) -> list[Path]:
        """List what jobs of their own run of a claim or leaderboard."""
        (id,) = wildcards
        timed = [self.files.timed(id)] if self[id].timed else []
        return [*(self.files.part(id, part) for part in self[id].parts), *timed]

    def paper(self, wildcards: Any) -> str:
        return str(wildcards.claim).partition(".")[0]

    def labels(self, wildcards: Any) -> dict[str, str]:
        return {"claim": wildcards.claim, "title": self[wildcards.claim].title}

    def start(self) -> None:
        """Check that everything can be written, take the results for this run, and start what forks its jobs."""
        from dpsco_bench.execution.store import take

        for folder in (self.files.results, self.files.results.parent / "store", self.files.figures):
            check_writable(folder)
        self._lock, self._forks = take(self.files.lock), Forks()  # collected, the lock would be released

    def stop(self) -> None:
        """End what forks jobs."""
        if self._forks:
            self._forks.stop()


class LogHandler(LogHandlerBase):
    """Write one line a job to stderr."""

    def __post_init__(self) -> None:
        self._pace, self._waiting = Pace([]), dict[str, dict[str, int]]()  # rule -> job -> its number
        self._jobs: dict[Any, tuple[str, str, str]] = {}  # that run: rule, name, and how they are told
        self._failed: dict[Any, str] = {}

    def emit(self, record: LogRecord) -> None:
        event, settings = str(getattr(record, "event", None) or ""), self.common_settings
        if settings.dryrun or settings.verbose:
            text = self.format(record)
        else:
            getattr(self, f"_{event}", lambda told: None)(record.__dict__)
            text = "" if event in HIDDEN else self.format(record)
        if text and text != "None" and not text.startswith(CHATTER):
            self._print(text)

    def _run_info(self, told: Mapping[str, Any]) -> None:
        seconds = list[float]()
        for rule, count in told["stats"].items():
            if rule != "total":
                known = PREDICTED.get(rule) or {"": OTHER_SECONDS.get(rule, 1.0)}
                if len(known) != count:  # some of them, of which Snakemake does not tell the names
                    known = dict.fromkeys(map(str, range(count)), sum(known.values()) / len(known))
                self._waiting[rule] = {name: len(seconds) + place for place, name in enumerate(known)}
                seconds += known.values()
        self._pace = Pace(seconds, at_once=os.cpu_count() or 1)

    def _job_info(self, told: Mapping[str, Any]) -> None:
        rule, name = told["rule_name"], ".".join(map(str, told["wildcards"].values()))
        self._jobs[told["jobid"]] = rule, name, told["rule_msg"] or f"{rule} {name}".strip()

    def _end(self, rule: str, name: str) -> None:
        if numbers := self._waiting.get(rule):
            self._pace.end(numbers.pop(name) if name in numbers else numbers.popitem()[1])

    def _job_finished(self, told: Mapping[str, Any]) -> None:
        if job := self._jobs.pop(told["job_id"], None):
            rule, name, said = job
            self._end(rule, name)
            self._print(f"[{self._pace}] {said}")

    def _job_error(self, told: Mapping[str, Any]) -> None:
        if told["jobid"] not in self._failed:
            rule, name, said = self._jobs.get(told["jobid"], (told["rule_name"], "", told["rule_name"]))
            logs = [path.split(" ")[0] for path in told["log"]]
            why = f": {_last_line(logs[0])} (see {logs[0]})" if logs else ""
            self._failed[told["jobid"]] = f"failed: {said}{why}"
            self._print(f"failed: {said}; the others go on")
            self._end(rule, name)

    def _print(self, text: str) -> None:
        print(text, file=sys.stdout if self.common_settings.stdout else sys.stderr, flush=True)

    def close(self) -> None:
        for line in self._failed.values():
            self._print(line)
        self._failed = {}
        super().close()

    writes_to_stream = True
    """It takes the place of Snakemake's own; the log file, the filter of ``--quiet`` and the formats stay those."""
    writes_to_file = has_filter = has_formatter = needs_rulegraph = False


def _last_line(path: str) -> str:
    """Last line of a log; the reason of what failed where one is told."""
    log = Path(path)
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n") if log.is_file() else ["no log"]
    told = [line for line in lines if line.startswith("dpsco: ")] or [line for line in lines if line.strip()]
    return told[-1].removeprefix("dpsco: ") if told else "its process was ended, as when memory runs out"
