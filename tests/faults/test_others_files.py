"""What is read from others is data: it executes nothing, stands for no more than it says, and stays in its folder."""

import ast
import os
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

import dpsco_bench
from dpsco_bench.claims.files import read_yaml
from dpsco_bench.claims.parsing import parse_claim
from dpsco_bench.claims.plan import WorkPlan
from dpsco_bench.cli.main import main
from dpsco_bench.datasets import tables
from dpsco_bench.errors import InputError
from tests.execution.parts import PART, entry_of

PACKAGE = Path(dpsco_bench.__file__).parent
EVALUATED = {"problems/constants.py": ["eval"]}  # annotations of a registered problem's options: code already
UNSAFE = ("eval", "exec", "compile", "__import__")
UNSAFE_MODULES = ("pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "yaml")
EVIL_YAML = ("!!python/object/apply:os.mkdir [executed]", "!!python/name:os.mkdir []", "'${python:1}'", "'${a:mkdir}'")
CLAIM = {"id": "mine.a", "title": "t", "source": "s", "statement": "x", "parts": [PART]}


class Evil:
    def __reduce__(self):
        return os.mkdir, ("executed",)


@pytest.fixture(autouse=True)
def nothing_is_executed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    assert not (tmp_path / "executed").exists()


def test_no_module_evaluates_text_or_reads_pickles():
    for path in sorted(PACKAGE.rglob("*.py")):
        tree, name = ast.parse(path.read_text()), path.relative_to(PACKAGE).as_posix()
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        called = [node.func.id for node in calls if isinstance(node.func, ast.Name) and node.func.id in UNSAFE]
        assert called == EVALUATED.get(name, []), name
        for call in (call for call in calls if ast.unparse(call.func) == "np.load"):
            kept = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg == "allow_pickle"}
            assert kept == {"allow_pickle": False}, name
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(module.split(".")[0] in UNSAFE_MODULES for module in names), name


@pytest.mark.parametrize("text", [*EVIL_YAML, "{a: 1, a: 1}"])
def test_yaml_builds_and_runs_nothing_and_has_a_key_once(text):
    why = "" if text in EVIL_YAML else ".*found duplicate key"
    Path("x.yaml").write_text(f"a: {text}\n")
    with pytest.raises(InputError, match=f"(?s)a YAML file{why}"):
        read_yaml(Path("x.yaml"))


@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.libsvm", "x.csv.gz"])
def test_tables_are_never_unpickled(name):
    Path(name).write_bytes(pickle.dumps([Evil()]))
    with pytest.raises(InputError):
        tables.read(Path(name), None if name == "x.libsvm" else "y")


@pytest.mark.parametrize("name", ["../x", "a/b", "/tmp/x", "..", "a\nb", ""])
def test_ids_of_claims_and_parts_name_files_of_the_results(name):
    for entry in ({**CLAIM, "id": f"mine.{name}"}, {**CLAIM, "id": name}, {**CLAIM, "parts": [{**PART, "id": name}]}):
        with pytest.raises(InputError):
            parse_claim(entry)
    assert parse_claim(CLAIM).id == "mine.a"


@pytest.mark.parametrize("verb", ["worker calibrate", "worker run", "figure mine.a", "site"])
@pytest.mark.parametrize("place", ["own.py", "../{here}/own.py", "package"])
def test_a_plan_of_others_loads_no_code(verb, place, tmp_path, capsys):
    """The one line names the plan and the plugin; `nothing_is_executed` sees that neither file was."""
    Path("package").mkdir()
    for file in ("own.py", "package/__init__.py"):
        Path(file).write_text("import os\nos.mkdir('executed')\n")
    place, path = place.format(here=tmp_path.name), Path("results/smoke/plan.json")
    entry = entry_of("mine.a", PART)
    jobs = tuple(replace(job, plugins=(place,)) for job in entry.jobs)
    WorkPlan("smoke", (replace(entry, jobs=jobs),)).write(path)
    assert main([*verb.split(), "--profile", "smoke"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"plugins of {path} = '{place}'" in line
