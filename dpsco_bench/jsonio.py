"""JSON as this package writes it: NaN is ``null``, infinity ``"inf"``; files appear whole or not at all."""

from __future__ import annotations

import dataclasses
import errno
import hashlib
import json
import math
import os
import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from dpsco_bench.errors import InputError
from dpsco_bench.plain import Plain

NO_PLACE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM)
"""Errors of a file system that takes no more files."""
_PLAIN = frozenset((str, int, bool, type(None)))
_INFINITIES = {"inf": math.inf, "-inf": -math.inf}
_DRAFT = re.compile(r"\.[0-9a-f]{32}\.part\.")
_SEAL = re.compile(rb'\{(?:\n  )?"sha256": "([0-9a-f]{64})",')


def to_jsonable(value: Any) -> Any:
    """Return plain JSON types for a nested value: NaN becomes None, infinities ``"inf"`` and ``"-inf"``.

    Mapping keys become strings, sets come out sorted. What has ``to_json``, dataclasses, paths, and NumPy's scalars and
    arrays are taken. Raises InputError for a value of any other type.
    """
    kind = type(value)
    if kind in _PLAIN or (kind is float and math.isfinite(value)):  # nearly all values, without the price of a search
        return value
    if kind is dict:
        return {str(key): to_jsonable(item) for key, item in value.items()}
    if kind is list or kind is tuple:
        return [to_jsonable(item) for item in value]
    if isinstance(value, str):
        return value
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return None if math.isnan(value) else float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, np.ndarray | np.generic):
        return to_jsonable(value.tolist())
    if hasattr(value, "to_json"):
        return to_jsonable(value.to_json())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_jsonable(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return to_jsonable(dict(value))
    if isinstance(value, list | tuple | Set):
        return to_jsonable(sorted(value) if isinstance(value, Set) else list(value))
    if isinstance(value, PurePath):
        return str(value)
    raise InputError("value", type(value).__name__, "a number, string, path, array, dataclass or container")


def dumps_canonical(value: Any) -> str:
    """Write one text per value: sorted keys, no spaces, ASCII, floats by their shortest ``repr``, no final newline.

    Digests and stream keys are taken over this text, so ``1`` and ``1.0`` differ: callers fix the types.
    """
    return json.dumps(to_jsonable(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def dumps_pretty(value: Any) -> str:
    """JSON for people: keys in their given order, two spaces of indent, a final newline."""
    return json.dumps(to_jsonable(value), indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def loads(text: str) -> Any:
    """Inverse of `dumps_canonical`: the strings ``"inf"`` and ``"-inf"`` become floats, null stays None.

    Raises InputError if the text is not JSON.
    """
    try:
        found = json.loads(text)
        return restore(found) if 'inf"' in text else found  # to search all values takes as long as to read them
    except json.JSONDecodeError as error:
        raise InputError("json", f"line {error.lineno}: {error.msg}", "valid JSON") from None


def restore(value: Any) -> Any:
    """Restore what `loads` makes of plain JSON values: the strings ``"inf"`` and ``"-inf"`` become floats."""
    if isinstance(value, str):
        return _INFINITIES.get(value, value)
    if isinstance(value, list):
        return [restore(item) for item in value]
    if isinstance(value, dict):
        return {key: restore(item) for key, item in value.items()}
    return value


@contextmanager
def naming(path: object, draft: Path | None = None) -> Iterator[None]:
    """Name what is written in an error that says there is no place for it: a full disk refuses without a name.

    The ``draft``, a file or folder that stands for ``path`` until it is whole, is never named.
    """
    try:
        yield
    except OSError as error:
        named = error.filename is not None and not (draft and Path(str(error.filename)).is_relative_to(draft))
        if error.errno in NO_PLACE and not named:
            error.filename = str(path)
        raise


@contextmanager
def whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Fill a file under another name; it takes the place of ``path`` at once when the block ends without an error.

    It lies beside ``path``, since a rename is atomic only within one file system, and ends like it. Missing parent
    directories are made. Where there is no place the error names ``path``. Nothing of it is left after an error; a
    killed process leaves it, for `dpsco gc` to remove.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{uuid.uuid4().hex}.part.{target.name}")
    try:
        with naming(target, draft):
            yield draft
            with open(draft, "rb") as stream:
                os.fsync(stream.fileno())
            os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def is_draft(path: Path) -> bool:
    """Tell whether a file is, or was, being filled under another name (`whole`)."""
    return _DRAFT.match(path.name) is not None


def write_atomic(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file that readers see either in its old or in its new state; text as UTF-8, line ends as given."""
    with whole(path) as draft:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)


def sealed(text: str) -> str:
    """Write the text of a JSON object, of at least one key, with its digest as the first entry; see `unsealed`."""
    head = '{"sha256": ' if text.startswith('{"') else '{\n  "sha256": '
    return f'{head}"{hashlib.sha256(text.encode()).hexdigest()}",{text[1:]}'


def unsealed(content: bytes) -> Plain:
    """Read the object of a sealed text, with infinities still strings (see `restore`).

    Raises ValueError if a single byte is not as it was written.
    """
    head = _SEAL.match(content)
    if head is None or hashlib.sha256(b"{" + content[head.end() :]).hexdigest() != head[1].decode():
        raise ValueError("its digest is not that of its content")
    found: Plain = json.loads(b"{" + content[head.end() :])
    return found


def digest(value: Any) -> str:
    """Digest what JSON makes of a value, 32 hexadecimal digits."""
    return hashlib.sha256(dumps_canonical(value).encode()).hexdigest()[:32]


def kept_beside(path: Path, ending: str, make: Callable[[bytes], Any], salt: str = "") -> Any:
    """Apply a function to the bytes of a file, once for each content; the result is kept in ``__pycache__`` beside it.

    ``make`` gives what JSON can hold; ``salt`` is what else this depends on, such as the version of the reader. What is
    kept is sealed and names the content that it is of: what is damaged or outdated is made again. A read-only
    installation makes it each time.
    """
    content = path.read_bytes()
    kept, of = path.parent / "__pycache__" / f"{path.name}{ending}", hashlib.sha256(salt.encode() + content).hexdigest()
    with suppress(OSError, ValueError):
        found = unsealed(kept.read_bytes())
        if found["of"] == of:
            return found["made"]
    text = json.dumps({"of": of, "made": make(content)}, ensure_ascii=False)
    with suppress(OSError):
        write_atomic(kept, sealed(text))
    return json.loads(text)["made"]


MARK = "<!-- made by dpsco -->\n"
"""Last line of such a figure."""


def check_figure(key: str, path: Path) -> None:
    """Refuse a place that is taken by anything but an earlier figure with the mark, as InputError under ``key``."""
    if not os.path.lexists(path):
        return
    if path.is_symlink() or not path.is_file() or not path.read_bytes().endswith(MARK.encode()):
        allowed = "the place of a new figure, or of one that this program made; this is another file"
        raise InputError(key, str(path), allowed)
