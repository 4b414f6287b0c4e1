"""One private algorithm per module, found by its id."""
