"""A finding is said with its numbers where they support it, stops the build where they do not, and else is left out."""

import re
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest

from dpsco_bench.analysis.answer_text import words
from dpsco_bench.analysis.ranking import Searched
from dpsco_bench.analysis.record import read_record
from dpsco_bench.analysis.standings import TRIVIAL
from dpsco_bench.claims import catalogue
from dpsco_bench.claims.kinds import get_kind
from dpsco_bench.errors import InputError
from dpsco_bench.paths import shared_dir
from dpsco_bench.registry import papers
from dpsco_bench.report.opening import on_printed_noise
from dpsco_bench.site.board_values import NotMeasured
from dpsco_bench.site.content import Content
from dpsco_bench.site.finding_figures import figure, write_figure, write_figures
from dpsco_bench.site.findings import FigureRow, FigureText, filled, finding_files, findings, holds, read_finding
from dpsco_bench.site.values import reference, value_of
from tests.cli.test_documents import sentences
from tests.report.test_board import ROWS, UNDECIDED, results

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
    assert write_figure(finding, tmp_path) and "<svg" in (tmp_path / "one.svg").read_text()


@pytest.mark.parametrize("condition", ["real < 1000", "word == holds", "claimed > real"])
def test_a_finding_that_the_numbers_contradict_stops_the_build(content, told, condition):
    broken = TEXT.replace("real > 1000", condition)
    with pytest.raises(InputError, match=r"finding one: needs") as error:
        findings(content, told(broken))
    assert condition in str(error.value) and "real = 3.24e+05" in str(error.value)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("real > 1000", "real < 1000"),
        ("title:", "titel:"),
        ("value: real}", "value: reel}"),
        ("over:.0f", "over:q"),
    ],
    ids=["contradicted", "a wrong key", "a figure of nothing", "a form that is none"],
)
def test_one_of_an_installed_paper_is_named_and_left_out(content, told, tmp_path, monkeypatch, capsys, old, new):
    broken = told(TEXT.replace(old, new), "broken")
    with pytest.raises(ValueError):
        write_figures(findings(content, broken)[0], tmp_path)
    monkeypatch.setattr(catalogue, "of_installed", lambda path: path.stem == "broken")
    said, unsaid = findings(content, {**broken, **told()})
    assert [finding.id for finding in write_figures(said, tmp_path)] == ["one"] and not unsaid
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"dpsco: {broken['broken']}: left out: ")


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


def test_only_decided_points_of_a_board_count():
    """What is undecided counts for nobody: ROWS has one more point than are decided, and a skipped instance."""
    content = SimpleNamespace(inputs=SimpleNamespace(boards=[results([*ROWS, UNDECIDED])], profile="ci"))
    wins = reference({"wins": "leaderboard.x", "methods": ["dp_gd"]}, "wins")
    points = reference({"points": "leaderboard.x"}, "points")
    assert value_of(content, wins, {}, "wins") == 3.0 and value_of(content, points, {}, "points") == 4.0
    shared = reference({"wins": "leaderboard.x", "methods": [TRIVIAL], "shared": True}, "shared")
    assert value_of(content, shared, {}, "shared") == 1.0


def test_frontier_and_search_are_of_decided_points():
    """The starting point is first at n = 512, d = 4, epsilon = 4 alone; a search is better at one of two points."""
    content = SimpleNamespace(inputs=SimpleNamespace(boards=[results([*ROWS, UNDECIDED])], profile="ci"))

    def value(**entry):
        return value_of(content, reference(entry, "x"), {}, "x")

    assert value(frontier="leaderboard.x") == 512 * 4 / 2
    board = content.inputs.boards[0]
    found = [Searched("s", "p.s", {}, risk, (risk, risk), 3) for risk in (1e-6, 1e6)]
    board.__dict__["rows"] = [replace(ROWS[0], search=one) for one in found]
    assert (value(search="leaderboard.x", take="count"), value(search="leaderboard.x", take="above")) == (2, 1)
    assert value(search="leaderboard.x", take="max") > value(search="leaderboard.x", take="median") > 0
    with pytest.raises(NotMeasured):
        value(frontier="leaderboard.x")


def test_a_frontier_is_a_bracket():
    """The start shares the first place at 512 and at 1024; a method beats it at 2048, and elsewhere between the two."""

    def at(n, tied, d=4, **more):
        return replace(ROWS[0], n=n, d=d, epsilon=2, tied=(tied,), winner=tied, **more)

    open_one = at(1536, TRIVIAL, contenders=UNDECIDED.contenders)
    rows = [
        at(512, TRIVIAL),
        at(1024, TRIVIAL),
        at(1024, "dp_gd"),
        open_one,
        at(2048, "dp_gd"),
        at(4096, "dp_gd", d=16),
    ]
    content = SimpleNamespace(inputs=SimpleNamespace(boards=[results(rows)], profile="ci"))

    def value(**entry):
        return value_of(content, reference({"frontier": "leaderboard.x", **entry}, "x"), {}, "x")

    assert (value(), value(beyond=True), value(d=4, beyond=True)) == (1024, 2048, 2048)
    for entry in ({"d": 16}, {"d": 16, "beyond": True}):
        with pytest.raises(NotMeasured):
            value(**entry)
    content.inputs.boards = [results([at(512, TRIVIAL)])]
    with pytest.raises(NotMeasured):
        value(beyond=True)


def test_a_frontier_that_nothing_reaches_is_the_least_that_was_tried():
    """With ``beaten`` alone; with ``either`` an instance that the profile lacks is left out."""
    rows = [replace(ROWS[0], n=n, d=4, epsilon=2, tied=("dp_gd",), winner="dp_gd") for n in (512, 1024)]
    content = SimpleNamespace(inputs=SimpleNamespace(boards=[results(rows)], profile="ci"))

    def value(**entry):
        return value_of(content, reference({"frontier": "leaderboard.x", **entry}, "x"), {}, "x")

    assert value(beaten=True) == 512
    assert value(beaten=True, instances=["gone", ROWS[0].instance], either=True) == 512
    for entry in ({"beyond": True}, {"beaten": True, "d": 5}, {"beaten": True, "instances": ["gone"], "either": True}):
        with pytest.raises(NotMeasured):
            value(**entry)
    rows.append(replace(rows[0], tied=(TRIVIAL, "dp_gd"), n=700))
    content.inputs.boards = [results(rows)]
    assert value(beaten=True) == value(beyond=True) == 1024


def test_points_of_some_epsilons_ties_gains_and_methods_that_ran():
    """ROWS[0] at three epsilons; at the last the starting point is the best, and shares nothing."""
    first = ROWS[0]
    method, other = (replace(first.methods[0], method=name, algorithm=f"{name}.a", ranked=True) for name in ("p", "q"))

    def at(epsilon, share, tied, methods=(method,)):
        ours = tuple(replace(one, risk=share * first.trivial) for one in methods)
        return replace(first, epsilon=epsilon, methods=ours, tied=tied, winner=tied[0])

    rows = [at(0.5, 0.75, ("p",)), at(1, 0.25, ("p", "q"), (method, other)), at(4, 2.0, (TRIVIAL,))]
    content = SimpleNamespace(inputs=SimpleNamespace(boards=[results(rows)], profile="ci"))

    def value(**entry):
        return value_of(content, reference(entry, "x"), {}, "x")

    id = "leaderboard.x"
    assert (value(points=id), value(points=id, tied=True), value(points=id, epsilon=[0.5, 4])) == (3, 1, 2)
    assert (value(wins=id, methods=["p"]), value(wins=id, methods=["p"], epsilon=[1])) == (2, 1)
    assert value(gain=id, take="max") == pytest.approx(75) and value(gain=id, take="min") == 0
    assert value(gain=id, take="max", epsilon=[0.5]) == pytest.approx(25)
    assert (value(ran=id), value(ran=id, paper="q"), value(ran=id, paper="r")) == (2, 1, 0)


def test_verdicts_of_some_claims_are_counted_by_claim_or_by_part():
    def row(id, part, word="fails"):
        given = {"kind": "privacy", "calibration": "paper", "reserved": (), "beside": None}
        return SimpleNamespace(row=SimpleNamespace(id=id, part=part, word=word, **given))

    content = SimpleNamespace(scores=[row("a", "x"), row("a", "y"), row("b", "x"), row("b", "z", "holds")])

    def count(**asked):
        return value_of(content, reference({"rows": {"kind": "privacy", **asked}}, "x"), {}, "x")

    assert (count(), count(distinct=True), count(words=["fails"], claims=["a"])) == (4, 2, 2)
    assert (count(parts=["x"]), count(claims=["b"], words=["fails"], distinct=True), count(claims=["c"])) == (2, 1, 0)


def test_numbers_of_the_worst_cell_and_their_product():
    worst = SimpleNamespace(
        cell=SimpleNamespace(n=1000), calibrated=SimpleNamespace(schedule={"epochs": 4}, dimension=10)
    )
    row = SimpleNamespace(id="c", part="p", calibration="paper")
    content = SimpleNamespace(
        scores=[SimpleNamespace(row=row, privacy=SimpleNamespace(worst=worst))], inputs=SimpleNamespace(profile="ci")
    )

    def value(entry, known=()):
        return value_of(content, reference(entry, "x"), dict(known), "x")

    asked = {"charged": "c", "part": "p"}
    assert [value({**asked, "column": name}) for name in ("n", "d", "epochs")] == [1000, 10, 4]
    assert value({"times": ["a", "b", "b"]}, {"a": 2.0, "b": 3.0}) == 18
    with pytest.raises(NotMeasured):
        value({**asked, "part": "q", "column": "n"})
    with pytest.raises(InputError):
        value({**asked, "column": "rounds"})
    for known in ({"a": 2.0}, {"a": 2.0, "b": "word"}):
        with pytest.raises(InputError):
            value({"times": ["a", "b"]}, known)


def test_errata_are_counted_by_what_checks_them():
    ours = [SimpleNamespace(command=command) for command in ("dpsco claim x", "", "dpsco show y")]
    content = SimpleNamespace(errata={"a": ours, "b": ours[:2]}, inputs=SimpleNamespace(papers=["a", "b"]))
    for by, all, first in (("", 5, 3), ("command", 3, 2), ("hand", 2, 1)):
        assert value_of(content, reference({"errata": "all", "by": by}, "x"), {}, "x") == all
        assert value_of(content, reference({"errata": "a", "by": by}, "x"), {}, "x") == first
    with pytest.raises(InputError):
        value_of(content, reference({"errata": "all", "by": "eye"}, "x"), {}, "x")


def test_errata_are_counted_by_what_they_change():
    words = ("text", "guarantee", "text", "constant")
    ours = [
        SimpleNamespace(command=command, changes=word) for command, word in zip(("x", "", "x", ""), words, strict=True)
    ]
    content = SimpleNamespace(errata={"a": ours}, inputs=SimpleNamespace(papers=["a"]))

    def count(**asked):
        return value_of(content, reference({"errata": "all", **asked}, "x"), {}, "x")

    assert [count(changes=word) for word in ("rate", "constant", "guarantee", "text")] == [0, 1, 1, 2]
    assert count(changes="text", by="command") == 2 and count(changes="constant", by="command") == 0
    with pytest.raises(InputError, match="x: changes = 'rates': must be one of rate, constant, guarantee, text"):
        count(changes="rates")


def test_what_is_open_is_counted_with_its_cost():
    slow, slower = (
        replace(UNDECIDED, n=n, contenders=(replace(UNDECIDED.contenders[0], cost=f"about {cost} on one core"),))
        for n, cost in ((2048, "5 min 00 s"), (4096, "2 h 10 min"))
    )
    content = SimpleNamespace(inputs=SimpleNamespace(boards=[results([*ROWS, slow, slower])], profile="ci"))

    def value(**entry):
        return value_of(content, reference(entry, "x"), {}, "x")

    assert value(undecided="leaderboard.x") == 2.0 and value(points="leaderboard.x", largest=True) == 512.0
    assert value(undecided="leaderboard.x", instances=["i"], cost=True) == "5 min 00 s or 2 h 10 min"
    assert value(winners="leaderboard.x") == 2.0
    content.inputs.boards = [results(ROWS)]
    assert value(undecided="leaderboard.x") == 0.0
    with pytest.raises(NotMeasured):
        value(undecided="leaderboard.x", cost=True)


def test_a_search_is_held_against_its_own_method_too():
    """0.3 of ``last`` against a search of it; where the searched method did not run, the point does not count."""
    found = [Searched("s", name, {}, 0.1, (0.1, 0.1), 3) for name in ("wang2017.last", "wang2017.gone")]
    board = results([replace(ROWS[0], search=one) for one in found])
    content = SimpleNamespace(inputs=SimpleNamespace(boards=[board], profile="ci"))

    def value(**entry):
        return value_of(content, reference({"search": "leaderboard.x", **entry}, "x"), {}, "x")

    assert (value(take="count"), value(take="count", own=True)) == (2, 1)
    assert value(take="max") == pytest.approx(1) and value(take="max", own=True) == pytest.approx(3)


def test_what_accounted_noise_buys_is_of_sweeps_that_are_private_under_both_noises():
    """Equal runs are one sweep; unproven noise, a single calibration and other quantities do not count."""

    def rows(part, accounted, paper, status="proven", kind="rate", quantity="risk", values=(1.0, 2.0, 3.0)):
        for calibration, mean in (("accounted", accounted), ("paper", paper)):
            noise = SimpleNamespace(status=status if calibration == "paper" else "proven")
            row = {"id": "c", "part": part, "kind": kind, "calibration": calibration, "noise": noise}
            row |= {"values": values[: len(mean)], "mean": mean}
            if mean:
                yield SimpleNamespace(
                    row=SimpleNamespace(**row), part=SimpleNamespace(quantity=quantity, rules=get_kind(kind))
                )

    def value(*sweeps, take):
        scores = [score for sweep in sweeps for score in sweep]
        content = SimpleNamespace(scores=scores, inputs=SimpleNamespace(profile="ci"))
        return value_of(content, reference({"accounted": take}, "x"), {}, "x")

    def found(take):
        return value(
            rows("half", (1.0, 2.0, 0.5), (2.0, 4.0, 5.0)),
            rows("same", (1.0, 2.0, 0.5), (2.0, 4.0, 5.0)),
            rows("other", (0.9,), (1.0,)),
            rows("zero", (0.3, 7.0), (1.0, 0.0)),
            rows("open", (1e-9,), (1.0,), status="unproven"),
            rows("broken", (1e-9,), (1.0,), status="exceeds_claim"),
            rows("alone", (1e-9,), ()),
            rows("bound", (1e-9,), (1.0,), kind="explicit"),
            rows("gradients", (1e-9,), (1.0,), quantity="gradient_evaluations"),
            take=take,
        )

    assert {take: found(take) for take in ("count", "sweeps", "median", "min", "max")} == {
        "count": 5.0,
        "sweeps": 3.0,
        "median": 0.5,
        "min": 0.1,
        "max": 0.9,
    }
    with pytest.raises(NotMeasured):
        value(rows("open", (1.0,), (2.0,), status="unproven"), take="median")
    with pytest.raises(InputError):
        found("mode")


def test_a_bound_in_a_figure_is_rounded_as_one():
    def shown(**row):
        rows = [FigureRow("real", "real", **row)]
        drawn = figure(
            SimpleNamespace(id="x", values={"real": 887_900.0}, text=SimpleNamespace(figure=FigureText(rows)))
        )
        return [text.get_text() for text in drawn.axes[0].texts]

    assert (shown(), shown(bound="lower"), shown(bound="upper")) == (["8.88×10⁵"], ["8.87×10⁵"], ["8.88×10⁵"])
    with pytest.raises(InputError, match="bound = 'below': must be lower or upper"):
        shown(bound="below")
