"""Snakemake finds the terminal's log by the name of this package: ``snakemake --logger dpsco``."""

from dpsco_bench.cli.workflow import LogHandler

__all__ = ["LogHandler"]
