"""What all jobs of a plan share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpsco_bench.errors import integral
from dpsco_bench.execution.jobs import Job


@dataclass(frozen=True)
class Settings:
    """Settings of a plan, as ``conf/plan.yaml`` has them.

    Attributes
    ----------
    seed : int, root seed
    backend, dtype : str, arithmetic
    fused : bool, whether compiled steps may run in place of listings
    data_root : str, folder of the data sets
    stages : bool, whether runs end where their words are decided
    plugins, claims, boards : tuple of str, files of one's own: Python files, claims, and leaderboards
    """

    seed: int = 2017
    backend: str = "numpy"
    dtype: str = "float64"
    fused: bool = True
    data_root: str = "data"
    stages: bool = True
    plugins: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    boards: tuple[str, ...] = ()

    @classmethod
    def of(cls, config: Any) -> Settings:
        """Those of a composed configuration."""
        backend, files = config["backend"], (tuple(config[key]) for key in ("plugins", "claims", "boards"))
        how = (backend["name"], backend["dtype"], backend.get("fused", True))
        return cls(integral(config["seed"]), *how, config["data"]["root"], config.get("stages", True), *files)

    def job(self, **what: Any) -> Job:
        """A job with these settings; ``what`` are its other fields."""
        shared = ("seed", "backend", "dtype", "fused", "data_root", "plugins")
        return Job(**{key: getattr(self, key) for key in shared}, **what)
