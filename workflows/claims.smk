# Targets `claims/<id>` and `claims/<paper>`: verdicts and figures of single claims.

for target, claims in flow.targets.items():

    rule:
        name: target
        input: flow.judged(claims)
        localrule: True

    workflow.get_rule(target).docstring = flow.summary(claims)
