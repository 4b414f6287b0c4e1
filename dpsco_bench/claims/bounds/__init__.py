"""Bounds of papers: their registry, their notation, and the values that they may read."""
