"""Bounds of Example 2026."""

from dpsco_bench import Symbol, bound

bound(
    "example2026.thm1",
    "d R^2 l / (n eps)^2",
    {"R": Symbol("largest distance of two gradients", "constants.gradient_range")},
)
bound(
    "example2026.thm1_explicit",
    "d sigma^2 / (L + lambda)^2",
    {"sigma": "scales.gradient", "L": "constants.smoothness", "lambda": "constants.regularisation"},
)
