"""Observers of rounds, by name (see `execution.rounds`)."""
