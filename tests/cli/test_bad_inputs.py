"""Wrong input is one line that names the key, the value and what is allowed; the exit code is 2 and nothing changes."""

from json import dumps
from pathlib import Path

import pytest

from dpsco_bench.claims.plan import WorkPlan
from dpsco_bench.cli.main import verb_names
from dpsco_bench.cli.workflow import Flow, one_line
from dpsco_bench.jsonio import dumps_canonical, sealed
from tests.execution.parts import PART, entry_of

SVRG = "account wang2017.dp_svrg problem=ridge_logistic"
CHOICE = "choose problem=logistic_glm n=50 d=2 domain=l2_ball --out"
BAD = [
    # the command itself
    ("lst", "verb = lst", "such as list, "),
    ("list", "list: ", "required: algorithms|audits|claims"),
    ("list claim", "invalid choice: 'claim'", "audits"),
    ("list claims --jsn", "--jsn", "unrecognized"),
    ("show wang2017.dp_svgr", "id = 'wang2017.dp_svgr'", "such as wang2017.dp_svrg, "),
    ("bench --only G99", "G99", "one of G1"),
    # account: keys
    ("account wang2017.dp_svrg", "problem is missing", "dpsco list problems"),
    (SVRG, "n is missing", "integer >= 1"),
    (f"{SVRG} n=0", "n = 0", "integer >= 1"),
    (f"{SVRG} n=9 n=10", "n = '10'", "once"),
    (f"{SVRG} n=9 kappa=3", "kappa = 3", "`dpsco show wang2017.dp_svrg` and `dpsco show ridge_logistic`"),
    ("choose problem=data_file path=x label=y ridge=0.1", "ridge = 0.1", "written regularisation"),
    ("check lab.mine", "algorithm = 'lab.mine'", "--plugin FILE"),
    # account: constants, schedules, problems
    (f"{SVRG} n=9 theta=1", "theta = 1.0", "1/24"),
    (f"{SVRG} n=9 smoothness=1 strong_convexity=2", "strong_convexity = 2.0", "at most smoothness"),
    ("account wang2017.dp_svrg problem=rank8_least_squares n=9", "rank8_least_squares", "strongly convex"),
    ("account bassily2021.noisy_sgd problem=ridge_logistic n=64", "lacks an l_p ball", "give domain=l2_ball radius=1"),
    # run: every native Hydra error has a line of ours
    ("run nn=5", "nn = 5", "such as n, "),
    ("run -m n=64,0", "n = 0", "integer >= 1"),
    ("run n=4294967297", "n = 4294967297", "2^32"),
    ("run -m algorithm=glob(nobody/*)", "algorithm = ", "must be a pattern that some names match"),
    ("run n", "argument = 'n'", "key=value"),
    ("run n=8,16", "n = '8,16'", "-m"),
    ("run hydra.nothing=1", "hydra.nothing = '1'", "hydra/launcher=NAME"),
    ("run algorithm=wang2017/dp_svrg n=9 smoothness=1e99", "n = 9", "degenerates"),
    ("run out=.", "out = '.'", "file"),
    ("run n=64 out=table.csv", "out = 'table.csv'", "a result table to replace"),
    ("run problem=covertype", "problem = covertype", "python -m dpsco_bench data covertype"),
    ("run hydra.sweep.dir=x n=64", "hydra.sweep.dir = 'x'", "hydra.run.dir=FOLDER"),
    ("run -m hydra/launcher=nothing n=64", "hydra/launcher", "nothing"),
    ("run -m n=8,16 out=x.parquet", "out = x.parquet", "sweep"),
    # files that this program did not make
    ("run -m n=32,64 steps=2 hydra.sweep.dir=mine", "hydra.sweep.dir = 'mine/sweep.svg'", "must be"),
    ("run -m n=32,64 steps=2 hydra.sweep.dir=yours", "hydra.sweep.dir = 'yours/sweep.parquet'", "must be"),
    (f"{CHOICE} mine/sweep.svg", "--out = 'mine/sweep.svg'", ".parquet"),
    (f"{CHOICE} c.parquet", "--out = 'c.svg'", "must be"),
    (f"{CHOICE} d.parquet", "--out = 'd.parquet'", "must be"),
    # claim, compare, data
    ("claim wang2017.thm6", "claim = 'wang2017.thm6'", "such as wang2017.thm6."),
    ("show bound.yaml", "bound.yaml: bound = 'mine.nothing'", "such as"),
    ("claim wang2017.thm6.1 n=3", "n = '3'", "seed"),
    ("claim seed=3", "claim is missing", "e.g. bassily2021."),
    ("compare --profile smoke", "results/smoke/verdicts", "make replicate"),
    ("data covertype --verify --root nowhere", "nowhere", "data covertype"),
    # audit and check
    ("audit wang2017.dp_gd_pl --runs 100000 steps=1000000", "audit of wang2017.dp_gd_pl", "would take about"),
    ("check wang2017.dp_gd_pl seed=x", "seed = 'x'", ">= 0"),
    # plan, worker, gate, gc, site, report, figure
    ("plan --profile huge", "--profile: invalid choice: 'huge'", "smoke"),
    ("leaderboard nothing", "nothing", "common"),
    ("choose problem=logistic_glm n=9 d=2 release=output", "release = 'output'", "dp_gd_by_output"),
    ("worker", "worker: ", "claim|part|time|rank"),
    ("worker claim", "claim: ", "id"),
    ("gate --profile smoke", "results/smoke/plan.json", "make replicate PROFILE=smoke"),
    *(
        (f"{verb} --profile full", "plan = results/full/plan.json", "undamaged")
        for verb in ("site", "gate", "figure all", "gc", "gc --dry-run", "worker run")
    ),
    ("report --profile smoke", "results/smoke/site/index.html", "make site PROFILE=smoke"),
    ("figure nothing --profile ci", "plan.json = 'nothing'", "mine.only"),
    # one's own files
    ("list problems --plugin broken.py", "broken.py", "ZeroDivisionError: division by zero, line 2"),
    ("run plugins=[misnamed.py]", "algorithm id = 'plain'", "paper.name"),
    ("claim clash.yaml", "id in clash.yaml = 'wang2017.thm6.1'", "no other claim"),
    ("claim part.yaml", "part gd: calibrations = 'paper'", "a list"),
    ("claim path.yaml", "part ../../p: id = '../../p'", "names files"),
    ("claim errata.yaml --profile smoke", "errata.yaml: erratum of wang2017 = 'E99'", "such as E9, "),
    # one's own data
    ("run problem=data_file", "path is missing", "CSV"),
    ("run problem=data_file path=table.csv", "label is missing", "one of the columns of table.csv: a, b, y"),
    ("run problem=data_file path=table.csv label=y clip=1 data_sets=2", "data_sets = 2", "1 for data_file"),
    ("audit wang2017.dp_gd_pl problem=data_file path=table.csv label=y clip=1", "n = 200", "from 1 to 4"),
]


def own(part, **claim):
    return dumps({"id": "mine.claim", "title": "t", "source": "s", "statement": "x", "parts": [PART | part], **claim})


FILES = {
    "broken.py": "x = 1\nx / 0\n",
    "misnamed.py": "import dpsco_bench\n\n@dpsco_bench.algorithm('plain', source='')\ndef plan():\n    pass\n",
    "clash.yaml": "id: wang2017.thm6.1\n",
    "part.yaml": own({"calibrations": "paper"}),
    "bound.yaml": own({"bound": "mine.nothing"}),
    "path.yaml": own({"id": "../../p"}),
    "errata.yaml": own({}, id="wang2017.mine", errata=["E99"]),
    "table.csv": "a,b,y\n1,2,0\n3,4,1\n5,6,0\n7,8,1\n",
    "c.svg": "mine",
    "d.parquet": "mine",
    "mine/sweep.svg": "mine",
    "yours/sweep.parquet": "mine",
    "results/full/plan.json": "{}",
    "results/ci/plan.json": sealed(dumps_canonical(WorkPlan("ci", (entry_of("mine.only", PART),)))),
    "results/smoke/verdicts/mine.only.json": sealed(dumps_canonical({"claim": "mine.only", "verdicts": []})),
}


def is_one_line(said, *named):
    return said.startswith("dpsco: ") and said.count("\n") == 1 and all(text in said for text in named)


def contents(folder):
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != ".lock")
    return {path.relative_to(folder): path.read_bytes() for path in files}


@pytest.fixture
def files(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return contents(tmp_path)


@pytest.mark.parametrize(("command", "named", "allowed"), BAD, ids=[entry[0] for entry in BAD])
def test_one_line_names_the_key_the_value_and_what_is_allowed(dpsco, files, tmp_path, command, named, allowed):
    outcome = dpsco(*command.split())
    assert (outcome.code, outcome.out) == (2, "") and is_one_line(outcome.err, named, allowed), outcome.err
    assert contents(tmp_path) == files, "nothing is written, and nothing is lost"


def test_every_verb_is_in_the_table():
    assert {command.split()[0] for command, *_ in BAD} - {"lst"} == set(verb_names())


BAD_CONFIGURATIONS = [
    ({"profile": "huge"}, "profile = 'huge'", "one of smoke, ci, full"),
    ({"profil": "ci"}, "--config = 'profil'", "one of profile, data_root, backend, overrides, plugins, claims"),
    ({"backend": "tpu"}, "backend = 'tpu'", "numpy or cupy"),
    ({"data_root": "nowhere"}, "data_root = 'nowhere'", "existing folder"),
    ({"overrides": "seed=x"}, "seed = 'x'", "an integer >= 0"),
    ({"overrides": ["n=5"]}, "n = '5'", "one of the settings"),
    ({"overrides": "seed=1 seed=2"}, "seed = '2'", "given once"),
    ({"overrides": "seed=1,2"}, "seed = '1,2'", "one value, seed=VALUE"),
    ({"plugins": "none.py"}, "plugins = 'none.py'", "Python files"),
    ({"claims": ["none.yaml"]}, "claims = 'none.yaml'", "YAML files"),
    ({"claims": "clash.yaml"}, "id in clash.yaml = 'wang2017.thm6.1'", "no other claim"),
]


@pytest.mark.parametrize(("config", "named", "allowed"), BAD_CONFIGURATIONS, ids=str)
def test_snakemakes_config_in_one_line(files, tmp_path, monkeypatch, capsys, config, named, allowed):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as leaving, one_line():
        Flow({"profile": "smoke", **config}, [])
    assert leaving.value.code == 2 and is_one_line(capsys.readouterr().err, named, allowed)
    assert contents(tmp_path).items() >= files.items() and not Path("results/smoke/plan.json").exists()
