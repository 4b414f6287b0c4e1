"""Numbers that the documents give of this program are those of its code, of its tests and of what is recorded."""

import argparse
import ast
import re
import tomllib
from pathlib import Path

import pytest

from dpsco_bench.algorithms.registry import get_algorithm, list_algorithms
from dpsco_bench.analysis import asymptotic, bootstrap, power_law
from dpsco_bench.analysis.rates import SCHEDULE_SHARE
from dpsco_bench.audit import auditor, bounds, canaries, job, transcript
from dpsco_bench.bench import fused_pairs, products
from dpsco_bench.claims.catalogue import read_claims
from dpsco_bench.claims.erratum import CHANGES
from dpsco_bench.cli import gpu
from dpsco_bench.cli.main import BAD_INPUT, load_verb
from dpsco_bench.execution import worker
from dpsco_bench.execution.predict import read_seconds
from dpsco_bench.fused import device, gradients, sparse
from dpsco_bench.jsonio import loads
from dpsco_bench.kinds import rate
from dpsco_bench.kinds.audit import SAYS_SOMETHING
from dpsco_bench.leaderboard import board, choose, standings
from dpsco_bench.papers.su2023.fused import inner
from dpsco_bench.rng import counters

ROOT = Path(__file__).parents[2]
WORDS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 8: "eight"}


def kept(file):
    """What a recorded file has."""
    return loads((ROOT / file).read_text(encoding="utf-8"))


def default(verb, option, *arguments):
    """Of a verb's own parser."""
    parser = argparse.ArgumentParser()
    load_verb(verb).configure(parser)
    return getattr(parser.parse_args(arguments), option)


def listed(values):
    *first, last = map(str, values)
    return f"{', '.join(first)} and {last}"


def pythons():
    """First and last version that the package takes, and all of them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    least, beyond = map(int, re.fullmatch(r">=3\.(\d+),<3\.(\d+)", project["requires-python"]).groups())
    return [f"3.{minor}" for minor in range(least, beyond)]


SAID = {
    "README.md": [
        f"They need Python {', '.join(pythons()[:-1])} or {pythons()[-1]}, make and a C compiler",
        f"(Philox4x32-{counters.ROUNDS})",
        f"{WORDS[len(list((ROOT / 'conf' / 'paper').glob('*.yaml')))].capitalize()} papers are replicated",
    ],
    "CONTRIBUTING.md": [
        f"It needs Python {pythons()[0]} to {pythons()[-1]}, make and a C compiler",
        f"[one of {WORDS[len(CHANGES)]} words]",
    ],
    "docs/verdicts.md": [
        f"at most {asymptotic.MOVED:g} of the starting point's ({asymptotic.HARDLY_MOVED:g} while a signal",
        f"claimed exponent has to be at least {asymptotic.DOMINANCE:g} of the bound",
        "In `smoke` and `ci` at least {} sizes are needed, over a factor {:g}".format(*asymptotic.LEAST["ci"]),
        "in `full` {}, over a factor {:g}.".format(*asymptotic.LEAST["full"]),
        f"p below {power_law.SIGNIFICANCE:g} and a residual above {power_law.LARGEST_RESIDUAL:.0%}".replace("%", " %"),
        f"at most {rate.LARGEST_TOLERANCE:g}, and at most {rate.OF_THE_EXPONENT:g} of the exponent's size, though it "
        f"need not be below {rate.ALWAYS_ALLOWED:g}",
        f"at least {'half' * (SCHEDULE_SHARE == 0.5)} of the risk is there without noise",
    ],
    "docs/audits.md": [
        f"n is {', or '.join(map(str, canaries.RECORDS[:2]))} or {canaries.RECORDS[2]} where runs would be too long.",
        f"Chains take {canaries.SWEEPS} sweeps.",
        f"weights of {WORDS[transcript.BINS]} consecutive parts",
        f"on {bounds.TRAINING:.0%} of the runs".replace("%", " %"),
        {0.25: "the power against a quarter of it"}[auditor.FAULT],
        {0.5: "Below one half the audit says nothing"}[SAYS_SOMETHING],
        f"Each audit has the confidence 1 - {1 - job.FAMILY_CONFIDENCE:.3f}/{job.FAMILY}, so that all",
        f"hold together at {job.FAMILY_CONFIDENCE:.1%}".replace("%", " %"),
    ],
    "docs/fused.md": [
        f"where replicates are at most {gradients.MOST_ROWS} and records more than caches hold",
        f"Where at most {sparse.MOST_FILLED:.0%} of the entries are not zero".replace("%", " %"),
        f"pda_dpmd in more than {inner.WIDEST} dimensions",
        "a warp up to d = 256, 128 threads up to 1,024, 256 threads up to 4,096",
        f"at most 2^{device.NUMBERS.bit_length() - 1} numbers, {device.NUMBERS * 8 >> 20} MB",
        f"A card with less than {int(device.NUMBERS * 8 / device.SHARE) >> 20} MB free takes a quarter of that.",
        f"in blocks of {listed(sorted({threads for threads, _ in device.WIDTHS.values()}))} threads",
        f"writes plans of profiles {' and '.join(gpu.PROFILES)} for",
        f"It begins nothing that is predicted to end after {default('gpu', 'minutes', 'check'):g} minutes",
        f"at R/d = {listed(f'{rows}/{d}' for rows, d, _ in fused_pairs.SIZES)}",
        f"has the gain at R = {listed(products.PART_ROWS)};",
        f"{WORDS[products.PART_ROWS[2] // products.PART_ROWS[1]]} cells of profile `full` stacked",
    ],
    "docs/choosing.md": [
        f"`--limit` is in seconds of one core, {choose.LIMIT:g} by default",
        f"{WORDS[choose.CORES]} processes work at a time",
        f"{ {2.0: 'twice'}[choose.SLACK] } the limit by the clock is ended",
        f"{choose.Point.replicates} replicates were looked at",
        f"half of its {bootstrap.CONFIDENCE:.0%} interval".replace("%", " %"),
        f"unless a cell takes no more than {board.QUICK:g} seconds",
    ],
    "docs/verbs.md": [
        f"a share is predicted to take { {30.0: 'half a minute'}[worker.SHARE_SECONDS] }",
        f"one line that names the key, the value and what is allowed, with exit code {BAD_INPUT}",
    ],
    "docs/faq.md": [f"decorators that the {WORDS[len(list((ROOT / 'conf' / 'paper').glob('*.yaml')))]} papers use"],
    "docs/cluster.md": [
        f"has its processor time, {kept('docs/whole.json')['full']['cpu'] / 3600:.1f} h.",
    ],
}
"""What pages say, with the numbers of the code."""


def said_by(page):
    """Words of a page."""
    return " ".join((ROOT / page).read_text(encoding="utf-8").split())


@pytest.mark.parametrize(("page", "said"), [(page, said) for page, all_said in SAID.items() for said in all_said])
def test_the_page_says_what_the_code_has(page, said):
    assert said in said_by(page)


ELSEWHERE = [
    ("docs/fused.md", "outputs to 1e-10", "tests/contract/test_fused.py", "rtol=1e-10, atol=1e-10 *"),
    ("docs/fused.md", "runs agree to 1e-12", "tests/contract/test_fused.py", "rtol=1e-12, atol=1e-12"),
    ("docs/faq.md", "to 1e-12, or to 1e-10", "tests/contract/test_runs.py", "rtol=1e-12, atol=1e-12 *"),
    ("docs/fused.md", "sm_80, sm_90 and sm_100", "tests/device/emulated.py", 'ARCHITECTURES = ("80", "90", "100")'),
    (
        "docs/fused.md",
        "A stand-in for CuPy 14",
        "tests/device/standin.py",
        'cupy.__version__, cupy.is_available = np.bool_, "14.',
    ),
    ("docs/fused.md", "for two papers", "Makefile", "$(addprefix dpsco_bench/papers/,wang2017 zhang2022)"),
    ("docs/audits.md", "agree within a tenth", "tests/audit/test_power.py", "- share) <= 0.1 +"),
    ("docs/audits.md", "at least 100,000 runs", "tests/kinds/test_audit.py", "RUNS, SHORT = 100_000, 1e-3"),
    ("docs/audits.md", "takes a millisecond or more", "tests/kinds/test_audit.py", "RUNS, SHORT = 100_000, 1e-3"),
    ("docs/threats.md", "on thousands of files", "Makefile", "EXAMPLES ?= 3000"),
    ("docs/cluster.md", "mem_mb=2000", "profiles/slurm/config.yaml", "default-resources: [runtime=60, mem_mb=2000]"),
    (
        "docs/cluster.md",
        "one core, the site for two",
        "profiles/slurm/config.yaml",
        "set-threads: [time=1, write_site=2]",
    ),
]
"""What a page says, and the line of another file from which it has that."""


@pytest.mark.parametrize(("page", "said", "file", "line"), ELSEWHERE)
def test_the_page_says_what_another_file_has(page, said, file, line):
    assert said in said_by(page) and line in (ROOT / file).read_text(encoding="utf-8")


def test_the_widths_of_kernels_are_those_told():
    """Largest dimension -> threads of a row."""
    assert {width: threads for width, (threads, _) in device.WIDTHS.items()} == {128: 32, 256: 32, 1024: 128, 4096: 256}


def test_the_kernels_with_the_fewest_and_the_most_registers_are_those_told():
    recorded = kept("tests/device/budgets.json")
    used = [(by["90"][0], size) for size, all_by in recorded.items() if "THREADS" in size for by in all_by.values()]
    (fewest, narrow), (most, wide) = min(used), max(used)
    threads = {f"THREADS={t} BLOCKS={b}": f"up to d = {width:,}" for width, (t, b) in device.WIDTHS.items()}
    assert (Path(narrow.split()[0]).name, Path(wide.split()[0]).name) == ("poly_sfw.cu", "rounds.cu")
    said = said_by("docs/fused.md")
    assert f"{fewest}-{most} registers" in said
    assert f"one-pass Frank-Wolfe {threads[narrow.partition(' ')[2]]}, the most" in said
    assert f"the rounds of online to batch {threads[wide.partition(' ')[2]]}." in said


def test_the_choice_has_the_defaults_that_are_told():
    assert default("choose", "limit") == choose.LIMIT
    assert f"with {standings.RESAMPLES:,} resamples of the risks alone" in said_by("docs/choosing.md")


def test_what_an_open_constant_is_unless_a_claim_says_otherwise():
    own = [
        (id, options[name].default)
        for id in list_algorithms()
        if (options := get_algorithm(id).options)
        for name in ("noise_constant", "constant")
        if name in options
    ]
    assert len(own) > 5 and {value for _, value in own} == {1.0}
    assert "The schedule's `noise_constant` (in su2023 its `constant`), 1 unless" in said_by("docs/faq.md")
    assert {id.split(".")[0] for id, _ in own if "constant" in get_algorithm(id).options} == {"su2023"}


def test_methods_without_an_audit_are_those_told():
    reasons = {trial.algorithm: trial.reason for trial in canaries.trials() if trial.reason}
    nothing = [id for id, reason in reasons.items() if "claims nothing" in reason]
    assert set(reasons) - set(nothing) == {"gopi2022.radial_exact"}
    assert f"says in a line why {WORDS[len(reasons)]} have none: {WORDS[len(nothing)]} claim nothing" in said_by(
        "docs/audits.md"
    )


def test_every_canary_stands_in_the_table():
    page = (ROOT / "docs" / "audits.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(canary_\w+)` \|", page, re.M)) == {canary.problem for canary in canaries.CANARIES}


def test_audits_at_further_settings_are_as_many_as_told_and_have_the_power_told():
    """Of those that have it not the word is that they say nothing."""
    parts = {
        (claim.id, part.id) for claim in read_claims() for part in claim.parts if part.kind == "audit" and part.note
    }
    said = said_by("docs/audits.md")
    assert f"{WORDS[len(parts)].capitalize()} more parts stand at settings" in said
    (power,) = re.findall(r"a predicted power of (\S+) asks for, where that can be had", said)
    rows = [row for row in kept("workflows/recorded/full.json") if (row["id"], row["part"]) in parts]
    assert len(rows) == len(parts)
    assert all(row["power"] >= float(power) or row["verdict"] == "says nothing" for row in rows)


def test_the_claim_that_is_shown_takes_less_than_a_minute():
    own = read_seconds(ROOT / "workflows" / "seconds" / "ci.json")["wang2017.thm4.2"]
    assert sum(calibrate + run for calibrate, run, _ in own.values()) < 60
    assert "in less than a minute here" in said_by("README.md") and "in under a minute" in said_by("docs/start.md")


def test_what_the_store_leaves_to_make_takes_a_minute_or_two():
    """On two cores."""
    stages = kept("docs/whole.json")["full"]["stages"]
    assert round((stages["judging"] + stages["figures and site"]) / 2 / 60) in (1, 2)
    assert "derived from it in a minute or two" in said_by("docs/cluster.md")


def test_gaps_are_counted():
    page = (ROOT / "docs" / "threats.md").read_text(encoding="utf-8").partition("\n## ")[0]
    assert f"and {WORDS[len(re.findall(r'^[*] [*][*]', page, re.M))]} gaps lie between" in " ".join(page.split())


def code_lines(function):
    """Lines of a function without its docstring."""
    first = function.body[0]
    text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return function.end_lineno - function.lineno + 1 - text * (first.end_lineno - first.lineno + 1)


def test_files_and_functions_are_as_short_as_told():
    """Some 400 is to a tenth; two functions in a thousand may be longer than some 50."""
    paths = [path for path in (ROOT / "dpsco_bench").rglob("*.py") if "_share" not in path.parts]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    said = re.search(r"Files stay under some (\d+) lines and functions under some (\d+)", said_by("CONTRIBUTING.md"))
    long = [str(path) for path, text in zip(paths, texts, strict=True) if text.count("\n") > 1.1 * int(said[1])]
    assert long == [str(ROOT / "dpsco_bench" / "papers" / "findings.py")]
    functions = [
        code_lines(one) for text in texts for one in ast.walk(ast.parse(text)) if isinstance(one, ast.FunctionDef)
    ]
    assert sum(lines > 1.1 * int(said[2]) for lines in functions) <= 2e-3 * len(functions)


def test_what_the_audits_of_the_record_say():
    rows = [row for row in kept("workflows/recorded/full.json") if row["kind"] == "audit"]
    blind = [row for row in rows if row["verdict"] == "says nothing"]
    refuted = [row for row in rows if row["verdict"] == "refuted"]
    ours = sum(row["calibration"] == "accounted" for row in blind)
    fused = sum("fused" in row["part"] for row in blind)
    laws = sum(row["noise"]["status"] == "target_law_only" for row in blind)
    said = " ".join((ROOT / "docs" / "audits.md").read_text(encoding="utf-8").split())
    rest = len(rows) - len(refuted) - len(blind)
    assert f"Of {len(rows)} audits of `full` {len(refuted)} refute the claim, {rest} do not" in said
    assert f"and {len(blind)} say nothing, {ours} of these of accounted noise." in said
    assert not [row for row in refuted if row["calibration"] == "accounted"]
    assert f"Of the {len(blind)}, {fused} look at outputs of fused runs alone." in said
    assert f"Of {laws} only the target law is proven" in said
