"""Exact draws of ``exp(<v, x> - c ||x||_q^2)`` on the unit l_p ball, 1 <= p < 2, for any tilt: products by rejection.

``u^(2/q)`` is convex, so that a tangent in ``u = ||x||_q^q`` bounds the density by a product of one-dimensional
log-concave ones, and the ball is kept by a multiplier of ``||x||_p^p - 1``, which is at most 0 inside. There are two
such products, and each row takes the one of which more should be accepted:

- all coordinates come from the product;
- the coordinate of the largest tilt comes last, from an exponential law cut to the room ``T = (1 - w)^(1/p)`` that the
  others leave, w the sum of their p-th powers. T is concave in w, so that its tangent leaves a product again. What is
  accepted then does not fall with the tilt, where the law lies close to the sphere.

Source: Gopi, Lee, Liu, Shen, Tian 2022, Corollaries 2 and 3, for the law.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsco_bench.errors import InputError, NumericalFailure
from dpsco_bench.papers.gopi2022.samplers.factors import Factors
from dpsco_bench.papers.gopi2022.samplers.products import LpProducts, Product
from dpsco_bench.papers.gopi2022.samplers.truncated import truncated_exponential, truncated_normal
from dpsco_bench.samplers.draws import KeyedDraws

Array = np.ndarray
ROWS, VALUES = 1024, 1 << 17
"""Rows that are looked at together and coordinates that are proposed at once; no number depends on them."""
MOST_PROPOSALS = 1 << 15
"""Most proposals of a row. One in fifty or more is accepted, so a row without any is an error of the bound."""


@dataclass(frozen=True)
class LpEnvelope:
    """The law of N rows of tilts ``v (N, d)``, the product that bounds each of them, and its factors.

    Parameters
    ----------
    c : float, > 0
    q, p : float, q = p in (1, 2), or p = 1 and q in (1, 2]
    """

    v: Array
    c: float
    q: float
    p: float
    product: Product
    factors: Factors

    @classmethod
    def of(cls, v: Array, c: float, q: float, p: float) -> LpEnvelope:
        """Make the proposal with the better product of each row."""
        product = LpProducts(np.abs(v), c, q, p).best()
        return cls(v, c, q, p, product, Factors(v, product.lam, product.eta, q, p))

    def finish(self, rows: Array, x: Array, u: Array) -> tuple[Array, Array]:
        """Points of the products ``(m, d)`` of rows ``(m,)`` and uniform numbers ``(m, 2)`` -> points, accepted."""
        product, everyone = self.product, np.arange(len(rows))
        last = product.rate[rows] > 0.0
        pivot = product.pivot[rows]
        size = np.abs(x)
        size[everyone[last], pivot[last]] = 0.0
        powers, filled = np.sum(size**self.q, axis=1), np.sum(size**self.p, axis=1)
        log_ratio = product.lam[rows] * powers + product.eta[rows] * filled - product.log_bound[rows]
        inside = filled <= 1.0
        if last.any():
            rate = np.where(last, product.rate[rows], 1.0)
            room = np.maximum(1.0 - filled, 0.0) ** (1.0 / self.p)
            at = truncated_exponential(u[:, 0], rate, room)
            tilt = self.v[rows, pivot]
            x[everyone[last], pivot[last]] = (np.where(tilt < 0.0, -at, at))[last]
            powers = np.where(last, powers + np.abs(at) ** self.q, powers)
            with np.errstate(divide="ignore"):
                log_share = (
                    np.log(-np.expm1(-2.0 * rate * room)) + rate * (room - at) - np.log(rate) + np.abs(tilt) * at
                )
            log_ratio = np.where(last, log_ratio + log_share, log_ratio)
        log_ratio = log_ratio - self.c * powers ** (2.0 / self.q)
        return x, inside & (np.log(u[:, 1]) <= log_ratio)


def sample_lp(draws: KeyedDraws, v: Array, c: float, q: float, p: float) -> Array:
    """Draw one point of the unit l_p ball per row, ``(rows, d)``, of density ``~ exp(<v, x> - c ||x||_q^2)``.

    Raises InputError for arguments out of range, NumericalFailure for a row without a point after `MOST_PROPOSALS`.

    Parameters
    ----------
    v : array (rows, d), tilts
    c : float, > 0
    q, p : float, q = p in (1, 2), or p = 1 and q in (1, 2]
    """
    if not (1.0 <= p < 2.0 and (q == p > 1.0 or (p == 1.0 and 1.0 < q <= 2.0))):
        raise InputError("p, q", (p, q), "q = p in (1, 2), or p = 1 and q in (1, 2]")
    if not (np.all(np.isfinite(v)) and 0.0 < c < np.inf):
        raise InputError("v, c", (v, c), "finite, c > 0")
    d = v.shape[1]
    if d == 1:
        return truncated_normal(draws.uniform("lp", 0, 1), v / (2.0 * c), np.sqrt(0.5 / c), 1.0)
    shared = LpEnvelope.of(v[:1], c, q, p) if np.all(v == v[0]) else None
    x = np.empty_like(v)
    for first in range(0, len(v), ROWS):
        asked = np.arange(first, min(first + ROWS, len(v)))
        envelope = shared or LpEnvelope.of(v[asked], c, q, p)
        rows = np.zeros_like(asked) if shared else np.arange(len(asked))
        x[asked] = _accepted(draws, envelope, asked, rows)
    return x


def _accepted(draws: KeyedDraws, envelope: LpEnvelope, asked: Array, rows: Array) -> Array:
    """First accepted proposal ``(m, d)`` of rows ``asked (m,)`` of the draws, ``rows (m,)`` of the envelope."""
    d = envelope.v.shape[1]
    x, todo, proposal, steps = np.empty((len(rows), d)), np.arange(len(rows)), 0, 1
    while len(todo) and proposal < MOST_PROPOSALS:
        at = envelope.factors.sample(draws, "lp", proposal, steps, asked[todo], rows[todo]).reshape(-1, d)
        u = draws.uniform_steps("lp", proposal, steps, 2, asked[todo]).reshape(-1, 2)
        found, accepted = envelope.finish(np.tile(rows[todo], steps), at, u)
        accepted = accepted.reshape(steps, -1)
        done = accepted.any(axis=0)
        first = accepted.argmax(axis=0)[done]
        x[todo[done]] = found.reshape(steps, -1, d)[first, done]
        proposal, todo = proposal + steps, todo[~done]
        steps = max(1, min(4 * steps, VALUES // max(1, d * len(todo)), MOST_PROPOSALS - proposal))
    if len(todo):
        tilt = np.abs(envelope.v[rows[todo[0]]]).max()
        raise NumericalFailure(
            f"lp_exact: {len(todo)} of {len(rows)} rows without an accepted point after {MOST_PROPOSALS} proposals at "
            f"p = {envelope.p:g}, d = {d}, largest tilt {tilt:g}, c = {envelope.c:g}"
        )
    return x
