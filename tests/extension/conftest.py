from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _beside_the_examples(dpsco, examples):
    """What is run here uses the examples by relative paths."""


@pytest.fixture
def edit():
    """Replace texts in a file of the examples."""

    def change(file, *changes):
        text = Path(file).read_text()
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        Path(file).write_text(text)

    return change
