import re

import pytest

from dpsco_bench.errors import InputError
from dpsco_bench.registry import papers
from dpsco_bench.site.pages.papers import cited, find_citation, read_citation


@pytest.mark.parametrize("paper", sorted(papers()))
def test_every_paper_has_title_and_authors_and_no_identifier_that_no_text_gives(paper):
    found = find_citation(paper)
    assert found.title and len(found.authors) >= 3
    assert re.fullmatch(r"\d{4}\.\d{5}", found.arxiv) and found.by_hand
    assert bool(found.known_from) == bool(found.published), "what a paper's own text lacks is said to be from elsewhere"
    assert f"arxiv.org/abs/{found.arxiv}" in cited(found) and found.authors[0] in cited(found)


def test_an_unknown_paper_has_none_and_a_wrong_key_is_named(tmp_path):
    assert find_citation("nobody1900") is None
    path = tmp_path / "x.yaml"
    path.write_text("title: T\nauthors: [A]\nyaer: 2021\n")
    with pytest.raises(InputError, match="yaer"):
        read_citation(path)
