"""Seeded defects as data: what each changes in a file, and the test that catches it."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).resolve().parent
LAYERS = ["privacy", "algorithms", "fused", "samplers", "rng", "problems", "datasets", "geometry", "execution"]
LAYERS += ["analysis", "bounds", "report", "audit"]
"""Names of the data files, in the order of the table."""


@dataclass(frozen=True)
class Mutant:
    """A defect of a few lines: ``old`` stands once in a file, ``new`` takes its place, and ``test`` catches it."""

    id: str
    file: str
    old: str
    new: str
    why: str
    test: str
    layer: str = ""

    @property
    def name(self) -> str:
        return f"{self.layer}.toml, {self.id}"

    def applied(self, text: str) -> str:
        """The text of the file with the defect. Raises ValueError unless the old text stands there exactly once."""
        found = text.count(self.old)
        if found != 1 or self.old == self.new:
            raise ValueError(f"{self.name}: the old text stands {found} times in {self.file}, not once")
        return text.replace(self.old, self.new)


def read(layers: Sequence[str] = LAYERS, folder: Path = FOLDER) -> list[Mutant]:
    """The mutants of some layers, in the order of their files.

    Raises ValueError for other keys than those of `Mutant`, an empty text, or two mutants of one name.
    """
    keys = {field.name for field in fields(Mutant)} - {"layer"}
    found: dict[str, Mutant] = {}
    for layer in layers:
        for entry in tomllib.loads((folder / f"{layer}.toml").read_text(encoding="utf-8"))["mutant"]:
            name = f"{layer}.toml, {entry.get('id', 'a mutant without an id')}"
            if set(entry) != keys or not all(isinstance(entry[key], str) and entry[key] for key in keys - {"new"}):
                raise ValueError(f"{name}: its keys must be {', '.join(sorted(keys))}, all of them texts")
            if entry["id"] in found:
                raise ValueError(f"{name}: another one has this id")
            found[entry["id"]] = Mutant(**entry, layer=layer)
    return list(found.values())


def complaint(mutant: Mutant, root: Path = ROOT) -> str:
    """Why a mutant cannot be tried: its text does not stand there once, or there is no such test; empty if it can."""
    file, (place, _, function) = root / mutant.file, mutant.test.partition("::")
    if not file.is_file():
        return f"{mutant.name}: there is no file {mutant.file}"
    text = file.read_text(encoding="utf-8")
    try:
        changed = mutant.applied(text)
        if file.suffix == ".py":
            compile(changed, mutant.file, "exec")
    except (ValueError, SyntaxError) as error:
        return str(error)
    tests = root / place
    if not tests.is_file() or f"\ndef {function.partition('[')[0]}(" not in tests.read_text(encoding="utf-8"):
        return f"{mutant.name}: there is no test {mutant.test}"
    return ""
