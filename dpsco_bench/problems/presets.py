"""Problems by the names that people use: a loss on public records of n and d, clipped at 1, on the unit l2 ball."""

from __future__ import annotations

from dpsco_bench.problems.base import option
from dpsco_bench.problems.data_file import DOMAINS
from dpsco_bench.problems.data_twin import DataTwin
from dpsco_bench.problems.registry import problem

OWN = "; one's own records: problem=data_file loss="


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
