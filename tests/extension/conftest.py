import pytest


@pytest.fixture(autouse=True)
def _with_examples(examples):
    """What is run here uses the examples by relative paths."""
