"""Numbers as a reader sees them: true minus signs, powers of ten, intervals; an em dash where there is no number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeGuard

NOTHING = "—"
MINUS = "−"
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def is_number(value: object) -> TypeGuard[int | float]:
    """Check whether a JSON value is a number that can be shown (infinity is one, NaN and None are not)."""
    return isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value)


def superscript(number: int | str) -> str:
    return str(number).translate(_SUPERSCRIPTS)


def slope(value: object, digits: int = 2) -> str:
    if not is_number(value):
        return NOTHING
    if _special(value):
        return _special(value)
    text = f"{value:.{digits}f}"
    return (text.lstrip("-") if float(text) == 0 else text).replace("-", MINUS)


def exponent(value: object) -> str:
    """Show a bare exponent as the paper prints it: no more decimals than it needs."""
    return f"{value:.6g}".replace("-", MINUS) if is_number(value) else NOTHING


def plain(value: object) -> str:
    """Show a setting or tick: no more digits than it needs, powers of ten where they read better."""
    if not is_number(value):
        return NOTHING
    if math.isfinite(value) and 1e6 <= abs(value) < 1e7 and value == round(value):
        return count(value)
    shown = value == 0 or 1e-3 < abs(value) < 1e6
    return f"{value:,.6g}".replace("-", MINUS) if shown else number(value)


def interval(pair: Sequence[object] | None, digits: int = 2, show: Callable[[object, int], str] = slope) -> str:
    """Show ``[low, high]``, or nothing where either end is unknown."""
    return f"[{show(pair[0], digits)}, {show(pair[1], digits)}]" if pair and all(map(is_number, pair)) else ""


def with_interval(value: object, pair: Sequence[object] | None) -> str:
    return f"{slope(value)} {interval(pair)}".strip()


def number(value: object, digits: int = 3) -> str:
    """Show a number with significant digits; powers of ten outside 1e-3 .. 1e5."""
    if not is_number(value):
        return NOTHING
    if _special(value):
        return _special(value)
    if value == 0:
        return "0"
    mantissa, exponent_text = f"{value:.{digits - 1}e}".split("e")
    power = int(exponent_text)
    round_power = math.isclose(value, 10.0**power, rel_tol=1e-12)
    if -3 < power < 5 or (power == -3 and not round_power):
        whole, decimals = value == round(value), max(0, digits - 1 - power)  # whole numbers in full
        text = f"{value:,.0f}" if whole else f"{float(f'{value:.{digits}g}'):,.{decimals}f}"
        return text.replace("-", MINUS)
    lead = "" if round_power else f"{mantissa}×"
    return f"{lead}10{superscript(power)}".replace("-", MINUS)


def count(value: object) -> str:
    """Show a whole number, thousands apart by commas; very large ones as powers of ten."""
    if not is_number(value):
        return NOTHING
    if _special(value) or abs(value) >= 1e7:
        return number(value)
    return f"{value:,.0f}".replace("-", MINUS)


def with_error(mean: object, error: object) -> str:
    """Mean and standard error with a common power of ten: ``(3.21 ± 0.12)×10⁻⁴``; two digits of the error."""
    if not is_number(mean) or not is_number(error) or not math.isfinite(mean) or error == 0 or mean == 0:
        return number(mean)
    power = math.floor(math.log10(abs(mean)))
    digits = min(8, max(1, power - math.floor(math.log10(error)) + 1))
    if digits >= 8:
        return number(mean, 5)
    shift = power if not -3 <= power < 5 else 0
    decimals = max(0, digits - (power - shift))
    text = f"{mean / 10.0**shift:.{decimals}f} ± {error / 10.0**shift:.{decimals}f}".replace("-", MINUS)
    return f"({text})×10{superscript(shift)}" if shift else text


def seconds(value: object) -> str:
    if not is_number(value):
        return NOTHING
    if value < 120:
        return f"{value:.1f} s"
    return f"{value / 60:.1f} min" if value < 7200 else f"{value / 3600:.1f} h"


def span(values: Iterable[object], show: Callable[[object], str] = number, least: bool = False) -> str:
    """Show the smallest and the largest number: ``173 … 14,600``; of two that are alike the larger, or ``least``."""
    numbers = sorted(value for value in values if is_number(value))
    if not numbers:
        return NOTHING
    low, high = show(numbers[0]), show(numbers[-1])
    alike = low == high or math.isclose(numbers[0], numbers[-1], rel_tol=2e-3)
    return (low if least else high) if alike else f"{low} … {high}"


def _special(value: float) -> str:
    return "" if math.isfinite(value) else ("∞" if value > 0 else f"{MINUS}∞")
