"""Addresses of what people read about: the anchor of a claim, a part, a method, an erratum or a finding."""

from __future__ import annotations

from dpsco_bench.claims.slug import slug


def address(*names: str) -> str:
    """Make the anchor of a thing by its names, the same on every page, out of ``paper.thm4.2`` and ``rate-n``.

    Letters, digits and hyphens alone, two of them between the names, so that no two things share one.
    """
    return "--".join(map(slug, names))
