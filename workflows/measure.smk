# Noise scales, runs and timings. Parameters carry the digests of configuration and code, since code behind
# `python -m` is invisible to Snakemake; for the same reason calibrations are `ancient`: a job's key says whether its own changed.


rule calibrate:
    """Schedules, noise scales and real epsilons of a claim's jobs; keeps those whose key is unchanged."""
    output:
        update(directory(FILES.calibrations("{claim}"))),
    params:
        digest=flow.calibration_digest,
    log:
        FILES.log("calibrate", "{claim}"),
    benchmark:
        FILES.benchmark("calibrate", "{claim}")
    message:
        "calibrate {wildcards.claim}"
    shell:
        "{DPSCO} worker calibrate --plan {FILES.plan} --claim {wildcards.claim} --out {output} --log {log}"


rule run:
    """All cells and replicates of one part of a claim under one calibration."""
    input:
        calibrations=ancient(FILES.calibrations("{claim}")),
    output:
        FILES.run(JOB),
    params:
        key=flow.key,
    log:
        FILES.log("run", "{claim}", "{part}.{calibration}"),
    benchmark:
        FILES.benchmark("run", "{claim}", "{part}.{calibration}")
    resources:
        gpu=flow.gpus,
    message:
        "run {wildcards.claim} {wildcards.part} [{wildcards.calibration}]"
    shell:
        "{DPSCO} worker run --plan {FILES.plan} --claim {wildcards.claim} --job {wildcards.part}.{wildcards.calibration} "
        "--key {params.key} --calibrations {input.calibrations} --out {output} --log {log}"


rule time:
    """Seconds per gradient evaluation, one replicate alone on the machine; no result depends on it."""
    input:
        calibrations=ancient(FILES.calibrations("{claim}")),
    output:
        FILES.timing(JOB),
    params:
        key=flow.key,
    log:
        FILES.log("time", "{claim}", "{part}.{calibration}"),
    threads: 1024  # all there are
    resources:
        gpu=flow.gpus,
    message:
        "time {wildcards.claim} {wildcards.part} [{wildcards.calibration}]"
    shell:
        "{DPSCO} worker time --plan {FILES.plan} --claim {wildcards.claim} --job {wildcards.part}.{wildcards.calibration} "
        "--key {params.key} --calibrations {input.calibrations} --out {output} --log {log}"
