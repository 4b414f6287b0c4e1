"""A made-up paper, "One noisy step to the mean" (Example 2026): private mean estimation by a single Gaussian release."""
