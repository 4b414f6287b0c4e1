"""The suite: which goals there are, and how they are measured one after the other."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

from dpsco_bench.backend.namespace import get_namespace, tuned
from dpsco_bench.bench.card import FULL as CARD_FULL
from dpsco_bench.bench.card import QUICK as CARD_QUICK
from dpsco_bench.bench.card import TITLES, TOUCHED, CardRow, card_rows, emulated
from dpsco_bench.bench.card import about as about_card
from dpsco_bench.bench.measure import FULL, GOALS, QUICK, Row, compiler_version, measure
from dpsco_bench.errors import InputError
from dpsco_bench.execution.timing import Machine, machine
from dpsco_bench.fused.compiled import available

PEERS = ("numba", "jax", "jaxlib", "torch")  # packages whose code rows compare, beside NumPy's


def selected(only: Sequence[str]) -> list[str]:
    """List the ids to measure, in the suite's order; all of them for none. Raises InputError for an unknown id."""
    for name in only:
        if name not in GOALS.names():
            raise InputError("only", name, "one of " + ", ".join(GOALS.names()))
    return [id for id in GOALS.names() if not only or id in only]


def run_suite(only: Sequence[str] = (), quick: bool = False) -> Iterator[Row]:
    """Measure case after case; ``quick`` takes shorter samples: a look, not a measurement to quote."""
    for id in selected(only):
        for case in GOALS.get(id).cases():
            with tuned():
                row = measure(case, QUICK if quick else FULL)
            yield row


def run_card(quick: bool = False) -> Iterator[CardRow]:
    """Measure the card in place of a core. Raises InputError where no card can be used."""
    cupy = get_namespace("cupy")
    yield from card_rows(cupy, TOUCHED if emulated(cupy) else CARD_QUICK if quick else CARD_FULL)


def title(id: str) -> str:
    return TITLES[id] if id in TITLES else GOALS.get(id).title


@dataclass(frozen=True, kw_only=True)
class Dated(Machine):
    """A machine on a day, year first, by the clock of UTC; with the versions of what rows compare."""

    date: str
    versions: dict[str, str] = field(default_factory=dict)


def environment(gpu: bool = False) -> Dated:
    """Describe what rows hold for: processor, versions, compiled noise, settings for matrix products.

    With ``gpu`` the card too; raises InputError where none can be used.
    """
    found = replace(
        about_card(get_namespace("cupy")) if gpu else machine("numpy"),
        numba=available(),
        blas_core_type=os.environ.get("OPENBLAS_CORETYPE", ""),
        blas_threads=os.environ.get("OPENBLAS_NUM_THREADS", ""),
    )
    versions = {"C compiler": told} if (told := compiler_version()) else {}
    for name in PEERS:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return Dated(**vars(found), date=datetime.now(UTC).date().isoformat(), versions=versions)
