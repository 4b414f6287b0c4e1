"""The notation of the texts of bounds, read and evaluated.

Juxtaposition multiplies and binds like ``/``, from left to right; ``^`` binds closer. ``a/b c``, which some read as
``a/(b c)``, is refused. Functions are those of `FUNCTIONS`; without brackets they take the next symbol or number
(``sqrt n``, ``ln^2 K``). ``|x|`` is an absolute value, ``||x*||_p`` one symbol. ``sum_{t=1}^{n}`` sums the product that
follows, for all t at once: in it t is an array. After a comma come definitions (``T = n/4``), which hold for the whole
text, and remarks in words. A semicolon separates

- cases, ``X for p <= 2; Y for p > 2; Z otherwise``, of which the first that applies is taken;
- alternatives under one of `LABELS`: ``accounted: X`` is the formula under that calibration, ``printed: X`` the same
  number as the paper writes it, ``whole bound: X`` the bound of which the formula is a term.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any

import numpy as np

from dpsco_bench.errors import InputError
from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon, gdp_mu

Lookup = Callable[[str], Any]
Node = Callable[[Lookup], Any]
LABELS = ("accounted", "printed", "whole bound")


def _both(of_numbers: Callable[..., Any], of_arrays: Callable[..., Any]) -> Callable[..., Any]:
    """Join the two forms of a function; numbers keep the one of `math`, whose last digit NumPy's may miss."""
    return lambda *given: (of_arrays if any(isinstance(x, np.ndarray) for x in given) else of_numbers)(*given)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrt": _both(math.sqrt, np.sqrt),
    "ln": _both(math.log, np.log),
    "log2": _both(math.log2, np.log2),
    "floor": _both(math.floor, np.floor),
    "round": _both(round, np.round),
    "min": _both(min, lambda *given: reduce(np.minimum, given)),
    "max": _both(max, lambda *given: reduce(np.maximum, given)),
    "gdp_eps": gdp_epsilon,
    "gdp_mu": gdp_mu,
}
_WORDS = ("for", "or", "otherwise")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_COMPARISONS = {"=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<sum>sum_(?=\{))|(?P<mark><=|>=|[-+*/^()\[\]{},=<>]|\|(?!\|))"
    r"|(?P<name>\|\|[^|]+\|\|(?:_\w+)?|[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*'?))"
)
_DEFINITION = re.compile(r"\s*([A-Za-z]\w*'?) = (.+)")


@dataclass(frozen=True)
class Text:
    """A text that has been read: cases (label, empty for the formula itself; condition; value), and further symbols."""

    cases: tuple[tuple[str, Node | None, Node], ...]
    definitions: dict[str, Node]
    names: frozenset[str]

    def has(self, label: str) -> bool:
        """Check whether there is an alternative of this label."""
        return any(found == label for found, _, _ in self.cases)

    def value(self, lookup: Lookup, label: str = "") -> Any:
        """Evaluate the formula, or its alternative of a label, with a function that knows the symbols.

        Raises InputError where no case applies.
        """

        def known(name: str) -> Any:
            return self.definitions[name](known) if name in self.definitions else lookup(name)

        for found, condition, value in self.cases:
            if found == label and (condition is None or condition(known)):
                found = value(known)
                return found if isinstance(found, np.ndarray) else float(found)
        raise InputError("formula", label, "one with a case that applies")


@lru_cache(maxsize=1024)
def read(text: str) -> Text:
    """Read a text. Raises InputError for one that is not in the notation, saying where it ends to be."""
    cases, definitions, names = [], {}, set[str]()
    for alternative in _split(text, ";"):
        label = next((label for label in LABELS if alternative.lstrip().startswith(f"{label}:")), "")
        formula, *clauses = _split(alternative.partition(":")[2] if label else alternative, ",")
        reader = _Reader(formula)
        cases.append((label, *reader.case()))
        names |= reader.names
        for name, definition in (match.groups() for match in map(_DEFINITION.fullmatch, clauses) if match):
            reader = _Reader(definition)
            definitions[name] = reader.case()[1]
            names |= reader.names
    return Text(tuple(cases), definitions, frozenset(names - definitions.keys()))


def _split(text: str, mark: str) -> Iterator[str]:
    """Parts between marks that stand in no brackets."""
    depth, start = 0, 0
    for place, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if character == mark and depth == 0:
            yield text[start:place]
            start = place + 1
    yield text[start:]


class _Reader:
    """Recursive descent over one formula; `names` collects its free symbols."""

    def __init__(self, text: str) -> None:
        self._text, self._place, self._bars = text, 0, 0
        self._counters: list[str] = []  # of the sums around the place
        self.names: set[str] = set()

    def case(self) -> tuple[Node | None, Node]:
        """Condition and value of the whole text."""
        value, condition = self._sum(), None
        if self._take("for"):
            condition = self._condition()
        elif not self._take("otherwise") and self._peek()[0]:
            raise self._error()
        if self._peek()[0] or self._text[self._place :].strip():
            raise self._error()
        return condition, value

    def _condition(self) -> Node:
        left = self._sum()
        if self._peek()[1] == "=" and self._peek(1)[0] == "name":  # a word, which is no symbol
            words = []
            while self._take("=") or self._take("or"):
                words.append(self._next()[1])
            return lambda look: left(look) in words
        parts: list[tuple[Callable[[Any, Any], bool], Node]] = []
        while self._peek()[1] in _COMPARISONS:
            parts.append((_COMPARISONS[self._next()[1]], self._sum()))
        operands = [left, *(node for _, node in parts)]

        def holds(look: Lookup) -> bool:
            values = [node(look) for node in operands]
            return all(compare(a, b) for (compare, _), a, b in zip(parts, values, values[1:], strict=False))

        return holds

    def _sum(self) -> Node:
        value = self._product()
        while self._peek()[1] in ("+", "-"):
            compute = operator.add if self._next()[1] == "+" else operator.sub
            value = _joined(compute, value, self._product())
        return value

    def _product(self) -> Node:
        value, bare = self._signed(), False
        while True:
            kind, token = self._peek()
            if token in ("*", "/"):
                self._next()
                bare = token == "/" and self._peek()[1] not in _CLOSING
                value = _joined(operator.truediv if token == "/" else operator.mul, value, self._signed())
            elif kind in ("number", "sum") or (kind == "name" and token not in _WORDS):
                if bare:
                    raise self._error()
                value = _joined(operator.mul, value, self._signed())
            elif token in _CLOSING or (token == "|" and not self._bars):
                value = _joined(operator.mul, value, self._signed())
            else:
                return value

    def _signed(self) -> Node:
        if self._take("-"):
            value = self._signed()
            return lambda look: -value(look)
        value = self._atom()
        return _joined(operator.pow, value, self._exponent()) if self._take("^") else value

    def _exponent(self) -> Node:
        if self._take("-"):
            value = self._atom()
            return lambda look: -value(look)
        return self._atom()

    def _atom(self) -> Node:
        kind, token = self._next()
        if kind == "number":
            number = float(token) if "." in token else int(token)
            return lambda look: number
        if kind == "sum":
            return self._series()
        if kind == "name" and token in FUNCTIONS:
            return self._function(FUNCTIONS[token])
        if kind == "name" and token not in _WORDS:
            self.names.add(token)
            return lambda look: look(token)
        if token == "|":
            self._bars += 1
            inner = self._sum()
            self._expect("|")
            self._bars -= 1
            return lambda look: abs(inner(look))
        if token in _CLOSING:
            return self._enclosed(token)[0]
        raise self._error()

    def _enclosed(self, opening: str) -> list[Node]:
        """Split the text between brackets at its commas."""
        bars, self._bars = self._bars, 0
        inner = [self._sum()]
        while self._take(","):
            inner.append(self._sum())
        self._expect(_CLOSING[opening])
        self._bars = bars
        return inner

    def _function(self, compute: Callable[..., float]) -> Node:
        power = self._exponent() if self._take("^") else None
        arguments = self._enclosed(self._next()[1]) if self._peek()[1] in ("(", "{") else [self._atom()]

        def value(look: Lookup) -> float:
            return compute(*(argument(look) for argument in arguments))

        return value if power is None else _joined(operator.pow, value, power)

    def _series(self) -> Node:
        self._expect("{")
        variable = self._next()[1]
        self._expect("=")
        first = self._sum()
        self._expect("}", "^", "{")
        last = self._sum()
        self._expect("}")
        before, self.names = self.names, set()
        self._counters.append(variable)
        body = self._product()
        self._counters.pop()
        if self.names.intersection(self._counters):
            raise self._error()  # its partial sums would differ from term to term of the outer sum
        inside = self.names - {variable}
        self.names = before | inside

        def value(look: Lookup) -> Any:
            if measured := [name for name in inside if isinstance(look(name), np.ndarray)]:
                raise InputError("formula", ", ".join(measured), "in front of the sum, as a measured quantity")
            low, high = int(first(look)), last(look)
            counted = np.arange(low, int(np.max(high)) + 1, dtype=np.float64)
            terms = body(lambda name: counted if name == variable else look(name)) * np.ones_like(counted)
            if isinstance(high, np.ndarray):
                return np.concatenate([[0.0], np.cumsum(terms)])[high.astype(int) - low + 1]
            return math.fsum(terms)

        return value

    def _peek(self, ahead: int = 0) -> tuple[str, str]:
        """Kind and text of a token to come; two empty strings at the end and before what is none."""
        match = _TOKEN.match(self._text, self._place)
        for _ in range(ahead):
            match = match and _TOKEN.match(self._text, match.end())
        return (str(match.lastgroup), match[str(match.lastgroup)]) if match else ("", "")

    def _next(self) -> tuple[str, str]:
        match = _TOKEN.match(self._text, self._place)
        if match is None:
            raise self._error()
        self._place = match.end()
        return str(match.lastgroup), match[str(match.lastgroup)]

    def _take(self, token: str) -> bool:
        return self._peek()[1] == token and bool(self._next())

    def _expect(self, *tokens: str) -> None:
        if not all(map(self._take, tokens)):
            raise self._error()

    def _error(self) -> InputError:
        rest = self._text[self._place :].strip() or "its end"
        return InputError("formula", self._text.strip(), f"in the notation of bounds, which it is not at {rest!r}")


def _joined(compute: Callable[[Any, Any], Any], left: Node, right: Node) -> Node:
    return lambda look: compute(left(look), right(look))
