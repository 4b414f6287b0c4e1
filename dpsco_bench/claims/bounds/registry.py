"""Bounds by name ``paper.formula``. A bound is its text: what readers see is what judges.

In the texts of bounds juxtaposition multiplies and binds like ``/``, from left to right; ``^`` binds closer. ``a/b c``,
which some read as ``a/(b c)``, is refused. Functions are those of `FUNCTIONS`; without brackets they take the next
symbol or number (``sqrt n``, ``ln^2 K``). ``|x|`` is an absolute value, ``||x*||_p`` one symbol. ``sum_{t=1}^{n}`` sums
the product that follows, for all t at once: in it t is an array. After a comma come definitions (``T = n/4``), which
hold for the whole text, and remarks in words. A semicolon separates

- cases, ``X for p <= 2; Y for p > 2; Z otherwise``, of which the first that applies is taken;
- alternatives under one of `LABELS`: ``accounted: X`` is the formula under that calibration, ``printed: X`` the same
  number as the paper writes it, ``whole bound: X`` the bound of which the formula is a term.
"""

from __future__ import annotations

import math
import operator
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, reduce
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from dpsco_bench.errors import BrokenPaper, DpscoError, InputError
from dpsco_bench.geometry.ball import FeasibleSet
from dpsco_bench.plain import Schedule
from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon, gdp_mu
from dpsco_bench.problems.base import Constants
from dpsco_bench.registry import Registry, attempt, modules_in, papers

if TYPE_CHECKING:
    from dpsco_bench.claims.catalogue import Erratum

Lookup = Callable[[str], Any]
Node = Callable[[Lookup], Any]
LABELS = ("accounted", "printed", "whole bound")


@dataclass(frozen=True)
class BoundContext:
    """One cell as bounds see it.

    Under the calibration ``accounted`` a bound's eps/sqrt(l) is the Gaussian-DP parameter, as in the noise: for slopes,
    which it bends along a sweep over eps. Formulas that are compared by value are evaluated as printed, ``paper``.
    Extras are what the runs noted of each replicate; formulas take their means, or with ``by_replicate`` all of them.
    """

    n: int
    d: int
    epsilon: float
    delta: float
    constants: Constants
    calibration: str
    schedule: Schedule
    scales: Mapping[str, float]
    start_risk: float = math.nan
    extras: Mapping[str, Any] = field(default_factory=dict)
    by_replicate: bool = False

    @property
    def ball(self) -> FeasibleSet:
        """The bounded feasible set. Raises InputError on the whole space."""
        if self.constants.ball is None:
            raise InputError("domain", self.constants.domain, "a bounded set")
        return self.constants.ball

    def extra(self, name: str) -> Any:
        """Return a measured quantity: its mean, or a value for each replicate where they are judged one by one.

        Raises InputError for one that the runs did not note.
        """
        if name not in self.extras:
            known = ", ".join(sorted(self.extras)) or "none: the runs noted nothing"
            raise InputError("extra", name, f"one of {known}")
        return np.ravel(self.extras[name]) if self.by_replicate else float(np.mean(self.extras[name]))


Formula = Callable[[BoundContext], float]
Source = str | Callable[[BoundContext], Any]
"""Where a value is: entries of a `BoundContext` such as ``schedule.steps``, or a function of one.

Of several entries (``scales.inner or scales.gradient``) the first is taken that is there.
"""


@dataclass(frozen=True)
class Symbol:
    """A symbol in texts of bounds: words for readers, or without a source a text in the notation, which defines it.

    ``printed`` is its letter in the paper, and in quotations of it, where that is another one.
    """

    words: str
    source: Source = ""
    printed: str = ""

    @property
    def place(self) -> str:
        """The source where it names entries."""
        return self.source if isinstance(self.source, str) else ""


Glossary = Mapping[str, Symbol]
GLOSSARIES: Registry[Glossary] = Registry("glossary", "bounds", core="claims.bounds.orders")
COMMON: Glossary = {
    "n": Symbol("number of records", "n"),
    "d": Symbol("dimension, the problem's effective one", "d"),
    "eps": Symbol("claimed epsilon", "epsilon"),
    "delta": Symbol("claimed delta", "delta"),
    "l": Symbol("ln(1/delta); accounted: (eps/gdp_mu(eps, delta))^2, so that eps/sqrt(l) is the Gaussian-DP parameter"),
    "p": Symbol("that of the problem's norm", "constants.norm"),
    "e": Symbol("Euler's number", lambda c: math.e),
}


@dataclass(frozen=True)
class Bound:
    """A bound formula.

    Attributes
    ----------
    text : str
        In the notation of `claims.bounds.registry`. One with a ``whole bound`` says the term whose rate a part claims,
        and then the bound that it is a term of.
    symbols : mapping of str to Symbol, its own, beside those of its paper
    source : str or callable, where its value is, for a text in words
    may_vanish : bool, whether its value may be 0, which has no slope
    others : str, what the bound has beside the named term, as a noun
    rounding : str, a text: the rounding error of what is measured in the bound, and the least value that it takes
    """

    name: str
    text: str
    symbols: Glossary = field(default_factory=dict)
    source: Source = ""
    may_vanish: bool = False
    others: str = "what the bound has beside the claimed term"
    rounding: str = ""

    def value(self, context: BoundContext) -> Any:
        """Evaluate the whole bound at a cell; at each replicate of a context that says so.

        Raises InputError for a value that is no finite number > 0 (>= 0 where it may vanish), naming the bound and the
        cell. Raises DpscoError in place of an exception within the formula.
        """
        where = f"bound {self.name} (n = {context.n}, d = {context.d}, epsilon = {context.epsilon:g})"
        try:
            found = self.whole(context)
        except DpscoError:
            raise
        except Exception as error:
            what = " ".join(f"{type(error).__name__}: {error}".split())
            raise DpscoError(f"{where}: its formula failed with {what}") from error
        for one in found.ravel().tolist() if isinstance(found, np.ndarray) else [found]:
            if not isinstance(one, Real) or not (0 < one < math.inf or (one == 0 and self.may_vanish)):
                raise InputError(where, one, f"a finite number {'>=' if self.may_vanish else '>'} 0")
        return found if isinstance(found, np.ndarray) else float(found)

    @cached_property
    def named_term(self) -> Formula | None:
        """The term whose rate a part claims, where the bound has several."""
        return compiled(self.name, self.text) if self._has_terms else None

    @cached_property
    def extras(self) -> tuple[str, ...]:
        """Measured quantities that the bound asks for (`BoundContext.extra`)."""
        places = [symbol.place for symbol in self.all_symbols.values()] + [Symbol("", self.source).place]
        return tuple(dict.fromkeys(place.partition(".")[2] for place in places if place.startswith("extras.")))

    @property
    def all_symbols(self) -> Glossary:
        """Symbols of the text and of their definitions, in alphabetical order; none of a text in words."""
        known, waiting, found = glossary_of(self.name), [] if self.source else [self.text], dict[str, Symbol]()
        while waiting:
            for name in (read(waiting.pop()).names & known.keys()) - found.keys():
                found[name] = known[name]
                waiting += [] if known[name].source else [known[name].words]
        return {name: found[name] for name in alphabetical(found)}

    @property
    def _has_terms(self) -> bool:
        return not self.source and read(self.text).has("whole bound")

    @cached_property
    def whole(self) -> Formula:
        """The whole bound, unchecked."""
        if self.source:
            return getter(self.source)
        whole = compiled(self.name, self.text, "whole bound" if self._has_terms else "")
        if not self.rounding:
            return whole
        least = compiled(self.name, self.rounding)
        return lambda context: FUNCTIONS["max"](whole(context), least(context))


BOUNDS: Registry[Bound] = Registry("bound", "bounds", core="claims.bounds.orders")


def bound(
    name: str, text: str, symbols: Mapping[str, Symbol | str] | None = None, source: Source = "", **options: Any
) -> Bound:
    """Register a bound for claims by its text.

    Raises InputError for a name of another form, or one of another bound; for a text that is not in the notation and
    has no source.

    Parameters
    ----------
    text : str, the formula in the notation of `claims.bounds.registry`: ``"d G^2 l/(n eps)^2"``
    symbols : mapping of str to Symbol or str
        What its letters mean, beside the common ones (n, d, eps, delta, l, p, e) and those of the paper: a `Symbol`,
        or the place of its value in a `BoundContext`, ``{"G": "constants.lipschitz"}``. Other bounds of the same
        prefix may use them.
    source : str or callable
        Only for a text in words, which the notation cannot say: where its value is, as in `Symbol`.
    **options : further attributes of `Bound`: may_vanish, others, rounding
    """
    module = sys._getframe(1).f_globals["__name__"]
    if not isinstance(name, str) or name.count(".") != 1:
        raise InputError("bound name", name, "of the form paper.formula")
    if not source:
        read(text)
    given = {  # a place names itself: ``strong convexity`` for ``constants.strong_convexity``
        key: Symbol(at.rpartition(".")[2].replace("_", " "), at) if isinstance(at, str) else at
        for key, at in (symbols or {}).items()
    }
    _check_symbols(f"bound {name}", given)
    return BOUNDS.add(name, Bound(name, text, given, source, **options), module)


def paper_bounds(prefix: str, texts: Mapping[str, str], symbols: Glossary | None = None) -> None:
    """Register all bounds of a paper, ``<prefix>.<formula>``, and the symbols in their texts.

    Symbols of a paper are those of ``<paper>_more`` too, and hide common ones.
    """
    module = sys._getframe(1).f_globals["__name__"]
    if symbols is not None:
        _check_symbols(f"the glossary of {prefix}", symbols)
        GLOSSARIES.add(prefix, symbols, module)
    for formula, text in texts.items():
        read(text)
        BOUNDS.add(f"{prefix}.{formula}", Bound(f"{prefix}.{formula}", text), module)


def _check_symbols(of: str, symbols: Mapping[str, Any]) -> None:
    for name, symbol in symbols.items():
        if not isinstance(symbol, Symbol) or not isinstance(symbol.words, str):
            raise InputError(f"{name} of {of}", symbol, 'a Symbol with words, e.g. Symbol("radius")')


def get_bound(name: str) -> Bound:
    """Return a bound by name. Raises InputError for an unknown name, or an unknown symbol in its text."""
    found = BOUNDS.get(name)
    _ = found.whole  # compiled once; a slip in a text is told before anything runs
    return found


def bound_modules(name: str) -> set[str]:
    """List the modules that a bound's value depends on: its own, and its paper's symbols."""
    prefix = name.partition(".")[0]
    papers = [paper for paper in (prefix, prefix.rpartition("_")[0]) if paper and GLOSSARIES.find(paper) is not None]
    return {BOUNDS.module(name), *map(GLOSSARIES.module, papers[:1])}


def alphabetical(names: Iterable[str]) -> list[str]:
    """Sort names as in a dictionary, ``d`` before ``D`` always: the order of a set depends on the process."""
    return sorted(names, key=lambda name: (name.lower(), name.swapcase()))


def paper_symbols(paper: str) -> Glossary:
    """Read a paper's own symbols; none of a paper that cannot be imported, which has been named already."""
    with suppress(BrokenPaper):
        return GLOSSARIES.find(paper) or {}
    return {}


def glossary_of(bound: str) -> Glossary:
    """Collect the symbols that a bound's text may use: its paper's formulas by short name, common, the paper's, own."""
    prefix = bound.partition(".")[0]
    package = papers().get(prefix) or papers().get(prefix.rpartition("_")[0])  # loads no other paper than theirs
    for module in modules_in(f"{package}.{BOUNDS.folder}") if package else ():
        attempt(module)
    formulas = {name: BOUNDS.get(name) for name in BOUNDS.registered() if name.startswith(f"{prefix}.")}
    others = {name.partition(".")[2]: Symbol(e.text, e.source) for name, e in formulas.items() if name != bound}
    in_order = sorted(formulas.values(), key=lambda formula: formula.name == bound)  # its own hide those of others
    own = {name: symbol for formula in in_order for name, symbol in formula.symbols.items()}
    return {**others, **COMMON, **(paper_symbols(prefix) or paper_symbols(prefix.rpartition("_")[0])), **own}


def evaluate(bound: str, text: str, context: BoundContext, label: str = "") -> float:
    """Evaluate a text in the symbols of a bound; see `compiled`."""
    return compiled(bound, text, label)(context)


def compiled(bound: str, text: str, label: str = "") -> Formula:
    """Make a function of a cell of a text, in the symbols of a bound.

    A label names an alternative of the text. Under the calibration ``accounted`` the formula of that label is taken if
    there is one, in definitions too.

    Raises InputError for a text that is not in the notation, or an unknown symbol. The function raises InputError where
    no case applies, and for a source that is not there.
    """
    known, values = glossary_of(bound), dict[str, Formula]()

    def formula(text: str, label: str) -> Formula:
        found = read(text)
        accounted = "" if label or not found.has("accounted") else "accounted"
        for name in found.names - values.keys():
            if name not in known:
                raise InputError(f"symbol in the text of {bound}", name, f"one of {', '.join(alphabetical(known))}")
            symbol = known[name]
            values[name] = getter(symbol.source) if symbol.source else formula(symbol.words, "")

        def value(context: BoundContext) -> float:
            chosen = accounted if context.calibration == "accounted" else ""
            return found.value(lambda name: values[name](context), chosen or label)

        return value

    return formula(text, label)


def getter(source: Source) -> Callable[[BoundContext], Any]:
    """Make the function that reads a source from a cell."""
    if callable(source):
        return source
    places = [place.partition(".")[::2] for place in source.split(" or ")]

    def value(context: BoundContext) -> Any:
        for head, key in places:
            if head == "extras":
                return context.extra(key)
            found = getattr(context, head)
            if key:
                found = found.get(key) if isinstance(found, Mapping) else getattr(found, key)
            if found is not None:
                return found
        raise InputError("source", source, "an entry of the cell")

    return value


def errata_letters(paper: str, errata: Iterable[Erratum]) -> str:
    """Name letters of errata that the quoted paper prints otherwise: a sentence, or none."""
    texts = [text for e in errata for text in (e.title, e.printed, e.calculation, e.consequence)]
    found = [
        f"{name}, {symbol.words}, is printed as {symbol.printed}"
        for name, symbol in paper_symbols(paper).items()
        if symbol.printed and any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for text in texts)
    ]
    return f"In {paper} {'; '.join(found)}." if found else ""


def schedule_letter(paper: str, field: str) -> str:
    """Name a field of the schedules of a paper's methods as readers know it.

    By the symbol of its value where that is the field's letter with an index: ``kappa_q`` for ``kappa``, which without
    one is a condition number everywhere.
    """
    named = GLOSSARIES.find(paper) or {}
    found = [name for name, symbol in named.items() if symbol.place == f"schedule.{field}"]
    return next((name for name in found if name.startswith(f"{field}_")), field)


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
        else:
            self._take("otherwise")
        if self._text[self._place :].strip():
            raise self._error()
        return condition, value

    def _condition(self) -> Node:
        left = self._sum()
        if self._peek()[1] == "=" and self._peek(1)[0] == "name":  # a word, which is no symbol
            words = []
            while self._take("=") or self._take("or"):
                words.append(self._next()[1])
            return lambda look: left(look) in words
        compared, operands = [], [left]
        while self._peek()[1] in _COMPARISONS:
            compared.append(_COMPARISONS[self._next()[1]])
            operands.append(self._sum())

        def holds(*values: Any) -> bool:
            return all(compare(a, b) for compare, a, b in zip(compared, values, values[1:], strict=False))

        return _applied(holds, *operands)

    def _sum(self) -> Node:
        value = self._product()
        while (token := self._peek()[1]) in ("+", "-"):
            self._next()
            value = _applied(operator.add if token == "+" else operator.sub, value, self._product())
        return value

    def _product(self) -> Node:
        value, bare = self._signed(), False
        while True:
            kind, token = self._peek()
            compute = operator.truediv if token == "/" else operator.mul
            if token in ("*", "/"):
                self._next()
                bare = token == "/" and self._peek()[1] not in _CLOSING
            elif kind in ("number", "sum") or (kind == "name" and token not in _WORDS):
                if bare:
                    raise self._error()
            elif token not in _CLOSING and (token != "|" or self._bars):
                return value
            value = _applied(compute, value, self._signed())

    def _signed(self) -> Node:
        if self._take("-"):
            return _applied(operator.neg, self._signed())
        value = self._atom()
        return _applied(operator.pow, value, self._exponent()) if self._take("^") else value

    def _exponent(self) -> Node:
        return _applied(operator.neg, self._atom()) if self._take("-") else self._atom()

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
            return _applied(abs, inner)
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
        value = _applied(compute, *arguments)
        return value if power is None else _applied(operator.pow, value, power)

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
        kind, token = self._peek()
        if not kind:
            raise self._error()
        self._place = self._text.index(token, self._place) + len(token)
        return kind, token

    def _take(self, token: str) -> bool:
        return self._peek()[1] == token and bool(self._next())

    def _expect(self, *tokens: str) -> None:
        if not all(map(self._take, tokens)):
            raise self._error()

    def _error(self) -> InputError:
        rest = self._text[self._place :].strip() or "its end"
        return InputError("formula", self._text.strip(), f"in the notation of bounds, which it is not at {rest!r}")


def _applied(compute: Callable[..., Any], *nodes: Node) -> Node:
    return lambda look: compute(*[node(look) for node in nodes])
