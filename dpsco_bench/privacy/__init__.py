"""Queries, plans, calibration and the only source of noise of a private run."""
