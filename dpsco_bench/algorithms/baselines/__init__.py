"""Methods that the replicated papers compare themselves with."""
