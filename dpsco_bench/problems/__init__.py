"""Objectives with declared constants, their data and their optima."""
