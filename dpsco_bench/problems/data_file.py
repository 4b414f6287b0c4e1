"""A linear model on a user's own file: a loss, a domain and a ridge of the user's choice."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from dpsco_bench.errors import InputError
from dpsco_bench.geometry.ball import feasible_set
from dpsco_bench.geometry.polytope import Simplex
from dpsco_bench.plain import Options
from dpsco_bench.problems.base import Constants, Data, Trait, option
from dpsco_bench.problems.file_records import FileRecords
from dpsco_bench.problems.forms import RecordForm
from dpsco_bench.problems.glm import GeneralisedLinear
from dpsco_bench.problems.margin_losses import LOSSES, WITH_WIDTH, MarginLoss, margin_loss
from dpsco_bench.problems.newton import minimise_glm_in_ball
from dpsco_bench.problems.registry import problem
from dpsco_bench.problems.set_minimum import minimise_composite

Array = Any
DOMAINS = ("none", "l2_ball", "l1_ball", "lp_ball", "simplex")
RIDGE = 0.01


@problem
class DataFile(FileRecords, GeneralisedLinear):
    """Records of a file, a loss of the margin, a domain about the origin, a ridge.

    With ``clip`` (for losses of numbers also ``label_clip``) the constants do not depend on the data. A bound that is
    computed from the data (one of them missing, or ``scale``) is not private, nor is a coding of labels without
    ``positive``: constants are nominal, and every row of a result says so.
    """

    name = "data_file"
    summary = "one's own CSV, TSV, Parquet or LIBSVM file; loss, domain and ridge by key"
    source = "the user's file"
    twin = "data_twin"
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

    def prepare(self) -> None:
        """Set up the traits of the objective, and all that its constants depend on."""
        if self.label_clip is not None and self.classes:
            raise InputError(
                "label_clip", self.label_clip, f"left out for loss {self.loss_name}, whose labels are +1 and -1"
            )
        if (self.domain == "lp_ball") != (self.p is not None) and self.domain != "none":
            raise InputError("p", self.p, "given for domain lp_ball, on none if one likes, and nowhere else")
        if self.radius is not None and self.domain == "none":
            raise InputError("radius", self.radius, "left out without a domain")
        if self.margin.steepest == 1.0 and not self.margin.smooth and self.domain == "none" and self.ridge == 0:
            raise InputError(
                "regularisation", 0, "> 0 for loss linear on the whole space, where it has no minimum else"
            )
        if self._file is not None:
            self.labels  # noqa: B018 - refused now rather than when the data are drawn
            self.held  # noqa: B018
        self.traits = self._traits
        self.data_dependent_constants = self._file is not None and self.unbounded

    @property
    def _traits(self) -> frozenset[Trait]:
        found = {Trait.CONVEX, Trait.LIPSCHITZ, Trait.GENERALISED_LINEAR}
        found |= {Trait.SMOOTH} if self.margin.smooth else {Trait.LINEAR_LOSS}
        found |= {Trait.TWICE_DIFFERENTIABLE} if self.margin.twice else set()
        return frozenset(found | ({Trait.STRONGLY_CONVEX, Trait.POLYAK_LOJASIEWICZ} if self.ridge > 0 else set()))

    @cached_property
    def margin(self) -> MarginLoss:
        """Loss of the margin."""
        if self.width != 1.0 and self.loss_name not in WITH_WIDTH:
            raise InputError("width", self.width, "left out for losses other than " + ", ".join(WITH_WIDTH))
        return margin_loss(self.loss_name, self.width)

    @property
    def classes(self) -> bool:  # type: ignore[override]
        return self.margin.classes

    @property
    def labels_count(self) -> bool:  # type: ignore[override]
        return not self.margin.classes

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
        """Domain; None for the whole space."""
        if self.domain == "simplex":
            return Simplex(self.dimension, self.reach)
        return None if self.domain == "none" else feasible_set(self._domain_name, self.reach)

    @property
    def _domain_name(self) -> str:
        names = {"none": "space", "simplex": f"polytope:{self.dimension}"}
        if self.domain == "lp_ball":
            return "linf_ball" if math.isinf(self.p or 2.0) else feasible_set(f"lp_ball:{self.p}", 1.0).name
        return names.get(self.domain, self.domain)

    @property
    def start(self) -> np.ndarray:
        """Origin; on the simplex its centre."""
        return self.feasible_set.centre if self.domain == "simplex" else np.zeros(self.dimension)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings of everything that was computed from the data, and of everything that no computation bounds."""
        free = self.margin.steepest is None and self.domain == "none"
        return super().warnings + ("a squared loss has no Lipschitz constant on the whole space: G is nominal",) * free

    @property
    def own_constants(self) -> Constants:
        """Constants for rows of norm at most A and labels in [-B, B] on a domain whose points have norm at most R.

        G = A sup|l'|, where for squares ``|l'| <= A R + B``, and L = A^2 sup l''; both in l_p, gradients in its dual.
        Squares have no G on the whole space; what is declared holds at the start. The a-priori gap is the largest loss
        there, of linear losses 2 G R or G^2/(2 lambda). Deviations of a gradient from its mean are at most G in l2
        (their root mean square) and 2 G in other norms.
        """
        free = self.margin.steepest is None and self.domain == "none"
        known = not (self.scaled or self.coded or self.unbounded or free)
        return self._constants(self.row_bound or 1.0, self.label_clip or 1.0, "global" if known else "nominal")

    def _constants(self, row_bound: float, label_bound: float, status: str) -> Constants:
        a, lam, loss = self.with_intercept(row_bound), self.ridge, self.margin
        steepest = loss.steepest or a * self.reach + label_bound
        G, away = a * steepest, float(np.linalg.norm(self.start))
        gap = loss.largest_at_zero(label_bound) + G * away + 0.5 * lam * away**2
        if not loss.smooth:
            gap = G * (2.0 * self.reach or 0.5 * G / lam) + 0.5 * lam * away**2
        return Constants(
            G,
            a * a * loss.curvature_bound,
            strong_convexity=lam,
            regularisation=lam,
            initial_gap=gap,
            initial_distance=self._distance,
            diameter=2.0 * self.reach,
            domain=self._domain_name,
            norm=self.p or 2.0,
            gradient_deviation=G if (self.p or 2.0) == 2.0 else 2.0 * G,
            status=status,
        )

    @property
    def _distance(self) -> float:
        """Largest Euclidean distance of a point of the domain from the start; 0 for the whole space."""
        if self.domain in ("none", "simplex"):
            return self.reach
        return 0.5 * float(self.feasible_set.euclidean_diameter(self.dimension))

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
        """Return the twin's options; bounds of rows and of numeric labels must be known without the data."""
        for key, value in (("clip", self.row_bound), ("label_clip", self.label_clip)):
            if value is None and (key == "clip" or self.labels_count):
                raise InputError(key, "missing", "given for a twin: only the data know the bound without it")
        return {"clip": float(self.row_bound or 1.0)}

    # --- the loss ----------------------------------------------------------------------------------------------------

    def loss(self, margins: Array, labels: Array) -> Array:
        """Compute the loss of the margin."""
        return self.margin.value(margins, labels)

    @property
    def record_form(self) -> RecordForm | None:
        return self.margin.form

    def slope(self, margins: Array, labels: Array) -> Array:
        """Differentiate `loss` in the margin."""
        return self.margin.slope(margins, labels)

    def curvature(self, margins: Array, labels: Array) -> Array:
        """Second derivative of `loss` in the margin."""
        return self.margin.curvature(margins, labels)

    # --- what a risk is held against ---------------------------------------------------------------------------------

    def optimal_risk(self, data: Data) -> float:
        """Minimum over the domain."""
        return float(self.risk(self.minimiser(data)[None], data)[0])

    def minimiser(self, data: Data) -> np.ndarray:
        """Find a minimiser ``(d,)`` over the domain: by Newton's method, or accelerated steps to a certificate."""
        round_domain = self.domain in ("none", "l2_ball") or self._domain_name == "l2_ball"
        if round_domain and (self.ridge > 0 or (self.margin.twice and self.margin.smooth)):
            return minimise_glm_in_ball(self, data, self.reach or math.inf).point
        return minimise_composite(self, data, self.feasible_set, self.ridge, self.margin.curvature_bound)

    def beside(self, x: np.ndarray, data: Data) -> dict[str, np.ndarray]:
        """Loss and, of classes, accuracy of points ``(R, d)`` on the records that are held out; each ``(R,)``.

        The loss is without the ridge. A margin of 0 is half right.
        """
        rows = self.held_out(data.n)
        if rows is None:
            return {}
        margins = x @ rows.features.T
        found = {"held_out_loss": self.loss(margins, rows.labels).mean(axis=-1)}
        if self.classes:
            found["held_out_accuracy"] = (0.5 + 0.5 * np.sign(margins) * rows.labels).mean(axis=-1)
        return found
