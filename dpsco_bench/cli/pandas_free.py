"""Short processes that read result tables, without the start-up time of pandas."""

from __future__ import annotations

import sys
from typing import Any


def keep_pandas_out() -> None:
    """Let pyarrow find no pandas when it first looks.

    It imports pandas, if there is one, only to ask whether the values it is given are pandas objects. Ours never are,
    and the import would take a third of a short job.
    """
    import pyarrow

    class Absent:
        @staticmethod
        def find_spec(name: str, path: Any = None, target: Any = None) -> None:
            if name == "pandas":
                raise ModuleNotFoundError(name, name=name)

    sys.meta_path.insert(0, Absent)
    try:
        pyarrow.array([0])
    finally:
        sys.meta_path.remove(Absent)
