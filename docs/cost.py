"""Measure what methods take against the model of their steps: `python docs/cost.py` writes conf/cost.yaml.

Each is run by `dpsco_bench.choose`, alone on the machine; the ratio of an algorithm is the geometric mean over the
points at which it ran for long enough to tell.
"""

from __future__ import annotations

import sys
from math import exp, log
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from dpsco_bench.analysis.choice import choose_at
from dpsco_bench.claims.choice import candidates, make_point
from dpsco_bench.claims.settings import Settings
from dpsco_bench.execution.measured import Measured
from dpsco_bench.execution.store import Store

TARGET = Path(__file__).resolve().parent.parent / "conf" / "cost.yaml"
POINTS = (
    "problem=logistic_glm domain=l2_ball n=20000 d=50",
    "problem=logistic_glm domain=l1_ball n=8000 d=50",
    "problem=logistic_plain n=8000 d=50",
    "problem=ridge_logistic n=20000 d=50",
    "problem=public_quadratic n=8000 d=20",
    "problem=cube_iid p=2 n=8000 d=20",
    "problem=needle_l1 n=8000 d=20",
    "problem=quad n=8000 d=20",
    "problem=heavy_linear_t n=8000 d=20",
)
LIMIT = 90.0
LEAST_SECONDS = 0.05
"""A run that takes less tells nothing of its steps."""
HEAD = """# Measured seconds of a method over those of the model of its steps (execution/predict.py).
# Written by `python docs/cost.py`. They decide what `choose` and leaderboards run within their limits, and no number.
ratios:
"""


def ratios(text: str) -> dict[str, float]:
    """Algorithm -> ratio at a point."""
    keys = dict(item.split("=") for item in text.split())
    numbers = {key: int(value) if value.isdigit() else value for key, value in keys.items()}
    settings = Settings()
    point = make_point({k: float(v) if k == "p" else v for k, v in numbers.items()})
    with TemporaryDirectory() as folder:
        measured = Measured(Store(Path(folder)))
        found = choose_at(point, settings, measured, LIMIT, 1, lambda pace: print(text, pace, file=sys.stderr))
    took = {method.method: method.seconds for method in found.methods}
    return {
        one.method.algorithm: max(took[one.method.name], LEAST_SECONDS) / one.model_seconds
        for one in candidates(point, settings)[0]
        if one.method.name in took and one.model_seconds > LEAST_SECONDS / 10
    }


def main() -> None:
    """Measure and write."""
    found: dict[str, list[float]] = {}
    for text in POINTS:
        for id, ratio in ratios(text).items():
            found.setdefault(id, []).append(ratio)
    lines = [f"  {id}: {exp(fmean(map(log, values))):.2g}" for id, values in sorted(found.items())]
    TARGET.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
