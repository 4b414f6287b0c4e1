"""What the Snakefile knows of a profile: claims and leaderboards with the digests that decide what is made again.

The outline is made from the plan whenever a file of the package, its configuration or the user's plug-ins has changed,
and read otherwise. Nothing here loads a numerical library, so that a dry run is quick.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from dpsco_bench.cli.outlined import Outlined, read_outline, shared, state
from dpsco_bench.cli.workflow_settings import check_config, check_writable, config_overrides, one_line
from dpsco_bench.errors import InputError, nearest
from dpsco_bench.execution.layout import Layout
from dpsco_bench.plain import Plain

__all__ = ["Flow", "one_line", "set_environment"]
PREFIX = "leaderboard."
PREDICTED: dict[str, dict[str, float]] = {}
"""Rule -> job -> predicted seconds, of the profile that this process runs."""
START_SECONDS, CLAIM_SECONDS = 1.5, 3.0
"""What a job takes besides its runs: to start, and to judge and draw a claim too."""


def set_environment(folder: str) -> None:
    """Have jobs find the package in a folder, wherever results go, and run one thread each.

    Processes are the workflow's; a BLAS that starts threads of its own only slows the jobs beside it.
    """
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))
    for name in ("OPENBLAS", "OMP", "MKL", "NUMBA"):
        os.environ[f"{name}_NUM_THREADS"] = "1"


class Flow:
    """The outline of a profile, with the paths and words that the rules need.

    Raises InputError for a bad configuration, or an unknown claim among the targets. Raises ResultsInUse if the outline
    is stale while another run works on the same results.

    Parameters
    ----------
    config : mapping, Snakemake's ``config``
    arguments : sequence of str, of the command line: in a target ``claims/...`` among them ``_`` may stand for ``.``
    main : bool, whether this is the process that the user started; jobs on a cluster take the outline as it is
    """

    def __init__(self, config: Plain, arguments: Sequence[str], main: bool = True) -> None:
        if main and not Path(".snakemake").is_dir():  # Snakemake makes it before any rule
            check_writable(Path())
        checked = check_config(config)
        self.profile: str = checked["profile"]
        self.files = Layout(self.profile)
        known = read_outline(self.files.outline)
        if known is None or (main and known.made_from != state(checked, known.watched)):
            from dpsco_bench.cli.outline import make_outline

            known = make_outline(self.files, checked, config_overrides(checked))
        self.outline = known
        self.options = f"--profile {self.profile}" + "".join(
            f" --plugin {shlex.quote(file)}" for file in checked.get("plugins", ())
        )
        self.targets = dict(self._targets(arguments))
        PREDICTED.update(self._predicted())

    def __getitem__(self, id: str) -> Outlined:
        """A claim or leaderboard of the outline."""
        known = self.outline
        return known.boards[id] if id in known.boards else known.claims[id]

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
        yield from ((f"claims/{id}", (claim.title, self.made([id]))) for id, claim in claims.items())
        for id, board in boards.items():
            yield f"leaderboards/{id.removeprefix(PREFIX)}", (board.title, self.made([id]))
        for word in (argument for argument in arguments if argument.startswith("claims/")):
            text = word.removeprefix("claims/")
            if text not in claims and text not in papers:
                id = self._find(text)
                yield word, (claims[id].title, self.made([id]))

    def _find(self, text: str) -> str:
        """The claim of a target: ``_`` may stand for ``.``, and ``/`` for the first dot."""
        wanted = text.replace("/", ".", 1).replace("_", ".")
        for id in self.outline.claims:
            if id.replace("_", ".") == wanted:
                return id
        allowed = nearest(text, self.outline.claims, "dpsco list claims")
        raise InputError("claim", text, allowed, f"profile {self.profile}")

    @property
    def verdicts(self) -> list[Path]:
        """Verdict files of all claims."""
        return [self.files.verdicts(id) for id in self.outline.claims]

    def made(self, ids: Iterable[str]) -> list[Path]:
        """Verdicts or standings, and figures, of claims or leaderboards."""
        ids = list(ids)
        verdicts = [self.files.standings(id) if id in self.outline.boards else self.files.verdicts(id) for id in ids]
        return [*verdicts, *(self.files.figure(id) for id in ids)]

    @property
    def chapters(self) -> list[Path]:
        """Figures of papers that belong to no claim."""
        return [self.files.figure(name) for name in self.outline.chapters]

    @property
    def recorded(self) -> list[Path]:
        """The recorded verdicts of this profile, if there are any."""
        return [
            path for folder in shared("workflows") if (path := folder / "recorded" / f"{self.profile}.json").is_file()
        ]

    def measured(self, wildcards: Any) -> list[Path]:
        """What jobs of their own leave of a claim or leaderboard."""
        (id,) = wildcards
        timed = [self.files.timed(id)] if self[id].timed else []
        return [*(self.files.part(id, part) for part in self[id].parts), *timed]

    def paper(self, wildcards: Any) -> str:
        """Category of a figure in Snakemake's report."""
        return str(wildcards.claim).partition(".")[0]

    def labels(self, wildcards: Any) -> dict[str, str]:
        """Columns of a figure in Snakemake's report."""
        return {"claim": wildcards.claim, "title": self[wildcards.claim].title}

    def _predicted(self) -> dict[str, dict[str, float]]:
        """Rule -> job -> predicted seconds, for the time left."""
        claims, boards = self.outline.claims, self.outline.boards
        parts = {
            f"{id}.{part}": spent + START_SECONDS
            for id, one in {**claims, **boards}.items()
            for part, spent in one.seconds.items()
            if part
        }
        return {
            "claim": {id: one.seconds[""] + CLAIM_SECONDS for id, one in claims.items()},
            "rank": {id: one.seconds[""] + CLAIM_SECONDS for id, one in boards.items()},
            "part": parts,
        }

    def start(self) -> None:
        """Check that everything can be written, and take the results for this run; the lock goes with the process."""
        from dpsco_bench.execution.lock import take

        for folder in (self.files.results, self.files.results.parent / "store", self.files.figures):
            check_writable(folder)
        self._lock = take(self.files.lock)  # collected, it would be released
