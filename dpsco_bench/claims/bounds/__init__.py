"""What bounds of papers are: their registry and notation, what they may look at, and those of the leaderboard."""
