"""Logistic regression on Covertype, and on records that are drawn like its own."""

from __future__ import annotations

import math
from pathlib import Path

from dpsco_bench.datasets import covertype as data_set
from dpsco_bench.datasets.preprocess import Sample, one_class_columns
from dpsco_bench.datasets.synthetic import covertype_synthetic
from dpsco_bench.errors import DataAbsent, InputError
from dpsco_bench.problems.base import Constants, Data, StreamFactory, Trait, option
from dpsco_bench.problems.glm import Logistic
from dpsco_bench.problems.newton import minimise_glm
from dpsco_bench.problems.registry import problem

COLUMNS = 54
LOSSES = {"standard": (0.0, -1.0), "literal": (1.0, 1.0)}


class CovertypeLogistic(Logistic):
    """Logistic losses on rows with Covertype's 54 columns, all rows divided by the largest norm."""

    default_dimension = COLUMNS
    loss_name: str = option(
        "standard",
        "standard: log(1 + exp(-y<w, x>)); literal: log(1 + exp(1 + y<w, x>)), as printed",
        choices=tuple(LOSSES),
        key="loss",
    )
    regularisation: float = option(0.01, "lambda of the ridge term", within="[0, inf)")

    def checked_dimension(self, d: int | None) -> int:
        if d not in (None, COLUMNS):
            raise InputError("d", d, f"{COLUMNS}, the number of columns")
        return COLUMNS

    def prepare(self) -> None:
        """Set up the loss, and the part that a ridge adds."""
        self.offset, self.sign = LOSSES[self.loss_name]
        if self.regularisation > 0:
            self.traits = Logistic.traits | {Trait.STRONGLY_CONVEX, Trait.POLYAK_LOJASIEWICZ}

    @property
    def own_constants(self) -> Constants:
        """G = 1, L = 1/4 for rows of norm at most 1; the a-priori gap is the loss at the origin."""
        lam = self.regularisation
        gap = math.log1p(math.exp(self.offset))
        return Constants(1.0, 0.25, strong_convexity=lam, regularisation=lam, initial_gap=gap)

    def rows(self, n: int) -> Sample:
        """Read the preprocessed rows."""
        raise InputError("problem", self.name, "a problem that loads rows")

    def draw(self, n: int, streams: StreamFactory) -> Data:
        """Return the same sample for every data set number: real data are not redrawn."""
        sample = self.rows(n)
        return Data(n, sample.features, sample.labels)

    def optimal_risk(self, data: Data) -> float:
        """Minimum, or without a ridge the infimum: columns with one class only are driven to infinity."""
        if self.constants.regularisation > 0:
            return super().optimal_risk(data)
        kept = ~one_class_columns(data.features, data.labels).rows
        rest = Data(int(kept.sum()), data.features[kept], data.labels[kept])
        return minimise_glm(self, rest).value * rest.n / data.n


@problem
class Covertype(CovertypeLogistic):
    """The real data set."""

    name = "covertype"
    summary = "logistic loss on the real Covertype data (class 2 against the rest)"
    source = "J. Blackard 1998, Covertype, UCI Machine Learning Repository; Wang, Ye, Xu 2017, Appendix A"
    needs_data_root = True
    root: str = option("data", "folder of data sets")

    @classmethod
    def unavailable(cls, root: Path) -> str:
        """Say in one line with the fetching command that no source file is found; empty if one is."""
        try:
            data_set.find(root)
        except DataAbsent as absent:
            return f"data absent: `{absent.command}`"
        return ""

    def check_records(self, n: int) -> None:
        """Refuse more records than there are, whether the data are here or not."""
        if n > data_set.ROWS:
            raise InputError("n", n, f"an integer from 1 to {data_set.ROWS}, the number of records of {self.name}")

    def rows(self, n: int) -> Sample:
        """Read the first ``n`` rows of the fixed permutation. Raises DataAbsent with the command that gets them."""
        return data_set.covertype(n, root=Path(self.root))


@problem
class CovertypeSynthetic(CovertypeLogistic):
    """Same columns, structure and preprocessing as Covertype, synthetic values."""

    name = "covertype_synthetic"
    summary = "SYNTHETIC stand-in with Covertype's columns"
    source = "synthetic; see the data set module"

    def rows(self, n: int) -> Sample:
        """``n`` synthetic rows, the same in every run."""
        return covertype_synthetic(n, seed=0)
