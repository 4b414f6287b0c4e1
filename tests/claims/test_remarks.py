"""Texts of claims, tables, errata and boards speak of the run that they stand beside, and of nothing else."""

import re
from pathlib import Path

import pytest

from dpsco_bench.claims.catalogue import claim_ids, read_claim
from dpsco_bench.claims.files import read_yaml
from dpsco_bench.paths import shared_dir

CONF = Path(shared_dir("conf"))
FILES = sorted(path for group in ("claim", "table", "errata", "leaderboard") for path in (CONF / group).rglob("*.yaml"))
PATTERNS = {
    "a document behind the project": r"\b(chapters?|specifications?|specified elsewhere)\b",
    "another investigation": (
        r"\b(stud(y|ies)|studied before|earlier|previous(ly)?|formerly|so far|re-?measured?|first replication)\b"
    ),
    "the project's history": r"\b(sessions?|issues?|commits?|stood here|redefined|found before|at first)\b",
    "another time": r"\b(used to be|had been|since then)\b",
    "another profile": r"(?<!privacy )\bprofiles?\b(?! of)|\b(ci|smoke)\b|\bin full\b|\((ci|full|smoke)\)",
}
"""What a text must not speak of -> words that give it away."""
VERDICTS = {
    "a verdict": (
        r"\b(match(es|ed)?|fail(s|ed)?|holds?|refut(es?|ed)|confirm(s|ed)?|contradict(s|ed)?|vacuous|inconclusive|undecided"
        r"|violated|unproven|reversed|not[ _]observable)\b(?<!constants hold)"
    ),
    "a verdict on noise": r"\b((is|are) private|not (shown )?private)\b",
}
"""The same of remarks on a part: another profile or noise may give its rows another word."""
REMARKS = re.compile(r"\.parts\[[^\]]*\]\.(note|beside|reservations)\b")


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


def offences(text, patterns=PATTERNS):
    return [f"{what}: {found[0]!r}" for what, pattern in patterns.items() for found in re.finditer(pattern, text)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(CONF)))
def test_remarks_speak_of_the_run_beside_them(path):
    found = {place: offences(text) for place, text in texts(read_yaml(path)) if offences(text)}
    assert not found, "\n".join(f"{path.name} {place}: {'; '.join(what)}" for place, what in found.items())


@pytest.mark.parametrize("path", [path for path in FILES if CONF / "claim" in path.parents], ids=lambda path: path.stem)
def test_remarks_on_a_part_leave_the_verdict_to_its_rows(path):
    remarks = [(place, text) for place, text in texts(read_yaml(path)) if REMARKS.search(place)]
    found = {place: offences(text, VERDICTS) for place, text in remarks if offences(text, VERDICTS)}
    assert not found, "\n".join(f"{path.name} {place}: {'; '.join(what)}" for place, what in found.items())


@pytest.mark.parametrize(
    "text",
    [
        "a match that is not private; the noise is far below what is needed",
        "under paper the risk is bounded too; what fails there is privacy",
        "its bound with constants holds in every cell",
        "a lower bound refutes the claim too",
    ],
)
def test_a_remark_that_names_a_verdict_is_found(text):
    assert offences(text, VERDICTS)


@pytest.mark.parametrize(
    "text",
    [
        "if the nominal constants hold, the noise is far below what (eps, delta) needs",
        "the non-private rate, and the isolated private term, with the noise that privacy needs",
        "shown and not judged; it falls faster than the bound",
    ],
)
def test_a_remark_on_what_is_judged_is_left_alone(text):
    assert not offences(text, VERDICTS)


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


def sizes_of(claim, part, profile):
    """Numbers of records that a part was run with in a profile, by its own sweep or that of the parts it judges."""
    if not part.plans:
        return set().union(*(sizes_of(claim, claim.part(used), profile) for used in part.uses))
    if not part.in_profile(profile):
        return set()
    swept = part.sweep.values[profile] if part.sweep.parameter == "n" else []
    given = [part.fixed.get("n"), part.along.get("n")]
    given = [one.get(profile, []) if isinstance(one, dict) else one for one in given]
    return {float(n) for one in (swept, *given) for n in (one if isinstance(one, list) else [one]) if n is not None}


def sizes_elsewhere(text, here, elsewhere):
    """Sizes that a text names, which another profile runs and not the one that it stands beside."""
    number = r"(?<![\w.])(?<!dimension )(\d{1,3}(?:,\d{3})+|\d{4,})\b(?!\.\d| dimension)"
    numbers = re.findall(number, text)
    return sorted({int(number.replace(",", "")) for number in numbers} & elsewhere - here)


@pytest.mark.parametrize("id", claim_ids())
def test_sizes_that_a_remark_names_were_run_beside_it(id):
    claim, profiles = read_claim(id), ("ci", "full")
    run = {profile: [sizes_of(claim, part, profile) for part in claim.parts] for profile in profiles}
    found = []
    for here, there in (profiles, profiles[::-1]):
        every = {profile: set().union(*run[profile]) for profile in profiles}
        found += [sizes_elsewhere(text, every[here], every[there]) for text in claim.assumptions if every[here]]
        for part, own in zip(claim.parts, run[here], strict=True):
            remarks = [part.note, *part.reservations.values()] if own else []
            found += [sizes_elsewhere(text, own, every[there]) for text in remarks]
    assert not any(found), [sizes for sizes in found if sizes]


def test_sizes_of_another_run_are_found():
    assert sizes_elsewhere("on 20,000 rows, .35 at n = 1048576", {4096.0}, {20000.0, 1048576.0}) == [20000, 1048576]
    assert sizes_elsewhere("1024 dimensions, ambient dimension 1024", {4096.0}, {1024.0}) == []
    assert sizes_elsewhere("from 4096 on; 1.4096; n = 4,096.5", {4096.0}, {4096.0}) == []


def test_a_remark_on_the_printed_noise_stands_beside_its_own_rows():
    """Of a privacy part with accounted rows: what the printed noise gives is no remark on them."""
    for part in (part for id in claim_ids() for part in read_claim(id).parts if part.kind == "privacy"):
        if "the printed noise gives" in part.note or "the printed noise is" in part.note:
            assert part.note_on("paper") == part.note and not part.note_on("accounted"), part.id
        elif not part.noted:
            assert {part.note_on(calibration) for calibration in part.calibrations} == {part.note}


def test_a_part_whose_noise_an_erratum_corrects_says_so():
    """Of methods whose printed noise is another variant: a part that does not ask for that one runs a corrected one."""
    for claim in map(read_claim, claim_ids()):
        for part in claim.parts:
            smd = [one for one in part.methods if one.algorithm == "bassily2021.noisy_smd"]
            asked = smd and "paper" in part.calibrations and all(one.variant is None for one in smd)
            if asked and part.rules.runs(part) and part.kind not in ("shown", "complexity", "audit"):
                assert part.amended == "E1", (claim.id, part.id)
            assert not part.amended or part.amended in claim.errata
