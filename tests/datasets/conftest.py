import bz2
import gzip

import numpy as np
import pytest

from dpsco_bench.datasets import covertype
from dpsco_bench.datasets.store import sha256_of_array


class Source:
    """Small invented content, its digests, and writers of every format."""

    def __init__(self, rows):
        self.features, self.labels = covertype.covertype_records(rows, seed=3)

    def npz(self, path):
        np.savez_compressed(
            path,
            numeric=np.ascontiguousarray(self.features[:, :10].T),
            wilderness_area=(self.features[:, 10:14].argmax(axis=1) + 1).astype(np.uint8),
            soil_type=(self.features[:, 14:].argmax(axis=1) + 1).astype(np.uint8),
            is_class_2=self.labels,
        )

    def uci_text(self):
        others = np.array([1, 3, 4, 5, 6, 7])[np.arange(len(self.labels)) % 6]
        cover_type = np.where(self.labels == 1, 2, others)
        rows = np.column_stack([self.features, cover_type]).tolist()
        return "".join(",".join(map(str, row)) + "\n" for row in rows).encode()

    def libsvm_text(self, labels=("1", "2"), number="{:.6f}", scale=1):
        lines = []
        for row, label in zip(self.features.tolist(), self.labels.tolist(), strict=True):
            pairs = (f"{j}:{number.format(value / scale)}" for j, value in enumerate(row, 1) if value)
            lines.append(f"{labels[label]} {' '.join(pairs)} \n")
        return "".join(lines).encode()

    def write(self, path, **options):
        path.parent.mkdir(parents=True, exist_ok=True)
        name = path.name
        if name.endswith(".npz"):
            self.npz(path)
            return path
        text = self.uci_text() if ".data" in name else self.libsvm_text(**options)
        pack = gzip.compress if name.endswith(".gz") else bz2.compress if name.endswith(".bz2") else bytes
        path.write_bytes(pack(text))
        return path


SOURCE = Source(600)


@pytest.fixture
def source(monkeypatch):
    """The invented content, taken for that of the real data set."""
    monkeypatch.setattr(covertype, "ROWS", len(SOURCE.labels))
    monkeypatch.setattr(covertype, "FEATURES_SHA256", sha256_of_array(SOURCE.features))
    monkeypatch.setattr(covertype, "LABELS_SHA256", sha256_of_array(SOURCE.labels))
    return SOURCE
