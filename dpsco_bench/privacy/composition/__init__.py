"""Composition of the queries of one plan: one module per currency."""
