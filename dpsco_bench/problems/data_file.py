"""Logistic regression or least squares on a user's own file."""

from __future__ import annotations

import math
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dpsco_bench.datasets import tables
from dpsco_bench.datasets.seeding import permutation
from dpsco_bench.errors import InputError
from dpsco_bench.problems.base import Constants, Data, StreamFactory, Trait, option
from dpsco_bench.problems.forms import SQUARED, RecordForm
from dpsco_bench.problems.glm import Logistic
from dpsco_bench.problems.registry import problem

Array = Any
LOSSES = ("logistic", "least_squares")
SCALES = ("none", "max_row_norm")


@problem
class DataFile(Logistic):
    """Records of a CSV, Parquet or LIBSVM file; a ridge of ``regularisation``; nothing is clipped or scaled unasked.

    With ``clip`` alone (for least squares also ``label_clip``) the constants do not depend on the data. A bound that is
    computed from the data (one of them missing, or ``scale``) is not private: constants are nominal, and every row of a
    result says so.
    """

    name = "data_file"
    summary = "one's own CSV, Parquet or LIBSVM file, logistic or least-squares loss"
    source = "the user's file"
    needs_data_root = True
    file_options = ("path",)
    path: str | None = option(
        None,
        "CSV, Parquet or LIBSVM file; relative to the working directory, or else to root; null: constants, but no data",
    )
    label: str | int | None = option(
        None, "of the labels; left out for LIBSVM", words="the name or the position of a column"
    )
    positive: str | float | int | None = option(
        None, "label value that becomes +1, all others -1 (logistic loss); null: the larger of two numbers"
    )
    loss_name: str = option(
        "logistic", "least_squares: half the squared residual, whose G is nominal always", choices=LOSSES, key="loss"
    )
    regularisation: float = option(0.01, "lambda of the ridge term, on all coefficients", within="[0, inf)")
    clip: float | None = option(
        None,
        "rows with a larger Euclidean norm are scaled down to this one; null: not clipped, constants from the data",
        within="(0, inf)",
    )
    scale: str = option(
        "none",
        "max_row_norm: before clipping, all rows are divided by the largest norm among them (not private)",
        choices=SCALES,
    )
    label_clip: float | None = option(
        None,
        "least squares only: labels are clipped to [-label_clip, label_clip]; null: not clipped, bound from the data",
        within="(0, inf)",
    )
    intercept: bool = option(False, "append a feature that is 1 everywhere (after clipping)")
    header: bool | None = option(
        None,
        "whether the first line names the columns; null: if none of its fields is a number",
        words="true, false or null, and for a CSV only",
    )
    format: str | None = option(None, "of the file; null: as its name ends", choices=("csv", "parquet", "libsvm"))
    sha256: str | None = option(None, "what the file must contain, filled in by plans; null: whatever it does")
    root: str = option("data", "folder of data sets")

    def prepare(self) -> None:
        """What the objective satisfies, and what its constants depend on."""
        if self.label_clip is not None and not self.squared:
            raise InputError("label_clip", self.label_clip, "left out for loss logistic, whose labels are +1 and -1")
        self.traits = Logistic.traits
        if self.regularisation > 0:
            self.traits |= {Trait.STRONGLY_CONVEX, Trait.POLYAK_LOJASIEWICZ}
        unbounded = self.row_bound is None or (self.squared and self.label_clip is None)
        self.data_dependent_constants = self._file is not None and unbounded

    @cached_property
    def _file(self) -> Path | None:
        return None if self.path is None else tables.find(self.path, Path(self.root))

    @property
    def squared(self) -> bool:
        """Whether the loss is that of least squares."""
        return self.loss_name == "least_squares"

    @property
    def scaled(self) -> bool:
        """Whether rows are divided by their largest norm."""
        return self.scale == "max_row_norm"

    def checked_dimension(self, d: int | None) -> int:
        """That of the file, where there is one."""
        if self._file is None:
            return super().checked_dimension(d)
        columns = self.table.features.shape[1] + self.intercept
        if d not in (None, columns):
            raise InputError("d", d, f"{columns}, the number of features of {self.table_name}")
        self.labels  # noqa: B018 - refused now rather than when the data are drawn
        return columns

    @property
    def table(self) -> tables.Records:
        """The file's content.

        Raises InputError without a file, for a file that cannot be used, or one with another content than it must have.
        """
        if self._file is None:
            raise InputError("path", "missing", "given: a CSV, Parquet or LIBSVM file")
        if self.sha256 is not None and tables.digest(self._file) != self.sha256:
            raise InputError(f"sha256 of {self.table_name}", tables.digest(self._file), f"{self.sha256}, as planned")
        return tables.read(self._file, self.label, self.header, self.format)

    @property
    def table_name(self) -> str:
        """The file's name without its place."""
        return self._file.name if self._file is not None else ""

    @property
    def records(self) -> int | None:
        """Number of records of the file."""
        return None if self._file is None else len(self.table.labels)

    @property
    def pins(self) -> dict[str, Any]:
        """The file's digest."""
        self.table  # noqa: B018 - there must be one
        assert self._file is not None
        return {"sha256": tables.digest(self._file)}

    @property
    def row_bound(self) -> float | None:
        """Bound on the norms of the rows, the intercept not counted; None if only the data know one."""
        if self.scaled:
            return min(1.0, self.clip or 1.0)
        return self.clip

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was computed from the data, and what no computation bounds."""
        found = []
        if self.scaled:
            found.append("rows divided by their largest norm, computed from the data: not private")
        elif self.row_bound is None:
            found.append("norms of the rows bounded by the largest one, computed from the data: not private")
        if self.squared and self.label_clip is None:
            found.append("labels bounded by the largest one, computed from the data: not private")
        if self.squared:
            found.append("a squared loss has no Lipschitz constant on the whole space: G is nominal")
        return tuple(found)

    @property
    def own_constants(self) -> Constants:
        """For rows of norm at most R: G = R and L = R^2/4 (logistic); G = R B and L = R^2 with labels in [-B, B].

        Squared losses have no Lipschitz constant; what is declared holds at the starting point. The a-priori gap is the
        largest loss there.
        """
        known = self.row_bound is not None and not self.scaled and not self.squared
        return self._constants(self.row_bound or 1.0, self.label_clip or 1.0, "global" if known else "nominal")

    def _constants(self, row_bound: float, label_bound: float, status: str) -> Constants:
        norm = math.hypot(row_bound, float(self.intercept))
        lipschitz, smoothness, gap = norm, 0.25 * norm**2, math.log(2.0)
        if self.squared:
            lipschitz, smoothness, gap = norm * label_bound, norm**2, 0.5 * label_bound**2
        lam = self.regularisation
        return Constants(lipschitz, smoothness, lam, lam, gap, status=status)

    def constants_of(self, data: Data) -> Constants:
        """With the largest norm of these rows and their largest label, where no clipping bounds them."""
        if not self.data_dependent_constants:
            return self.constants
        largest = self.row_bound or float(_norms(self._without_intercept(data.features)).max())
        if math.hypot(largest, float(self.intercept)) == 0:
            raise InputError(f"features of {self.table_name}", "all 0", "numbers of which some are not 0")
        label = self.label_clip or float(np.abs(data.labels).max()) or 1.0
        return self._constants(largest, label, "nominal").override(**self._overrides)

    @property
    def labels(self) -> np.ndarray:
        """Labels of all records as the loss needs them: +1 and -1, or numbers, clipped where that was asked for."""
        table = self.table
        if self.squared:
            if self.positive is not None:
                raise InputError("positive", self.positive, "left out for loss least_squares")
            if table.labels.dtype.kind == "U":
                raise InputError(f"label {table.label} of {self.table_name}", str(table.labels[0]), "a number")
            return table.labels if self.label_clip is None else np.clip(table.labels, -self.label_clip, self.label_clip)
        return np.where(table.labels == self._positive_value(table), 1.0, -1.0)

    def _positive_value(self, table: tables.Records) -> Any:
        values = np.unique(table.labels)
        shown = ", ".join(str(value) for value in values[:8]) + (", ..." if len(values) > 8 else "")
        if len(values) < 2:
            raise InputError(f"label {table.label} of {self.table_name}", shown, "a column with at least two values")
        text = values.dtype.kind == "U"
        if self.positive is None:
            if text or len(values) > 2:
                raise InputError("positive", "missing", f"given, one of the label's values {shown}")
            return values[-1]
        wanted = str(self.positive) if text else _as_number(self.positive)
        if wanted is None or wanted not in values:
            raise InputError("positive", self.positive, f"one of the label's values {shown}")
        return wanted

    def draw(self, n: int, streams: StreamFactory) -> Data:
        """The first ``n`` records in a fixed random order; the same ones for every data set number."""
        table = self.table
        self.check_records(n)
        chosen = permutation(0, "data_file/rows", len(table.labels))[:n]
        rows = table.features[chosen]
        if self.scaled:
            rows = rows / (_norms(rows).max() or 1.0)
        if self.clip is not None:
            rows = rows * (self.clip / np.maximum(_norms(rows), self.clip))[:, None]
        if self.intercept:
            rows = np.column_stack([rows, np.ones(n)])
        return Data(n, rows, self.labels[chosen])

    def loss(self, margins: Array, labels: Array) -> Array:
        """Logistic, or half the squared residual."""
        return 0.5 * (margins - labels) ** 2 if self.squared else super().loss(margins, labels)

    @property
    def record_form(self) -> RecordForm | None:
        return RecordForm(SQUARED) if self.squared else super().record_form

    def slope(self, margins: Array, labels: Array) -> Array:
        """Derivative of `loss` in the margin."""
        return margins - labels if self.squared else super().slope(margins, labels)

    def curvature(self, margins: Array, labels: Array) -> Array:
        """Second derivative of `loss` in the margin."""
        return 0.0 * margins + 1.0 if self.squared else super().curvature(margins, labels)

    def domain_records(self, count: int, seed: int) -> Data:
        """Rows of the largest norm, axis vectors of both signs first, with either extreme label."""
        rng = np.random.default_rng(seed)
        k = self.dimension - self.intercept
        rows = rng.standard_normal((count, k))
        extreme = np.concatenate([np.eye(k), -np.eye(k)])[: count // 2]
        rows[: len(extreme)] = extreme
        rows *= (self.row_bound or 1.0) / _norms(rows)[:, None]
        if self.intercept:
            rows = np.column_stack([rows, np.ones(count)])
        largest = (self.label_clip or 1.0) if self.squared else 1.0
        return Data(count, rows, largest * np.where(np.arange(count) % 2 == 0, 1.0, -1.0))

    def _without_intercept(self, rows: np.ndarray) -> np.ndarray:
        return rows[:, : self.dimension - self.intercept]


def _as_number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _norms(rows: np.ndarray) -> np.ndarray:
    return np.linalg.norm(rows, axis=1)
