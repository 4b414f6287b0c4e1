# Targets `claims/<id>` and `claims/<paper>`, verdicts and figures of single claims, and `leaderboards/<name>`.

for target, claims in flow.targets.items():

    rule:
        name: target
        input: flow.judged(claims)
        localrule: True

    workflow.get_rule(target).docstring = flow.summary(claims)


for target, board in flow.board_targets.items():

    rule:
        name: target
        input: FILES.standings(board), FILES.figure(board)
        localrule: True

    workflow.get_rule(target).docstring = f"{flow.boards[board].board.title} Standings and phase diagrams of {board}."
