"""A key, and boxes of words: of one word, of rows beyond a tile, at the ends of the counters, empty."""

from dpsco_bench.rng.counters import Box

KEY = (0x243F6A88, 0x85A308D3)
BOXES = [
    Box(0, 1, 0, 1, 1),
    Box(3, 2, 5, 7, 3),
    Box(0, 3, 2, 5, 10),
    Box(1, 1, 1, 300, 64),
    Box(2**32 - 2, 2, 2**32 - 3, 3, 5),
    Box(7, 2, 0, 2, 6001),  # a row longer than a tile
    Box(1, 2, 0, 9, 128),  # rows of whole vectors, several in a tile
    Box(3, 5, 2, 17, 68),  # rows abreast, the last ones not a vector
    Box(0, 1, 2, 3, 4100),  # rows cut in parts
    Box(0, 900, 0, 1, 2),
    Box(0, 900, 0, 3, 2),
    Box(0, 2, 0, 0, 4),
    Box(0, 2, 0, 3, 0),
]


def assert_same_bits(compiled, expected):
    """Arrays of one type, shape and content."""
    assert compiled.dtype == expected.dtype
    assert compiled.shape == expected.shape
    assert compiled.tobytes() == expected.tobytes()
