"""A synthetic stand-in with Covertype's columns, for machines without the data; labelled as such everywhere."""

from __future__ import annotations

from dpsco_bench.datasets.preprocess import Sample
from dpsco_bench.datasets.synthetic import covertype_synthetic
from dpsco_bench.problems.covertype import CovertypeLogistic
from dpsco_bench.problems.registry import problem


@problem
class CovertypeSynthetic(CovertypeLogistic):
    """Same columns, structure and preprocessing as Covertype, synthetic values."""

    name = "covertype_synthetic"
    summary = "SYNTHETIC stand-in with Covertype's columns"
    source = "synthetic; see the data set module"

    def rows(self, n: int) -> Sample:
        """``n`` synthetic rows, the same in every run."""
        return covertype_synthetic(n, seed=0)
