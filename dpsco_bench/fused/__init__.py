"""Compiled loops for methods whose steps look at few records: the same numbers, many times faster."""
