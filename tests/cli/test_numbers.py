"""Numbers that the documents give of this program are those of its code."""

from pathlib import Path

import pytest

from dpsco_bench.analysis import choice as ranked
from dpsco_bench.audit import auditor, bounds, canaries, forced, job, released, transcript
from dpsco_bench.claims import choice
from dpsco_bench.fused import device, gradients, sparse
from dpsco_bench.papers.gopi2022.fused import gibbs
from dpsco_bench.papers.su2023.fused import inner

ROOT = Path(__file__).parents[2]
WORDS = {2: "two", 4: "Four", 8: "eight"}
SAID = {
    "audits.md": [
        f"n is {', or '.join(map(str, canaries.RECORDS[:2]))} or {canaries.RECORDS[2]} where runs would be too long.",
        f"Chains take {canaries.SWEEPS} sweeps.",
        f"weights of {WORDS[transcript.BINS]} consecutive parts",
        f"on {bounds.TRAINING:.0%} of the runs".replace("%", " %"),
        f"It forces the transcripts of {forced.FORCED:,} runs",
        f"but for a rounding of {released.ROUNDING:.0e}".replace("e-09", "e-9"),
        f"Each run is then forced up to {forced.REPLAYS} times.",
        f"runs of up to {forced.FORCED_WORK / forced.FORCED:,.0f} gradients, of which {forced.FORCED:,} are forced",
        {0.25: "the power against a quarter of it"}[auditor.FAULT],
        f"Each audit has the confidence 1 - {1 - job.FAMILY_CONFIDENCE:.3f}/{job.FAMILY}, so that all",
        f"hold together at {job.FAMILY_CONFIDENCE:.1%}".replace("%", " %"),
    ],
    "fused.md": [
        f"where replicates are at most {gradients.MOST_ROWS} and records more than caches hold",
        f"Where at most {sparse.MOST_FILLED:.0%} of the entries are not zero".replace("%", " %"),
        f"pda_dpmd in more than {inner.WIDEST} dimensions, of {gibbs.MOST_CHAINS} Gibbs chains and more",
        "a warp up to d = 256, 128 threads up to 1,024, 256 threads up to 4,096",
        f"at most 2^{device.NUMBERS.bit_length() - 1} numbers, {device.NUMBERS * 8 >> 20} MB",
        f"A card with less than {int(device.NUMBERS * 8 / device.SHARE) >> 20} MB free takes a quarter of that.",
    ],
    "choosing.md": [
        f"`--limit` is in seconds of one core, {choice.LIMIT:g} by default",
        f"{WORDS[ranked.CORES]} processes work at a time",
        f"{ {2.0: 'twice'}[ranked.SLACK] } the limit of work is ended",
        f"{choice.Point.replicates} replicates were looked at",
    ],
}


@pytest.mark.parametrize(("page", "said"), [(page, said) for page, all_said in SAID.items() for said in all_said])
def test_the_page_says_what_the_code_has(page, said):
    assert said in " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").split())


def test_the_widths_of_kernels_are_those_told():
    """Largest dimension -> threads of a row."""
    assert {width: threads for width, (threads, _) in device.WIDTHS.items()} == {128: 32, 256: 32, 1024: 128, 4096: 256}
