"""What others call a key, for the hint beside an unknown one."""

from collections.abc import Collection

OTHER_NAMES = {"ridge": "regularisation", "lambda": "regularisation", "eps": "epsilon"}
"""A name -> the key."""


def usual(name: str, known: Collection[str]) -> str:
    """What a key is called here, if that is known; else the name as it is."""
    here = OTHER_NAMES.get(name, name)
    return here if here in known else name
