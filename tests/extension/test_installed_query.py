"""An installed paper, and a notebook, get the checks that a plugin gets: nobody's method without noise is proven."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.marks import rest_at_night

ROOT = Path(__file__).resolve().parents[2]
METHOD = "example2026.one_step"
METADATA = "Metadata-Version: 2.1\nName: theirs-dp\nVersion: 1.0\n"
POINTS = "[dpsco_bench.papers]\nexample2026 = example2026\n"
WRAPS = """import functools

from dpsco_bench.papers.bassily2021.algorithms.noisy_sgd import plan as shipped


"""
FIXED = "class Q(GaussianQuery):\n    def answer(self, value, noise):\n        return value\n\n\n"
HARMLESS = "class Q(GaussianQuery):\n    pass\n\n\n"
LOCAL = "    class Q(GaussianQuery):\n        pass\n\n"
ANSWERS = f"algorithm {METHOD}: class of query gradient = 'Q': must be one that leaves answer as it is"
NEEDS = f"algorithm {METHOD}: needs = 'smooth': must be a tuple of Trait members"
RUN = ("run", f"algorithm={METHOD}", "problem=sign_mean", "n=64", "d=3", "replicates=2")
ACCOUNT = ("account", METHOD, "problem=sign_mean", "n=64", "d=3")
SCRIPT = "import dpsco_bench\ndpsco_bench.run({!r}, 'sign_mean', n=64, d=3, replicates=2)\n"


@pytest.fixture
def installed(tmp_path):
    """Install the example with a change to its method; a process of its own runs there."""
    site = tmp_path / "site"

    def install(before="", within="", old="= GaussianQuery(", new="= Q(", above=""):
        shutil.copytree(ROOT / "examples" / "paper" / "example2026", site / "example2026")
        folder = site / "theirs_dp-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(METADATA)
        (folder / "entry_points.txt").write_text(POINTS)
        file = site / "example2026" / "algorithms.py"
        text = file.read_text().replace("@algorithm(", f"{before}@algorithm(").replace(old, new)
        text = text.replace("def plan(", f"{above}def plan(")
        file.write_text(text.replace("    c, n = given", f"{within}    c, n = given"))

    def call(*arguments):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (site, ROOT)))}
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)

    return install, call


def refused(done, *texts):
    (line,) = done.stderr.splitlines()
    return done.returncode == 2 and not done.stdout and all(text in line for text in ("dpsco: ", *texts))


@pytest.mark.parametrize("arguments", [RUN, ACCOUNT], ids=["run", "account"])
def test_a_query_of_an_installed_paper_that_answers_itself_is_refused_in_one_line(installed, arguments):
    install, call = installed
    install(FIXED)
    done = call("-m", "dpsco_bench", *arguments)
    assert refused(done, ANSWERS, "no accountant sees that"), done.stderr


def test_so_it_is_by_the_api(installed):
    install, call = installed
    install(FIXED)
    done = call("-c", SCRIPT.format(METHOD))
    assert done.returncode == 1 and done.stderr.splitlines()[-1].endswith(
        "leaves answer as it is: no accountant sees that"
    )


def test_what_wraps_a_function_that_ships_is_no_part_of_what_ships(installed):
    """Neither its checks nor what its results are found again by go by the function that it wraps."""
    install, call = installed
    install(WRAPS + FIXED, above="@functools.wraps(shipped.plan_function, ('__module__',), ())\n")
    done = call("-m", "dpsco_bench", *ACCOUNT)
    assert refused(done, ANSWERS), done.stderr
    text = "from dpsco_bench.algorithms.registry import ALGORITHMS as a; a.load(); print(a.registered()[{!r}])"
    assert call("-c", text.format(METHOD)).stdout.strip() == "example2026.algorithms"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("claim_panels('wang2017.thm4.1')(lambda inputs: [])", "without the name of another paper (wang2017)"),
        (
            "claim_panels('wang2017.fig1')(functools.wraps(real_epsilon_figure)(lambda inputs: []))",
            "without the name of another paper (wang2017)",
        ),
    ],
    ids=["a name with two dots", "what wraps a function that ships"],
)
def test_figures_and_panels_take_no_name_of_another_paper(installed, line, said):
    install, call = installed
    head = "import functools\nfrom dpsco_bench.report.elements import real_epsilon_figure\n"
    install(f"{head}from dpsco_bench.report.own_figures import claim_panels\n{line}\n\n\n")
    done = call("-m", "dpsco_bench", *ACCOUNT)
    assert done.returncode == 2 and all(said in line for line in done.stderr.splitlines()), done.stderr


TAKEN = [
    ("claim/zhang2022/thm3.yaml", ("show", "zhang2022.thm3"), "makes the conversion private"),
    ("errata/wang2017.yaml", ("show", "wang2017.E1"), "wang2017.E1"),
    ("table/wang2017/table1.yaml", ("list", "tables"), "wang2017.table1"),
]


@pytest.mark.parametrize(("file", "arguments", "kept"), TAKEN, ids=[file for file, *_ in TAKEN])
def test_files_of_another_paper_are_left_out_in_one_line(installed, file, arguments, kept):
    install, call = installed
    install(new="= GaussianQuery(")
    before = call("-m", "dpsco_bench", *arguments)
    target = Path(call("-c", "import example2026; print(example2026.__path__[0])").stdout.strip()) / "conf" / file
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text((ROOT / "conf" / file).read_text().replace("private", "stolen").replace("noise", "stolen"))
    done = call("-m", "dpsco_bench", *arguments)
    (line,) = done.stderr.splitlines()
    assert line.startswith("dpsco: file of paper example2026 = ") and file in line
    assert done.stdout == before.stdout and kept in done.stdout and done.returncode == 0


def test_a_run_that_stands_elsewhere_than_its_plan_is_in_the_key(installed):
    install, call = installed
    install(new="= GaussianQuery(")
    folder = Path(call("-c", "import example2026; print(example2026.__path__[0])").stdout.strip())
    plan, run = (folder / "algorithms.py").read_text().split("@plan.run\n")
    (folder / "algorithms.py").write_text(plan)
    runs = folder / "runs.py"
    runs.write_text(f"from example2026.algorithms import plan\n\n\n@plan.run\n{run}")
    with (folder / "__init__.py").open("a") as file:
        file.write("\nimport example2026.runs\n")
    text = "from dpsco_bench.claims.compose import claim_plan as p; print(p('example2026.thm1', 'smoke').jobs[0].key)"
    before = call("-c", text)
    runs.write_text(runs.read_text().replace("plan.step *", "0.5 * plan.step *"))
    after = call("-c", text)
    assert before.returncode == after.returncode == 0 and before.stdout != after.stdout, after.stderr


def test_a_profile_of_a_paper_names_its_own_claims_alone(installed):
    install, call = installed
    install(new="= GaussianQuery(")
    text = "from dpsco_bench.claims.catalogue import claim_ids, profile_claims as p; print(p('ci') == claim_ids())"
    assert call("-c", text).stdout.strip() == "True"
    folder = Path(call("-c", "import example2026; print(example2026.__path__[0])").stdout.strip()) / "conf" / "profile"
    shutil.copy(folder / "smoke.yaml", folder / "ci.yaml")
    assert call("-c", text).stdout.strip() == "True"
    (folder / "ci.yaml").write_text("claims: [wang2017.thm4.1]\n")
    done = call("-c", text)
    assert done.stdout.strip() == "True" and "claims of example2026 in profile ci = 'wang2017.thm4.1'" in done.stderr


BAD = {"no claims": "claims: []\n", "no YAML": "claims: [\n", "no mapping": "- x\n"}


@pytest.mark.parametrize("what", rest_at_night(BAD, 0))
def test_a_bad_file_of_a_paper_stops_nobody_else(installed, what):
    install, call = installed
    install(new="= GaussianQuery(")
    conf = Path(call("-c", "import example2026; print(example2026.__path__[0])").stdout.strip()) / "conf"
    (conf / "errata").mkdir(exist_ok=True)
    (conf / "table" / "example2026").mkdir(parents=True, exist_ok=True)
    files = [
        "profile/ci.yaml",
        "table/example2026/table1.yaml",
        "claim/example2026/thm2.yaml",
        "errata/example2026.yaml",
    ]
    for file in files:
        (conf / file).write_text(BAD[what])
    text = "from dpsco_bench.claims import catalogue as c; "
    text += "found = [id for id in c.claim_ids() if id not in c.profile_claims('ci')]; "
    text += "print(found, len(c.table_texts()) > 5, len(c.read_claims()) > 110, c.load_errata('example2026'))"
    done = call("-c", text)
    assert done.stdout == "['example2026.thm1', 'example2026.thm2'] True True []\n", done.stderr
    said = done.stderr.splitlines()
    assert len(said) == 4 and all(file in line for file, line in zip(files, said, strict=True)), said


@pytest.mark.slow
def test_a_claim_of_a_paper_that_cannot_be_planned_leaves_the_others_in_the_plan(installed):
    install, call = installed
    install(new="= GaussianQuery(")
    folder = Path(call("-c", "import example2026; print(example2026.__path__[0])").stdout.strip()) / "conf"
    claim = folder / "claim" / "example2026" / "thm1.yaml"
    claim.write_text(claim.read_text().replace("bound: ", "bound: no_such_"))
    done = call("-m", "dpsco_bench", "plan", "--profile", "smoke", "--out", "plan.json")
    assert done.returncode == 0 and "left out: example2026.thm1: " in done.stderr and "no_such_" in done.stderr
    refused_one = call("-m", "dpsco_bench", "claim", "example2026.thm1", "--profile", "smoke")
    assert refused(refused_one, "no_such_")


BROKEN = """from dpsco_bench import Constants, Logistic, problem


@problem
class Broken(Logistic):
    name, summary, source = "example2026_broken", "a slip", "a test"
    own_constants = Constants(lipschitz=1, smoothness=0.25)

    @classmethod
    def unavailable(cls, root):
        return {}[root]

    def check_records(self, n):
        raise KeyError(n)

    def draw(self, n, streams):
        return {}[n]
"""


@pytest.mark.slow
def test_a_problem_of_a_paper_that_raises_anything_leaves_the_others_in_the_plan(installed):
    install, call = installed
    install(new="= GaussianQuery(")
    package = Path(call("-c", "import example2026; print(example2026.__path__[0])").stdout.strip())
    (package / "problems").mkdir(exist_ok=True)
    (package / "problems" / "__init__.py").touch()
    (package / "problems" / "broken.py").write_text(BROKEN)
    claim = package / "conf" / "claim" / "example2026" / "thm1.yaml"
    claim.write_text(re.sub(r"(?m)^(    problem): .*$", r"\1: example2026_broken", claim.read_text()))
    done = call("-m", "dpsco_bench", "plan", "--profile", "smoke", "--out", "plan.json")
    assert done.returncode == 0 and "left out: example2026.thm1: " in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
    (package / "problems" / "broken.py").write_text(BROKEN.replace('"a slip"', "None"))
    listed = call("-m", "dpsco_bench", "list", "problems")
    assert "summary = None: must be a text" in listed.stderr and "Traceback" not in listed.stderr, listed.stderr


def test_a_claim_is_called_as_its_file_is(installed):
    install, call = installed
    install(new="= GaussianQuery(")
    folder = Path(call("-c", "import example2026; print(example2026.__path__[0])").stdout.strip()) / "conf" / "claim"
    shutil.copy(folder / "example2026" / "thm1.yaml", folder / "example2026" / "thm9.yaml")
    said = "thm9.yaml: id = 'example2026.thm1': must be example2026.thm9, as its file is called"
    assert refused(call("-m", "dpsco_bench", "claim", "example2026.thm9", "--profile", "smoke"), said)
    listed = call("-m", "dpsco_bench", "list", "claims")
    (line,) = listed.stderr.splitlines()
    assert said in line and listed.stdout.count("example2026.thm1") == 1 and "example2026.thm9" not in listed.stdout


def test_a_class_within_its_plan_is_refused_and_another_is_not(installed):
    install, call = installed
    install(within=LOCAL)
    assert refused(call("-m", "dpsco_bench", *ACCOUNT), "class of query gradient = 'plan.<locals>.Q': must be")
    shutil.rmtree(Path(call("-c", "import example2026; print(example2026.__path__[0])").stdout.strip()).parent)
    install(HARMLESS)
    done = call("-m", "dpsco_bench", *ACCOUNT)
    assert done.returncode == 0 and not done.stderr, done.stderr


def test_what_cannot_be_used_stops_what_needs_it_alone(installed):
    install, call = installed
    install(old="needs=(Trait.SMOOTH, Trait.LIPSCHITZ, Trait.STRONGLY_CONVEX)", new="needs='smooth'")
    assert refused(call("-m", "dpsco_bench", *ACCOUNT), NEEDS)
    listed = call("-m", "dpsco_bench", "list", "algorithms")
    (line,) = listed.stderr.splitlines()
    assert listed.returncode == 0 and NEEDS in line and METHOD not in listed.stdout


def test_what_a_script_defines_is_checked_too(tmp_path, installed):
    _, call = installed
    text = (ROOT / "examples" / "own_method.py").read_text().replace('query = GaussianQuery("', 'query = Q("')
    text = text.replace('@algorithm("mine', f'{FIXED}@algorithm("mine')
    script = tmp_path / "script.py"
    script.write_text(f"{text}\n\nimport dpsco_bench\ndpsco_bench.run('mine.noisy_gd', 'flipped_labels', n=64)\n")
    done = call(str(script))
    assert done.returncode == 1 and "must be one that leaves answer as it is" in done.stderr.splitlines()[-1]


STYLED = """from dpsco_bench.report.method_styles import MethodStyle, method_styles

method_styles(__name__, "wang2017", {{"{}": MethodStyle("number of parrots", "red")}})
"""
ASKS = """from dpsco_bench.report.method_styles import METHOD_STYLES, styles_of
METHOD_STYLES.load()
print(*(style.name for style in styles_of("wang2017", ["dp_svrg_bb", "unheard_of"]).values()), sep=";")
"""


@pytest.mark.parametrize("label", ["dp_svrg_bb", "unheard_of"])
def test_a_style_that_ships_is_not_for_others(installed, tmp_path, label):
    """The first in the alphabet is asked first; what no paper styles is free."""
    folder, points = tmp_path / "site" / "aaa2020", POINTS.replace("example2026", "aaa2020")
    install, call = installed
    install(new="= GaussianQuery(")
    (folder.parent / "theirs_dp-1.0.dist-info" / "entry_points.txt").write_text(points)
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "figures.py").write_text(STYLED.format(label))
    done = call("-c", ASKS)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.strip().split(";")
    assert (first == "number of parrots") is False and (second == "number of parrots") is (label == "unheard_of")
    lines = done.stderr.splitlines()
    assert len(lines) == (label == "dp_svrg_bb") and all("paper = 'aaa2020 " in line for line in lines), lines
