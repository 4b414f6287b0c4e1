# The report: made from verdicts, standings and results only.


rule write_report:
    """The report, one self-contained page, its tables, and the figures across claims."""
    input: lambda _: flow.reporting(workflow)
    output:
        page=report(FILES.report, caption="captions/report.rst", category="Report"),
        tables=directory(FILES.tables),
        chapters=report(flow.chapters("svg"), category="Figures across claims"),
        chapters_pdf=flow.chapters("pdf"),
    params: digest=flow.depends.report
    log: FILES.log("report", "report")
    benchmark: FILES.benchmark("report", "report")
    threads: 1024  # all there are: it is the last job
    message: "report {FILES.report}"
    shell: "{DPSCO} report --profile {flow.profile} --cores {threads} > {log} 2>&1"


rule report:
    """The report without the comparison with recorded verdicts."""
    input: FILES.report


rule gc:
    """Remove results and figures that no plan names."""
    message: "remove what no plan names"
    shell: "{DPSCO} gc --profile {flow.profile} --held"
