"""What a run leaves besides results and conclusions: packs, marks of papers, logs and benchmarks.

No conclusion is made from them, so nothing else would look whether they are as they were written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from dpsco_bench.execution.drawn import drawing, name_changed
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.store import FILE, damaged, is_misplaced, read_sealed


def look(files: Layout, papers: Iterable[str]) -> None:
    """Name what is damaged of the files that the last run of a profile left; no run is at work on them.

    Parameters
    ----------
    files : Layout
    papers : iterable of str
        Of the plan.
    """
    for path in files.folders:
        if path.exists() and not path.is_dir():
            damaged(path, FILE)
    for path in (files.packing, *(files.judged(paper) for paper in sorted(papers))):
        read_sealed(path)
    name_changed(files.told)
    for path in (files.lock, *_told(files)):
        is_misplaced(path)


def keep_told(files: Layout) -> None:
    """Mark logs and benchmarks as they are now, after all jobs of a run have ended."""
    with drawing(files.told) as drawn:
        drawn.files += [path for path in _told(files) if path.is_file()]


def _told(files: Layout) -> Iterator[Path]:
    """Logs and benchmarks, or whatever stands in their places."""
    for folder, suffix in (("logs", ".log"), ("benchmarks", ".tsv")):
        yield from sorted((files.results / folder).rglob(f"*{suffix}"))
