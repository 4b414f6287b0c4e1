"""What the Snakefile knows: configuration, plan, the packs of a run, and the digests that decide what is run again.

Nothing here runs an algorithm. The rules in ``workflows/`` turn these answers into a graph. Until a run starts nothing
is written, so that a dry run changes nothing.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

from dpsco_bench.analysis.judged import read_judged
from dpsco_bench.analysis.ranking import read_ranked
from dpsco_bench.claims.board import PREFIX
from dpsco_bench.claims.plan import WorkPlan, read_plan
from dpsco_bench.cli.closing import Progress
from dpsco_bench.cli.depends import Dependencies, board_digest
from dpsco_bench.cli.judging import is_drawn
from dpsco_bench.cli.left_files import look
from dpsco_bench.cli.overrides import listed_by
from dpsco_bench.cli.verbs.gate import predictor, recorded_path
from dpsco_bench.cli.verbs.plan import current_plan, keep
from dpsco_bench.cli.workflow_settings import check_config, check_writable, config_overrides, is_writable
from dpsco_bench.errors import InputError, nearest
from dpsco_bench.execution.drawn import stands
from dpsco_bench.execution.layout import FORMATS, Layout
from dpsco_bench.execution.lock import ResultsLock
from dpsco_bench.execution.packs import Packing, pack_entries
from dpsco_bench.execution.plan import Entry
from dpsco_bench.execution.plugins import load_plugins
from dpsco_bench.execution.store import looking, set_aside, set_loops_aside
from dpsco_bench.plain import Plain
from dpsco_bench.report.own_figures import figure_names

TARGETS = ("all", "verdicts", "figures", "leaderboard", "site", "gate", "gc")
"""Targets that are not of single claims."""


class Workflow:
    """The plan of one profile, and what a run of it has to do, as the rules need it.

    Parameters
    ----------
    config : mapping
        Snakemake's ``config``.
    arguments : sequence of str
        Of the command line; targets among them narrow what is packed and judged.
    main : bool
        Whether this is the process that the user started. Jobs on a cluster parse the Snakefile too; they take plan and
        packs as they are.

    Raises
    ------
    InputError
        For a bad configuration, or an unknown claim among the targets.
    ResultsInUse
        If the plan is stale while another run works on the same results.
    """

    def __init__(self, config: Plain, arguments: Sequence[str], main: bool = True) -> None:
        settings = check_config(config)
        self.profile: str = settings.profile
        self.files, self.main, self.folder = Layout(self.profile), main, Path.cwd()
        self.lock = ResultsLock(self.files.lock)
        self._looked: dict[Path, bool] = {}
        if main and self.lock.is_free():  # Snakemake breaks off at them, in a dry run too; they hold nothing
            for folder in (self.files.results, self.files.figures):
                set_loops_aside(folder, dead=True)
            set_loops_aside(self.files.measured.store.root)
        with looking() as self.damaged:
            overrides = config_overrides(settings)
            self.plan = self._plan(overrides, main)
            self.given = listed_by(overrides, "plugins")
            load_plugins(self.given)
            measured = self.files.measured
            self.entries = {entry.id: measured.present(entry) for entry in self.plan.claims}
            self.boards = {entry.id: measured.present(entry) for entry in self.plan.boards}
            self.depends = Dependencies(self.entries, self.boards, measured, self.profile)
            self.targets = self._targets(arguments)
            free = main and self.lock.is_free()
            if free:
                look(self.files, {entry.paper for entry in self.entries.values()})
            self.packing = self._packing(arguments) if free else Packing.read(self.files.packing)
            self.due = self._due(free) if main else set[str]()
        for claim in self.due.intersection(id for claims in self.scope.values() for id in claims):
            path = self.files.verdicts(claim)
            if path.exists() and not is_writable(path):  # Snakemake says so in a line for each file
                raise InputError("folder", str(self.files.results), "a folder that can be written to, with its files")

    def _plan(self, overrides: Sequence[str], main: bool) -> WorkPlan:
        return current_plan(self.profile, overrides, self.files) if main else read_plan(self.files.plan)

    def _packing(self, arguments: Sequence[str]) -> Packing:
        """What is to be done."""
        alone = self._boards_alone(arguments)
        asked = [] if alone else self._scope(arguments)
        boards = self.boards if len(asked) == len(self.entries) else alone
        entries = [*(self.entries[id] for id in asked), *(self.boards[id] for id in boards)]
        packing = pack_entries(entries, self.files.measured, predictor(self.profile))
        papers = dict.fromkeys(self.entries[id].paper for id in asked)
        scope = {
            paper: {id: self.depends.stamp(id) for id in asked if self.entries[id].paper == paper} for paper in papers
        }
        folders = (self.files.packs / str(number) for number in count())
        marks = next(folder for folder in folders if not folder.exists())
        return replace(packing, scope=scope, draw="verdicts" not in arguments, marks=marks)

    def _due(self, free: bool) -> set[str]:
        """Claims and leaderboards that are to be concluded again.

        They are those whose conclusions are missing, damaged or of other things than now, and those of which something
        is to be made. While a run works, the store does not tell what it still makes.
        """
        due = {id for id, packs in self.packing.makers.items() if packs and free}
        for claims in self.packing.scope.values():
            for id in claims:
                stamp, known = self.depends.stamp(id), read_judged(self.files.verdicts(id))
                drawn = not self.draw or is_drawn(self.files, id, stamp)  # looks, so that what is damaged is named
                if known is None or known.digest != stamp.verdicts or not drawn:
                    due.add(id)
        for id, board in self.boards.items():
            ranked = read_ranked(self.files.standings(id))
            if ranked is None or ranked.digest != board_digest(board):
                due.add(id)
        return due

    @property
    def plugins(self) -> str:
        """Options by which a job is given the plugins of this run; empty without any."""
        return "".join(f" --plugin {shlex.quote(file)}" for file in self.given)

    @property
    def claims(self) -> list[str]:
        """Ids of the claims of this profile."""
        return list(self.entries)

    @property
    def draw(self) -> bool:
        """Whether this run draws the figures of claims."""
        return self.packing.draw

    @property
    def scope(self) -> dict[str, list[str]]:
        """Paper -> claims that this run judges, if they are asked for."""
        return {paper: list(claims) for paper, claims in self.packing.scope.items()}

    def _scope(self, arguments: Sequence[str]) -> list[str]:
        """All claims, unless nothing but single ones are asked for."""
        asked: set[str] = set()
        for word in arguments:
            found = [id for id in self.claims if word in (str(self.files.verdicts(id)), str(self.files.figure(id)))]
            if word in self.targets or found:
                asked.update(found or self.targets[word])
            elif word in TARGETS or word.startswith(("results/", "figures/")):
                asked.update(self.claims)
        return [id for id in self.claims if id in asked or not asked]

    @property
    def board_targets(self) -> dict[str, str]:
        """Target ``leaderboards/...`` -> id of the leaderboard."""
        return {f"leaderboards/{id.removeprefix(PREFIX)}": id for id in self.boards}

    def _boards_alone(self, arguments: Sequence[str]) -> list[str]:
        """Leaderboards that are asked for, where nothing else is."""
        found = {word: self.board_targets[word] for word in arguments if word in self.board_targets}
        others = [word for word in arguments if word in (*TARGETS, *self.targets) and word not in found]
        for word in arguments:
            if word.startswith("leaderboards/") and word not in found:
                name = word.removeprefix("leaderboards/")
                raise InputError("leaderboard", name, nearest(name, [id.removeprefix(PREFIX) for id in self.boards]))
        return [] if others else list(found.values())

    def concluding(self, snakemake: Any, conclusion: Path, ids: Collection[str]) -> list[Path]:
        """Marks of the packs that work for claims or leaderboards; what is to be concluded again is forced.

        By itself Snakemake looks for nothing below a file that stands, however much is missing there. Nothing is
        removed to make it look, since a dry run asks the same.
        """
        self._force(snakemake, conclusion, conclusion in self.damaged or bool(self.due.intersection(ids)))
        names = dict.fromkeys(name for id in ids for name in self.packing.makers.get(id, ()))
        return [self.mark(name) for name in names]

    def reporting(self, snakemake: Any) -> list[Path]:
        """What the site is made from; one of which a file is missing or damaged is forced."""
        made = [self.files.site, *self.chapters("svg"), *self.chapters("pdf")]
        self._force(snakemake, self.files.site, self.main and not self._stands(self.files.reported, made))
        return [*self.judged(), *self.standings(), *self.board_figures()]

    def drawing(self, snakemake: Any, board: str) -> list[Path]:
        """What the figure of a leaderboard is made from; one that is missing or damaged is forced."""
        made = [self.files.figure(board, suffix) for suffix in FORMATS]
        self._force(snakemake, made[0], self.main and not self._stands(self.files.drawn(board), made))
        return [self.files.standings(board)]

    def gating(self, snakemake: Any) -> list[Path]:
        """What the gate looks at; one whose table is damaged is forced."""
        self._force(snakemake, self.files.gate, self.main and not self._stands(self.files.gated, [self.files.gate]))
        return [*self.judged(), self.files.site, *self.recorded]

    def _stands(self, mark: Path, files: Collection[Path]) -> bool:
        """Whether files are as they were drawn; a run of which they are no part does not look."""
        if mark not in self._looked:
            with looking() as found:
                self._looked[mark] = stands(mark, files)
            self.damaged += found
        return self._looked[mark]

    def _force(self, snakemake: Any, file: Path, due: bool) -> None:
        if self.main and due:
            snakemake.dag.forcefiles.add(str(file))

    def mark(self, name: str) -> Path:
        """Mark of a finished pack."""
        return self.packing.marks / f"{name}.done"

    def after(self, name: str) -> list[Path]:
        """Marks of the packs that a pack needs."""
        return [self.mark(other) for other in self.packing.pack(name).after]

    def message(self, name: str) -> str:
        """What a pack does, in a line."""
        return self.packing.pack(name).summary

    def gpus(self, name: str) -> int:
        """GPUs that a pack needs."""
        entry = self.entry(self.packing.pack(name).pieces[0].claim)
        return int(any(job.backend == "cupy" for job in entry.jobs))

    def entry(self, id: str) -> Entry:
        """The plan's entry of a claim or leaderboard."""
        return self.boards[id] if id in self.boards else self.entries[id]

    def judged(self, claims: Iterable[str] | None = None) -> list[Path]:
        """What the judges of claims write last (of all claims by default); a file a paper, for a graph of few edges."""
        ids = self.claims if claims is None else claims
        return [self.files.judged(paper) for paper in dict.fromkeys(self.entries[id].paper for id in ids)]

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
        """The papers' own figures, which the site step draws."""
        return [self.files.figure(name, suffix) for name in figure_names(self.claims)]

    @cached_property
    def recorded(self) -> list[Path]:
        """The recorded verdicts of this profile, if there are any."""
        path = recorded_path(self.profile)
        return [path] if path.is_file() else []

    def labels(self, claim: str) -> dict[str, str]:
        """Columns of a figure in Snakemake's report."""
        return {"claim": claim, "title": self.entries[claim].claim.title}

    def summary(self, claims: Sequence[str]) -> str:
        """One line on the claims of a target."""
        if len(claims) == 1:
            return self.entries[claims[0]].claim.title
        return f"all {len(claims)} claims of this paper"

    def _targets(self, arguments: Sequence[str]) -> dict[str, list[str]]:
        """Target ``claims/...`` -> ids of the claims it stands for.

        There is one for each claim and each paper; in one that the command line asks for, ``_`` may stand for ``.``.
        """
        papers = dict.fromkeys(entry.paper for entry in self.entries.values())
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
        raise InputError("claim", text, nearest(text, self.claims, "dpsco list claims"), f"profile {self.profile}")

    def settle(self) -> None:
        """Write the plan of a run that has nothing to do, unless another one works or nothing can be written.

        What is damaged of the files that no conclusion is made from goes aside here.
        """
        if self.lock.is_free() and is_writable(self.files.results):
            for path in self.damaged:
                set_aside(path)
            keep(self.plan, self.files.plan)
            if self.files.packing in self.damaged:
                self.packing.write(self.files.packing)

    def start(self, snakemake: Any) -> None:
        """Take the results for this run, set aside what is damaged, write plan and packs, and turn to the terminal.

        Raises
        ------
        InputError
            Naming a folder of results or figures that cannot be written.
        """
        for folder in (self.files.results, self.files.measured.store.root, self.files.figures):
            check_writable(folder)
        if self.files.lock in self.damaged:  # a folder, which nobody holds
            set_aside(self.files.lock)
        self.lock.acquire()
        for path in self.damaged:
            set_aside(path)
        self.files.told.unlink(missing_ok=True)
        for folder in (self.files.failures, self.files.packs):
            shutil.rmtree(folder, ignore_errors=True)
        keep(self.plan, self.files.plan)
        self.packing.write(self.files.packing)
        Progress.attach(snakemake, {pack.name: pack.seconds for pack in self.packing.packs})
