"""Data sets that are distributed as compressed text files, each held to the digest of its text: Adult and KDD Cup 99.

Adult (B. Becker, R. Kohavi 1996, UCI data set 2, doi:10.24432/C5XW20) in Platt's 123 binary columns: whether an income
is above 50,000 dollars. KDD Cup 1999 (UCI data set 130, doi:10.24432/C51C7N), the tenth of it that is passed around,
each distinct record once: attacks against normal connections.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from dpsco_bench.datasets import store
from dpsco_bench.datasets.texts import parse_libsvm, text_of
from dpsco_bench.errors import DataAbsent
from dpsco_bench.plain import Plain

ADULT_COLUMNS = 123
TRAINING = 32_561
_ADULT_ADDRESS = (
    "https://raw.githubusercontent.com/X-DataInitiative/tick-datasets/"
    "9d959b6e53e17145e93e9849ff1f9f6d2de8ae51/binary/adult/"
)
KDD_ROWS = 145_586
"""Distinct records, of 494,021."""
CATEGORIES = {
    1: "icmp tcp udp",
    2: "IRC X11 Z39_50 auth bgp courier csnet_ns ctf daytime discard domain domain_u echo eco_i ecr_i efs "
    "exec finger ftp ftp_data gopher hostnames http http_443 imap4 iso_tsap klogin kshell ldap link login "
    "mtp name netbios_dgm netbios_ns netbios_ssn netstat nnsp nntp ntp_u other pm_dump pop_2 pop_3 "
    "printer private red_i remote_job rje shell smtp sql_net ssh sunrpc supdup systat telnet tftp_u tim_i "
    "time urh_i urp_i uucp uucp_path vmnet whois",
    3: "OTH REJ RSTO RSTOS0 RSTR S0 S1 S2 S3 SF SH",
}
"""Values of protocol, service and flag, by the position of their column."""
LARGEST = {0: 1e9, 4: 1e9, 5: 1e9, 22: 511.0, 23: 511.0, 31: 255.0, 32: 255.0, **dict.fromkeys((9, 12, 15, 16), 1e3)}
"""Counts are taken as ``log(1 + v)`` over its value here; all other numbers are shares and flags, cut at 1."""
FIELDS = 41
KDD_COLUMNS = FIELDS - len(CATEGORIES) + sum(len(values.split()) for values in CATEGORIES.values())


@dataclass(frozen=True)
class Table:
    """Records of a data set, the same wherever they come from.

    `features (n, d)` are rows of Euclidean norm at most 1, whatever the other rows are; `labels (n,)` are +1 and -1.
    """

    features: np.ndarray
    labels: np.ndarray


@dataclass(frozen=True)
class Distribution:
    """A data set in files.

    Attributes
    ----------
    name : str
    folders : tuple of str, folders under the data root, in the order in which they are searched
    files : tuple of RemoteFile, all of them needed
    parse : callable, the texts in that order to the table
    """

    name: str
    folders: tuple[str, ...]
    files: tuple[store.RemoteFile, ...]
    parse: Callable[..., Table]

    def find(self, root: Path) -> list[Path]:
        """Find the files under `root`. Raises DataAbsent if one is missing."""
        found = [path for one in self.files if (path := store.find_file(root, self.folders, [one.name]))]
        if len(found) < len(self.files):
            raise DataAbsent(self.name, root)
        return found

    def load(self, root: Path) -> Table:
        """Find, verify and parse. Raises DataAbsent, or DataCorrupt for a file with another text."""
        return self.parse(*map(self.read, self.find(root)))

    def read(self, path: Path) -> bytes:
        """Read a file's text. Raises DataCorrupt for another text than is known."""
        try:
            text = text_of(path)
        except OSError as error:
            raise store.DataCorrupt(path, f"damaged: {error}") from error
        expected = next(one.text_sha256 for one in self.files if one.name == path.name)
        found = hashlib.sha256(text).hexdigest()
        if found != expected:
            raise store.DataCorrupt(path, f"its text has sha256 {found}, expected {expected}")
        return text

    def verify(self, root: Path) -> Plain:
        """Read the files under `root`, and say what they hold; errors as of `load`."""
        paths, table = self.find(root), self.load(root)
        return {
            "status": "verified",
            "file": ", ".join(map(str, paths)),
            "rows": len(table.labels),
            "columns": table.features.shape[1],
            "positive": int((table.labels > 0).sum()),
            **{f"{one.name}_sha256": one.text_sha256 for one in self.files},
        }

    def fetch(self, root: Path) -> Plain:
        """Download what is missing; the same as `verify`, with ``fetched``: whether anything was downloaded.

        Raises FetchError without a file, DataCorrupt for one with another content, which is left as it is.
        """
        missing = [one for one in self.files if store.find_file(root, self.folders, [one.name]) is None]
        for remote in missing:
            store.download(remote, root / self.folders[0], check=self.read)
        return {**self.verify(root), "fetched": bool(missing)}


def unit_rows(features: np.ndarray) -> np.ndarray:
    """Rows ``(n, d)``, each divided by its own norm where that is larger than 1: no other record has a part in it."""
    norms = np.linalg.norm(features, axis=1)
    return features / np.maximum(norms, 1.0)[:, None]


def parse_adult(*texts: bytes) -> Table:
    """Read the training records, then those of the test file; columns are counted from 0 there."""
    lines = [parse_libsvm(text, "adult", first=0) for text in texts]
    features = np.concatenate([part.dense(ADULT_COLUMNS) for part in lines])
    return Table(unit_rows(features), np.concatenate([part.labels for part in lines]))


ADULT = Distribution(
    name="adult",
    folders=("adult",),
    files=(
        store.RemoteFile(
            "adult.trn.bz2",
            _ADULT_ADDRESS + "adult.trn.bz2",
            "73ce74d43bbfc988b08e6ecf738cf5484f19dafa143c31f702f3a8b779d277e5",
            "64bf51ab7ce8101364b2d6b569c7bad8f04a4f9684527ff232a0f06474ae35c2",
        ),
        store.RemoteFile(
            "adult.tst.bz2",
            _ADULT_ADDRESS + "adult.tst.bz2",
            "bdb2ec9642e77947a67269471506b18bc4dcf03413f44814dc24833432ba818d",
            "8de2963e337b73465257c78c8b4b1dbba40c07b0e56a58308f3f10cbde8ed7b8",
        ),
    ),
    parse=parse_adult,
)


def parse_kddcup(text: bytes) -> Table:
    """Numbers within [0, 1], then a column for each category; +1 for an attack."""
    lines = b"\n".join(dict.fromkeys(text.splitlines()))
    names = [str(field) for field in range(FIELDS + 1)]
    types = {name: pa.string() if int(name) in (*CATEGORIES, FIELDS) else pa.float64() for name in names}
    kinds = pa.csv.ConvertOptions(column_types=types)
    table = pa.csv.read_csv(io.BytesIO(lines), pa.csv.ReadOptions(column_names=names), convert_options=kinds)
    columns = [_scaled(table[str(j)].to_numpy(), j) for j in range(FIELDS) if j not in CATEGORIES]
    for j, values in CATEGORIES.items():
        found = table[str(j)].to_numpy()
        columns += [(found == value).astype(float) for value in values.split()]
    labels = np.where(table[str(FIELDS)].to_numpy() == "normal.", -1.0, 1.0)
    return Table(unit_rows(np.stack(columns, axis=1)), labels)


def _scaled(values: np.ndarray, field: int) -> np.ndarray:
    if field in LARGEST:
        values = np.log1p(values) / np.log1p(LARGEST[field])
    return np.minimum(values, 1.0)


KDDCUP99 = Distribution(
    name="kddcup99",
    folders=("kddcup99", "kddcup99_10pct"),
    files=(
        store.RemoteFile(
            "kddcup.data_10_percent.gz",
            "https://raw.githubusercontent.com/potash/brf-example/cb1486bbec7069eec30474bce4bf9478e867e9d2/data/"
            "kddcup.data_10_percent.gz",
            "7bfaa8cef1350f72842018c32893e2fa4539d57efbb22f998eb74ecefc3da3b4",
            "f8c8267ebcd9c0ed1fd7d6277fe5bfff8732e9b7db8e61b873542b2a534b6f9a",
        ),
    ),
    parse=parse_kddcup,
)
