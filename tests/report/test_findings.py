"""A finding is said with its numbers where they support it, stops the build where they do not, and else is left out."""

import math
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from dpsco_bench.analysis.record import read_points, read_record
from dpsco_bench.claims.catalogue import load_errata
from dpsco_bench.claims.kinds import get_kind
from dpsco_bench.errors import InputError
from dpsco_bench.leaderboard.standings import TRIVIAL, Searched, Skipped, Standing
from dpsco_bench.paths import shared_dir
from dpsco_bench.registry import papers
from dpsco_bench.report import findings as reading
from dpsco_bench.report.findings import COMMON, Finding, NotMeasured, Point, Results, Said, need
from dpsco_bench.report.numbers import number
from dpsco_bench.site.content import SiteContent
from dpsco_bench.site.pages.home import draw_findings, finding_figure, findings
from tests.leaderboard.test_tables import ROWS, UNDECIDED

ROOT = shared_dir("workflows").parent


def real_eps(results):
    row = results.row("wang2017.kinds", "privacy-epsilon")
    real, claimed = row.epsilon_real, row.epsilon_claimed
    need(row.word == "fails", real > claimed)
    return Said(
        title=f"The real eps is {number(real)} for a claim of {number(claimed)}",
        sentence=f"That is {real / claimed:.0f} times as much.",
        means="Do not trust it.",
        points=[Point("printed", real)],
        rows=[*results.statements("privacy"), *results.statements("rate")],
    )


def too_small(results):
    real = results.row("wang2017.kinds", "privacy-epsilon").epsilon_real
    need(real > 0, real < 1000)


@pytest.fixture
def told(inputs, tmp_path, monkeypatch):
    def tell(say, **more):
        given = {"claims": ["wang2017.kinds"], "pages": (), "profiles": (), "papers": (), **more}
        one = Finding(say.__name__.replace("_", "-"), say, **given)
        monkeypatch.setattr("dpsco_bench.site.pages.home.all_findings", lambda: [one])
        return findings(SiteContent(inputs, tmp_path))

    return tell


def test_a_finding_is_said_with_its_numbers_and_the_claims_that_it_counts(told, tmp_path):
    ((found,), unsaid) = told(real_eps)
    assert unsaid == [] and found.said.title == "The real eps is 3.24×10⁵ for a claim of 1"
    assert found.said.sentence == "That is 324000 times as much."
    counted = [row.id for row in found.said.rows]
    assert found.claims == list(dict.fromkeys(["wang2017.kinds", *counted])) and len(set(counted)) > 1
    draw_findings([found], tmp_path)
    assert "<svg" in (tmp_path / "finding--real-eps.svg").read_text()


def test_a_finding_that_the_numbers_contradict_stops_the_build(told):
    with pytest.raises(InputError, match=r"finding too-small: needs = 'real < 1000': .* real = 3.24e\+05"):
        told(too_small)


def test_each_condition_is_read_from_its_own_call():
    def twice(x, word):
        need(x > 1)
        need(x > 1, word == "match")
        need(x > 3)

    for x, word, text in ((1, "match", "x > 1"), (2, "fails", "word == 'match'"), (2, "match", "x > 3")):
        with pytest.raises(InputError, match=f"finding twice: needs = .*{re.escape(text)}"):
            twice(x, word)


@pytest.mark.parametrize("more", [{"claims": ["wang2017.elsewhere"]}, {"papers": ["wang2017", "gone2020"]}], ids=str)
def test_a_finding_of_what_is_not_there_is_left_out_and_named(told, more):
    said, ((unsaid, reason),) = told(real_eps, **more)
    assert said == [] and unsaid.id == "real-eps" and reason
    assert unsaid.title == "The real eps is … for a claim of …"


def test_bounds_are_rounded_so_that_they_stay_bounds():
    assert (reading.lower(887_900.0), reading.upper(887_100.0)) == ("8.87×10⁵", "8.88×10⁵")

    def shown(**more):
        said = Said("", "", "", points=[Point("real", 887_900.0, **more)])
        return [text.get_text() for text in finding_figure(said).axes[0].texts]

    assert (shown(), shown(bound="lower"), shown(bound="upper")) == (["8.88×10⁵"], ["8.87×10⁵"], ["8.88×10⁵"])


def recorded(profile):
    rows = read_record(ROOT / "workflows" / "recorded" / f"{profile}.json")
    rows = [replace(row, epsilon_claimed=row.noise.epsilon_claimed if row.noise else None) for row in rows]
    ids = dict.fromkeys(row.id for row in rows)
    claims = [SimpleNamespace(id=id, rows=[row for row in rows if row.id == id]) for id in ids]
    points, known = [], ("instance", "n", "d", "epsilon", "tied", "trivial", "contenders")
    for point in read_points(ROOT / "workflows" / "recorded" / "boards" / f"{profile}.json"):
        own = {key: point[key] for key in known} | {"runner_up": "next" if point["tied"] else None}
        points.append(replace(ROWS[0], **own, winner=point["least"], methods=()))
    boards = [SimpleNamespace(id=COMMON, points=points)]
    known = {"profile": profile, "claims": claims, "rows": rows, "boards": boards, "papers": sorted(papers())}
    return Results(SimpleNamespace(**known), {one: load_errata(one) for one in papers()})


@pytest.mark.parametrize("profile", ["ci", "full"])
def test_the_page_says_what_the_findings_say_of_the_record(profile):
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    results, known = recorded(profile), {one.id: one for one in reading.all_findings()}
    ids = ["mirror-descent", "schedules", "width", "frontier"]
    ids += ["privacy-as-printed", "exponential-mechanism", "parameter-free", "errata"] * (profile == "ci")
    for id in ids:
        said = known[id].say(results)
        assert re.search(rf"^(## |`ci`: ){re.escape(said.title)}(\n|\. )", page, re.MULTILINE), id
        assert f"{said.sentence}\n" in page and f"\n{said.means}\n" in page, id


def of_board(*rows):
    points = [row for row in rows if isinstance(row, Standing)]
    boards = [SimpleNamespace(id="leaderboard.other", points=ROWS[:1]), SimpleNamespace(id=COMMON, points=points)]
    return Results(SimpleNamespace(boards=boards, profile="ci"), {})


def of_claims(*claims):
    return Results(SimpleNamespace(profile="ci", claims=claims), {})


def test_only_decided_points_of_the_board_count():
    results = of_board(*ROWS, UNDECIDED, Skipped("s", "a skipped instance", "no data"))
    decided, single = results.decided(), replace(UNDECIDED, contenders=(), runner_up=None)
    assert (len(decided), reading.won(decided, "dp_gd"), reading.shared(decided, TRIVIAL)) == (4, 3, 1)
    assert results.undecided("i") == [UNDECIDED] and not results.undecided("s") and results.decided("i") == decided
    assert of_board(*ROWS, single).decided() == decided
    for instances in (["s"], ["i", "gone"]):
        with pytest.raises(NotMeasured, match=f"{COMMON} has not all of these instances in profile ci"):
            results.decided(*instances)
    assert of_board(*ROWS).point("i", n=512, d=4, epsilon=1) is ROWS[1]
    with pytest.raises(NotMeasured, match="has no such point in profile ci"):
        of_board(*ROWS).point("i", n=512, d=5, epsilon=1)


def test_points_of_some_epsilons_ties_gains_and_methods_that_ran():
    """ROWS[0] at three epsilons; at the last the starting point is the best, and shares nothing."""
    first = ROWS[0]
    method, other = (replace(first.methods[0], method=name, algorithm=f"{name}.a", ranked=True) for name in ("p", "q"))

    def at(epsilon, share, tied, methods=(method,)):
        ours = tuple(replace(one, risk=share * first.trivial) for one in methods)
        return replace(first, epsilon=epsilon, methods=ours, tied=tied, winner=tied[0])

    results = of_board(at(0.5, 0.75, ("p",)), at(1, 0.25, ("p", "q"), (method, other)), at(4, 2.0, (TRIVIAL,)))
    rows = results.decided()
    assert reading.ties(rows) == 1 and len(results.decided(epsilon=(0.5, 4))) == 2
    assert [reading.won(rows, *names) for names in ("p", "q", ("p", TRIVIAL))] == [2, 0, 3]
    assert reading.won(results.decided(epsilon=(1,)), "p") == reading.shared(rows, "q") == 1
    assert reading.gains(rows) == pytest.approx([25, 75, 0])
    assert (reading.ran(rows), reading.ran(rows, "q"), reading.ran(rows, "r")) == (2, 1, 0)


def test_a_frontier_is_a_bracket():
    """The start shares the first place at 512 and at 1024; a method beats it at 2048, and elsewhere between the two."""

    def at(n, tied, d=4):
        return replace(ROWS[0], n=n, d=d, epsilon=2, tied=(tied,), winner=tied)

    rows = [at(512, TRIVIAL), at(1024, TRIVIAL), at(1024, "dp_gd"), at(2048, "dp_gd"), at(4096, "dp_gd", d=16)]
    assert reading.bracket(rows) == (1024, 2048) and reading.bracket([*rows, at(1500, "dp_gd")]) == (1024, 1500)
    assert reading.bracket([*rows, at(512, "dp_gd")]) == (1024, 2048)
    assert reading.bracket([at(512, "dp_gd"), at(700, "dp_gd")]) == (0, 512)
    with pytest.raises(NotMeasured):
        reading.bracket(rows[:2])


def test_a_search_is_held_against_the_best_method_and_against_its_own():
    """0.3 of ``last`` against a search of it; where the searched method did not run, the point does not count."""
    found = [Searched("s", name, {}, 0.1, (0.1, 0.1), 3) for name in ("wang2017.last", "wang2017.gone")]
    rows = [replace(ROWS[0], search=one) for one in (*found, None)]
    assert reading.over_search(rows) == pytest.approx([1, 1])
    assert reading.over_search(rows, own=True) == pytest.approx([3])
    with pytest.raises(NotMeasured):
        reading.over_search(rows[2:])


def charged(id="c", **shares):
    """A claim with one part, by calibration the shares of its claim that its cells spend."""
    cells = {}
    for calibration, own in shares.items():
        cells["p", calibration] = [SimpleNamespace(real=2 * share, claimed=2.0) for share in own]
    rows = [SimpleNamespace(id=id, part=part, calibration=calibration) for part, calibration in cells]
    return SimpleNamespace(id=id, rows=rows, charged=lambda *name: cells.get(name, []))


def test_what_noise_spends_is_the_largest_share_of_the_printed_noise():
    found = of_claims(charged(paper=(0.2, math.nan, 0.4), accounted=(0.9,)), charged("other", paper=(0.8,)))
    assert found.spent("c") == 0.4 and found.spent("c", "other") == 0.8
    assert found.charged("c", "p", "accounted")[0].real == 1.8
    for read in (lambda: found.spent("gone"), lambda: of_claims(charged(paper=())).charged("c", "p")):
        with pytest.raises(NotMeasured, match="no noise in profile ci"):
            read()


def test_a_verdict_is_found_by_claim_part_and_calibration():
    row = {"id": "c", "part": "p", "calibration": "paper", "values": (4096.0, 8192.0), "mean": (0.2, 0.1)}

    def results(word):
        made = SimpleNamespace(**row, word=word, verdict=word, skipped=word != "match")
        return of_claims(SimpleNamespace(id="c", rows=[made]))

    found = results("match")
    assert found.mean_at(found.row("c", "p"), 8192) == 0.1
    with pytest.raises(NotMeasured):
        found.mean_at(found.row("c", "p"), 512)
    for id in "cd":
        with pytest.raises(NotMeasured):
            results("skipped").row(id, "p")
    with pytest.raises(InputError, match="part of c = 'p accounted'"):
        found.row("c", "p", "accounted")


def test_what_accounted_noise_buys_is_of_sweeps_that_are_private_under_both_noises():
    def rows(part, accounted, paper, status="proven", kind="rate", quantity="risk"):
        for calibration, mean in (("accounted", accounted), ("paper", paper)):
            noise = SimpleNamespace(status=status if calibration == "paper" else "proven")
            row = {"id": "c", "part": part, "kind": kind, "calibration": calibration, "noise": noise, "mean": mean}
            row |= {"quantity": quantity, "rules": get_kind(kind), "values": (1.0, 2.0, 3.0)[: len(mean)]}
            yield from [SimpleNamespace(**row)] * bool(mean)

    def results(*rows):
        return of_claims(SimpleNamespace(id="c", rows=rows, part=lambda row: row))

    open_ = [*rows("open", (1e-9,), (1.0,), status="unproven")]
    found = results(
        *rows("half", (1.0, 2.0, 0.5), (2.0, 4.0, 5.0)),
        *rows("same", (1.0, 2.0, 0.5), (2.0, 4.0, 5.0)),
        *rows("other", (0.9,), (1.0,)),
        *rows("zero", (0.3, 7.0), (1.0, 0.0)),
        *open_,
        *rows("alone", (1e-9,), ()),
        *rows("bound", (1e-9,), (1.0,), kind="explicit"),
        *rows("gradients", (1e-9,), (1.0,), quantity="gradient_evaluations"),
    )
    assert found.accounted_over_printed() == [[0.5, 0.5, 0.1], [0.9], [0.3]]
    with pytest.raises(NotMeasured):
        results(*open_).accounted_over_printed()
