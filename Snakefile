"""dpsco_bench: `snakemake` runs a profile end to end, `snakemake --list` shows the targets; rules read a plan's outline."""

import re
import shlex
import sys

from snakemake.utils import min_version

min_version("9.20")
sys.path.insert(0, workflow.basedir)  # the package beside this file, whatever else is installed
from dpsco_bench.cli.workflow import Flow, one_line, set_environment

set_environment(workflow.basedir)
with one_line():
    flow = Flow(config, sys.argv[1:], main=workflow.is_main_process)
FILES, CLAIMS, BOARDS = flow.files, list(flow.outline.claims), list(flow.outline.boards)
DPSCO = f"{shlex.quote(sys.executable)} -m dpsco_bench"

wildcard_constraints:
    claim="|".join(map(re.escape, CLAIMS)) or "(?!)",
    board="|".join(map(re.escape, BOARDS)) or "(?!)",
    id="|".join(map(re.escape, CLAIMS + BOARDS)),
    part="[^/]+",

localrules: all, gate, gc

rule all:
    """Everything: runs, verdicts, figures, site, and the comparison with the recorded verdicts."""
    input: FILES.gate

include: "workflows/claims.smk"
include: "workflows/site.smk"

onstart:
    with one_line():
        flow.start()

onsuccess:
    flow.stop()
    shell("{DPSCO} gate --brief --profile {flow.profile}")

onerror:
    flow.stop()
    shell("{DPSCO} gate --brief --profile {flow.profile} || true")
