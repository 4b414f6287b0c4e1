"""A claim of one part: three steps of gradient descent at two sizes."""

from dpsco_bench.claims.model import Claim
from dpsco_bench.claims.parsing import parse_claim

PART = {
    "id": "gd",
    "kind": "rate",
    "tolerance": 0.15,
    "calibrations": ["paper"],
    "algorithm": "wang2017.dp_gd_pl",
    "options": {"steps": 3},
    "problem": "ridge_logistic",
    "fixed": {"d": 3, "epsilon": 1.0, "delta": 1e-5},
    "sweep": {"parameter": "n", "values": {"smoke": [32, 64]}},
    "replicates": {"smoke": 3},
    "bound": "wang2017.thm6_2",
}


def claim_of(id: str, **changes: object) -> Claim:
    entry = {"id": id, "title": "t", "source": "s", "statement": "x", "parts": [{**PART, **changes}]}
    return parse_claim(entry)
