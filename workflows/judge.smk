# From results to verdicts and figures, a job a paper, of what is due. A claim that does not hold is a verdict, not a failure.

for paper, claims in flow.scope.items():

    rule:
        name: f"judge_{paper}"
        input: lambda _, paper=paper: flow.concluding(workflow, FILES.judged(paper), flow.scope[paper])
        output:
            judged=FILES.judged(paper),
            verdicts=update(flow.verdicts(claims)),
            figures=[
                report(update(FILES.figure(id)), caption="captions/claim.rst", category=paper, labels=flow.labels(id))
                for id in claims if flow.draw
            ],
        params: draw="--draw" if flow.draw else "", paper=paper
        log: FILES.log("judge", paper)
        benchmark: FILES.benchmark("judge", paper)
        priority: 2
        message: f"judge {paper}: {len(claims)} claims"
        shell: "{DPSCO} worker judge --profile {flow.profile}{flow.plugins} --paper {params.paper} {params.draw} --log {log}"

    workflow.get_rule(f"judge_{paper}").docstring = f"Verdicts and figures of the claims of {paper}."


rule verdicts:
    """Verdicts of all claims, without figures and site."""
    input: flow.judged()


rule figures:
    """Figures of all claims."""
    input: flow.judged()


rule gate:
    """Fails if a verdict is not the recorded one; the site stands either way."""
    input: lambda _: flow.gating(workflow)
    output: FILES.gate
    params: digest=VERDICTS
    message: "compare with the recorded verdicts"
    shell: "{DPSCO} gate --profile {flow.profile} --digest {params.digest} --out {output}"
