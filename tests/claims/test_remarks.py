"""Texts of claims, tables, errata and boards speak of the run that they stand beside, and of nothing else."""

import re
from pathlib import Path

import pytest

from dpsco_bench.claims.files import read_yaml
from dpsco_bench.paths import shared_dir

CONF = Path(shared_dir("conf"))
FILES = sorted(path for group in ("claim", "table", "errata", "leaderboard") for path in (CONF / group).rglob("*.yaml"))
PATTERNS = {
    "a document behind the project": r"\b(chapters?|specifications?|specified elsewhere)\b",
    "another investigation": r"\b(stud(y|ies)|earlier|previous(ly)?|formerly|so far|re-?measured?|first replication)\b",
    "the project's history": r"\b(sessions?|issues?|commits?|stood here|redefined|found before|at first)\b",
    "another time": r"\b(used to be|had been|since then)\b",
    "another profile": r"(?<!privacy )\bprofiles?\b(?! of)|\b(ci|smoke)\b|\bin full\b|\((ci|full|smoke)\)",
}
"""What a text must not speak of -> words that give it away."""


def texts(value, place=""):
    """(key, text) of every string with a blank in decoded YAML; a commented key is none."""
    if isinstance(value, str) and " " in value:
        yield place, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from texts(inner, f"{place}.{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            name = inner.get("id", number) if isinstance(inner, dict) else number
            yield from texts(inner, f"{place}[{name}]")


def offences(text):
    return [f"{what}: {found[0]!r}" for what, pattern in PATTERNS.items() for found in re.finditer(pattern, text)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(CONF)))
def test_remarks_speak_of_the_run_beside_them(path):
    found = {place: offences(text) for place, text in texts(read_yaml(path)) if offences(text)}
    assert not found, "\n".join(f"{path.name} {place}: {'; '.join(what)}" for place, what in found.items())


@pytest.mark.parametrize(
    "text",
    [
        "the specification's study found the leaders slightly faster",
        "undecided in ci by chance at its 64 replicates",
        "at n = 8192 (full) most of the effect is gone",
        "in profile full the interval has half-width 0.057",
        "a grid wider than the chapter's (0.35 to 1.4)",
        "to be re-measured by this protocol",
        "it stood here until the first replication",
    ],
)
def test_such_words_are_found(text):
    assert offences(text)


@pytest.mark.parametrize(
    "text",
    [
        "one uniform record per step, by its privacy profile",
        "privacy by the profile of one uniform index per step",
        "full batches, the full bound formula, of the full gradient",
        "the statement of the theorem prints k, its proof sqrt(k)",
    ],
)
def test_terms_are_left_alone(text):
    assert not offences(text)
