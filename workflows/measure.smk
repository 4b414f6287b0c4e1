# Noise scales, runs and timings. Parameters carry the digests of configuration and code, since code behind
# `python -m` is invisible to Snakemake.


rule calibrate:
    """Schedules, noise scales and real epsilons of one job; out of the cache where its key is there."""
    output: FILES.calibrations(JOB)
    params: key=flow.calibration_key
    log: FILES.log("calibrate", "{claim}", "{part}.{calibration}")
    benchmark: FILES.benchmark("calibrate", "{claim}", "{part}.{calibration}")
    priority: flow.measuring
    message: "calibrate {wildcards.claim} {wildcards.part} [{wildcards.calibration}]"
    shell:
        "ln {FILES.cache}/{params.key}.json {output} 2> /dev/null || "
        "{DPSCO} worker calibrate --plan {FILES.plan} --claim {wildcards.claim} --job {wildcards.part}.{wildcards.calibration} "
        "--key {params.key} --cache {FILES.cache} --wanted {FILES.wanted} --out {output} --log {log}"


rule run:
    """All cells and replicates of one part under one calibration, unless a process of the claim left them ready."""
    input: calibrations=FILES.calibrations(JOB)
    output: FILES.run(JOB)
    params: key=flow.key, ready=flow.ready
    log: FILES.log("run", "{claim}", "{part}.{calibration}")
    benchmark: FILES.benchmark("run", "{claim}", "{part}.{calibration}")
    resources: gpu=flow.gpus
    priority: flow.measuring
    message: "run {wildcards.claim} {wildcards.part} [{wildcards.calibration}]"
    shell:
        "mv {params.ready}.log {log} 2> /dev/null || true; mv {params.ready} {output} 2> /dev/null || "
        "{DPSCO} worker run --plan {FILES.plan} --claim {wildcards.claim} --job {wildcards.part}.{wildcards.calibration} "
        "--key {params.key} --calibrations {input.calibrations} --cache {FILES.cache} --ready {params.ready} "
        "--out {output} --log {log}"


rule time:
    """Seconds per gradient evaluation, one replicate alone on the machine; no result depends on it."""
    input: calibrations=FILES.calibrations(JOB)
    output: FILES.timing(JOB)
    params: key=flow.timing_key, code=flow.timing_code
    log: FILES.log("time", "{claim}", "{part}.{calibration}")
    threads: 1024  # all there are
    resources: gpu=flow.gpus
    message: "time {wildcards.claim} {wildcards.part} [{wildcards.calibration}]"
    shell:
        "{DPSCO} worker time --plan {FILES.plan} --claim {wildcards.claim} --job {wildcards.part}.{wildcards.calibration} "
        "--key {params.key} --calibrations {input.calibrations} --out {output} --log {log}"
