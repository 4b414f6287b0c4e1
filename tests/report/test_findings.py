"""A finding is said with its numbers where they support it, stops the build where they do not, and else is left out."""

import re
from collections import Counter
from types import SimpleNamespace

import pytest

from dpsco_bench.analysis.answer_text import words
from dpsco_bench.analysis.record import read_record
from dpsco_bench.claims.catalogue import read_claims
from dpsco_bench.cli.describe import describe
from dpsco_bench.errors import InputError
from dpsco_bench.paths import shared_dir
from dpsco_bench.registry import papers
from dpsco_bench.report.opening import on_printed_noise
from dpsco_bench.site.content import Content
from dpsco_bench.site.finding_figures import write_figure
from dpsco_bench.site.findings import filled, finding_files, findings, holds, linked, read_finding
from dpsco_bench.site.values import value_of
from tests.cli.test_documents import sentences

CONSTANTS = ("noise_constant", "constant")
"""Options that set what a theorem leaves open of its noise."""
LONGEST = 30
"""Words of a sentence."""
TEXT = """
title: The real eps is {real} for a claim of {claimed}
sentence: "At a claim of {claimed} the real eps is {real}, {over:.0f} times as much; the word is {word}."
means: "Do not trust {real}."
claims: [wang2017.kinds]
values:
  real: {claim: wang2017.kinds, part: privacy-epsilon, calibration: paper, column: epsilon_real}
  claimed: {claim: wang2017.kinds, part: privacy-epsilon, calibration: paper, column: epsilon_claimed}
  over: {over: [real, claimed]}
  word: {claim: wang2017.kinds, part: privacy-epsilon, calibration: paper, column: verdict}
needs: ["real > 1000", "word == fails", "real > claimed"]
figure: {label: real eps, reference: 1, rows: [{text: printed, value: real}]}
"""


@pytest.fixture
def content(inputs, tmp_path):
    return Content(inputs, tmp_path)


@pytest.fixture
def told(tmp_path):
    def write(text=TEXT, name="one"):
        path = tmp_path / f"{name}.yaml"
        path.write_text(text)
        return {name: path}

    return write


def test_a_finding_is_said_with_its_numbers(content, told, tmp_path):
    ((finding,), unsaid) = findings(content, told())
    assert unsaid == []
    assert finding.sentence == "At a claim of 1 the real eps is 3.24×10⁵, 324000 times as much; the word is fails."
    assert finding.means == "Do not trust 3.24×10⁵."
    assert finding.title == "The real eps is 3.24×10⁵ for a claim of 1" and finding.claims == ["wang2017.kinds"]
    assert write_figure(finding, tmp_path) and "<svg" in (tmp_path / "finding--one.svg").read_text()


@pytest.mark.parametrize("condition", ["real < 1000", "word == holds", "claimed > real"])
def test_a_finding_that_the_numbers_contradict_stops_the_build(content, told, condition):
    broken = TEXT.replace("real > 1000", condition)
    with pytest.raises(InputError, match=r"finding one: needs") as error:
        findings(content, told(broken))
    assert condition in str(error.value) and "real = 3.24e+05" in str(error.value)


def test_a_finding_leads_to_pages_that_the_site_has(content, told):
    pages = {"privacy": "(table--x)=\n# Privacy"}
    (kept,) = linked(findings(content, told(TEXT + 'pages: [privacy, "#table--x"]\n'))[0], pages)
    assert kept.id == "one"
    for page in ("nowhere", "#table--y", "#table", "#"):
        found = findings(content, told(TEXT + f'pages: ["{page}"]\n', "two"))[0]
        with pytest.raises(InputError, match=f"finding two: pages = '{page}': must be a page of the site"):
            linked(found, pages)


def test_a_finding_may_lead_to_a_page_that_the_one_file_leaves_out(content, told):
    found = findings(content, told(TEXT + "pages: [verdicts]\n"))[0]
    assert linked(found, {}, {"verdicts"}) == found
    with pytest.raises(InputError, match="pages = 'verdicts'"):
        linked(found, {}, {"guide/api"})


def test_two_findings_with_one_address_are_refused(monkeypatch, tmp_path):
    paths = [tmp_path / name for name in ("01-svrg-private.yaml", "02-svrg_private.yaml")]
    monkeypatch.setattr("dpsco_bench.site.findings.conf_files", lambda pattern: paths)
    with pytest.raises(InputError, match="02-svrg_private.yaml': must be one with an id that has letters or digits"):
        finding_files()


def test_a_finding_of_claims_that_the_profile_lacks_is_left_out_and_named(content, told):
    said, (unsaid,) = findings(content, told(TEXT.replace("wang2017.kinds", "wang2017.elsewhere")))
    assert said == [] and unsaid.id == "one" and "wang2017.elsewhere is not in profile smoke" in unsaid.reason
    assert unsaid.title == "The real eps is … for a claim of …"


def test_claims_of_counted_verdicts_stand_behind_a_finding(content, told):
    """Each once, after those that are named; what counts no verdicts has none."""
    counts = TEXT.replace("values:\n", "values:\n  all: {rows: {kind: privacy, calibration: paper}}\n")
    ((finding,), _) = findings(content, told(counts + "counted: [all]\n"))
    rows = [
        s.row for s in content.scores if s.row.kind == "privacy" and s.row.calibration == "paper" and not s.row.beside
    ]
    assert finding.values["all"] == len(rows) > 0
    assert finding.claims == list(dict.fromkeys(["wang2017.kinds", *(row.id for row in rows)]))
    for wrong in ("real", "gone"):
        with pytest.raises(InputError, match=rf"finding one: counted = '{wrong}'"):
            findings(content, told(counts + f"counted: [{wrong}]\n"))


def test_a_finding_that_counts_over_papers_is_left_out_where_one_is_gone(content, told):
    (finding,), unsaid = findings(content, told(TEXT + "papers: [wang2017, su2023]\n"))
    assert finding.id == "one" and unsaid == []
    said, (unsaid,) = findings(content, told(TEXT + "papers: [wang2017, gone2020]\n"))
    assert said == [] and unsaid.reason == "paper gone2020 is not installed"


def test_a_shipped_finding_without_claims_names_the_papers_that_it_counts_over():
    for id, path in finding_files().items():
        text = read_finding(path, id)
        assert text.claims or set(text.papers) == set(papers()), id


def test_the_finding_on_open_constants_names_the_parts_that_leave_one_open():
    """Of claims on privacy in which nothing else is expected to fail."""
    asked = read_finding(finding_files()["privacy-as-printed"], "privacy-as-printed").values["at_one"].rows
    known = set()
    for claim in read_claims():
        parts = [part for part in claim.parts if part.kind == "privacy" and "paper" in part.calibrations]
        fails = {bool(part.open_constant) for part in parts if part.expected == "fails"}
        known |= {(claim.id, part.id) for part in parts if part.open_constant and fails == {True}}
    assert {id for id, _ in known} == set(asked.claims) and {part for _, part in known} == set(asked.parts)


def test_what_noise_spends_is_taken_of_claims_that_the_finding_leads_to():
    text = read_finding(finding_files()["too-much-noise"], "too-much-noise")
    spent = [value.spent for value in text.values.values() if hasattr(value, "spent")]
    assert len(spent) == 3 and set().union(*spent) == set(text.claims)


def constants(part):
    """What the methods of a part have for a constant that their theorem leaves open; one without has none."""
    for method in part.methods:
        defaults = {option.name: option.default for option in describe(method.algorithm).options}
        yield from ({**defaults, **method.options}[name] for name in defaults if name in CONSTANTS)


def test_a_constant_that_is_left_open_is_one_and_is_told():
    """As the answers say. The one listing that never uses its noise has no use for the constant either."""
    told, found = {}, {}
    for claim in (claim for claim in read_claims() if not claim.id.endswith(".audit")):
        for part in (part for part in claim.parts if "paper" in part.calibrations):
            told[claim.id, part.id], found[claim.id, part.id] = bool(part.open_constant), 1.0 in constants(part)
    assert {key for key in found if found[key] != told[key]} == {("wang2017.thm5.3", "literal-epsilon")}
    assert sum(told.values()) > 50


def test_a_finding_of_other_profiles_is_left_out(content, told):
    """It is not named either: a page speaks of the run that it shows."""
    assert findings(content, told(TEXT + "profiles: [full]\n")) == ([], [])


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("part: privacy-epsilon, calibration: paper, column: verdict", "part: gone, column: verdict", "gone paper"),
        ("column: epsilon_claimed", "column: nothing", "nothing"),
        ("{real}, {over", "{reel}, {over", "reel"),
        ("title:", "titel:", "titel"),
        ("over: [real, claimed]", "over: [real]", "['real']"),
        ("over: [real, claimed]", "above: [real, claimed]", "above"),
        ("calibration: paper, column: verdict", "calibrations: paper, column: verdict", "calibrations"),
        ("text: printed", "txt: printed", "txt"),
    ],
)
def test_a_wrong_reference_is_one_line_that_names_it(content, told, old, new, named):
    with pytest.raises(InputError, match="finding one") as error:
        found, _ = findings(content, told(TEXT.replace(old, new)))
        [finding.sentence for finding in found]
    assert named in str(error.value)


def test_conditions_compare_numbers_and_words():
    values = {"x": 2.0, "word": "match"}
    assert holds("x >= 2", values, "f") and not holds("x < 2", values, "f") and holds("word != fails", values, "f")
    for below, at, above, condition in (
        *((1, 1, 0, "x <= 2"), (0, 1, 1, "x >= 2"), (1, 0, 0, "x < 2"), (0, 0, 1, "x > 2")),
        *((0, 1, 0, "x == 2"), (1, 0, 1, "x != 2")),
    ):
        assert [holds(condition, {"x": x}, "f") for x in (1.0, 2.0, 3.0)] == [below, at, above], condition
    for wrong in ("y > 1", "x", "x > much"):
        with pytest.raises(InputError, match="finding f"):
            holds(wrong, values, "f")


def test_numbers_are_shown_as_asked_for():
    assert filled("{a} {a:.1f} {b}", {"a": 0.000123, "b": "no"}, "x") == "1.23×10⁻⁴ 0.0 no"


def test_the_findings_that_ship_can_be_read():
    for id, path in finding_files().items():
        text = read_finding(path, id)
        assert text.needs and text.values and text.title[0].isupper() and text.figure, id
        assert re.search(r"\{\w+", text.title) and words(text.title) <= LONGEST and text.title[-1] != ".", id
        assert text.claims or text.counted or text.pages, id
        assert len(text.sentence.split()) <= 80 and text.means.endswith("."), id
        for one in sentences(f"{text.sentence}\n\n{text.means}"):
            assert words(one) <= LONGEST, one


@pytest.mark.parametrize("profile", ["ci", "full"])
def test_a_profile_has_ten_to_fifteen_findings(profile):
    texts = [read_finding(path, id) for id, path in finding_files().items()]
    assert 10 <= sum(profile in (text.profiles or [profile]) for text in texts) <= 15


@pytest.mark.parametrize("profile", ["ci", "full"])
def test_the_finding_on_printed_noise_counts_what_the_table_of_papers_counts(profile):
    """No audit, and nothing that stands beside a statement."""
    rows = read_record(shared_dir("workflows") / "recorded" / f"{profile}.json")
    table = Counter(row.meaning.outcome for row in rows if on_printed_noise(row))
    asked = read_finding(finding_files()["privacy-as-printed"], "privacy-as-printed").values
    content = SimpleNamespace(scores=[SimpleNamespace(row=row) for row in rows])
    found = {name: value_of(content, asked[name], {}, name) for name in ("all", "holds", "fails", "open")}
    names = {"holds": "confirms", "fails": "contradicts", "open": "unproven"}
    assert {name: table[outcome] for name, outcome in names.items()} == {name: found[name] for name in names}
    assert found["all"] == table.total() > 50
    assert any(row.beside and row.kind == "privacy" for row in rows) and any(row.kind == "audit" for row in rows)
