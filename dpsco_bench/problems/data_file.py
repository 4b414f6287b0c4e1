"""A linear model on a user's own file: which records are used and how; loss, domain and ridge of the user's choice.

Beside it synthetic records of the shape of such a file, and problems on them by the names that people use.
"""

from __future__ import annotations

import math
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.datasets import tables
from dpsco_bench.datasets.store import permutation, sha256_of_file
from dpsco_bench.datasets.tables import check_square
from dpsco_bench.datasets.texts import is_plain, shown_entry
from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.geometry.ball import feasible_set
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.geometry.polytope import Simplex
from dpsco_bench.plain import Options
from dpsco_bench.problems.base import Constants, Data, StreamFactory, Trait, option
from dpsco_bench.problems.constants import STRONG
from dpsco_bench.problems.data import axes_first
from dpsco_bench.problems.glm import LOSSES, WITH_WIDTH, GeneralisedLinear, MarginLoss
from dpsco_bench.problems.linear import ball_name
from dpsco_bench.problems.minimisers import minimise_composite, minimise_glm_in_ball
from dpsco_bench.problems.registry import problem

Array = Any
DOMAINS = ("none", "l2_ball", "l1_ball", "lp_ball", "simplex")
RIDGE = 0.01
SPREAD = 2.0
"""Standard deviation of the margins of the truth, from which classes are drawn with the logistic law."""
SIGNAL, NOISE = 0.5, 0.25
"""Standard deviations of the truth and of its noise in numbers, in units of ``label_clip``."""
SPARSE = ("l1_ball", "simplex")
"""Domains on which the truth is one coordinate; on all others every coordinate counts alike."""
OWN = "; one's own records: problem=data_file loss="


@problem
class DataFile(GeneralisedLinear):
    """Records of a file, a loss of the margin, a domain about the origin, a ridge.

    With ``clip`` (for losses of numbers also ``label_clip``) the constants do not depend on the data. A bound that is
    computed from the data (one of them missing, or ``scale``) is not private, nor is a coding of labels without
    ``positive``: constants are nominal, and every row of a result says so.
    """

    name = "data_file"
    summary = "one's own CSV, TSV, Parquet or LIBSVM file; loss, domain and ridge by key"
    source = "the user's file"
    twin = "data_twin"
    needs_data_root = True
    file_options: ClassVar[tuple[str, ...]] = ("path",)
    loss_name: str = option(
        "logistic",
        "squared (also least_squares): half the squared residual, whose G is nominal on the whole space; huber and "
        "smoothed_hinge with width; linear: -y<a, x>",
        choices=tuple(LOSSES),
        key="loss",
    )
    width: float = option(1.0, "of the quadratic part of huber and smoothed_hinge", within="(0, inf)")
    domain: str = option(
        "none", "none: the whole space; lp_ball with p; simplex: the sum of all is radius", choices=DOMAINS
    )
    radius: float | None = option(None, "of the domain, in its own norm; null: 1", within="(0, inf)")
    p: float | None = option(
        None, "of lp_ball, and there and on none of the norm whose dual measures rows; null: 2", within="[1, inf]"
    )
    regularisation: float | None = option(
        None, "lambda of the ridge term, on all coefficients; null: 0.01 on the whole space, else 0", within="[0, inf)"
    )
    path: str | None = option(
        None,
        "CSV, TSV, Parquet or LIBSVM file, also as .gz, .bz2, .xz or .zst; relative to the working directory, or else "
        "to root; null: constants, but no data",
    )
    label: str | int | None = option(
        None, "of the labels; left out for LIBSVM", words="the name or the position of a column"
    )
    positive: str | float | int | None = option(
        None,
        "label value that becomes +1, the other one -1 (losses of classes); null: the larger of two numbers, "
        "which is not private",
    )
    one_against_rest: bool = option(
        False, "whether labels may have more than two values, of which all but positive become -1"
    )
    drop: str | int | None = option(None, "columns that are left out, by name or position, several joined by +")
    ids: bool = option(False, "whether columns that look like record numbers are features")
    split: float = option(
        0.0, "share of the records that are held out, the last ones in the random order", within="[0, 1)"
    )
    clip: float | None = option(
        None,
        "rows with a larger norm (Euclidean, with p the dual one) are scaled down to this one; null: not clipped, "
        "constants from the data",
        within="(0, inf)",
    )
    scale: str = option(
        "none",
        "max_row_norm: before clipping, all rows are divided by the largest norm among them (not private)",
        choices=("none", "max_row_norm"),
    )
    label_clip: float | None = option(
        None,
        "labels that are numbers are clipped to [-label_clip, label_clip]; null: not clipped, bound from the data",
        within="(0, inf)",
    )
    intercept: bool = option(False, "append a feature that is 1 everywhere (after clipping)")
    header: bool | None = option(
        None,
        "whether the first line names the columns; null: if its fields do not fit their columns",
        words="true, false or null, and for a CSV only",
    )
    format: str | None = option(None, "of the file; null: as its name ends", choices=("csv", "parquet", "libsvm"))
    sha256: str | None = option(None, "what the file must contain, filled in by plans; null: whatever it does")
    root: str = option("data", "folder of data sets")

    @cached_property
    def _file(self) -> Path | None:
        return None if self.path is None else tables.find(self.path, Path(self.root))

    def checked_dimension(self, d: int | None) -> int:
        if self._file is None:
            return super().checked_dimension(d)
        columns = self.table.features.shape[1] + self.intercept
        if d not in (None, columns):
            raise InputError("d", d, f"{columns}, the number of features of {self.table_name}")
        return columns

    @cached_property
    def _digest(self) -> str:
        assert self._file is not None
        return sha256_of_file(self._file)

    @cached_property
    def table(self) -> tables.Records:
        """Content of the file. Raises InputError without one that can be used and has the content it must have."""
        if self._file is None:
            raise InputError("path", "missing", "given: a CSV, TSV, Parquet or LIBSVM file")
        if self.sha256 not in (None, self._digest):
            raise InputError(f"sha256 of {self.table_name}", self._digest, f"{self.sha256}, as planned")
        dropped = () if self.drop in (None, "") else tuple(str(self.drop).split("+"))
        return tables.read(self._file, self.label, self.header, self.format, dropped, self.ids)

    @property
    def table_name(self) -> str:
        """Name of the file without its place."""
        return self._file.name if self._file is not None else ""

    @property
    def records(self) -> int | None:
        """Number of records of the file that are not held out."""
        return None if self._file is None else len(self.table.labels) - self.held

    @property
    def held(self) -> int:
        """Number of records that are held out. Raises InputError where none is left."""
        total = len(self.table.labels)
        found = round(self.split * total)
        if self.split > 0 and not 0 < found < total:
            raise InputError("split", self.split, f"a share of the {total} records that leaves some on either side")
        return found

    @property
    def pins(self) -> Options:
        self.table  # noqa: B018 - there must be one
        return {"sha256": self._digest}

    @property
    def row_bound(self) -> float | None:
        """Bound on the norms of the rows, the intercept not counted; None if only the data know one."""
        return self.clip if self.scale == "none" else min(1.0, self.clip or 1.0)

    @property
    def row_exponent(self) -> float:
        """Q of the norm that measures rows, the dual of l_p."""
        return dual_exponent(self.p or 2.0)

    @property
    def unbounded(self) -> bool:
        """Tell whether the constants need a bound that only the data know."""
        return self.row_bound is None or (not self.classes and self.label_clip is None)

    @property
    def coded(self) -> bool:
        """Tell whether the data decide which label becomes +1, so that the label of one record may turn all others."""
        return self.classes and self._file is not None and self.positive is None

    @property
    def labels(self) -> np.ndarray:
        """Labels of all records as the loss needs them: +1 and -1, or numbers, clipped where that was asked for."""
        table = self.table
        if self.classes:
            return np.where(table.labels == self._positive_value(table), 1.0, -1.0)
        if self.positive is not None:
            raise InputError("positive", self.positive, "left out for a loss of numbers")
        if self.one_against_rest:
            raise InputError("one_against_rest", True, "left out for a loss of numbers")
        if table.labels.dtype.kind == "U":
            words = [i for i, text in enumerate(table.labels) if not is_plain(str(text))]
            row = words[0] if words else 0
            shown, allowed = f"{shown_entry(table.labels[row])} in record {row + 1}", "a number in every record"
            allowed += ", and not as text" * (not words)
            raise InputError(f"label {table.label} of {self.table_name}", shown, allowed)
        return table.labels if self.label_clip is None else np.clip(table.labels, -self.label_clip, self.label_clip)

    def _positive_value(self, table: tables.Records) -> Any:
        values, first = np.unique(table.labels, return_index=True)
        text = values.dtype.kind == "U"
        many = not text and len(values) > 8
        some = [f"{value:.4g}" for value in values[:3]] if many else map(shown_entry, values[:8])
        shown = ", ".join(some) + (", ..." if len(values) > 8 else "")
        if len(values) < 2:
            raise InputError(f"label {table.label} of {self.table_name}", shown, "a column with at least two values")
        if self.one_against_rest and self.positive is None:
            raise InputError("positive", "missing", f"given with one_against_rest, one of the label's values {shown}")
        if self.positive is None:
            if many:
                found = f"label {table.label} of {self.table_name} has {len(values)} different numbers, {shown}"
                raise DpscoError(f"{found}: give loss=least_squares label_clip=VALUE, or positive= for two classes")
            if text or len(values) > 2:
                row = int(np.sort(first)[2]) if len(values) > 2 else -1
                odd = shown_entry(table.labels[row])
                third = f"; column {table.label} has a third, {odd}, in record {row + 1}" * (row >= 0)
                raise InputError("positive", "missing", f"given, one of the label's values {shown}{third}")
            return values[-1]
        wanted: Any = None
        with suppress(ValueError):
            wanted = str(self.positive) if text else float(self.positive)
        if wanted is None or wanted not in values:
            raise InputError("positive", self.positive, f"one of the label's values {shown}")
        if len(values) > 2 and not self.one_against_rest:
            row = int(np.sort(first[values != wanted])[1])
            odd, one = shown_entry(table.labels[row]), shown_entry(wanted)
            allowed = f"{one} or one other value; of {len(values)} all others are -1 with one_against_rest=true"
            raise InputError(f"label {table.label} of {self.table_name}", f"{odd} in record {row + 1}", allowed)
        return wanted

    def draw(self, n: int, streams: StreamFactory) -> Data:
        """Return the first ``n`` records in a fixed random order; the same ones for every data set number."""
        self.check_records(n)
        check_square(self.dimension, self.table_name)  # of the minimum, which every risk is compared with
        chosen = self._order[:n]
        rows = self.table.features[chosen]
        return Data(n, self._prepared(rows, self._divisor(rows)), self.labels[chosen])

    def held_out(self, n: int) -> Data | None:
        """Return the held-out records, treated as the ``n`` that are used; None where there are none."""
        if self._file is None or not self.held:
            return None
        chosen, used = self._order[len(self._order) - self.held :], self.table.features[self._order[:n]]
        rows = self._prepared(self.table.features[chosen], self._divisor(used))
        return Data(len(chosen), rows, self.labels[chosen])

    @property
    def _order(self) -> np.ndarray:
        return permutation("data_file/rows", len(self.table.labels))

    def _divisor(self, rows: np.ndarray) -> float:
        """Largest norm of the rows where they are divided by it, else 1."""
        return 1.0 if self.scale == "none" else float(self.row_norms(rows).max()) or 1.0

    def _prepared(self, rows: np.ndarray, divisor: float) -> np.ndarray:
        if self.scale != "none":
            rows = rows / divisor
        if self.clip is not None:
            rows = rows * (self.clip / np.maximum(self.row_norms(rows), self.clip))[:, None]
        return np.column_stack([rows, np.ones(len(rows))]) if self.intercept else rows

    def row_norms(self, rows: np.ndarray) -> np.ndarray:
        """Norms ``(n,)`` of rows ``(n, k)`` in the dual of l_p."""
        return np.linalg.norm(rows, ord=self.row_exponent, axis=1)

    def with_intercept(self, row_bound: float) -> float:
        """Bound on the norms of whole rows, for a bound on those without the intercept."""
        if not self.intercept:
            return row_bound
        q = self.row_exponent
        return max(row_bound, 1.0) if math.isinf(q) else float(np.linalg.norm([row_bound, 1.0], ord=q))

    def domain_records(self, count: int, seed: int) -> Data:
        rng = np.random.default_rng(seed)
        return self._extreme(axes_first(rng.standard_normal((count, self.dimension - self.intercept))))

    def records_at(self, points: np.ndarray) -> Data | None:
        points = points[points.any(axis=1)][:, : self.dimension - self.intercept]
        points = points[points.any(axis=1)]
        if not len(points):
            return None
        q = self.row_exponent
        aligned = np.sign(points) if math.isinf(q) else np.sign(points) * np.abs(points) ** (1.0 / max(q - 1.0, 0.1))
        return self._extreme(np.repeat(aligned, 2, axis=0))

    def _extreme(self, rows: np.ndarray) -> Data:
        rows = rows * ((self.row_bound or 1.0) / self.row_norms(rows))[:, None]
        if self.intercept:
            rows = np.column_stack([rows, np.ones(len(rows))])
        largest = 1.0 if self.classes else self.label_clip or 1.0
        return Data(len(rows), rows, largest * np.where(np.arange(len(rows)) % 2 == 0, 1.0, -1.0))

    def prepare(self) -> None:
        if self.label_clip is not None and self.classes:
            allowed = f"left out for loss {self.loss_name}, whose labels are +1 and -1"
            raise InputError("label_clip", self.label_clip, allowed)
        if (self.domain == "lp_ball") != (self.p is not None) and self.domain != "none":
            raise InputError("p", self.p, "given for domain lp_ball, on none if one likes, and nowhere else")
        if self.radius is not None and self.domain == "none":
            raise InputError("radius", self.radius, "left out without a domain")
        if self.margin.steepest == 1.0 and not self.margin.smooth and self.domain == "none" and self.ridge == 0:
            allowed = "> 0 for loss linear on the whole space, where it has no minimum else"
            raise InputError("regularisation", 0, allowed)
        if self._file is not None:
            self.labels  # noqa: B018 - refused now rather than when the data are drawn
            self.held  # noqa: B018
        traits = {Trait.CONVEX, Trait.LIPSCHITZ, Trait.GENERALISED_LINEAR}
        traits |= {Trait.SMOOTH} if self.margin.smooth else {Trait.LINEAR_LOSS}
        traits |= {Trait.TWICE_DIFFERENTIABLE} if self.margin.twice else set()
        self.traits = frozenset(traits | (STRONG if self.ridge > 0 else set()))
        self.data_dependent_constants = self._file is not None and self.unbounded

    @cached_property
    def margin(self) -> MarginLoss:
        """Loss of the margin."""
        if self.width != 1.0 and self.loss_name not in WITH_WIDTH:
            raise InputError("width", self.width, "left out for losses other than " + ", ".join(WITH_WIDTH))
        return LOSSES[self.loss_name](self.width)

    @property
    def classes(self) -> bool:
        """Tell whether labels become +1 and -1; else constants depend on a bound of the labels."""
        return self.margin.classes

    @property
    def ridge(self) -> float:
        """Lambda in force."""
        if self.regularisation is not None:
            return self.regularisation
        return RIDGE if self.domain == "none" else 0.0

    @property
    def reach(self) -> float:
        """Largest l_p norm of a point of the domain, p as in `row_exponent`; 0 for the whole space."""
        return 0.0 if self.domain == "none" else self.radius or 1.0

    @cached_property
    def feasible_set(self) -> Any:
        if self.domain == "simplex":
            return Simplex(self.dimension, self.reach)
        return None if self.domain == "none" else feasible_set(self._domain_name, self.reach)

    @property
    def _domain_name(self) -> str:
        names = {"none": "space", "simplex": f"polytope:{self.dimension}"}
        if self.domain == "lp_ball":
            return ball_name(self.p or 2.0)
        return names.get(self.domain, self.domain)

    @property
    def start(self) -> np.ndarray:
        return self.feasible_set.centre if self.domain == "simplex" else np.zeros(self.dimension)

    @property
    def warnings(self) -> tuple[str, ...]:
        found = []
        if self.coded:
            found.append("labels coded from the data: not private; positive= names the value that becomes +1")
        if self.one_against_rest:
            found.append(f"one label against the rest: all values but {self.positive} are -1")
        if self.scale != "none":
            found.append("rows divided by their largest norm, computed from the data: not private")
        elif self.row_bound is None:
            found.append("norms of the rows bounded by the largest one, computed from the data: not private")
        if not self.classes and self.label_clip is None:
            found.append("labels bounded by the largest one, computed from the data: not private")
        if self.margin.steepest is None and self.domain == "none":
            found.append("a squared loss has no Lipschitz constant on the whole space: G is nominal")
        return tuple(found)

    @property
    def own_constants(self) -> Constants:
        """Constants for rows of norm at most A and labels in [-B, B] on a domain whose points have norm at most R.

        G = A sup|l'|, where for squares ``|l'| <= A R + B``, and L = A^2 sup l''; both in l_p, gradients in its dual.
        Squares have no G on the whole space; what is declared holds at the start. The a-priori gap is the largest loss
        there, of linear losses 2 G R or G^2/(2 lambda). Deviations of a gradient from its mean are at most G in l2
        (their root mean square) and 2 G in other norms.
        """
        free = self.margin.steepest is None and self.domain == "none"
        known = not (self.scale != "none" or self.coded or self.unbounded or free)
        return self._constants(self.row_bound or 1.0, self.label_clip or 1.0, "global" if known else "nominal")

    def _constants(self, row_bound: float, label_bound: float, status: str) -> Constants:
        a, lam, loss = self.with_intercept(row_bound), self.ridge, self.margin
        steepest = loss.steepest or a * self.reach + label_bound
        G, away = a * steepest, float(np.linalg.norm(self.start))
        gap = loss.largest_at_zero(label_bound) + G * away + 0.5 * lam * away**2
        if not loss.smooth:
            gap = G * (2.0 * self.reach or 0.5 * G / lam) + 0.5 * lam * away**2
        distance = self.reach  # largest one of a point of the domain from the start; 0 for the whole space
        if self.domain not in ("none", "simplex"):
            distance = 0.5 * float(self.feasible_set.euclidean_diameter(self.dimension))
        return Constants(
            G,
            a * a * loss.curvature_bound,
            strong_convexity=lam,
            regularisation=lam,
            initial_gap=gap,
            initial_distance=distance,
            diameter=2.0 * self.reach,
            domain=self._domain_name,
            norm=self.p or 2.0,
            gradient_deviation=G if (self.p or 2.0) == 2.0 else 2.0 * G,
            status=status,
        )

    def constants_of(self, data: Data) -> Constants:
        """Compute the constants from the largest norm and label of these rows, where no clipping bounds them."""
        if not self.data_dependent_constants:
            return self.constants
        rows = data.features[:, : self.dimension - self.intercept]
        largest = self.row_bound or float(self.row_norms(rows).max())
        if self.with_intercept(largest) == 0:
            raise InputError(f"features of {self.table_name}", "all 0", "numbers of which some are not 0")
        label = self.label_clip or float(np.abs(data.labels).max()) or 1.0
        return self._constants(largest, label, "nominal").override(**self._overrides)

    @property
    def twin_options(self) -> Options:
        if self.unbounded:
            key = "clip" if self.row_bound is None else "label_clip"
            told = "given for a twin" if self._file else "given, or path=FILE"
            raise InputError(key, "missing", f"{told}: only the data know the bound without it")
        return {"clip": float(self.row_bound or 1.0)}

    def optimal_risk(self, data: Data) -> float:
        return float(self.risk(self.minimiser(data)[None], data)[0])

    def minimiser(self, data: Data) -> np.ndarray:
        """Find a minimiser ``(d,)`` over the domain: by Newton's method, or accelerated steps to a certificate."""
        round_domain = self.domain in ("none", "l2_ball") or self._domain_name == "l2_ball"
        if round_domain and (self.ridge > 0 or (self.margin.twice and self.margin.smooth)):
            return minimise_glm_in_ball(self, data, self.reach or math.inf).point
        return minimise_composite(self, data)

    def beside(self, x: np.ndarray, data: Data) -> dict[str, np.ndarray]:
        """Loss without the ridge and, of classes, accuracy on held-out records; a margin of 0 is half right."""
        rows = self.held_out(data.n)
        if rows is None:
            return {}
        found = self.on_records(x, rows)
        return found if self.classes else {"held_out_loss": found["held_out_loss"]}


@problem
class DataTwin(DataFile):
    """Rows of norm ``clip`` in random directions, labels of a linear truth with noise; no file is read.

    Losses, domains and constants are those of `DataFile`.
    """

    name = "data_twin"
    summary = "SYNTHETIC records of the shape of one's own file: its n, d, clip, loss and domain"
    source = "synthetic; the shape is the user's"
    twin = ""
    needs_data_root = False
    file_options = ()
    path = label = positive = drop = header = format = sha256 = None
    ids, split, scale, root = False, 0.0, "none", ""
    clip: float = option(1.0, "norm of all rows (Euclidean, with p the dual one)", within="(0, inf)")

    def prepare(self) -> None:
        if not self.classes and self.label_clip is None:
            self.label_clip = 1.0
        super().prepare()

    @property
    def pins(self) -> Options:
        return {}

    def draw(self, n: int, streams: StreamFactory) -> Data:
        k = self.dimension - self.intercept
        rows = streams("features").normal(0, 1, 0, n, k)[0].astype(np.float64)
        rows = self._prepared(rows * (self.clip / self.row_norms(rows))[:, None], 1.0)
        margins = rows[:, :k] @ (np.ones(k) if self.domain not in SPARSE else np.eye(k)[0])
        margins *= SPREAD / (margins.std() or 1.0)
        if self.classes:
            chance = 1.0 / (1.0 + np.exp(-margins))
            return Data(n, rows, np.where(streams("labels").uniform(0, 1, 0, n, 1)[0, :, 0] < chance, 1.0, -1.0))
        largest = self.label_clip or 1.0
        noise = streams("labels").normal(0, 1, 0, n, 1)[0, :, 0].astype(np.float64)
        numbers = largest * (SIGNAL / SPREAD * margins + NOISE * noise)
        return Data(n, rows, np.clip(numbers, -largest, largest))


class Preset(DataTwin):
    """A loss by name on the records of `DataTwin`."""

    source = "synthetic; the loss is named"
    domain: str = option("l2_ball", "as of data_file", choices=DOMAINS)


@problem
class LogisticPreset(Preset):
    """Logistic regression."""

    name, loss_name = "logistic", "logistic"
    summary = f"logistic regression on SYNTHETIC records{OWN}logistic"


@problem
class LeastSquaresPreset(Preset):
    """Linear regression by least squares, labels clipped at 1."""

    name, loss_name = "least_squares", "squared"
    summary = f"linear regression by least squares on SYNTHETIC records{OWN}least_squares"


@problem
class HuberPreset(Preset):
    """Robust linear regression, labels clipped at 1."""

    name, loss_name = "huber", "huber"
    summary = f"robust linear regression on SYNTHETIC records{OWN}huber"


@problem
class HingePreset(Preset):
    """A support vector machine, whose hinge is rounded over `width`."""

    name, loss_name = "hinge", "smoothed_hinge"
    summary = f"support vector machine on SYNTHETIC records{OWN}smoothed_hinge"
