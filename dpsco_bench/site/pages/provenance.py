"""Where the numbers come from, and what each job cost."""

from __future__ import annotations

from dpsco_bench.report.provenance import facts, jobs_table
from dpsco_bench.site.content import Content, Pages
from dpsco_bench.site.markdown import heading, text


def provenance_page(content: Content) -> Pages:
    """Versions, seeds, digests, machines and jobs."""
    rows = "\n".join(f"| {text(fact.name)} | {text(fact.value)} |" for fact in facts(content.inputs))
    page = [
        heading("Provenance", target="provenance"),
        "On one machine, the same commit, lock and seed give the same bytes of every result table, on any number "
        "of cores.\n",
        f"{{.plain}}\n| What | Value |\n| --- | --- |\n{rows}\n",
        heading("Jobs", 2),
        f"Keys, sizes, run times and memory of all {len(jobs_table(content.inputs).rows)} jobs: "
        "[CSV](tables/jobs.csv), [Parquet](tables/jobs.parquet).\n",
    ]
    return {"provenance": "\n".join(page)}
