"""A made-up paper, "One noisy step to the mean" (Example 2026): the mean of private records by one release."""
