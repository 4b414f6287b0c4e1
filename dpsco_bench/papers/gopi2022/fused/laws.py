"""Uniform numbers at an address, and the laws that they give by inversion, for one number in a compiled loop.

The laws are those of SciPy's distribution functions to rounding; the quantile of the normal law has the coefficients of
Cephes (S. Moshier, `ndtri`), as SciPy's has.
"""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np

from dpsco_bench.fused.compiled import called, exact_piece
from dpsco_bench.rng.counters import INTEGER, UNIFORM

with suppress(ImportError):  # without Numba the listings run
    from dpsco_bench.rng.kernels import _integer, _philox, _uniform

ROOT2, ROOT_2PI, LOG_ROOT_2PI = math.sqrt(2.0), math.sqrt(2.0 * math.pi), 0.5 * math.log(2.0 * math.pi)
MIDDLE = math.exp(-2.0)
"""Probabilities at least so far from 0 and 1 have the quantile's middle approximation."""
TAIL = -20.0
"""Below it ``log Phi`` is its asymptotic series."""
LEAST_LOG = -690.0
"""A probability with a smaller logarithm is too near the least number."""
FAR = 50.0
"""As in the listing of truncated normals: beyond it a quantile is found by how far it lies below its tail's end."""
NEWTON, SERIES = 8, 8


@exact_piece
def fill_uniform(out, first, count, key, step, replicate):
    """Numbers ``first ..`` of a step and a replicate, ``first`` even, to out: those of `Stream.uniform`.

    There is room for one more than ``count``.
    """
    kind, k0, k1 = np.uint32(UNIFORM), np.uint32(key[0]), np.uint32(key[1])
    for i in range((count + 1) // 2):
        w0, w1, w2, w3 = _philox(np.uint32(first // 2 + i), np.uint32(step), np.uint32(replicate), kind, k0, k1)
        out[2 * i], out[2 * i + 1] = _uniform(w0, w1), _uniform(w2, w3)


@exact_piece
def fill_integers(out, count, high, key, step, replicate):
    """Fill as `fill_uniform` does, with the first integers in [0, high): those of `Stream.integers`."""
    kind, k0, k1 = np.uint32(INTEGER), np.uint32(key[0]), np.uint32(key[1])
    for i in range((count + 1) // 2):
        w0, w1, w2, w3 = _philox(np.uint32(i), np.uint32(step), np.uint32(replicate), kind, k0, k1)
        out[2 * i], out[2 * i + 1] = _integer(w0, w1, np.uint64(high)), _integer(w2, w3, np.uint64(high))


@called
def lower_quantile(p):
    """``Phi^-1(p)`` for p in (0, 1 - e^-2]."""
    if p > MIDDLE:
        y = p - 0.5
        z = y * y
        top = -5.99633501014107895267e1 * z + 9.80010754185999661536e1
        top = (top * z - 5.66762857469070293439e1) * z + 1.39312609387279679503e1
        top = top * z - 1.23916583867381258016e0
        low = (z + 1.95448858338141759834e0) * z + 4.67627912898881538453e0
        low = (low * z + 8.63602421390890590575e1) * z - 2.25462687854119370527e2
        low = (low * z + 2.00260212380060660359e2) * z - 8.20372256168333339912e1
        low = (low * z + 1.59056225126211695515e1) * z - 1.18331621121330003142e0
        return (y + y * (z * top / low)) * ROOT_2PI
    x = math.sqrt(-2.0 * math.log(p))
    z = 1.0 / x
    if x < 8.0:
        top = 4.05544892305962419923e0 * z + 3.15251094599893866154e1
        top = (top * z + 5.71628192246421288162e1) * z + 4.40805073893200834700e1
        top = (top * z + 1.46849561928858024014e1) * z + 2.18663306850790267539e0
        top = (top * z - 1.40256079171354495875e-1) * z - 3.50424626827848203418e-2
        top = top * z - 8.57456785154685413611e-4
        low = (z + 1.57799883256466749731e1) * z + 4.53907635128879210584e1
        low = (low * z + 4.13172038254672030440e1) * z + 1.50425385692907503408e1
        low = (low * z + 2.50464946208309415979e0) * z - 1.42182922854787788574e-1
        low = (low * z - 3.80806407691578277194e-2) * z - 9.33259480895457427372e-4
    else:
        top = 3.23774891776946035970e0 * z + 6.91522889068984211695e0
        top = (top * z + 3.93881025292474443415e0) * z + 1.33303460815807542389e0
        top = (top * z + 2.01485389549179081538e-1) * z + 1.23716634817820021358e-2
        top = (top * z + 3.01581553508235416007e-4) * z + 2.65806974686737550832e-6
        top = top * z + 6.23974539184983293730e-9
        low = (z + 6.02427039364742014255e0) * z + 3.67983563856160859403e0
        low = (low * z + 1.37702099489081330271e0) * z + 2.16236993594496635890e-1
        low = (low * z + 1.34204006088543189037e-2) * z + 3.28014464682127739104e-4
        low = (low * z + 2.89247864745380683936e-6) * z + 6.79019408009981274425e-9
    return z * top / low - (x - math.log(x) / x)


@exact_piece
def quantile(p, rest):
    """``Phi^-1(p)``, ``rest = 1 - p``."""
    return lower_quantile(p) if p <= 1.0 - MIDDLE else -lower_quantile(rest)


@exact_piece
def standard_normal(u):
    """Turn a uniform number in (0, 1) into a normal variate."""
    return quantile(u, 1.0 - u)


@exact_piece
def below(x):
    """``Phi(x)``."""
    return 0.5 * math.erfc(-x / ROOT2)


@called
def log_below(x):
    """``log Phi(x)`` at any x."""
    if x > 0.0:
        return math.log1p(-below(-x))
    if x > TAIL:
        return math.log(below(x))
    term, total, square = 1.0, 1.0, x * x
    for i in range(SERIES):
        term *= -(2 * i + 1) / square
        total += term
    return -0.5 * square - LOG_ROOT_2PI - math.log(-x) + math.log(total)


@called
def quantile_of_log(level):
    """``Phi^-1(exp(level))`` for level < 0."""
    if level > LEAST_LOG:
        return quantile(math.exp(level), -math.expm1(level))
    z = -math.sqrt(-2.0 * level - 2.0 * LOG_ROOT_2PI - math.log(-2.0 * level))
    for _ in range(NEWTON):
        found = log_below(z)
        z -= (found - level) * math.exp(found + 0.5 * z * z + LOG_ROOT_2PI)
    return z


@called
def fall(away, length):
    """Compute the listing's ``-log(Phi(-away - length)/Phi(-away))``, away >= `FAR`."""
    end = away + length
    y, z = 1.0 / (away * away), 1.0 / (end * end)
    terms = 1.0 - 2.5 * (y + z) + 37.0 / 3.0 * (y * y + y * z + z * z)
    return length * (away + 0.5 * length) + math.log1p(length / away) - y * (length / end) * (1.0 + away / end) * terms


@called
def below_the_end(u, away, length):
    """Compute the listing's distance of a u-quantile of a normal tail ``[-away - length, -away]`` below its end."""
    whole = fall(away, length)
    short = whole < 1.0
    wanted = -(math.log1p(math.expm1(-whole) * (1.0 - u)) if short else math.log(u + math.exp(-whole) * (1.0 - u)))
    found = wanted - math.log1p(wanted / (away * away))
    found = 2.0 * found / (away + math.sqrt(away * away + 2.0 * found))
    at = away + found
    return found - (fall(away, found) - wanted) / (at + (1.0 - 2.0 / (at * at)) / at)


@called
def truncated_normal(u, mean, sd, high):
    """Draw the listing's normal variate conditioned on ``[-high, high]``, by inversion in the left tail."""
    centre = abs(mean)
    low, top = (-high - centre) / sd, (high - centre) / sd
    if top > TAIL:
        z = quantile(below(low) * (1.0 - u) + below(top) * u, below(-low) * (1.0 - u) + below(-top) * u)
        x = centre + sd * z
    elif top >= -FAR:
        first, second = log_below(low) + math.log1p(-u), log_below(top) + math.log(u)
        most = max(first, second)
        x = centre + sd * quantile_of_log(most + math.log1p(math.exp(min(first, second) - most)))
    else:
        x = high - sd * below_the_end(u, -top, 2.0 * high / sd)
    x = min(max(x, -high), high)
    return -x if mean < 0.0 else x
