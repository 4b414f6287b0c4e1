"""What is known of a paper as a publication, from the texts that this project reads: ``conf/paper/<paper>.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dpsco_bench.claims.catalogue import conf_files, naming
from dpsco_bench.claims.entries import build_checked, listed
from dpsco_bench.claims.files import read_shipped
from dpsco_bench.site.markdown import text


@dataclass(frozen=True)
class Citation:
    """A publication.

    Attributes
    ----------
    title : str
    authors : list of str
    published : str, where; empty if no text says it
    known_from : str, what says so, where the paper's own text does not
    arxiv, doi : str, identifiers; empty if no text gives them, since none is filled in from elsewhere
    abstract : str, what of it was tested
    sources : mapping, publications that it cites -> arXiv number, where its list of references gives one
    """

    title: str
    authors: list[str]
    published: str = ""
    known_from: str = ""
    arxiv: str = ""
    doi: str = ""
    abstract: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)


def find_citation(paper: str) -> Citation | None:
    """Read what is known of a paper; None where it has no file. Raises DpscoError for a wrong key."""
    for path in conf_files(f"paper/{paper}.yaml")[-1:]:
        with naming(path):
            return read_citation(path)
    return None


def read_citation(path: Path) -> Citation:
    """A file's citation. Raises InputError for a wrong key."""
    entry, where = read_shipped(path), f"paper {path.stem}"
    if isinstance(entry, Mapping) and "authors" in entry:
        entry = {**entry, "authors": listed(entry["authors"], f"{where}: authors")}
    made: Citation = build_checked(Citation, entry, where)
    return made


def arxiv_link(number: str, words: str = "") -> str:
    """A link to a preprint."""
    return f"[{text(words or f'arXiv:{number}')}](https://arxiv.org/abs/{number})"


def abstract_of(found: Citation) -> str:
    """What of it was tested, and links to what it cites, in Markdown; empty where its file has neither."""
    links = "; ".join(f"{text(name)}: {arxiv_link(number)}" for name, number in found.sources.items())
    said = [
        text(" ".join(found.abstract.split())),
        f"Cited, with the numbers of its list of references: {links}." if links else "",
    ]
    return "\n\n".join(filter(None, said)) + "\n" if any(said) else ""


def cited(found: Citation) -> str:
    """A citation in Markdown, with links where there are identifiers; else that the texts have none."""
    links = [arxiv_link(found.arxiv)] if found.arxiv else []
    links += [f"[doi:{text(found.doi)}](https://doi.org/{found.doi})"] if found.doi else []
    where = f" {text(found.published)}" + (f" (from {text(found.known_from)})" if found.known_from else "") + "."
    missing = "The text used here gives neither arXiv number nor DOI of its own" + (
        "" if found.published else ", nor a venue"
    )
    told = f"{text(', '.join(found.authors))}. *{text(found.title)}*.{where if found.published else ''} "
    return told + (", ".join(links) if links else missing) + ".\n"
