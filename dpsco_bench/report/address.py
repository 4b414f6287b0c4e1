"""Addresses of what people read about: the anchor of a claim, a part, a method, an erratum or a finding."""

from __future__ import annotations

from dpsco_bench.claims.slug import slug


def address(*names: str) -> str:
    """Anchor of a thing by its names, the same on every page: ``paper.thm4.2``, ``rate-n`` give one of letters.

    Letters, digits and hyphens alone, two of them between the names, so that no two things share one.
    """
    return "--".join(map(slug, names))
