"""The law of a sum of independent signs some of which are zero, exactly, from its characteristic function."""

from __future__ import annotations

import math

import numpy as np

REACH = 12.0
"""Standard deviations, and as many steps besides, on either side of the mean that are kept."""


def signed_count_law(n: int, plus: float, minus: float) -> tuple[np.ndarray, np.ndarray]:
    """Consecutive integers and their probabilities as a sum of n steps +1, -1 or 0.

    Steps are +1 and -1 with the chances given; probabilities are good to about ``1e-16 n`` of the largest one.
    """
    mean, variance = n * (plus - minus), n * (plus + minus - (plus - minus) ** 2)
    reach = REACH * (math.sqrt(max(0.0, variance)) + 1.0)
    size = 1 << math.ceil(math.log2(2.0 * reach + 2.0))
    first = math.floor(mean - 0.5 * size)
    angle = 2.0 * np.pi * np.fft.fftfreq(size)
    # log E exp(i angle step), where small angles would cancel in 1 + x
    real = -2.0 * (plus + minus) * np.sin(0.5 * angle) ** 2
    imaginary = (plus - minus) * np.sin(angle)
    with np.errstate(divide="ignore"):  # alternating signs can cancel all of it
        modulus = 0.5 * np.log1p(real * (2.0 + real) + imaginary**2)
    phase = n * np.arctan2(imaginary, 1.0 + real) - first * angle
    law = np.fft.fft(np.exp(n * modulus + 1j * phase)).real / size
    values = first + np.arange(size)
    kept = np.abs(values - mean) <= reach
    law = np.maximum(law[kept], 0.0)
    return values[kept], law / law.sum()
