"""Which code wrote a page: its commit with the date, and how the installed packages agree with the lock."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from dpsco_bench.errors import InputError
from dpsco_bench.paths import shared_dir

LOCK = "lock.txt"
SHOWN = 3
"""Packages that differ from the lock and are named."""
ROOT = Path(__file__).resolve().parents[2]
"""The checkout, where the package lies in one."""
_PIN = re.compile(r"^([\w.-]+)==([^\s;]+)", re.MULTILINE)


def commit_text(root: Path = ROOT) -> str:
    """The commit of a checkout and its date, and whether tracked files differ from it; else why it is not known."""
    if not (root / ".git").exists():
        return "not known: the package was installed without its repository"
    found = _git(root, "log", "-1", "--format=%H of %cI")
    if not found:
        return "not known: git does not read the repository"
    changed = len((_git(root, "status", "--porcelain", "--untracked-files=no") or "").splitlines())
    return found + (f", with changes in {changed} file{'s' * (changed > 1)}" if changed else "")


def commit_of(path: Path) -> str:
    """The last commit that changed a file of a checkout, and its date; empty where that is not known."""
    return _git(path.parent, "log", "-1", "--format=%H of %cI", "--", path.name) or ""


def _git(root: Path, *words: str) -> str | None:
    """Say what git says; None where it is not there or fails."""
    own = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}  # a hook names other trees
    try:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, env=own, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def lock_text() -> str:
    """The digest of the lock of all packages, and whether what is installed is what it names."""
    try:
        lock = (shared_dir("requirements") / LOCK).read_bytes()
    except (InputError, OSError):
        return "not known: the package was installed without it"
    return f"sha256 {hashlib.sha256(lock).hexdigest()}; {agreement(lock.decode('utf-8'))}"


def agreement(lock: str) -> str:
    """Count how many of a lock's packages are installed at its versions; those at other versions by name."""
    pins = dict(_PIN.findall(lock))
    found = {name: _installed(name) for name in pins}
    same = sum(found[name] == pin for name, pin in pins.items())
    others = [f"{name} {found[name]}" for name, pin in pins.items() if found[name] not in (None, pin)]
    more = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
    told = f"; at other versions {', '.join(others[:SHOWN])}{more}" if others else ""
    return f"{same} of its {len(pins)} packages are installed as it names them{told}"


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
