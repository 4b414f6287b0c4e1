"""Wrong input is one line that names the key, the value and what is allowed; the exit code is 2."""

from __future__ import annotations

import pytest

SVRG = "account wang2017.dp_svrg problem=ridge_logistic"
BAD = [
    # the command itself
    ("lst", "verb = lst", "account"),
    ("list", "what", "required"),
    ("list colours", "'colours'", "algorithms"),
    ("list claims --jsn", "--jsn", "unrecognized"),
    ("list problems --plugin none.py", "plugins = 'none.py'", "Python files"),
    ("show nothing", "id = 'nothing'", "wang2017.dp_svrg"),
    ("show wang2017.E99", "E99", "E16"),
    # account: keys
    ("account wang2017.dp_svrg", "problem = 'missing'", "ridge_logistic"),
    (SVRG, "n = 'missing'", "integer >= 1"),
    (f"{SVRG} n=0", "n = 0", "integer >= 1"),
    (f"{SVRG} n=abc", "n = 'abc'", "integer >= 1"),
    (f"{SVRG} n=1.5", "n = 1.5", "integer >= 1"),
    (f"{SVRG} n=true", "n = True", "integer >= 1"),
    (f"{SVRG} n=", "n = ''", "integer >= 1"),
    (f"{SVRG} n=9 n=10", "n = '10'", "once"),
    (f"{SVRG} n=9 d=0", "d = 0", "integer >= 1"),
    (f"{SVRG} n=9 word", "'word'", "key=value"),
    (f"{SVRG} n=9 kappa=3", "kappa = 3", "noise_constant"),
    (f"{SVRG} n=9 epsilom=3", "epsilom = 3", "did you mean epsilon"),
    (f"{SVRG} n=9 epsilon=0", "epsilon = 0", "> 0"),
    (f"{SVRG} n=9 epsilon=-1", "epsilon = -1", "> 0"),
    (f"{SVRG} n=9 epsilon=nan", "epsilon = nan", "> 0"),
    (f"{SVRG} n=9 epsilon=inf", "epsilon = inf", "> 0"),
    (f"{SVRG} n=9 delta=0", "delta = 0", "(0, 1)"),
    (f"{SVRG} n=9 delta=1", "delta = 1", "(0, 1)"),
    (f"{SVRG} n=9 seed=-1", "seed = -1", ">= 0"),
    # account: constants, schedules, problems
    (f"{SVRG} n=9 lipschitz=0", "lipschitz = 0", "> 0"),
    (f"{SVRG} n=9 smoothness=big", "smoothness = 'big'", "> 0"),
    (f"{SVRG} n=9 problem.options.constants=3", "constants = 3", "lipschitz"),
    (f"{SVRG} n=9 smoothness=1e300", "n = 9", "degenerates"),
    (f"{SVRG} n=9 theta=1", "theta = 1.0", "1/24"),
    (f"{SVRG} n=9 strong_convexity=0", "strong_convexity = 0.0", "> 0"),
    (f"{SVRG} n=9 epochs=2.5", "epochs = 2.5", "int"),
    (f"{SVRG} n=9 variant=fast", "variant = 'fast'", "literal"),
    (f"{SVRG} n=9 variant=literal batch=2", "batch with variant literal", "one index"),
    ("account wang2017.nothing problem=ridge_logistic n=9", "wang2017.nothing", "wang2017.dp_svrg"),
    ("account wang2017.dp_svrg problem=nothing n=9", "problem = 'nothing'", "ridge_logistic"),
    ("account wang2017.dp_svrg problem=rank8_least_squares n=9", "rank8_least_squares", "strongly convex"),
    ("account wang2017.dp_gd_pl problem=rank8_least_squares n=9 d=3", "d = 3", ">= 8"),
    ("account wang2017.dp_gd_pl problem=diag_quadratic n=9 kappa=0.5", "kappa = 0.5", ">= 1"),
    ("account wang2017.dp_gd_pl problem=diag_quadratic n=9 step=9.0", "step = 9.0", "1/L"),
    ("account wang2017.dp_gd_pl problem=covertype n=9 loss=hinge", "loss = 'hinge'", "standard"),
    # run: every native Hydra error has a line of ours
    ("run nn=5", "nn = 5", "did you mean n"),
    ("run n=abc", "n = 'abc'", "integer >= 1"),
    ("run n=4294967297", "n = 4294967297", "2^32"),
    ("run n", "argument = 'n'", "key=value"),
    ("run =3", "argument = '=3'", "key=value"),
    ("run n=(1", "argument = 'n=(1'", "key=value"),
    ("run +extra=3", "extra = 3", "known"),
    ("run ~epsilon", "epsilon = 'missing'", "given"),
    ("run n=${nothing}", "n=${nothing}", "nothing"),
    ("run n=8,16", "n = '8,16'", "-m"),
    ("run algorithm=paper/none", "algorithm = 'paper/none'", "wang2017.dp_svrg"),
    ("run problem=nothing", "problem = 'nothing'", "ridge_logistic"),
    ("run calibration=exact", "calibration = 'exact'", "accounted"),
    ("run backend=tpu", "backend = 'tpu'", "numpy"),
    ("run backend.dtype=float16", "backend.dtype = 'float16'", "float32"),
    ("run data.rot=here", "data.rot = 'here'", "data.root"),
    ("run hydra.nothing=1", "hydra.nothing=1", "override"),
    ("run algorithm.options.theta=3", "algorithm.options.theta = 3", "noise_constant"),
    ("run problem.options.kappa=3", "problem.options.kappa = 3", "known"),
    ("run algorithm=wang2017/dp_svrg theta=0.5", "theta = 0.5", "1/24"),
    ("run algorithm=wang2017/dp_svrg variant=literal", "variant literal", "accounted"),
    ("run replicates=0", "replicates = 0", "integer >= 1"),
    ("run data_sets=x", "data_sets = 'x'", "integer >= 1"),
    ("run seed=-1", "seed = -1", ">= 0"),
    ("run record=0", "record = 0", "> 0"),
    ("run out=.", "out = '.'", "file"),
    ("run plugins=[none.py]", "plugins = 'none.py'", "Python files"),
    ("run problem=covertype", "problem = covertype", "python -m dpsco_bench data covertype"),
    ("run -m n=8,abc", "n = 'abc'", "integer >= 1"),
    ("run -m n=interval(1,5)", "interval", "range"),
    ("run -m n=8,16 out=x.parquet", "out = x.parquet", "sweep"),
    ("run -m algorithm=wang2017/dp_svrg,wang2017/dp_gd_pl n=64 steps=0", "'steps'", "theta"),
    # claim, compare, data
    ("claim nothing", "claim = 'nothing'", "wang2017.thm6.1"),
    ("claim wang2017.thm6.1 --profile huge", "profile = 'huge'", "smoke"),
    ("claim wang2017.thm6.1 n=3", "n = '3'", "seed"),
    ("claim wang2017.thm6.1 seed=x", "seed = 'x'", ">= 0"),
    ("claim wang2017.thm6.1 backend=tpu", "backend = 'tpu'", "numpy"),
    ("claim seed=3", "claim = 'missing'", "wang2017.thm6.1"),
    ("compare --profile huge", "profile = 'huge'", "smoke"),
    ("compare --profile smoke", "results/smoke/verdicts", "make replicate"),
    ("data nothing", "data set = 'nothing'", "covertype"),
    ("data covertype --verify --root nowhere", "nowhere", "data covertype"),
]


@pytest.mark.parametrize(("command", "named", "allowed"), BAD, ids=[entry[0] for entry in BAD])
def test_one_line_names_the_key_the_value_and_what_is_allowed(dpsco, command, named, allowed):
    outcome = dpsco(*command.split())
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith("dpsco: ") and outcome.err.count("\n") == 1
    assert named in outcome.err and allowed in outcome.err


def test_a_sweep_with_one_bad_cell_runs_nothing(dpsco, tmp_path):
    assert dpsco("run", "-m", "n=64,0").code == 2
    assert not list(tmp_path.iterdir())
