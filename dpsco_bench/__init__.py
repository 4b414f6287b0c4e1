"""Replication bench for differentially private stochastic convex optimisation."""

__version__ = "0.1.0"
