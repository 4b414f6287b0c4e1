"""KDD Cup 1999, the tenth of it that is passed around, each distinct record once: attacks against normal connections.

Source of the data: KDD Cup 1999 Data, UCI Machine Learning Repository, data set 130, doi:10.24432/C51C7N.
"""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.csv

from dpsco_bench.datasets import store
from dpsco_bench.datasets.distribution import Distribution, Table, unit_rows

ROWS = 145_586
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
NORMAL = "normal."
FIELDS = 41
COLUMNS = FIELDS - len(CATEGORIES) + sum(len(values.split()) for values in CATEGORIES.values())


def parse(text: bytes) -> Table:
    """Numbers within [0, 1], then a column for each category; +1 for an attack."""
    lines = b"\n".join(dict.fromkeys(text.splitlines()))
    names = [str(field) for field in range(FIELDS + 1)]
    types = {name: pa.string() if int(name) in (*CATEGORIES, FIELDS) else pa.float64() for name in names}
    table = pa.csv.read_csv(
        io.BytesIO(lines),
        pa.csv.ReadOptions(column_names=names),
        convert_options=pa.csv.ConvertOptions(column_types=types),
    )
    columns = [_scaled(table[str(j)].to_numpy(), j) for j in range(FIELDS) if j not in CATEGORIES]
    for j, values in CATEGORIES.items():
        found = table[str(j)].to_numpy()
        columns += [(found == value).astype(float) for value in values.split()]
    labels = np.where(table[str(FIELDS)].to_numpy() == NORMAL, -1.0, 1.0)
    return Table(unit_rows(np.stack(columns, axis=1)), labels)


def _scaled(values: np.ndarray, field: int) -> np.ndarray:
    if field in LARGEST:
        values = np.log1p(values) / np.log1p(LARGEST[field])
    return np.minimum(values, 1.0)


KDDCUP99 = Distribution(
    name="kddcup99",
    folders=("kddcup99", "kddcup99_10pct"),
    texts=(
        (
            "kddcup.data_10_percent.gz",
            "f8c8267ebcd9c0ed1fd7d6277fe5bfff8732e9b7db8e61b873542b2a534b6f9a",
        ),
    ),
    remote_files=(
        store.RemoteFile(
            "kddcup.data_10_percent.gz",
            "https://raw.githubusercontent.com/potash/brf-example/cb1486bbec7069eec30474bce4bf9478e867e9d2/data/"
            "kddcup.data_10_percent.gz",
            "7bfaa8cef1350f72842018c32893e2fa4539d57efbb22f998eb74ecefc3da3b4",
        ),
    ),
    parse=parse,
)
