"""Bound formulas, one module per paper."""
