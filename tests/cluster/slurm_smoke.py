"""`make slurm-test`: profile smoke on a SLURM of one node, and whether it gives the bytes that a run without it gives.

Both runs start from an empty store, in folders of their own; results of the working tree are neither read nor written.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from tests.cluster.single_node import Unavailable, single_node

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = "snakemake_executor_plugin_slurm"
PATTERNS = ("results/store/calibrations/*.json", "results/store/runs/*.parquet", "results/smoke/verdicts/*.json")
PATTERNS += ("results/smoke/standings/*.json",)
"""What is compared: calibrations, result tables, verdicts and standings. Costs, logs and pages tell times or paths."""
ON_SLURM = ["--workflow-profile", "profiles/slurm", "--slurm-no-account"]
ON_SLURM += ["--slurm-init-seconds-before-status-checks", "5"]
# A cluster with accounting is asked by sacct; this one has none. Its folders are on one machine: nothing comes late.
ON_SLURM += ["--slurm-status-command", "squeue", "--latency-wait", "10"]


def main() -> int:
    """Run both, compare, and say in a line what came of it; 0 also where no SLURM can be started."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the daemons end with it
    place = Path(tempfile.mkdtemp(prefix="slurm-"))
    place.chmod(0o755)  # munge asks for it, of all folders above its socket
    try:
        if find_spec(PLUGIN) is None:
            raise Unavailable("snakemake-executor-plugin-slurm is not installed (make cluster)")
        daemons = place / "slurm"
        daemons.mkdir()
        with single_node(daemons) as environment:
            return _compare(place, environment)
    except Unavailable as why:
        print(f"slurm-test: skipped: {why}")
        return 0
    except KeyboardInterrupt:
        print("slurm-test: interrupted", file=sys.stderr)
        return 130
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _compare(place: Path, environment: dict[str, str]) -> int:
    local = _smoke(place / "local", dict(os.environ), [])
    spread = _smoke(place / "spread", environment, ON_SLURM)
    jobs = _finished_jobs(environment)
    differing = sorted(name for name in local.keys() | spread.keys() if local.get(name) != spread.get(name))
    if differing or not jobs:
        print(f"slurm-test: failed: {len(differing)} of {len(local)} files differ: {', '.join(differing[:5])}")
        return 1
    tables = sum(name.endswith(".parquet") for name in local)
    print(f"slurm-test: {jobs} jobs on SLURM; {tables} result tables, {len(local) - tables} calibrations, verdicts and")
    print("standings have the same bytes as without it")
    return 0


def _smoke(folder: Path, environment: dict[str, str], options: list[str]) -> dict[str, bytes]:
    folder.mkdir()
    command = [sys.executable, "-m", "snakemake", "--directory", str(folder), *options]
    command += ["--config", "profile=smoke", "--", "all"]
    begun, log = time.monotonic(), folder / "snakemake.log"
    with log.open("wb") as out:
        code = subprocess.run(command, cwd=ROOT, env=environment, stdout=out, stderr=out).returncode
    if code:
        print("\n".join(log.read_text(errors="replace").splitlines()[-40:]), file=sys.stderr)
        raise SystemExit(f"slurm-test: failed: profile smoke ended with code {code} in {folder.name}")
    print(f"slurm-test: {folder.name}: done in {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
    found = (path for pattern in PATTERNS for path in folder.glob(pattern))
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def _finished_jobs(environment: dict[str, str]) -> int:
    command = ["squeue", "--states=completed", "--noheader", "--format=%i"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return len(done.stdout.split())


if __name__ == "__main__":
    sys.exit(main())
