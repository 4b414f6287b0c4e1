"""Counter-based random numbers."""
