# The site is made from verdicts, standings and results only.

rule write_site:
    """The site, its tables, and the figures across claims."""
    input: flow.made(CLAIMS + BOARDS)
    output:
        FILES.site,
        directory(FILES.tables),
        [path.with_suffix(".pdf") for path in flow.chapters],
        report(flow.chapters, category="Figures across claims"),
    params: digest=flow.outline.site
    log: FILES.log("site", "site")
    threads: 1024  # all there are: it is the last job
    message: "site {FILES.site}"
    shell: "{DPSCO} site {flow.options} --cores {threads} > {log} 2>&1"

rule gate:
    """Fails if a verdict is not the recorded one; the site stands either way."""
    input: flow.verdicts, FILES.site, flow.recorded
    output: FILES.gate
    log: FILES.log("gate", "gate")
    message: "compare with the recorded verdicts"
    shell: "{DPSCO} gate --profile {flow.profile} --out {output} > {log} 2>&1"

rule gc:
    """Remove results and figures that no plan names."""
    shell: "{DPSCO} gc --profile {flow.profile} --held"
