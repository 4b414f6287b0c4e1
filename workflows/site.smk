# The site: made from verdicts, standings and results only.


rule write_site:
    """The site, its tables, and the figures across claims."""
    input: lambda _: flow.reporting(workflow)
    output:
        page=FILES.site,
        tables=directory(FILES.tables),
        chapters=report(flow.chapters("svg"), category="Figures across claims"),
        chapters_pdf=flow.chapters("pdf"),
    params: digest=SITE
    log: FILES.log("site", "site")
    benchmark: FILES.benchmark("site", "site")
    threads: 1024  # all there are: it is the last job
    message: "site {FILES.site}"
    shell: "{DPSCO} site --profile {flow.profile}{flow.plugins} --cores {threads} > {log} 2>&1"


rule site:
    """The site without the comparison with recorded verdicts."""
    input: FILES.site


rule gc:
    """Remove results and figures that no plan names."""
    message: "remove what no plan names"
    shell: "{DPSCO} gc --profile {flow.profile} --held"
