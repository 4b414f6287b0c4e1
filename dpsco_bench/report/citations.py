"""Facts on the papers: where they were published, what was tested, and what their methods are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from dpsco_bench.claims.catalogue import conf_files, naming
from dpsco_bench.claims.files import build_checked, read_shipped
from dpsco_bench.registry import papers


@dataclass(frozen=True)
class Citation:
    """A publication, from the texts that this project reads: ``conf/paper/<paper>.yaml``."""

    title: str
    authors: list[str]
    published: str = ""  # where; empty if no text says it
    known_from: str = ""  # what says so, where the paper's own text does not
    arxiv: str = ""  # empty where it is not known, as the DOI
    doi: str = ""
    address: str = ""  # of its page with the publisher, where it has no DOI
    by_hand: bool = False  # whether the identifiers were added by hand, as the texts used here give none
    abstract: str = ""  # what of it was tested
    sources: Mapping[str, str] = field(default_factory=dict)  # publications that it cites -> arXiv number
    methods: Mapping[str, str] = field(default_factory=dict)  # methods and labels of boards -> names in figures


@cache
def find_citation(paper: str) -> Citation | None:
    """Read what is known of a paper; None where it has no file. Raises DpscoError for a wrong key."""
    for path in conf_files(f"paper/{paper}.yaml")[-1:]:
        with naming(path):
            made: Citation = build_checked(Citation, read_shipped(path), f"paper {path.stem}")
            return made
    return None


def method_name(label: str) -> str:
    """Name a method, by its id or the label of a leaderboard, as people do: ``DP-SVRG++`` for ``dp_svrg_pp``."""
    paper, _, short = label.rpartition(".")
    found = (one.methods for name in ([paper] if paper else papers()) if (one := find_citation(name)))
    return next((names[short] for names in found if short in names), short.replace("_", " "))
