"""The words of verdicts on docs/verdicts.md, from the code that chooses them: `python docs/verdicts.py`."""

from __future__ import annotations

from pathlib import Path

from dpsco_bench.site.pages.home import filled

PAGE = Path(__file__).with_suffix(".md")


def page(text: str) -> str:
    """Make the page's tables anew."""
    return filled(text, lambda word, _: f"`{word}`")


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
