import bz2
import gzip
import lzma
import os
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from dpsco_bench.datasets import covertype
from dpsco_bench.datasets.store import sha256_of_array

ROOT = Path(os.environ.get("DPSCO_DATA_ROOT", Path(__file__).parents[2] / "data"))
"""Data root with the real data sets: named by the environment, else the checkout's own."""
PACKED = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
PACKED[".zst"] = lambda content: pa.compress(content, "zstd", asbytes=True)
"""Bytes of a file by how its name ends."""


@contextmanager
def refused(kind, *words):
    """Expect an error of one line with these words in it."""
    with pytest.raises(kind) as caught:
        yield caught
    assert "\n" not in str(caught.value)
    assert all(str(word) in str(caught.value) for word in words)


class Source:
    """Small invented content, its digests, and writers of every format."""

    def __init__(self, rows):
        self.features, self.labels = covertype.covertype_records(rows)

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

    def content(self, name, **options):
        text = self.uci_text() if ".data" in name else self.libsvm_text(**options)
        return PACKED.get(Path(name).suffix, bytes)(text)

    def write(self, path, **options):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".npz":
            self.npz(path)
        else:
            path.write_bytes(self.content(path.name, **options))
        return path


SOURCE = Source(600)


@pytest.fixture
def source(monkeypatch):
    """The invented content, taken for that of the real data set."""
    monkeypatch.setattr(covertype, "ROWS", len(SOURCE.labels))
    monkeypatch.setattr(covertype, "FEATURES_SHA256", sha256_of_array(SOURCE.features))
    monkeypatch.setattr(covertype, "LABELS_SHA256", sha256_of_array(SOURCE.labels))
    return SOURCE


@pytest.fixture
def served(monkeypatch):
    """Contents of files by address, each with what goes wrong at its end; all others cannot be reached."""
    available = {}

    def downloader(url, path, pooch):
        content, error = available.get(url, (b"", OSError("no route to host")))
        Path(path).write_bytes(content)
        if error:
            raise error

    monkeypatch.setattr("pooch.core.choose_downloader", lambda url, **options: downloader)
    return available
