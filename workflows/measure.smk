# Packs of noise scales, runs and timings that the store lacks. They leave what they make in the store, which Snakemake does
# not see, and a mark for the run that asked for them.


rule calibrate:
    """Schedules, noise scales and real epsilons of several jobs."""
    output: flow.mark("calibrate.{pack}")
    log: FILES.log("calibrate", "{pack}")
    benchmark: FILES.benchmark("calibrate", "{pack}")
    priority: 1
    params: what=lambda wildcards: flow.message(f"calibrate.{wildcards.pack}")
    message: "{params.what}"
    shell:
        "{DPSCO} worker calibrate --profile {flow.profile}{flow.plugins}"
        " --pack {wildcards.pack} --log {log} && touch {output}"


rule run:
    """All cells and replicates of several jobs, or a share of a long one."""
    input: lambda wildcards: flow.after(f"run.{wildcards.pack}")
    output: flow.mark("run.{pack}")
    log: FILES.log("run", "{pack}")
    benchmark: FILES.benchmark("run", "{pack}")
    resources: gpu=lambda wildcards: flow.gpus(f"run.{wildcards.pack}")
    params: what=lambda wildcards: flow.message(f"run.{wildcards.pack}")
    message: "{params.what}"
    shell: "{DPSCO} worker run --profile {flow.profile}{flow.plugins} --pack {wildcards.pack} --log {log} && touch {output}"


rule time:
    """Seconds per gradient evaluation, one replicate alone on the machine; no result depends on it."""
    input: lambda wildcards: flow.after(f"time.{wildcards.pack}")
    output: flow.mark("time.{pack}")
    log: FILES.log("time", "{pack}")
    benchmark: FILES.benchmark("time", "{pack}")
    threads: 1024  # all there are
    resources: gpu=lambda wildcards: flow.gpus(f"time.{wildcards.pack}")
    params: what=lambda wildcards: flow.message(f"time.{wildcards.pack}")
    message: "{params.what}"
    shell: "{DPSCO} worker time --profile {flow.profile}{flow.plugins} --pack {wildcards.pack} --log {log} && touch {output}"
