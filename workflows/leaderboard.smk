# Leaderboards: their packs are those of workflows/measure.smk; standings and phase diagrams come from the results.


rule rank:
    """Standings of a leaderboard from the results of its jobs."""
    input: lambda wildcards: flow.concluding(workflow, FILES.standings(wildcards.board), [wildcards.board])
    output: FILES.standings("{board}")
    params: digest=flow.depends.rank
    log: FILES.log("rank", "{board}")
    benchmark: FILES.benchmark("rank", "{board}")
    priority: 2
    message: "rank {wildcards.board}"
    shell:
        "{DPSCO} worker rank --profile {flow.profile}{flow.plugins}"
        " --board {wildcards.board} --digest {params.digest} --log {log}"


rule board_figure:
    """Phase diagrams of a leaderboard: who wins where, and by how much."""
    input: lambda wildcards: flow.drawing(workflow, wildcards.board)
    output:
        svg=report(FILES.figure("{board}"), caption="captions/leaderboard.rst", category="Leaderboard"),
        pdf=FILES.figure("{board}", "pdf"),
    params: digest=flow.depends.board_figure
    log: FILES.log("figure", "{board}")
    benchmark: FILES.benchmark("figure", "{board}")
    message: "figure {wildcards.board}"
    shell: "{DPSCO} figure {wildcards.board} --profile {flow.profile}{flow.plugins} > {log} 2>&1"


rule leaderboard:
    """Standings and phase diagrams of all leaderboards."""
    input: flow.standings(), flow.board_figures()
