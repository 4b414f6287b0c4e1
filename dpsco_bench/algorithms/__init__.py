"""Algorithms: their registry, settings and options, and methods that several papers share."""
