"""Reading claims and profiles that ship, fast: every plan reads all of them."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from dpsco_bench.paths import conf_dir

SCIENTIFIC = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$")


@cache
def _loader() -> Any:
    """YAML as OmegaConf reads it, which takes ``1e-6`` for a number, by the compiled parser."""
    import yaml  # type: ignore[import-untyped]

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        pass

    Loader.add_implicit_resolver("tag:yaml.org,2002:float", SCIENTIFIC, list("-+0123456789"))
    return Loader


def read_claim(id: str) -> dict[str, Any]:
    """The file of a claim that ships, uncomposed."""
    return _read("claim", id.replace(".", "/", 1))


def read_profile(name: str) -> dict[str, Any]:
    """The file of a profile, uncomposed."""
    return _read("profile", name)


def _read(group: str, name: str) -> dict[str, Any]:
    import yaml

    path = conf_dir() / group / f"{name}.yaml"
    return yaml.load(path.read_text(encoding="utf-8"), Loader=_loader())
