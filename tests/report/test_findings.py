"""A finding is said with its numbers where they support it, stops the build where they do not, and else is left out."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from dpsco_bench.analysis.record import read_record
from dpsco_bench.claims.catalogue import load_errata
from dpsco_bench.errors import InputError
from dpsco_bench.leaderboard.standings import Reference, Standing, read_boards
from dpsco_bench.paths import shared_dir
from dpsco_bench.registry import papers
from dpsco_bench.report.findings import COMMON, Finding, Point, Results, Said, all_findings, lower, need, upper
from dpsco_bench.report.numbers import number
from dpsco_bench.site.content import SiteContent
from dpsco_bench.site.pages.home import draw_findings, finding_figure, findings

ROOT = shared_dir("workflows").parent


@pytest.fixture
def content(inputs, tmp_path):
    return SiteContent(inputs, tmp_path)


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


def told(say, **more):
    given = {"claims": ["wang2017.kinds"], "pages": (), "profiles": (), "papers": (), **more}
    return Finding(say.__name__.replace("_", "-"), say, **given)


def test_a_finding_is_said_with_its_numbers_and_the_claims_that_it_counts(content, tmp_path):
    ((found,), unsaid) = findings(content, [told(real_eps)])
    assert unsaid == [] and found.said.title == "The real eps is 3.24×10⁵ for a claim of 1"
    assert found.said.sentence == "That is 324000 times as much."
    counted = [row.id for row in found.said.rows]
    assert found.claims == list(dict.fromkeys(["wang2017.kinds", *counted])) and len(set(counted)) > 1
    draw_findings([found], tmp_path)
    assert "<svg" in (tmp_path / "finding--real-eps.svg").read_text()


def test_a_finding_that_the_numbers_contradict_stops_the_build(content):
    with pytest.raises(InputError, match=r"finding too-small: needs = 'real < 1000': .* real = 3.24e\+05"):
        findings(content, [told(too_small)])


def test_each_condition_is_read_from_its_own_call():
    def twice(x, word):
        need(x > 1)
        need(x > 1, word == "match")
        need(x > 3)

    for x, word, text in ((1, "match", "x > 1"), (2, "fails", "word == 'match'"), (2, "match", "x > 3")):
        with pytest.raises(InputError, match=f"finding twice: needs = .*{re.escape(text)}"):
            twice(x, word)


@pytest.mark.parametrize(
    "more", [{"claims": ["wang2017.elsewhere"]}, {"papers": ["wang2017", "gone2020"]}], ids=["claim", "paper"]
)
def test_a_finding_of_what_is_not_there_is_left_out_and_named(content, more):
    said, (unsaid,) = findings(content, [told(real_eps, **more)])
    assert said == [] and unsaid.id == "real-eps" and unsaid.reason
    assert unsaid.title == "The real eps is … for a claim of …"


def test_bounds_are_rounded_so_that_they_stay_bounds():
    assert (lower(887_900.0), upper(887_100.0), number(887_900.0)) == ("8.87×10⁵", "8.88×10⁵", "8.88×10⁵")

    def shown(**more):
        said = Said("", "", "", points=[Point("real", 887_900.0, **more)])
        return [text.get_text() for text in finding_figure(said).axes[0].texts]

    assert (shown(), shown(bound="lower"), shown(bound="upper")) == (["8.88×10⁵"], ["8.87×10⁵"], ["8.88×10⁵"])


def recorded(profile):
    rows = read_record(ROOT / "workflows" / "recorded" / f"{profile}.json")
    rows = [replace(row, epsilon_claimed=row.noise.epsilon_claimed if row.noise else None) for row in rows]
    ids = dict.fromkeys(row.id for row in rows)
    claims = [SimpleNamespace(id=id, rows=[row for row in rows if row.id == id]) for id in ids]
    known = ("instance", "n", "d", "epsilon", "tied", "trivial", "contenders")
    absent = {"title": "", "delta": 1e-5, "p": 2.0, "methods": (), "left_out": (), "margin": 0.1, "margin_ci": (0, 1)}
    absent |= {"without_privacy": Reference(0.0, (0.0, 0.0)), "lower_bound": None, "lower_bound_cut": False}
    points = [
        Standing(
            **{key: point[key] for key in known},
            **absent,
            winner=point["least"],
            runner_up="next" if point["tied"] else None,
        )
        for point in read_boards(ROOT / "workflows" / "recorded" / "boards" / f"{profile}.json")
    ]
    boards = [SimpleNamespace(id=COMMON, points=points)]
    inputs = SimpleNamespace(profile=profile, claims=claims, boards=boards, papers=sorted(papers()))
    return Results(inputs, [SimpleNamespace(row=row) for row in rows], {one: load_errata(one) for one in papers()})


@pytest.mark.parametrize("profile", ["ci", "full"])
def test_the_page_says_what_the_findings_say_of_the_record(profile):
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    results, known = recorded(profile), {one.id: one for one in all_findings()}
    ids = ["mirror-descent", "schedules", "width", "frontier"]
    ids += ["privacy-as-printed", "exponential-mechanism", "parameter-free", "errata"] * (profile == "ci")
    for id in ids:
        said = known[id].say(results)
        assert re.search(rf"^(## |`ci`: ){re.escape(said.title)}(\n|\. )", page, re.MULTILINE), id
        assert f"{said.sentence}\n" in page and f"\n{said.means}\n" in page, id
