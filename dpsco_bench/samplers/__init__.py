"""Samplers built on the counter-based streams."""
