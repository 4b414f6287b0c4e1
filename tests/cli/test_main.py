from __future__ import annotations

import importlib
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

from dpsco_bench.cli import main as command_line


def test_help_has_a_line_per_verb(dpsco):
    outcome = dpsco("--help")
    assert outcome.code == 0
    for name in command_line.verb_names():
        assert f"  {name} " in outcome.out


@pytest.mark.parametrize("name", command_line.verb_names())
def test_a_verb_has_help_and_a_summary(dpsco, name):
    verb = command_line.load_verb(name)
    assert verb.SUMMARY and callable(verb.configure) and callable(verb.execute)
    outcome = dpsco(name, "-h")
    assert outcome.code == 0 and verb.SUMMARY in outcome.out


def test_threads_of_matrix_products_are_one_before_a_verb_is_loaded(dpsco, monkeypatch):
    """NumPy's BLAS reads them as it is loaded, which most verbs do."""
    seen = []

    def load(name, load=command_line.load_verb):
        seen.append(os.environ.get("OPENBLAS_NUM_THREADS"))
        return load(name)

    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    monkeypatch.setattr(command_line, "load_verb", load)
    assert dpsco("list", "problems").code == 0 and seen[0] == "1"


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="this system has no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_on_a_full_disk_is_one_line(unbuffered):
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "dpsco_bench", "--version"]
        environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=environment)
    assert (
        done.stderr
        == "dpsco: a file, or the output, must be one that can be read or written here (No space left on device)\n"
    )
    assert done.returncode == 2


@pytest.mark.parametrize("name", ["list", "show", "account", "run", "data"])
def test_a_verb_imports_nothing_heavy_until_it_runs(name):
    heavy = ["numpy", "scipy", "pyarrow", "hydra", "matplotlib", "dp_accounting", "snakemake"]
    code = (
        f"import sys; from dpsco_bench.cli.main import load_verb; load_verb('{name}'); "
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )
    # pyarrow comes with the JSON helpers' NumPy in no verb; numpy alone is allowed there.
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert set(eval(found)) <= {"numpy"}


@pytest.mark.parametrize("what", ["claims", "errata", "tables"])
def test_a_list_of_files_loads_no_more_than_numpy(what):
    heavy = ["scipy", "pyarrow", "hydra", "omegaconf", "matplotlib", "dpsco_bench.claims.parsing"]
    code = (
        f"import sys; from dpsco_bench.cli.main import main; code = main(['list', {what!r}]); "
        f"sys.exit(code or str([m for m in {heavy!r} if m in sys.modules]))"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True)  # makes what is kept beside the files
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stderr.strip() == "[]"


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (MemoryError("160 GiB"), 2)])
def test_interruption_and_exhaustion_are_one_line(dpsco, monkeypatch, error, code):
    def execute(args):
        raise error

    fake = types.SimpleNamespace(SUMMARY="", configure=lambda parser: None, execute=execute)
    monkeypatch.setattr(command_line, "load_verb", lambda name: fake)
    outcome = dpsco("list")
    assert outcome.code == code and outcome.err.count("\n") == 1


def test_a_bug_keeps_its_traceback(dpsco, monkeypatch):
    def execute(args):
        raise TypeError("a bug")

    fake = types.SimpleNamespace(SUMMARY="", configure=lambda parser: None, execute=execute)
    monkeypatch.setattr(command_line, "load_verb", lambda name: fake)
    with pytest.raises(TypeError):
        dpsco("list")


def test_a_closed_pipe_is_no_error():
    code = "import sys; from dpsco_bench.cli.main import main; sys.exit(main(['show', 'wang2017', '--json']))"
    reader = f'{sys.executable} -c "{code}" | head -c 10'
    done = subprocess.run(["bash", "-o", "pipefail", "-c", reader], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""


def test_a_file_with_accents_is_read_in_a_locale_without_them(tmp_path):
    (tmp_path / "größe.csv").write_text("a,b,y\n" + "1,0,0\n0,1,1\n" * 20)
    keys = ["problem=data_file", "path=größe.csv", "label=y", "clip=2", "domain=l2_ball"]
    command = [sys.executable, "-m", "dpsco_bench", "account", "bassily2021.noisy_sgd", *keys, "--json"]
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True)
    assert done.returncode == 0 and b'"n": 40' in done.stdout, done.stderr
    done = subprocess.run([*command[:3], "show", "bassily2021"], env=environment, capture_output=True)
    assert done.returncode == 0 and "Guzmán" in done.stdout.decode()


def test_public_names_are_lazy_and_complete():
    code = "import sys, dpsco_bench; print('numpy' in sys.modules); dpsco_bench.run; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
    package = importlib.import_module("dpsco_bench")
    assert all(hasattr(package, name) for name in package.__all__)
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError):
        _ = package.nothing
