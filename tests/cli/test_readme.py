"""The README's verdict table is what is recorded of profile full."""

import json
import re
from pathlib import Path

import pytest

from dpsco_bench.analysis.record import DIGITS
from dpsco_bench.claims.catalogue import read_claims

ROOT = Path(__file__).parents[2]
PAPER = "wang2017"
NOISES = ("paper", "accounted")


def order():
    """(claim, part) in the order of the files."""
    claims = [claim for claim in read_claims() if claim.paper == PAPER]
    return {(claim.id, part.id): place for claim in claims for place, part in enumerate(claim.parts)}


def shown(verdict):
    """A recorded verdict as the table words it, without stars and claimed values."""
    text = verdict["verdict"].replace("_", " ").replace("real eps", "real ε")
    if verdict["kind"] == "privacy":
        return text if "(" in text else f"{text} (real ε {verdict['epsilon_real']:.4g})"
    if verdict["slope"] is None:
        return text
    low, high = verdict["ci"]
    spread = "" if verdict["kind"] == "complexity" else f" [{digits(low)}, {digits(high)}]"
    return f"{text} ({digits(verdict['slope'])}{spread})"


def digits(value):
    """A recorded number as it is recorded: it has been rounded once, and is not rounded again."""
    return f"{value:#.{DIGITS}g}"


def recorded_rows():
    """(claim, part, kind, both formula slopes, both verdicts) of every recorded part."""
    rows = json.loads((ROOT / "workflows" / "recorded" / "full.json").read_text(encoding="utf-8"))
    known, parts = order(), {}
    for row in rows:
        if row["id"].startswith(f"{PAPER}."):
            parts.setdefault((row["id"], row["part"]), {})[row["calibration"]] = row
    for id, part in sorted(parts, key=lambda name: (name[0], known[name])):
        found = parts[id, part]
        verdicts = [found.get(noise) for noise in NOISES]
        slopes = ["" if v is None or v["bound_slope"] is None else digits(v["bound_slope"]) for v in verdicts]
        kind = next(iter(found.values()))["kind"]
        yield [id.partition(".")[2], part, kind, *slopes, *(shown(v) if v else "" for v in verdicts)]


def readme_rows():
    """Rows of the README's table, with the claim in each and without stars and claimed values."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text.partition("| claim | part | kind |")[2].partition("</details>")[0]
    claim = ""
    for line in table.splitlines()[2:]:
        if line.startswith("|"):
            first, *cells = (re.sub(r" for [\d.]+(?=\))|\\\*", "", cell.strip()) for cell in line.strip("|").split("|"))
            claim = first or claim
            yield [claim, *(cell.replace("−", "-") for cell in cells)]


def test_the_table_of_the_readme_is_the_record():
    assert list(readme_rows()) == list(recorded_rows())


def test_privacy_rows_say_what_is_claimed():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text.partition("| claim | part | kind |")[2].partition("</details>")[0]
    cells = [cell for line in table.splitlines() if "| privacy |" in line for cell in line.split("|")[6:8]]
    assert len(cells) == 2 * sum(row[2] == "privacy" for row in recorded_rows())
    for cell in filter(str.strip, cells):
        assert re.search(r" for [\d.]+\)", cell), cell


def test_the_readme_counts_its_verdicts():
    total = sum(bool(cell) for row in recorded_rows() for cell in row[5:])
    assert f"<summary>All {total} verdicts of the first paper, profile full</summary>" in (
        ROOT / "README.md"
    ).read_text(encoding="utf-8")


@pytest.mark.parametrize("row", [["fig1", "literal_loss", "ordering", "", "", "holds", "inconclusive"]])
def test_rows_are_read(row):
    assert row in list(readme_rows())
