# A job a claim. Long parts and instances of leaderboards are jobs of their own; a claim that does not hold is no failure.

rule claim:
    """Verdicts and figures of a claim."""
    input: flow.measured
    output:
        FILES.verdicts("{claim}"),
        FILES.figure("{claim}", "pdf"),
        report(FILES.figure("{claim}"), "captions/claim.rst", category=flow.paper, labels=flow.labels),
    params: digest=lambda wildcards: flow[wildcards.claim].digest, figure=lambda wildcards: flow[wildcards.claim].figure
    log: FILES.log("claim", "{claim}")
    shell: "{DPSCO} worker claim {wildcards.claim} {flow.options} --digest {params.digest} > {log} 2>&1"

rule part:
    """A long part of a claim, or an instance of a leaderboard."""
    output: FILES.part("{id}", "{part}")
    params: digest=lambda wildcards: flow[wildcards.id].parts[wildcards.part]
    log: FILES.log("part", "{id}.{part}")
    priority: 1
    shell: "{DPSCO} worker part {wildcards.id} {wildcards.part} {flow.options} --out {output} > {log} 2>&1"

rule time:
    """Seconds per gradient evaluation, one replicate alone on the machine; no verdict depends on it."""
    output: FILES.timed("{claim}")
    params: digest=lambda wildcards: flow[wildcards.claim].timed
    log: FILES.log("time", "{claim}")
    threads: 1024  # all there are
    shell: "{DPSCO} worker time {wildcards.claim} {flow.options} --out {output} > {log} 2>&1"

rule rank:
    """Standings and phase diagrams of a leaderboard: who wins where, and by how much."""
    input: flow.measured
    output:
        FILES.standings("{board}"),
        FILES.figure("{board}", "pdf"),
        report(FILES.figure("{board}"), "captions/leaderboard.rst", category="Leaderboard"),
    params: digest=lambda wildcards: flow[wildcards.board].digest, figure=lambda wildcards: flow[wildcards.board].figure
    log: FILES.log("rank", "{board}")
    shell: "{DPSCO} worker rank {wildcards.board} {flow.options} --digest {params.digest} > {log} 2>&1"

# Targets that are no files: `verdicts`, `claims/<id>`, `claims/<paper>`, `leaderboards/<name>` and so on.
for target, (words, files) in flow.targets.items():
    rule:
        name: target
        input: files
        localrule: True
    workflow.get_rule(target).docstring = words
