"""What bounds of papers are: their registry and notation, and what they may look at."""
