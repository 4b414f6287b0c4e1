"""What the site says of this paper first, with its conditions."""

from dpsco_bench.report.findings import Point, Results, Said, finding, lower, need


@finding(claims=["example2026.thm1"])
def one_step(results: Results) -> Said:
    """Give the real eps of the printed noise."""
    row = results.row("example2026.thm1", "privacy")  # calibration "paper"; the fields are those of Verdict
    word, real, claimed = row.word, row.epsilon_real, row.epsilon_claimed
    need(word == "fails", real > 1.5 * claimed)
    return Said(
        title=f"One noisy step has a real eps of at least {lower(real)} for a claim of {claimed:g}",
        sentence=f"The bound is met all the same: {results.row('example2026.thm1', 'explicit').word}.",
        means="A factor 2 in a sensitivity shows in no risk.",
        label="real eps",
        points=[Point("claimed", claimed, "plain"), Point("at least", real, "printed", "lower")],
    )
