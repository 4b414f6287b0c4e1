"""Compiled loops for methods whose steps look at few records: the listing's numbers, many times faster."""
