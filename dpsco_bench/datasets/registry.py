"""The data sets that can be fetched and verified by name (verb ``data NAME``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dpsco_bench.datasets import covertype
from dpsco_bench.datasets.distribution import ADULT, KDDCUP99
from dpsco_bench.errors import InputError
from dpsco_bench.plain import Plain

UCI_LICENCE = "understood to be CC BY 4.0 (UCI)"
FILES: dict[str, Any] = {"adult": ADULT, "kddcup99": KDDCUP99, "covertype": covertype}
"""Data sets by name; each has ``fetch(root)`` and ``verify(root)``."""
FACTS = {
    "adult": {
        "description": "48,842 records of a census, 123 binary columns, incomes above 50,000 dollars against the rest",
        "source": "B. Becker, R. Kohavi (1996), Adult, UCI Machine Learning Repository, doi:10.24432/C5XW20",
        "licence": UCI_LICENCE,
        "used_by": "the leaderboard of profile full",
    },
    "kddcup99": {
        "description": "145,586 distinct connections of the 10 % file, 118 columns, attacks against the rest",
        "source": "KDD Cup 1999 Data, UCI Machine Learning Repository, doi:10.24432/C51C7N",
        "licence": UCI_LICENCE,
        "used_by": "the leaderboard of profile full",
    },
    "covertype": {
        "description": "581,012 forest cells, 10 measurements and 44 one-hot columns, class 2 against the rest",
        "source": "J. Blackard (1998), Covertype, UCI Machine Learning Repository, doi:10.24432/C50K5N",
        "licence": f"{UCI_LICENCE}; the original notice allows unlimited reuse with the copyright notice of Jock A. "
        "Blackard and Colorado State University",
        "used_by": "Wang, Ye, Xu 2017, Figures 1 and 2; the leaderboard",
    },
}


def data_set(name: str, root: Path, *, download: bool) -> Plain:
    """Fetch a data set unless a verified copy is there, or verify that; what is known of it, and what was done.

    Raises InputError for an unknown name, and what `covertype.fetch` and `covertype.verify` raise.
    """
    if name not in FILES:
        raise InputError("data set", name, "one of " + ", ".join(sorted(FILES)))
    files = FILES[name]
    return {"data_set": name, **FACTS[name], **(files.fetch if download else files.verify)(root)}
