"""Names of the papers' own figures; the workflow declares their files without drawing anything."""

from __future__ import annotations

from collections.abc import Iterable

FIGURE_IDS: dict[str, tuple[str, ...]] = {
    "bassily2021": ("kappa_rules", "real_epsilon", "saturation", "vertices", "smd_sfw_map"),
    "su2023": ("width", "thm7_formulas", "heavy_tails", "real_epsilon"),
}
"""Ids of a paper's figures, in the order of the page."""


def chapter_names(claims: Iterable[str]) -> list[str]:
    """Names ``<paper>.<id>`` of the figures that belong to the papers of claims, in their order."""
    papers = dict.fromkeys(claim.split(".", 1)[0] for claim in claims)
    return [f"{paper}.{id}" for paper in papers for id in FIGURE_IDS.get(paper, ())]
