"""examples/tour.ipynb runs from top to bottom, and what it shows is what comes out."""

import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

CELLS = json.loads((Path(__file__).parents[2] / "examples" / "tour.ipynb").read_text(encoding="utf-8"))["cells"]
CODE = [cell for cell in CELLS if cell["cell_type"] == "code"]


def test_what_is_printed_is_what_it_shows():
    names = {}
    for cell in CODE:
        with redirect_stdout(StringIO()) as out:
            exec("".join(cell["source"]), names)
        assert out.getvalue() == "".join(text for out in cell["outputs"] for text in out.get("text", ()))
        assert cell["outputs"] or "plot" not in "".join(cell["source"])
    ledger, choice = names["ledger"], names["choice"]
    assert ledger.paper.epsilon_real > 1 and ledger.accounted.privacy_status == "proven"
    assert names["slope"] < 0 and choice.best.risk < choice.trivial
