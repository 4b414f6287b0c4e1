"""Bounds of Example 2026."""

from dpsco_bench import bound


@bound("example2026.thm1", "d R^2 l / (n eps)^2")
def rate(c):
    return c.d * c.constants.gradient_range**2 / (c.n * c.privacy_ratio) ** 2


@bound("example2026.thm1_explicit", "d sigma^2 / (L + lambda)^2")
def explicit(c):
    return c.d * c.scales["gradient"] ** 2 / c.constants.total_smoothness**2
