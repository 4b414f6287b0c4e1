"""What stands above panels and figures fits its lines."""

from dpsco_bench.report.drawing import Panel, two_lines


def test_small_text_takes_two_lines_and_is_cut_behind_a_word():
    assert two_lines("", 20) == []
    assert two_lines("n = 64, d = 3", 20) == ["n = 64, d = 3"]
    assert two_lines("least squares, l2 ball, with public points", 24) == [
        "least squares, l2 ball,",
        "with public points",
    ]
    first, second = two_lines("word " * 40, 20)
    assert max(map(len, (first, second))) <= 20 and second.endswith("word …")
    panel = Panel("A title", lambda axes: None, "word " * 40)
    assert len(panel.lines) == 2 and len(Panel("A title", lambda axes: None).lines) == 0
