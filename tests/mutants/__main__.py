"""Try seeded defects: ``python -m tests.mutants [NAME ...]``, by default all of them.

A name is that of a mutant or of a layer. The exit status is 0 if every defect is caught.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mutants.bench import Bench, Outcome
from tests.mutants.catalogue import LAYERS, Mutant, complaint, read


def main(names: Sequence[str]) -> int:
    """Try the mutants of some names; 0 if all are caught, 1 if not, 2 for what cannot be tried."""
    mutants = read()
    unknown = sorted(set(names) - {mutant.id for mutant in mutants} - set(LAYERS))
    tried = [mutant for mutant in mutants if not names or mutant.id in names or mutant.layer in names]
    wrong = [f"no mutant or layer is called {', '.join(unknown)}; the layers: {', '.join(LAYERS)}"] * bool(unknown)
    wrong += filter(None, map(complaint, tried))
    outcomes = [] if wrong else attempt_all(tried)
    bad = [found.mutant.id for found in outcomes if not found.good]
    wrong += [f"not caught: {', '.join(bad)}"] * bool(bad)
    print("\n".join(wrong), end="\n" * bool(wrong), file=sys.stderr)
    return int(bool(bad)) if outcomes else 2


def attempt_all(mutants: Sequence[Mutant]) -> list[Outcome]:
    """First every test without a defect, then each defect; none if not every test passes without."""
    begun, outcomes = time.monotonic(), list[Outcome]()
    with TemporaryDirectory(prefix="mutants-") as folder:
        bench = Bench(Path(folder))
        tests = list(dict.fromkeys(mutant.test for mutant in mutants))
        print(f"{len(tests)} tests without a defect ...", flush=True)
        passed, told = bench.passes(tests)
        if not passed:
            print(f"{told}\nnot every test passes without a defect, so that none says anything", file=sys.stderr)
            return []
        for number, mutant in enumerate(mutants, 1):
            outcomes.append(bench.attempt(mutant))
            found = outcomes[-1]
            line = f"{number:3} of {len(mutants)}  {found.word:8} {found.seconds:5.1f} s  {mutant.layer}: {mutant.id}"
            print(line if found.good else f"{line}\n{found.told}", flush=True)
    caught, took = sum(found.good for found in outcomes), time.monotonic() - begun
    print(f"{caught} of {len(outcomes)} defects are caught, {took:.0f} s in all")
    return outcomes


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
