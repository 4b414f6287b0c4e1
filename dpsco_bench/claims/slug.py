"""What is left of a name in an address of a page: two ids with one such name would have one page."""

from __future__ import annotations

import re


def slug(name: str) -> str:
    """Small letters, digits and single hyphens: ``paper-thm4-2``."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
