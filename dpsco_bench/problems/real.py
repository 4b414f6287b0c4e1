"""Logistic regression on real data, and on records drawn like Covertype's own; a part of some sets is held out.

Sets with held-out records divide each row by its own norm if that is above 1, and scale numbers by ranges that do not
come from the sample. So a record's features depend on no other record, and sensitivities hold for all neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.datasets import covertype, distribution
from dpsco_bench.datasets.covertype import COLUMNS, CONTINUOUS, HIGHEST, LOWEST, covertype_synthetic, one_class_rows
from dpsco_bench.datasets.distribution import Table, unit_rows
from dpsco_bench.datasets.store import permutation
from dpsco_bench.errors import DataAbsent, InputError
from dpsco_bench.problems.base import Constants, Data, StreamFactory, option
from dpsco_bench.problems.constants import STRONG
from dpsco_bench.problems.glm import Logistic
from dpsco_bench.problems.minimisers import minimise_glm
from dpsco_bench.problems.registry import problem

Array = Any

LOSSES = {"standard": (0.0, -1.0), "literal": (1.0, 1.0)}


class RealLogistic(Logistic):
    """Logistic losses on rows of norm at most 1 with a fixed number of `columns`, of `files` in the data root.

    ``rows(n)`` loads the first n rows of a fixed order.
    """

    columns: ClassVar[int] = COLUMNS
    files: Any = None
    regularisation: float
    rows: Callable[[int], Table]

    @classmethod
    def unavailable(cls, root: Path) -> str:
        """Say in one line with the fetching command that the data set is absent; empty if it is there."""
        try:
            if cls.files is not None:
                cls.files.find(root)
        except DataAbsent as absent:
            return f"data absent: `{absent.command}`"
        return ""

    def checked_dimension(self, d: int | None) -> int:
        if d not in (None, self.columns):
            raise InputError("d", d, f"{self.columns}, the number of columns")
        return self.columns

    @property
    def own_constants(self) -> Constants:
        """G = 1, L = 1/4 for rows of norm at most 1; the a-priori gap is the loss at the origin."""
        lam, gap = self.regularisation, math.log1p(math.exp(self.offset))
        return Constants(1.0, 0.25, strong_convexity=lam, regularisation=lam, initial_gap=gap)

    def draw(self, n: int, streams: StreamFactory) -> Data:
        """Return the same sample for every data set number: real data are not redrawn."""
        sample = self.rows(n)
        return Data(n, sample.features, sample.labels)


class CovertypeLogistic(RealLogistic):
    """Logistic losses on rows with Covertype's 54 columns, all rows divided by the largest norm."""

    default_dimension = COLUMNS
    loss_name: str = option(
        "standard",
        "standard: log(1 + exp(-y<w, x>)); literal: log(1 + exp(1 + y<w, x>)), as printed",
        choices=tuple(LOSSES),
        key="loss",
    )
    regularisation: float = option(0.01, "lambda of the ridge term", within="[0, inf)")

    def prepare(self) -> None:
        self.offset, self.sign = LOSSES[self.loss_name]
        if self.regularisation > 0:
            self.traits = Logistic.traits | STRONG

    def optimal_risk(self, data: Data) -> float:
        """Minimum, or without a ridge the infimum: columns with one class only are driven to infinity."""
        if self.constants.regularisation > 0:
            return super().optimal_risk(data)
        kept = ~one_class_rows(data.features, data.labels)
        rest = Data(int(kept.sum()), data.features[kept], data.labels[kept])
        return minimise_glm(self, rest).value * rest.n / data.n


@problem
class Covertype(CovertypeLogistic):
    """The real data set."""

    name = "covertype"
    summary = "logistic loss on the real Covertype data (class 2 against the rest)"
    source = "J. Blackard 1998, Covertype, UCI Machine Learning Repository; Wang, Ye, Xu 2017, Appendix A"
    needs_data_root = True
    files, records = covertype, covertype.ROWS
    root: str = option("data", "folder of data sets")

    def rows(self, n: int) -> Table:
        """Read the first ``n`` rows of the fixed permutation. Raises DataAbsent with the command that gets them."""
        return covertype.covertype(n, Path(self.root))


@problem
class CovertypeSynthetic(CovertypeLogistic):
    """Same columns, structure and preprocessing as Covertype, synthetic values."""

    name = "covertype_synthetic"
    summary = "SYNTHETIC stand-in with Covertype's columns"
    source = "synthetic; see the data set module"

    def rows(self, n: int) -> Table:
        """``n`` synthetic rows, the same in every run."""
        return covertype_synthetic(n)


class HeldOutLogistic(RealLogistic):
    """Logistic loss with a ridge on the first ``n`` records of a fixed random order; the last ones are held out.

    The data set has `shuffled` records in a random order, and those that follow in its own.
    """

    needs_data_root = True
    traits = Logistic.traits | STRONG
    regularisation: float = option(0.01, "lambda of the ridge term", within="(0, inf)")
    root: str = option("data", "folder of data sets")
    shuffled: ClassVar[int]

    @classmethod
    def read(cls, root: Path) -> Table:
        """Read all records, the held-out ones last."""
        return _ordered(cls.files.load(root), cls.name, cls.shuffled)

    @property
    def table(self) -> Table:
        """All records, kept from one cell to the next."""
        return _table(type(self).read, Path(self.root))

    def rows(self, n: int) -> Table:
        return Table(self.table.features[:n], self.table.labels[:n])

    def minimiser(self, data: Data) -> np.ndarray:
        return minimise_glm(self, data).point

    def beside(self, x: np.ndarray, data: Data) -> dict[str, np.ndarray]:
        features, labels = self.table.features[self.records :], self.table.labels[self.records :]
        return self.on_records(x, Data(len(labels), features, labels))


@problem
class CovertypeHeldOut(HeldOutLogistic):
    """Covertype, 400,000 records in use and 20,000 held out."""

    name = "covertype_held_out"
    summary = "logistic loss with a ridge on the real Covertype data, 20,000 records held out"
    source = "J. Blackard 1998, Covertype, UCI Machine Learning Repository"
    columns, records, held = COLUMNS, 400_000, 20_000
    files = covertype

    @classmethod
    def read(cls, root: Path) -> Table:
        """Scale measurements to [0, 1] by the ranges of the whole data set."""
        integers, is_class_2 = covertype.load(root)
        order = permutation("covertype/rows", covertype.ROWS)[: cls.records + cls.held]
        features = integers[order].astype(np.float64)
        features[:, :CONTINUOUS] = (features[:, :CONTINUOUS] - LOWEST) / (HIGHEST - LOWEST)
        return Table(unit_rows(features), np.where(is_class_2[order] == 1, 1.0, -1.0))


@problem
class AdultLogistic(HeldOutLogistic):
    """Adult: the records of its test file are held out."""

    name = "adult"
    summary = "logistic loss with a ridge on the real Adult data (123 binary columns), its test file held out"
    source = "B. Becker, R. Kohavi 1996, Adult, UCI Machine Learning Repository"
    columns, records = distribution.ADULT_COLUMNS, distribution.TRAINING
    files, shuffled = distribution.ADULT, distribution.TRAINING


@problem
class KddCup(HeldOutLogistic):
    """KDD Cup 99: attacks against normal connections, each distinct record once, 25,586 held out."""

    name = "kddcup99"
    summary = (
        "logistic loss with a ridge on the real KDD Cup 99 data (distinct records of the 10 % file), 25,586 held out"
    )
    source = "KDD Cup 1999 Data, UCI Machine Learning Repository"
    columns, records = distribution.KDD_COLUMNS, 120_000
    files, shuffled = distribution.KDDCUP99, distribution.KDD_ROWS


@lru_cache(maxsize=3)
def _table(read: Callable[[Path], Table], root: Path) -> Table:
    return read(root)


def _ordered(found: Table, name: str, shuffled: int) -> Table:
    """Put so many records in a fixed random order; those that follow in the data set stay last."""
    order = np.append(permutation(f"{name}/rows", shuffled), np.arange(shuffled, len(found.labels)))
    return Table(found.features[order], found.labels[order])
