"""Every part of a claim of the first record is there, or docs/dropped.md says why not.

``parts_before.csv`` holds the parts of its claim files, each with the profiles whose records name it.
"""

import csv
import re
from pathlib import Path

from dpsco_bench.claims.catalogue import profile_claims, read_claims
from dpsco_bench.claims.grids import PROFILES

PAGE = Path(__file__).parents[2] / "docs" / "dropped.md"
ROW = re.compile(r"\| `([a-z0-9_.]+)` \| `([^`]+)` \| ([a-z, ]+) \| ([^|]+) \| `([^`]+)`")


def before():
    with Path(__file__).with_name("parts_before.csv").open(encoding="utf-8") as file:
        return {(row["claim"], row["part"]): set(row["profiles"].split()) for row in csv.DictReader(file)}


def now():
    found = {(claim.id, part.id): set() for claim in read_claims() for part in claim.parts}
    for profile in PROFILES:
        measured = set(profile_claims(profile))
        for claim in read_claims():
            for part in claim.parts_of(profile) if claim.id in measured else ():
                found[claim.id, part.id].add(profile)
    return found


def dropped():
    section = PAGE.read_text(encoding="utf-8").partition("## Parts of claims")[2].partition("\n## ")[0]
    rows = [ROW.match(line).groups() for line in section.splitlines() if line.startswith("| `")]
    return {(claim, part): (set(profiles.split(", ")), instead) for claim, part, profiles, _, instead in rows}, section


def test_parts_that_are_gone_are_those_that_the_page_names_with_a_reason():
    old, new, (gone, section) = before(), now(), dropped()
    assert old.keys() - new.keys() == gone.keys() and f"Of the {len(old)} parts" in section
    for (claim, part), (profiles, instead) in gone.items():
        assert profiles == old[claim, part] and (claim, instead) in new


def test_every_other_part_is_in_every_profile_that_it_was_in():
    old, new = before(), now()
    assert not {place: old[place] - new[place] for place in old.keys() & new.keys() if old[place] - new[place]}
