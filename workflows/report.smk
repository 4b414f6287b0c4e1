# Figures, tables and the report: made from verdicts and result tables only.


rule figure:
    """Figure of a claim: measured points, fitted line, bound and verdict."""
    input:
        FILES.verdicts("{claim}"),
        lambda wildcards: flow.runs(wildcards.claim) + flow.timings(wildcards.claim),
    output:
        svg=report(FILES.figure("{claim}"), caption="captions/claim.rst", category=flow.paper, labels=flow.labels),
        pdf=FILES.figure("{claim}", "pdf"),
    params: digest=flow.figure_digest, title=flow.title, judged=flow.judged
    wildcard_constraints: claim=r"(?!leaderboard\.)[^/]+"
    log: FILES.log("figure", "{claim}")
    message: "figure {wildcards.claim}"
    shell:
        "{{ mv {params.judged}/* {FILES.figures} && rmdir {params.judged}; }} 2> /dev/null || "
        "{DPSCO} figure --plan {FILES.plan} --claim {wildcards.claim} --out {FILES.figures} > {log} 2>&1"


rule figures:
    """Figures of all claims."""
    input: flow.figures()


rule write_report:
    """The report, one self-contained page, its tables, and the figures across claims."""
    input: flow.verdicts(), flow.figures(), flow.standings(), flow.board_figures()
    output:
        page=report(FILES.report, caption="captions/report.rst", category="Report"),
        tables=directory(FILES.tables),
        chapters=report(flow.chapters("svg"), category="Figures across claims"),
        chapters_pdf=flow.chapters("pdf"),
    params: digest=flow.report_digest
    log: FILES.log("report", "report")
    threads: 1024  # all there are: it is the last job
    message: "report {FILES.report}"
    shell:
        "{DPSCO} report --profile {flow.profile} --plan {FILES.plan} --out {FILES.results} --figures {FILES.figures} "
        "--cores {threads} > {log} 2>&1"


ruleorder: write_report > figure


rule report:
    """The report without the comparison with recorded verdicts."""
    input: FILES.report


rule gc:
    """Remove results and figures that the plan no longer names."""
    message: "remove what the plan does not name"
    shell: "{DPSCO} gc --profile {flow.profile} --held"
