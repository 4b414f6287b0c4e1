import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import pytest

from dpsco_bench.report.inputs import read_inputs
from dpsco_bench.report.page import REBUILT_HEADING, render, write_report

VOID = {"meta", "br", "wbr", "hr", "img", "link", "input"}


class Checker(HTMLParser):
    """Collects ids, links, text, and complaints about tags that do not nest."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.loads, self.text, self.bad = [], [], [], [], [], []

    def handle_starttag(self, tag, attributes):
        for key, value in attributes:
            if key == "id":
                self.ids.append(value)
            if key in ("href", "src", "xlink:href", "data", "srcset", "action"):
                (self.links if value.startswith("#") else self.loads).append(value)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.bad.append("script")

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.bad.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.text.append(data)


@pytest.fixture(scope="module")
def page(inputs):
    return render(inputs)


@pytest.fixture(scope="module")
def checked(page):
    checker = Checker()
    checker.feed(page)
    checker.close()
    return checker


@pytest.fixture(scope="module")
def text(checked):
    return " ".join("".join(checked.text).split())


def test_tags_nest_and_ids_are_unique(checked):
    assert checked.bad == [] and checked.open == []
    assert len(set(checked.ids)) == len(checked.ids)


def test_the_page_loads_nothing(page, checked):
    assert checked.loads == []
    assert "@import" not in page and "url(http" not in page and "<script" not in page
    styles = re.findall(r"<style[^>]*>(.*?)</style>", page, re.S)
    assert not any("http" in style for style in styles)


def test_every_link_has_a_target(checked):
    assert {link[1:] for link in checked.links} <= set(checked.ids)


def test_every_verdict_of_every_claim_is_in_words(inputs, page, text):
    for claim in inputs.claims:
        assert f'<article id="{claim.id}">' in page
        article = page.split(f'<article id="{claim.id}">')[1].split("</article>")[0]
        for row in claim.rows:
            assert row.counted_as in article
    for words in ("skipped: data absent", "not measured", "reversed", "violated", "fails (real ε 3.24×10⁵)", "shown"):
        assert words in text


def test_failing_and_skipped_verdicts_are_counted(page):
    tiles = re.findall(r'<li class="(\w+)"><b>(\d+)</b>([^<]+)', page)
    found = {word: (tone, int(count)) for tone, count, word in tiles}
    assert found["fails"] == ("bad", 1) and found["violated"] == ("bad", 1) and found["reversed"] == ("bad", 1)
    assert found["skipped"] == ("absent", 2) and found["not measured"] == ("plain", 1)
    assert found["unproven"] == ("open", 1)


def test_a_match_for_another_reason_is_qualified(text, page):
    assert "match, schedule, not private" in text and "match, qualified" in text
    assert "Schedule: without noise the risk is 0.85 of it" in text
    assert '<li class="qualified"><b>2</b>' in page


def test_the_page_says_what_it_is_and_is_not(text):
    assert "measuring instrument, not a release mechanism" in text
    assert "floating-point noise has finite tails and known attacks" in text
    assert re.search(r"rest on \d+ intervals of 95 %; if every one of them were exact, about \d+\.\d would miss", text)


def test_privacy_ledger_and_provenance(text):
    assert "exceeds the claim" in text and "= ∞" in text and "δ ≥ 1/n" in text
    assert "abc123" in text and "Root seed" in text and "2.1 min" in text
    assert "Check it with dpsco claim wang2017.thm6.1" in text


def test_text_of_the_inputs_is_escaped(page, text):
    assert "<b>100 %</b>" not in page
    assert "<b>100 %</b> of |x|_2 #1" in text


def test_graphics_are_well_formed_and_labelled(page):
    graphics = re.findall(r"<svg.*?</svg>", page, re.S)
    assert len(graphics) >= 10
    for graphic in graphics:
        root = ElementTree.fromstring(graphic.replace("&nbsp;", " "))
        assert root.get("role") == "img" and root.get("aria-label")
        assert "date" not in graphic.lower().split("</style>")[0]


def test_same_results_give_the_same_bytes(written, page):
    assert render(read_inputs(written)) == page


def test_report_writes_page_and_tables(inputs, tmp_path):
    found = write_report(inputs, tmp_path, tmp_path / "figures")
    names = {path.name for path in (tmp_path / "tables").iterdir()}
    assert names == {path.name for path in found.tables}
    for name in ("scoreboard", "privacy", "errata", "jobs", "counts", "wang2017.rates", "wang2017.race.orderings"):
        assert {f"{name}.md", f"{name}.csv", f"{name}.tex"} <= names
    assert (tmp_path / "report.html").read_text().startswith("<!DOCTYPE html>")


def test_a_profile_without_any_results_still_gives_a_page(copy):
    for folder in (copy.measured.store.root, copy.verdicts("x").parent):
        folder.rename(folder.with_name(f".{folder.name}"))
    page = render(read_inputs(copy))
    assert page.count("not measured") >= 17


def test_the_headings_of_rebuilt_tables_hide_nothing_else() -> None:
    assert REBUILT_HEADING == ("Row",), "the group's heading carries the row's name, and no other column"
