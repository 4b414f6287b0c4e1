"""The data sets that can be fetched and verified by name (verb ``data NAME``)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpsco_bench.datasets import covertype
from dpsco_bench.datasets.distribution import ADULT, KDDCUP99
from dpsco_bench.errors import InputError
from dpsco_bench.plain import Plain

UCI_LICENCE = "understood to be CC BY 4.0 (UCI)"


@dataclass(frozen=True)
class DataSet:
    """Facts on a data set, told when it is fetched or verified; `files` has ``fetch(root)`` and ``verify(root)``."""

    name: str
    description: str
    source: str
    licence: str
    used_by: str
    files: Any

    @property
    def told(self) -> Plain:
        """Return the facts that `data` prints first."""
        known = {"data_set": self.name, "description": self.description, "source": self.source}
        return {**known, "licence": self.licence, "used_by": self.used_by}

    def fetch(self, root: Path) -> Plain:
        """Download it unless a verified copy is under `root`; what is known of it, and what was done."""
        return {**self.told, **self.files.fetch(root)}

    def verify(self, root: Path) -> Plain:
        """Verify the copy under `root`; errors as of its files."""
        return {**self.told, **self.files.verify(root)}


DATASETS = {
    found.name: found
    for found in (
        DataSet(
            "adult",
            "48,842 records of a census, 123 binary columns, incomes above 50,000 dollars against the rest",
            "B. Becker, R. Kohavi (1996), Adult, UCI Machine Learning Repository, doi:10.24432/C5XW20",
            UCI_LICENCE,
            "the leaderboard of profile full",
            ADULT,
        ),
        DataSet(
            "kddcup99",
            "145,586 distinct connections of the 10 % file, 118 columns, attacks against the rest",
            "KDD Cup 1999 Data, UCI Machine Learning Repository, doi:10.24432/C51C7N",
            UCI_LICENCE,
            "the leaderboard of profile full",
            KDDCUP99,
        ),
        DataSet(
            "covertype",
            "581,012 forest cells, 10 measurements and 44 one-hot columns, class 2 against the rest",
            "J. Blackard (1998), Covertype, UCI Machine Learning Repository, doi:10.24432/C50K5N",
            f"{UCI_LICENCE}; the original notice allows unlimited reuse with the copyright notice of Jock A. Blackard "
            "and Colorado State University",
            "Wang, Ye, Xu 2017, Figures 1 and 2; the leaderboard",
            covertype,
        ),
    )
}


def get_data_set(name: str) -> DataSet:
    """Look a data set up by name. Raises InputError for an unknown name."""
    if name not in DATASETS:
        raise InputError("data set", name, "one of " + ", ".join(sorted(DATASETS)))
    return DATASETS[name]
