"""dpsco_bench. `snakemake` runs a profile end to end, `snakemake --list` shows the targets.

Snakemake knows what is to be made and Hydra how: the plan step composes every claim once, and the rules read its plan.
"""

import atexit
import os
import shlex
import sys

from snakemake.utils import min_version

min_version("9.0")
# The package beside this file, whatever else is installed and wherever the results go (`--directory`).
sys.path.insert(0, workflow.basedir)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(workflow.basedir), os.environ.get("PYTHONPATH")]))

from dpsco_bench.cli.closing import conclude, farewell
from dpsco_bench.cli.workflow import Workflow
from dpsco_bench.cli.workflow_settings import check_cores, check_folder, one_line

# Processes are the workflow's; a BLAS that starts threads of its own only slows the jobs beside it.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

DPSCO = f"{shlex.quote(sys.executable)} -m dpsco_bench"

with one_line():
    check_cores(sys.argv[1:])
    check_folder(sys.argv[1:])
    flow = Workflow(config, sys.argv[1:], main=workflow.is_main_process)
    VERDICTS, SITE = flow.depends.all_verdicts, flow.depends.site
FILES = flow.files


wildcard_constraints:
    pack=r"[^/]+",
    board=r"leaderboard\.[^/]+",


localrules: all, verdicts, figures, leaderboard, site, gate, gc


rule all:
    """Everything: runs, verdicts, figures, site, and the comparison with the recorded verdicts."""
    input: FILES.gate


include: "workflows/measure.smk"
include: "workflows/judge.smk"
include: "workflows/leaderboard.smk"
include: "workflows/site.smk"
include: "workflows/claims.smk"


onstart:
    with one_line():
        flow.start(workflow)


onsuccess:
    conclude(workflow, flow)


atexit.register(farewell, workflow, flow)
