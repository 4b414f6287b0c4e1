"""From random words to variates, in plain NumPy: the definition that the compiled paths reproduce bit for bit.

Every operation is one correctly rounded float32 or float64 operation (add, subtract, multiply, square root, conversion
of an integer), never fused, and no library function is called; so the bits are the same on every machine.

A word ``w`` stands for the uniform number ``(w + 1/2) / 2^32`` rounded to float32, which lies in (0, 1]. Hence variates
are finite: normals reach 6.76 and Laplace variates 22.2 in absolute value. Against exact functions of that rounded
uniform number, normals are within 5 units in the last place and Laplace variates within 1. (The logarithm, the
exponential, the sine and the cosine are Cephes' float32 polynomials by S. L. Moshier.)

This is arithmetic for experiments: float32 noise on a public generator is not a hardened privacy mechanism.

For `shapes`, the quantile function of ``|w|`` for density ``~ exp(-|w|^r)`` is a table of cubics.
The probability ``v`` of exceeding a magnitude lies in [2^-32, 1]. Each of these 32 octaves is cut into 16 equal parts;
on each, a cubic in the position ``t`` in [0, 1) interpolates the quantile at Chebyshev points, to a relative error of
6e-8 at most, which is one rounding of the float32 arithmetic that evaluates it. The coefficients are computed in
float64 and rounded to float32.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

from dpsco_bench.errors import InputError

OCTAVES, PARTS = 32, 16
# Rounded to float32, uniform numbers this close to one are one; the magnitude there is their mean's.
_CLOSEST = 2.0**-26
Word = NDArray[np.uint32]
Float = NDArray[np.float32]
_f = np.float32
_LOG_COEFFICIENTS = tuple(
    map(_f, (7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1))
) + tuple(map(_f, (-1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)))
_SIN_COEFFICIENTS = tuple(map(_f, (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)))
_COS_COEFFICIENTS = tuple(map(_f, (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)))
_LN2_HIGH, _LN2_LOW = _f(0.693359375), _f(-2.12194440e-4)  # the first has few bits: its product with e is exact
_EXP2_COEFFICIENTS = tuple(
    map(_f, (1.535336188319500e-4, 1.339887440266574e-3, 9.618437357674640e-3, 5.550332471162809e-2))
) + tuple(map(_f, (2.402264791363012e-1, 6.931472028550421e-1, 1.0)))
_SQRT_HALF_BITS = np.int32(0x3F3504F3)
_LOG2_E = _f(1.4426950408889634)
TINY_POWER = 1e-30
_QUARTER_TURN = _f(np.pi / 2**33)


def magnitude(exceeding: NDArray[np.float64], r: float) -> NDArray[np.float64]:
    """Value that ``|w|`` exceeds with given probabilities in (0, 1): ``|w|^r`` has the law Gamma(1/r)."""
    below = 1.0 - exceeding
    from scipy.special import gammainccinv, gammaincinv  # most runs draw no such variates, and can do without

    upper = gammainccinv(1.0 / r, np.minimum(exceeding, 0.5))
    lower = gammaincinv(1.0 / r, np.minimum(below, 0.5))
    # Near zero the density is constant; there |w|^r may be below the smallest float.
    linear = below * math.gamma(1.0 + 1.0 / r)
    with np.errstate(under="ignore"):
        flat = linear**r < 1e-18
    return np.where(flat, linear, np.where(exceeding < 0.5, upper, lower) ** (1.0 / r))


@functools.lru_cache(maxsize=64)
def shape_table(r: float) -> NDArray[np.float32]:
    """Coefficients of the cubics, lowest power first: ``(OCTAVES * PARTS + 1, 4)``, read-only."""
    if not 1.0 <= r < math.inf:
        raise InputError("r", r, "a finite number >= 1")
    part = np.arange(OCTAVES * PARTS)
    width = np.exp2(part // PARTS - float(OCTAVES)) / PARTS
    points = 0.5 - 0.5 * np.cos(np.pi * (np.arange(4) + 0.5) / 4)
    values = magnitude(width[:, None] * (PARTS + part[:, None] % PARTS + points), r)
    cubics = np.linalg.solve(np.vander(points, increasing=True), values.T).T
    table = np.vstack([cubics, [math.gamma(1.0 + 1.0 / r) * _CLOSEST, 0.0, 0.0, 0.0]]).astype(np.float32)
    table.flags.writeable = False
    return table


def _polynomial(coefficients: tuple[np.float32, ...], x: Float) -> Float:
    """Horner's rule, leading coefficient first."""
    value = coefficients[0] * x + coefficients[1]
    for coefficient in coefficients[2:]:
        value = value * x + coefficient
    return value


def _flip_sign(x: Float, sign: Word) -> Float:
    """Change the sign of ``x`` where the top bit of ``sign`` is set."""
    return (x.view(np.uint32) ^ sign).view(np.float32)


def minus_log(u: Float) -> Float:
    """Evaluate -ln(u) for positive, normal float32 ``u``, to one unit in the last place.

    The argument is split as ``u = m 2^e`` with m in [sqrt(1/2), sqrt(2)), so that values near 1 keep their accuracy.
    """
    bits = u.view(np.int32) - _SQRT_HALF_BITS
    exponent = (bits >> np.int32(23)).astype(np.float32)
    x = ((bits & np.int32(0x7FFFFF)) + _SQRT_HALF_BITS).view(np.float32) - _f(1)
    square = x * x
    tail = _polynomial(_LOG_COEFFICIENTS, x) * (square * x)
    tail = tail + exponent * _LN2_LOW
    tail = tail - _f(0.5) * square
    return -((x + tail) + exponent * _LN2_HIGH)


def cos_sin(w: Word) -> tuple[Float, Float]:
    """Cosine and sine of a word's angle: two bits choose the quarter turn, 30 an angle in (-pi/4, pi/4) about it."""
    quarter = w >> np.uint32(30)
    angle = ((w << np.uint32(2)) | np.uint32(2)).view(np.int32).astype(np.float32) * _QUARTER_TURN
    square = angle * angle
    sine = _polynomial(_SIN_COEFFICIENTS, square) * square * angle + angle
    cosine = _polynomial(_COS_COEFFICIENTS, square) * square * square - _f(0.5) * square + _f(1)
    odd = (quarter & np.uint32(1)) != 0
    abscissa, ordinate = np.where(odd, sine, cosine), np.where(odd, cosine, sine)
    abscissa_sign = ((quarter + np.uint32(1)) & np.uint32(2)) << np.uint32(30)
    ordinate_sign = (quarter & np.uint32(2)) << np.uint32(30)
    return _flip_sign(abscissa, abscissa_sign), _flip_sign(ordinate, ordinate_sign)


def box_muller(w: Word, v: Word) -> tuple[Float, Float]:
    """Two independent standard normals: radius from ``w``, angle from ``v``."""
    u = w.astype(np.float32) * _f(2.0**-32) + _f(2.0**-33)
    radius = np.sqrt(_f(2) * minus_log(u))
    cosine, sine = cos_sin(v)
    return radius * cosine, radius * sine


def normals(words: Word) -> Float:
    """Four standard normals of each block, from words 0 and 1 and from words 2 and 3: shape ``(4, ...)``, float32."""
    values = np.empty(words.shape, dtype=np.float32)
    values[0::2], values[1::2] = box_muller(words[0::2], words[1::2])
    return values


def laplaces(words: Word) -> Float:
    """Laplace variate of scale 1 of each word, float32: the inverse distribution function, non-decreasing."""
    upper = words.view(np.int32) >> np.int32(31)  # -1 in the upper half, 0 in the lower
    folded = words.view(np.int32) ^ upper  # distance from the nearer end of the range, below 2^31
    u = folded.astype(np.float32) * _f(2.0**-31) + _f(2.0**-32)
    return _flip_sign(minus_log(u), ~words & np.uint32(0x80000000))


def exp2(y: Float) -> Float:
    """Evaluate 2^y for float32 ``y`` in [-126, 126], to two units in the last place."""
    whole = (y + _f(127.5)).astype(np.int32)
    fraction = y - (whole - np.int32(127)).astype(np.float32)
    return _polynomial(_EXP2_COEFFICIENTS, fraction) * (whole << np.int32(23)).view(np.float32)


def shapes(words: Word, table: Float) -> Float:
    """Variate of density ``~ exp(-|w|^r)`` of each word, never zero: shape of ``words``, float32.

    The quantile function of its magnitude, by the cubics of `shape_table`: the words of one sign are mapped
    as for Laplace variates, to the probability of exceeding that magnitude.
    """
    upper = words.view(np.int32) >> np.int32(31)
    folded = words.view(np.int32) ^ upper
    bits = (folded.astype(np.float32) * _f(2.0**-31) + _f(2.0**-32)).view(np.int32)
    cubic = table[(bits >> np.int32(19)) - np.int32(1520)]
    t = (bits & np.int32(0x7FFFF)).astype(np.float32) * _f(2.0**-19)
    magnitude = ((cubic[..., 3] * t + cubic[..., 2]) * t + cubic[..., 1]) * t + cubic[..., 0]
    return _flip_sign(magnitude, ~words & np.uint32(0x80000000))


def powers(w: Float, r: np.float32) -> Float:
    """``|w|^r`` for the shapes ``w``, not below 2^-126."""
    return exp2(-np.minimum((r * _LOG2_E) * minus_log(np.abs(w)), _f(126)))


def lane_sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum along the last axis, in one order for all implementations: each fourth value, then the four together."""
    dim = values.shape[-1]
    lanes = np.zeros((*values.shape[:-1], 4))
    for start in range(0, dim, 4):
        part = values[..., start : start + 4]
        lanes[..., : part.shape[-1]] += part
    return (lanes[..., 0] + lanes[..., 1]) + (lanes[..., 2] + lanes[..., 3])


def squared_radii(words: Word, dim: int) -> NDArray[np.float64]:
    """Chi-square variates of ``dim`` degrees of freedom: twice exponentials, and for an odd one a normal's square."""
    pairs = dim // 2
    u = words[..., :pairs].astype(np.float32) * _f(2.0**-32) + _f(2.0**-33)
    total = lane_sums(2.0 * minus_log(u).astype(np.float64))
    if dim % 2:
        total = total + box_muller(words[..., pairs], words[..., pairs + 1])[0].astype(np.float64) ** 2
    return total


def radius_words(dim: int) -> int:
    """Count the words that a radius takes."""
    return dim // 2 + 2 * (dim % 2)


def generalised_gaussians(w: Float, squares: NDArray[np.float64], r: float) -> Float:
    """Vectors ``sqrt(squares) w/||w||_r`` along the last axis, of density ``~ exp(-||x||_r^2/2)``.

    Where all of ``|w|^r`` is tiny (few coordinates, large r), ``w`` is first divided by its largest part.
    """
    exponent = _f(r)
    total, scale = lane_sums(powers(w, exponent).astype(np.float64)), np.ones(w.shape[:-1])
    tiny = total < TINY_POWER
    if tiny.any():
        largest = np.abs(w[tiny]).max(axis=-1)
        total[tiny] = lane_sums(powers(w[tiny] / largest[:, None], exponent).astype(np.float64))
        scale[tiny] = largest
    root = exp2((_LOG2_E / exponent) * -minus_log(total.astype(np.float32))).astype(np.float64)
    return ((np.sqrt(squares) / (scale * root))[..., None] * w).astype(np.float32)


def uniforms(words: Word) -> NDArray[np.float64]:
    """Two uniform numbers in (0, 1) of each block, from words 0 and 1 and from words 2 and 3: shape ``(2, ...)``.

    The top 53 bits of the 64-bit number that two words make, over 2^53, and 2^-54 in place of 0.
    """
    high, low = words[0::2].astype(np.float64), (words[1::2] >> np.uint32(11)).astype(np.float64)
    return np.maximum(high * 2.0**21 + low, 0.5) * 2.0**-53


def integers(words: Word, high: int) -> NDArray[np.int64]:
    """Two integers in [0, high) of each block, from words 0 and 1 and from words 2 and 3: shape ``(2, ...)``.

    Here 1 <= high < 2^63. They are the upper 64 bits of the product of ``high`` and the 64-bit number that two words
    make. The probability of each value differs from 1/high by less than 2^-64, so that the total variation distance
    from the uniform law is below ``high * 2^-65``: 3e-14 for a million values.
    """
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a1, a0 = words[0::2].astype(np.uint64), words[1::2].astype(np.uint64)
    b1, b0 = np.uint64(high >> 32), np.uint64(high & 0xFFFFFFFF)
    middle = a1 * b0 + (a0 * b0 >> half)
    carry = (middle & low) + a0 * b1
    return (a1 * b1 + (middle >> half) + (carry >> half)).astype(np.int64)
