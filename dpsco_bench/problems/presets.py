"""Synthetic records of the shape of a user's file, and problems on them by the names that people use."""

from __future__ import annotations

import numpy as np

from dpsco_bench.plain import Options
from dpsco_bench.problems.base import Data, StreamFactory, option
from dpsco_bench.problems.data_file import DOMAINS, DataFile
from dpsco_bench.problems.registry import problem

SPREAD = 2.0
"""Standard deviation of the margins of the truth, from which classes are drawn with the logistic law."""
SIGNAL, NOISE = 0.5, 0.25
"""Standard deviations of the truth and of its noise in numbers, in units of ``label_clip``."""
SPARSE = ("l1_ball", "simplex")
"""Domains on which the truth is one coordinate; on all others every coordinate counts alike."""
OWN = "; one's own records: problem=data_file loss="


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
