import pytest

from dpsco_bench.errors import InputError
from dpsco_bench.registry import papers
from dpsco_bench.site.pages.papers import Citation, abstract_of, cited, find_citation, read_citation


@pytest.mark.parametrize("paper", sorted(papers()))
def test_every_paper_has_title_and_authors_and_no_identifier_that_no_text_gives(paper):
    found = find_citation(paper)
    assert found.title and len(found.authors) >= 3
    assert not found.arxiv and not found.doi
    assert bool(found.known_from) == bool(found.published), "what a paper's own text lacks is said to be from elsewhere"
    assert "neither arXiv number nor DOI" in cited(found) and found.authors[0] in cited(found)


@pytest.mark.parametrize("paper", sorted(papers()))
def test_every_paper_says_what_is_tested_and_links_what_it_cites(paper):
    found = find_citation(paper)
    shown = abstract_of(found)
    assert 30 <= len(found.abstract.split()) <= 80 and found.sources
    assert all(
        f"{name}: [arXiv:{number}](https://arxiv.org/abs/{number})" in shown for name, number in found.sources.items()
    )
    assert all(number[4] == "." and number.replace(".", "").isdigit() for number in found.sources.values())


def test_a_paper_without_abstract_and_sources_says_nothing_of_them():
    assert abstract_of(Citation("T", ["A"])) == ""


def test_identifiers_become_links():
    shown = cited(Citation("T", ["A", "B"], arxiv="2101.00001", doi="10.1/x"))
    assert "https://arxiv.org/abs/2101.00001" in shown and "https://doi.org/10.1/x" in shown and "neither" not in shown


def test_an_unknown_paper_has_none_and_a_wrong_key_is_named(tmp_path):
    assert find_citation("nobody1900") is None
    path = tmp_path / "x.yaml"
    path.write_text("title: T\nauthors: [A]\nyaer: 2021\n")
    with pytest.raises(InputError, match="yaer"):
        read_citation(path)
