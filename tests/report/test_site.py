"""The site of a small made-up profile: every link leads somewhere, nothing is fetched, every verdict is in words."""

import re
from html.parser import HTMLParser
from numbers import Number
from urllib.parse import unquote

import pytest

from dpsco_bench.report.inputs import read_inputs
from dpsco_bench.report.tables import at
from dpsco_bench.site.content import SiteContent
from dpsco_bench.site.pages.home import guide_pages
from dpsco_bench.site.write import SiteError, all_tables, write_all, write_one

pytestmark = pytest.mark.slow

LOADS = {"script": "src", "img": "src", "link": "href", "source": "src", "iframe": "src"}
OUTSIDE = re.compile(r"^(https?:|mailto:|data:)")


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.path, self.ids, self.links, self.loads, self.words = path, set(), [], [], []
        self.feed(path.read_text(encoding="utf-8"))
        self.text = " ".join("".join(self.words).split())

    def handle_starttag(self, tag, attributes):
        known = dict(attributes)
        self.ids.add(known.get("id"))
        if tag == "a" and "href" in known:
            self.links.append(known["href"])
        if LOADS.get(tag) in known:
            self.loads.append(known[LOADS[tag]])

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def built(inputs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    write_all(inputs, folder, folder / "figures")
    write_one(inputs, folder, folder / "figures")
    return folder


@pytest.fixture(scope="module")
def pages(built):
    site = built / "site"
    own = [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]
    return {str(path.relative_to(site)): Page(path) for path in own}


def test_every_link_leads_somewhere_and_nothing_is_fetched(pages, built):
    for name, page in pages.items():
        for link in page.links:
            if OUTSIDE.match(link):
                continue
            path, _, fragment = unquote(link).partition("#")
            target = (page.path.parent / path).resolve() if path else page.path
            assert target.is_file(), f"{name}: {link}"
            if fragment and target.suffix == ".html":
                found = pages[str(target.relative_to((built / "site").resolve()))] if path else page
                assert fragment in found.ids, f"{name}: {link}"
    for name, page in pages.items():
        for address in (address for address in page.loads if not address.startswith(("data:", "#"))):
            path = unquote(address).partition("?")[0].partition("#")[0]
            assert not OUTSIDE.match(address) and (page.path.parent / path).is_file(), f"{name}: {address}"


def test_every_verdict_of_every_claim_is_in_words_and_texts_are_escaped(inputs, pages):
    for row in inputs.rows:
        assert row.word.replace("_", " ") in pages[f"claims/{row.id}.html"].text
    whole, page = pages["verdicts.html"].text, pages["claims/wang2017.kinds.html"]
    assert all(row.part in whole for row in inputs.rows) and "fails (real ε 3.24×10⁵)" in whole
    assert 'R&D <b>100 %</b> of |x|_2 #1 ~ {"a"} \\ $ ^ *x* `y` α' in page.text
    assert "<b>100 %</b>" not in page.path.read_text(encoding="utf-8")


def test_the_one_file_needs_no_other(built):
    page = Page(built / "site.html")
    assert all(address.startswith("data:") for address in page.loads)
    assert not [link for link in page.links if not link.startswith("#") and not OUTSIDE.match(link)]
    assert {link[1:] for link in page.links if link.startswith("#")} - {""} <= page.ids
    assert "wang2017.kinds" in page.text and "<script" not in page.path.read_text(encoding="utf-8")


def test_the_same_results_give_the_same_bytes(written, built, tmp_path):
    write_all(read_inputs(written), tmp_path, tmp_path / "figures")

    def files(folder):
        return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    assert files(built / "site") == files(tmp_path / "site")


def test_the_files_of_tables_hold_plain_values(inputs, tmp_path):
    plain = str | Number | list | tuple | None
    for table in all_tables(SiteContent(inputs, tmp_path)):
        for name, path in table.fields.items():
            assert all(isinstance(at(row, path), plain) for row in table.rows), (table.id, name)


def test_a_broken_page_stops_the_build_and_leaves_the_old_site(inputs, built, tmp_path, monkeypatch):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("old")
    broken = lambda content: {**guide_pages(content), "guide/faq": "# Reading\n\n[nowhere](#no-such-place)\n"}  # noqa: E731
    monkeypatch.setattr("dpsco_bench.site.write.guide_pages", broken)
    with pytest.raises(SiteError, match="no-such-place"):
        write_all(inputs, tmp_path, built / "figures")
    assert (tmp_path / "site" / "index.html").read_text() == "old"
