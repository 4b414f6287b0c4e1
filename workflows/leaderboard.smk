# Leaderboards: their jobs are those of workflows/measure.smk; standings and phase diagrams come from the result tables.


rule rank:
    """Standings of a leaderboard from the result tables of its jobs."""
    input:
        calibrations=lambda wildcards: flow.calibrations(wildcards.board),
        runs=lambda wildcards: flow.runs(wildcards.board),
    output: FILES.standings("{board}")
    params: digest=flow.rank_digest
    log: FILES.log("rank", "{board}")
    message: "rank {wildcards.board}"
    shell:
        "{DPSCO} worker rank --plan {FILES.plan} --claim {wildcards.board} --digest {params.digest} "
        "--calibrations {FILES.results}/calibrations/{wildcards.board} --runs {FILES.results}/runs/{wildcards.board} "
        "--out {output} --log {log}"


rule board_figure:
    """Phase diagrams of a leaderboard: who wins where, and by how much."""
    input: FILES.standings("{board}")
    output:
        svg=report(FILES.figure("{board}"), caption="captions/leaderboard.rst", category="Leaderboard"),
        pdf=FILES.figure("{board}", "pdf"),
    params: digest=flow.board_figure_digest
    log: FILES.log("figure", "{board}")
    message: "figure {wildcards.board}"
    shell: "{DPSCO} figure --plan {FILES.plan} --claim {wildcards.board} --out {FILES.figures} > {log} 2>&1"


rule leaderboard:
    """Standings and phase diagrams of all leaderboards."""
    input: flow.standings(), flow.board_figures()
