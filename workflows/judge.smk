# From result tables to verdicts. A claim that does not hold is a verdict, not a failure.


rule judge:
    """Verdicts of a claim from the result tables of its jobs."""
    input:
        calibrations=lambda wildcards: flow.calibrations(wildcards.claim),
        runs=lambda wildcards: flow.runs(wildcards.claim),
    output: FILES.verdicts("{claim}")
    params: digest=flow.judge_digest, ready=flow.judged
    log: FILES.log("judge", "{claim}")
    message: "judge {wildcards.claim}"
    shell:
        "mv {params.ready}.log {log} 2> /dev/null || true; mv {params.ready}.json {output} 2> /dev/null || "
        "{DPSCO} worker judge --plan {FILES.plan} --claim {wildcards.claim} --digest {params.digest} "
        "--calibrations {FILES.results}/calibrations/{wildcards.claim} --runs {FILES.results}/runs/{wildcards.claim} "
        "--ready {FILES.judged} --wanted {FILES.wanted} {flow.draw} --out {output} --log {log}"


rule verdicts:
    """Verdicts of all claims, without figures and report."""
    input: flow.verdicts()


rule gate:
    """Fails if a verdict is not the recorded one; the report stands either way."""
    input: flow.verdicts(), FILES.report, flow.recorded
    output: FILES.gate
    params: digest=flow.verdicts_digest
    message: "compare with the recorded verdicts"
    shell: "{DPSCO} gate --profile {flow.profile} --digest {params.digest} --out {output}"
