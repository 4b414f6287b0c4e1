"""Adult (Becker and Kohavi 1996) in Platt's 123 binary columns: whether an income is above 50,000 dollars.

Source of the data: B. Becker, R. Kohavi, Adult, UCI Machine Learning Repository, data set 2, doi:10.24432/C5XW20.
"""

from __future__ import annotations

import numpy as np

from dpsco_bench.datasets import libsvm, store
from dpsco_bench.datasets.distribution import Distribution, Table, unit_rows

COLUMNS = 123
TRAINING, TEST = 32_561, 16_281
_ADDRESS = (
    "https://raw.githubusercontent.com/X-DataInitiative/tick-datasets/"
    "9d959b6e53e17145e93e9849ff1f9f6d2de8ae51/binary/adult/"
)


def parse(*texts: bytes) -> Table:
    """Read the training records, then those of the test file; columns are counted from 0 there."""
    lines = [libsvm.parse(text.strip()) for text in texts]
    features = []
    for part in lines:
        dense = np.zeros((len(part.labels), COLUMNS))
        dense[part.rows, part.indices] = part.values
        features.append(dense)
    return Table(unit_rows(np.concatenate(features)), np.concatenate([part.labels for part in lines]))


ADULT = Distribution(
    name="adult",
    folders=("adult",),
    texts=(
        ("adult.trn.bz2", "64bf51ab7ce8101364b2d6b569c7bad8f04a4f9684527ff232a0f06474ae35c2"),
        ("adult.tst.bz2", "8de2963e337b73465257c78c8b4b1dbba40c07b0e56a58308f3f10cbde8ed7b8"),
    ),
    remote_files=(
        store.RemoteFile(
            "adult.trn.bz2",
            _ADDRESS + "adult.trn.bz2",
            "73ce74d43bbfc988b08e6ecf738cf5484f19dafa143c31f702f3a8b779d277e5",
        ),
        store.RemoteFile(
            "adult.tst.bz2",
            _ADDRESS + "adult.tst.bz2",
            "bdb2ec9642e77947a67269471506b18bc4dcf03413f44814dc24833432ba818d",
        ),
    ),
    parse=parse,
)
