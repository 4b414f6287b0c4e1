"""How fuzzed calls are made and judged: a result, or one line and exit code 2 with nothing written; no traceback."""

import io
import json
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from dpsco_bench.cli.main import main

MOST = int(os.environ.get("DPSCO_FUZZ", 0))
"""Examples of each test; without it a few, the same on every machine."""
LONGEST = 300.0
"""Seconds for one example, where all of a test take seconds."""
settings.register_profile(
    "fuzz", derandomize=not MOST, database=None, deadline=None, print_blob=True, suppress_health_check=[*HealthCheck]
)
ODD_WORDS = ["", "x", "é", "nan", "inf", "-inf", "null", "true"]
ODD_WORDS += ["[1,2]", "{a: 1}", "${n}", "../x", "1,2", "'", "(", "a=b"]
ODD_NUMBERS = (0, 1, 2, 3, 8, -1, 0.5, 1.5, 1e-300, 1e300, -0.0, 2**31, 2**63, 10**30)
ODD_VALUES = (*ODD_WORDS, *ODD_NUMBERS, None, True, float("nan"), float("inf"), [], {}, [1, "a"], [[1]], {"a": 1})
ADDED = ["x", "id", "kind", "n", "d", "name", "values", "profile", "constants", "options", "problem_options", ".."]
ADDED += ["1", 1, True, 1.5]
"""Keys that are put into files; YAML has such as are no text too."""


def number_of_examples(few: int) -> Callable[[Any], Any]:
    """Give a test so many examples in the ordinary suite, and end one that takes longer than `LONGEST`."""

    def decorated(test: Any) -> Any:
        test.hypothesis.inner_test = in_time()(test.hypothesis.inner_test)
        return settings(settings.get_profile("fuzz"), max_examples=MOST or few)(test)

    return decorated


@contextmanager
def in_time() -> Iterator[None]:
    """Fail after `LONGEST` seconds, in a way that no ``except Exception`` of the package takes for its own error."""

    def late(*_: Any) -> None:
        pytest.fail(f"not done in {LONGEST:g} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def written(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@contextmanager
def own_folder() -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        yield


def judged(*arguments: str) -> Any:
    """Call a verb in the working folder and hold what it does against the promise; its JSON, None if it refused."""
    before, out, err = written(Path()), io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main([*arguments, "--json"])
    said = err.getvalue().splitlines()
    if code == 2:
        assert len(said) == 1 and said[0].startswith("dpsco: ") and len(said[0]) < 1500, said
        assert not out.getvalue() and written(Path()) == before
        return None
    assert code in (0, 1), (code, said)
    assert "Traceback" not in err.getvalue()
    return json.loads(out.getvalue(), parse_constant=pytest.fail)


@st.composite
def spoilt(draw: Callable[[Any], Any], whole: Any, most: int = 2) -> Any:
    """A nested value in which up to so many places hold something else, or nothing."""
    value = deepcopy(whole)
    for _ in range(draw(st.integers(1, most))):
        holder, key = draw(st.sampled_from(list(_places(value)) or [({}, "")]))
        how = draw(st.sampled_from(["replace", "remove", "add", "move"]))
        if how == "remove":
            del holder[key]
        elif how == "add" and isinstance(holder, dict):
            holder[draw(st.sampled_from(ADDED))] = draw(odd_values())
        elif how == "move":
            moved = draw(st.sampled_from([place[key] for place, key in _places(value)]))
            holder[key] = deepcopy(moved)
        else:
            holder[key] = draw(odd_values())
    return value


def odd_values() -> Any:
    return st.sampled_from(ODD_VALUES).map(lambda value: json.loads(json.dumps(value)))


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


def yaml_text(value: Any) -> str:
    """YAML of a nested value; JSON is YAML, but for numbers that it does not have, and keys that are no text."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{yaml_text(key)}: {yaml_text(held)}" for key, held in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(yaml_text, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("NaN", ".nan").replace("Infinity", ".inf")
