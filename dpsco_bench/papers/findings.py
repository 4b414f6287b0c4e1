"""The findings that ship, over all five papers, in the order in which the site has them."""

from __future__ import annotations

import math
from collections import Counter
from statistics import median

from dpsco_bench.analysis.answer import NO, OPEN, UNTESTED, YES, larger_constant
from dpsco_bench.leaderboard.standings import TRIVIAL, cost_text
from dpsco_bench.report.findings import (
    Point,
    Results,
    Said,
    bracket,
    finding,
    gains,
    lower,
    need,
    over_search,
    ran,
    shared,
    signed,
    ties,
    upper,
    won,
)
from dpsco_bench.report.numbers import number, slope

PAPERS = ("bassily2021", "gopi2022", "su2023", "wang2017", "zhang2022")
REDUCED, COMPLETE, BOTH = ("ci",), ("full",), ("ci", "full")
ERRATA = [f"errata/{paper}" for paper in ("wang2017", "su2023", "zhang2022", "bassily2021", "gopi2022")]
BOARD_POINTS, BOARD_SEARCHES = "#board--leaderboard-common--points", "#board--leaderboard-common--references"
FRANK_WOLFE = ("bassily2021.thm3", "bassily2021.thm4", "bassily2021.table1.p1")
ONLINE_TO_BATCH = ("zhang2022.thm3", "zhang2022.thm4", "zhang2022.thm4.moment", "zhang2022.thm6", "zhang2022.thm8")
SHUFFLED = ("su2023.thm9.privacy", "su2023.thm10")
ITERATIVE = (
    *("dp_sgd", "dp_accmd", "dp_svrg_pp", "fkt20_phased_sgd", "noisy_sgd", "noisy_sgd_bst14", "noisy_smd"),
    *("noisy_md_ttz14", "bftt19_noisy_sgd", "dp_otb", "dp_otb_optimistic", "dp_otb_lp", "ttz14", "kj16", "noisy_sfw"),
)
"""Methods of the board that add noise as they iterate."""
COVERTYPE = ("covertype-held-out", "covertype")
REAL = ("covertype-held-out", "adult", "kddcup99")
REST = (
    *("linear-l1", "linear-l1.5", "linear-l2", "logistic-l1", "logistic-l2", "quadratic-l2", "ridge", "strong-ball"),
    *("mean", "covertype-held-out", "adult"),
)
"""Instances of the board other than the three with the largest gains by a search."""


@finding(profiles=BOTH, papers=PAPERS, pages=["privacy", "errata/index"])
def privacy_as_printed(results: Results) -> Said:
    """Count the theorems that print their noise by what is known: of the output, as charged, for an open constant."""
    every = results.noise_answers
    found = {id: cell for id, cell in every.items() if "r" not in cell.marks}
    recalled = Counter(cell.word for id, cell in every.items() if id not in found)
    stated, words = len(found), Counter(cell.word for cell in found.values())
    larger = sum(map(larger_constant, found.values()))
    sequence = sum("q" in cell.marks for cell in found.values())
    proven, refuted, rest = words[YES] - larger, words[NO], words[OPEN] + words[UNTESTED] - sequence
    unused = results.row("wang2017.thm5.3", "literal-epsilon").epsilon_real
    need(proven + larger + refuted + sequence + rest == stated, proven > refuted > 0, unused == math.inf)
    of_open = f"for {sequence} of these the query sequence exceeds the claim" if sequence else "none refuted"
    return Said(
        title=f"Of {stated} theorems and table rows that print their own noise, {proven} are private as printed and "
        f"{refuted} are not",
        sentence=f"Another {larger} are private for a larger value of a constant that the text leaves open, and "
        f"{sequence + rest} are open ({of_open}). In {recalled.total()} more, noise is recalled from a cited paper: "
        f"{recalled[YES]} of these are private and {recalled[OPEN] + recalled[UNTESTED]} are open. Algorithm 3 of "
        "wang2017 as listed leaves its noise out of every update, its proof out of one of two.",
        means="Do not take a theorem's noise on trust. The privacy ledger has the real eps of every mechanism, and "
        "`dpsco account` computes it for your own point.",
        label="theorems and rows that print their own noise",
        points=[
            Point("proven private as printed", proven, "private"),
            Point("private for a larger constant", larger, "plain"),
            Point("refuted by what they release", refuted, "printed"),
            Point("query sequence exceeds, output open", sequence, "plain"),
            Point("open for other reasons", rest, "plain"),
        ],
        rows=[row for row in results.statements("privacy") if row.id in found and found[row.id].word == NO],
    )


@finding(["wang2017.thm4.1", "wang2017.thm4.2"], profiles=BOTH)
def svrg_rate(results: Results) -> Said:
    """Set DP-SVRG's rate with the printed noise beside the real eps of that noise."""
    printed = results.row("wang2017.thm4.2", "ridge_logistic-n")
    noise, claimed = printed.noise, printed.noise.epsilon_claimed
    ours = results.row("wang2017.thm4.2", "batch_rule-n", "accounted").noise.epsilon_real
    cells = {cell.cell.n: cell for cell in results.charged("wang2017.thm4.2", "ridge_logistic-n")}
    here = cells.get(16384, cells[max(cells)])
    steps = here.calibrated.schedule["epochs"] * here.calibrated.schedule["inner_steps"]
    c1 = claimed * here.cell.n**2 / steps
    real, kinds = noise.epsilon_real, {noise.epsilon_real_kind, here.kind}
    largest = "" if here.real == real else f"The largest is {lower(real)}, at {noise.place}. "
    need(printed.word == "match", real >= here.real > 1000, kinds == {"lower"}, claimed <= 1, ours <= 1, c1 > 1000)
    return Said(
        title=f"With the printed noise DP-SVRG keeps its rate (slope {slope(printed.slope)} in n, bound "
        f"{slope(printed.bound_slope)}), but its query sequence has a real eps of at least {lower(here.real)} "
        f"(claimed {number(claimed)})",
        sentence=f"That eps is at {here.noise.place}, within the theorem's range of eps only for c1 of at least "
        f"{number(c1)} (erratum E1). It is that of some records, with the open constant c of equation (3) as 1. "
        f"{largest}The output alone may reveal less. With accounted noise eps is at most {ours:.2f}.",
        means="A slope that matches says nothing about privacy. Ask for the real eps of the noise that was plotted.",
        label="real eps, for a claim of 1",
        reference=1,
        points=[
            Point("noise as printed (at least)", here.real, "printed", "lower"),
            Point("accounted noise (at most)", ours, "private", "upper"),
        ],
    )


@finding(["wang2017.thm4.2", "wang2017.thm4.2.gc"], profiles=BOTH)
def svrg_private(results: Results) -> Said:
    """Price a private DP-SVRG in risk and in gradients."""
    n = 8192
    ours = results.row("wang2017.thm4.2", "batch_rule-n", "accounted")
    private, printed = (results.mean_at(row, n) for row in (ours, results.row("wang2017.thm4.2", "ridge_logistic-n")))
    counted = results.mean_at(results.row("wang2017.thm4.2.gc", "ridge_logistic-n", "accounted"), n)
    planned = results.mean_at(results.row("wang2017.thm4.2.gc", "ridge_logistic-n"), n)
    single = results.row("wang2017.thm4.2", "single_record-n", "accounted").word
    price, gradients = private / printed, counted / planned
    need(ours.word == "match", single == "not_observable", price > 3, gradients > 1)
    return Said(
        title=f"DP-SVRG made private by larger batches keeps its rate (slope {slope(ours.slope)} in n, bound "
        f"{slope(ours.bound_slope)}), at {price:.0f} times the risk and {gradients:.1f} times the gradients",
        sentence="Both factors are at n = 8,192, relative to the printed noise. The noise is accounted, and a rule "
        "sets the batch size. With batches of one record, as printed, no rate shows at these sizes.",
        means="Privacy needs more noise than the printed constant gives. Plan with accounted noise, and with batches "
        "that suit it.",
        label="excess risk at n = 8,192",
        points=[Point("noise as printed", printed, "printed"), Point("accounted noise", private, "private")],
    )


@finding(["wang2017.fig1"], profiles=BOTH)
def figure_1(results: Results) -> Said:
    """Compare DP-SVRG with DP-GD on Covertype under both noises."""
    parts = ("literal_loss_constant_step", "literal_loss", "literal_loss_120", "literal_loss_by_output")
    rows = [results.row("wang2017.fig1", part, "accounted") for part in parts]
    as_printed, constant = results.row("wang2017.fig1", parts[0]), rows[0]
    printed, private, bb, short, output = (row.ratio["end, epsilon 0.5"] for row in (as_printed, *rows))
    need(printed < 1, private > 1, constant.noise.status == "proven", bb < 1, short > 1, output > 1)
    need([row.word for row in rows] == ["reversed", "holds", "reversed", "reversed"])
    return Said(
        title=f"On Covertype, DP-SVRG with a constant step ends at {printed:.2f} of DP-GD's gap with the printed "
        f"noise, and at {private:.2f} times that gap with private noise",
        sentence=f"Under private noise the ranking reverses (eps = 0.5, {constant.noise.place}). Figure 1 does not "
        "include the constant step. With the Barzilai-Borwein step DP-SVRG stays below the figure's DP-GD, at "
        f"{bb:.2f} of its gap. But DP-GD with 120 steps, in place of the figure's number, ends {short:.1f} times "
        f"lower than that, and DP-GD charged by its output alone {output:.1f} times lower.",
        means="Compare methods at equal accounted eps, each with a number of steps that suits the noise. A ranking "
        "found with too little noise need not survive.",
        label="gap of DP-SVRG over that of DP-GD",
        reference=1,
        points=[
            Point("constant step, as printed", printed, "printed"),
            Point("constant step, accounted", private, "private"),
            Point("Barzilai-Borwein, accounted", bb, "private"),
            Point("the same, DP-GD of 120 steps", short, "private"),
            Point("the same, DP-GD charged by its output", output, "private"),
        ],
    )


@finding(["bassily2021.thm10.privacy", "bassily2021.thm10.erm"], profiles=BOTH)
def mirror_descent(results: Results) -> Said:
    """Show the factor that noisy mirror descent's variance lacks."""
    printed = results.row("bassily2021.thm10.privacy", "literal-n")
    parts = ("corrected-n", "corrected_kappa2-n", "corrected_kappa2_d32-n")
    fixed = [results.row("bassily2021.thm10.privacy", part) for part in parts]
    explicit = results.row("bassily2021.thm10.erm", "explicit")
    real, claimed, noise = printed.epsilon_real, printed.epsilon_claimed, explicit.noise
    corrected, words = max(row.epsilon_real for row in fixed), {explicit.word, *(row.word for row in fixed)}
    largest, kinds = noise.epsilon_real, (printed.epsilon_real_kind, noise.epsilon_real_kind)
    need(words == {"holds"}, real > 100, claimed <= 1, corrected <= 1, kinds == ("lower", "upper"))
    need(largest > 1, noise.status == "unproven")
    return Said(
        title="The printed variance of noisy mirror descent lacks a factor T: the real eps of its queries is at least "
        f"{lower(real)} (claimed {number(claimed)}), and at most {upper(corrected)} with that factor",
        sentence=f"The first value is at p = 2, {printed.noise.place}, the second for d <= 32; at {noise.place} the "
        f"bound is {upper(largest)} and proves nothing. The second is of three sweeps with p = 2 or 1.5, the last of a "
        "point of the risk.",
        means="Use the corrected variance, and check it with an accountant. With it the explicit bound on the risk "
        "still holds.",
        label="real eps, for a claim of 1",
        reference=1,
        points=[
            Point("variance as printed (at least)", real, "printed", "lower"),
            Point("with the factor T, d <= 32 (at most)", corrected, "private", "upper"),
        ],
    )


@finding([*FRANK_WOLFE, *ONLINE_TO_BATCH, *SHUFFLED], profiles=BOTH, pages=["privacy"])
def too_much_noise(results: Results) -> Said:
    """Price the printed noise of methods that spend less than the eps they claim."""
    poly, otb, shuffled = (results.spent(*claims) for claims in (FRANK_WOLFE, ONLINE_TO_BATCH, SHUFFLED))
    sweeps = results.accounted_over_printed()
    ratios = [ratio for sweep in sweeps for ratio in sweep]
    middle, pairs = median(ratios), len(ratios)
    need(middle < 0.9, pairs > 50, 0.2 < poly < 0.7, 0.2 < otb < 0.9, 0.2 < shuffled < 0.7)
    return Said(
        title=f"Some printed noise is larger than needed: polytope Frank-Wolfe spends at most {poly:.2f} of the "
        f"claimed eps, shuffled truncated mirror descent {shuffled:.2f}, online-to-batch {otb:.2f}",
        sentence="These are the largest shares where rates and privacy were measured, without audits. Shuffled "
        f"truncated mirror descent has two open constants: 1 for its noise, 2 for its range. At {pairs} points of "
        f"{len(sweeps)} sweeps both the printed and the accounted noise are proven private. There accounted noise "
        f"leaves {middle:.2f} of the printed noise's excess risk at the median, from {min(ratios):.4f} to "
        f"{max(ratios):.2f}.",
        means="A loose proof costs data. Calibrate the noise with an accountant instead.",
        label="largest share of the claimed eps that the printed noise spends",
        reference=1,
        points=[
            Point("polytope Frank-Wolfe", poly),
            Point("shuffled mirror descent", shuffled),
            Point("online-to-batch", otb),
        ],
    )


@finding(["gopi2022.thm3.privacy", "gopi2022.thm4.privacy"], profiles=REDUCED, pages=["errata/gopi2022"])
def exponential_mechanism(results: Results) -> Said:
    """Give the eps of the regularised exponential mechanism at p = 2 and below."""
    population = results.row("gopi2022.thm4.privacy", "attained")
    sco, erm = population.epsilon_real, results.row("gopi2022.thm3.privacy", "attained").epsilon_real
    claimed, kind = population.epsilon_claimed, population.epsilon_real_kind
    below = [results.row(f"gopi2022.{theorem}.privacy", "delta-1e-5") for theorem in ("thm4", "thm3")]
    planar, planar_erm = (row.epsilon_real for row in below)
    need(sco > 1.2, erm > 1.2, claimed == 1, kind == "exact", planar > 16, planar_erm > 8)
    need(all((row.epsilon_real_kind, row.epsilon_claimed) == ("lower", 8) for row in below))
    return Said(
        title=f"The regularised exponential mechanism has a real eps of {sco:.2f} by Theorem 4 and {erm:.2f} by "
        f"Theorem 3 (claimed {number(claimed)})",
        sentence="These values are exact, at p = 2, for the worst pair of data sets of two points on an axis. At p = "
        f"1.5 two data sets in a plane show at least {lower(planar)} (Theorem 4) and {lower(planar_erm)} (Theorem "
        "3), where 8 is claimed.",
        means="Both theorems replace a record. Their proofs take the difference of two losses to be G-Lipschitz, but "
        "it is 2G-Lipschitz. Check the sensitivity that a proof uses. The accounted law keeps the claim.",
        label="eps of the law for a claim of 1, p = 2",
        reference=1,
        points=[
            Point("population risk (Theorem 4)", sco, "printed"),
            Point("empirical risk (Theorem 3)", erm, "printed"),
        ],
    )


@finding(profiles=BOTH, papers=PAPERS, pages=["verdicts"])
def schedules(results: Results) -> Said:
    """Count the slopes that match and owe it to the schedule."""
    rows = [row for row in results.statements("rate") if row.word == "match"]
    schedule = [row for row in rows if "schedule" in row.reserved]
    matching, owed = len(rows), len(schedule)
    need(0.1 * matching < owed < 0.4 * matching)
    return Said(
        title=f"Of {matching} slopes that match under the papers' noise, {owed} say little about it: without noise at "
        "least half of the risk is left",
        sentence=f"Such a slope shows the schedule, not the noise. These {owed} belong to "
        f"{len({row.id for row in schedule})} theorems and rows. Of all, "
        f"{sum(bool(row.recalled) for row in rows)} ran with noise taken from a cited paper.",
        means="A slope plot says something about noise only beside the same plot with the noise off. Every rate's "
        "page on the site shows both.",
        label="slopes that match under the papers' noise",
        points=[Point("all", matching, "plain"), Point("at least half of the risk without noise", owed)],
        rows=schedule,
    )


@finding(["bassily2021.thm4"], profiles=BOTH)
def vertices(results: Results) -> Said:
    """Compare polytope Frank-Wolfe's slope in ln K with that of its bound."""
    row, exact, explicit = (results.row("bassily2021.thm4", part) for part in ("lnk", "lnk_law", "explicit"))
    measured, bound, claimed = row.slope, row.bound_slope, row.noise.epsilon_claimed
    words, percent = (explicit.word, row.word, exact.word), 100.0 * abs(exact.worst_ratio - 1.0)
    need(words == ("vacuous", "fails", "holds"), claimed == 16, measured > bound, percent < 10)
    return Said(
        title=f"The risk of polytope Frank-Wolfe grows in ln K, with K vertices, with slope {slope(measured)} at eps "
        f"= {claimed:.0f}; its bound has slope {slope(bound)}",
        sentence=f"The sweep ends at {row.noise.place}, where the explicit bound is vacuous. The exact law of a noisy "
        f"minimum predicts the measured values to within {upper(percent)} %. By that law the slope falls to 1 as "
        "K grows.",
        means="At practical sizes the bound's logarithm is too optimistic. Use the exact law, which takes a moment "
        "to compute.",
        label="slope of the risk in ln K",
        linear=True,
        points=[Point("measured", measured), Point("the bound", bound, "plain")],
    )


@finding(["su2023.thm2", "su2023.thm4"], profiles=BOTH)
def width(results: Results) -> Said:
    """Show where objective perturbation's risk grows in the Gaussian width."""
    balls, sets = results.row("su2023.thm4", "width"), results.row("su2023.thm4", "interior")
    linear_balls = results.row("su2023.thm2", "width_ksupport")
    boundary, inside, linear = balls.slope, sets.slope, linear_balls.slope
    need(sets.word == "holds", sets.noise.place == "n = 131,072, d = 256")
    need(0.3 < linear < 0.9, 1.7 < boundary < 2.4, -0.1 < inside < 0.1)
    return Said(
        title=f"Objective perturbation's risk grows in the Gaussian width with slope {slope(boundary)} on l2 balls of "
        f"growing dimension, but with {signed(f'{inside:.2g}')} among sets in d = 256 with the optimum inside",
        sentence="On the l2 balls the optimum lies on the boundary, and Theorem 4 gives slope "
        f"{slope(balls.bound_slope, 0)}. The sets in d = 256 are k-support balls, from the l1 to the l2 ball. "
        f"With linear losses on such balls the optimum lies on the boundary, and the slope is {slope(linear)}; "
        f"Theorem 2 gives {slope(linear_balls.bound_slope, 0)}.",
        means="With the optimum inside, a smaller set buys nothing.",
        label="slope of the risk in the Gaussian width",
        linear=True,
        points=[
            Point("l2 balls, optimum on the boundary", boundary),
            Point("sets in d = 256, optimum inside", inside, "plain"),
        ],
    )


@finding(["zhang2022.thm11"], profiles=REDUCED)
def parameter_free(results: Results) -> Said:
    """Show that the parameter-free learner adapts with smaller constants."""
    frozen = results.row("zhang2022.thm11", "xstar-paper_constants", "none").word
    row = results.row("zhang2022.thm11", "xstar", "none")
    moving, bound = row.slope, row.bound_slope
    need(frozen == "not_observable", row.word == "match", 0.02 < moving < 0.15, bound < 0.15)
    return Said(
        title="The parameter-free learner adapts: the signal at which it leaves its start hardly depends on the "
        f"distance to the optimum (slope {slope(moving)}, bound {slope(bound)})",
        sentence="Noise is off, so at that signal the risk is proportional to the distance, as Theorem 11 says. The "
        "slopes are for smaller, certified constants. With the printed C = 1 the learner left its start at no "
        "distance and no signal tried.",
        means="The constants of the analysis hide the adaptation at these sizes; smaller ones show it.",
        label="slope of the signal in the distance to the optimum",
        linear=True,
        points=[Point("measured", moving), Point("the bound", bound, "plain")],
    )


@finding(["su2023.table1.app_objp"], profiles=REDUCED, pages=[BOARD_POINTS])
def generalised_linear(results: Results) -> Said:
    """Compare objective perturbation with methods that add noise as they iterate."""
    close, distant = (results.point("logistic-l2", n=n, d=8, epsilon=1) for n in (1024, 16384))
    risks, risks_far = ({method.method: method.risk for method in row.methods} for row in (close, distant))
    if "app_objp" not in risks or "app_objp" not in risks_far:
        raise results.unmeasured("app_objp did not run there in")
    objective, iterative = risks["app_objp"], min(risks[name] for name in ITERATIVE if name in risks)
    near = iterative / objective
    far = min(risks_far[name] for name in ITERATIVE if name in risks_far) / risks_far["app_objp"]
    trivial, decided = close.trivial, results.decided("logistic-l2")
    points, wins = len(decided), won(decided, "app_objp")
    need(near > 1, far > 1, iterative < trivial, wins >= 0.5 * points)
    return Said(
        title=f"On logistic losses the best method that adds noise at every step has {near:.1f} times the excess risk "
        "of approximate objective perturbation (n = 1,024, d = 8, eps = 1)",
        sentence=f"At n = 16,384 the best such method that ran has {far:.0f} times. Over the {points} decided points "
        f"with logistic losses on the l2 ball, objective perturbation has the least mean risk at {wins}. It has "
        f"or shares the first place at {shared(decided, 'app_objp')}.",
        means="For logistic losses with known constants, try objective perturbation first. Check its assumptions; at "
        "other eps an iterative method can be as good.",
        label="excess risk at n = 1,024, d = 8, eps = 1",
        points=[
            Point("objective perturbation", objective, "private"),
            Point("best that adds noise as it iterates", iterative, "private"),
            Point("starting point", trivial, "plain"),
        ],
    )


@finding(["bassily2021.prop8.privacy"], profiles=BOTH, pages=[BOARD_POINTS])
def linear(results: Results) -> Said:
    """Count the points with linear losses at which one noisy mean is the best."""
    rows = results.decided("linear-l1", "linear-l1.5", "linear-l2")
    points, wins = len(rows), won(rows, "gg_lmo")
    undecided, elsewhere = len(results.undecided("linear-l2")), len(results.undecided("linear-l1", "linear-l1.5"))
    l1, between, l2 = (ran(results.decided(instance)) for instance in ("linear-l1", "linear-l1.5", "linear-l2"))
    need(wins == points, undecided >= 1, elsewhere == 0, l1 <= 8, between <= 8, between < l2)
    return Said(
        title=f"With linear losses one noisy mean wins: it has the least mean risk at {wins} of {points} decided "
        "points on the l1, l1.5 and l2 balls",
        sentence="The method adds generalised Gaussian noise to the mean record, then minimises that linear "
        f"function. At {shared(rows, 'reg_exp_mech')} of these points the exponential mechanism shares the first "
        f"place. Undecided on the l2 ball: {undecided}. Few methods compete: {l1} on the l1 ball, {between} on "
        f"the l1.5 ball, {l2} on the l2 ball.",
        means="One query with the right noise is enough there. Look for such a query before you iterate.",
        label="decided points with linear losses",
        points=[Point("least risk by one noisy mean", wins), Point("all", points, "plain")],
    )


@finding(profiles=REDUCED, papers=PAPERS, pages=ERRATA)
def errata(results: Results) -> Said:
    """Count the errata by what they change and by what checks them."""
    entries = [entry for paper in results.inputs.papers for entry in results.errata.get(paper, ())]
    changes = [entry.changes for entry in entries]
    rate, constant, guarantee, text = map(changes.count, ("rate", "constant", "guarantee", "text"))
    every, run = len(entries), sum(bool(entry.command) for entry in entries)
    hand, of = every - run, {paper: len(found) for paper, found in results.errata.items()}
    gopi = of["gopi2022"]
    need(every >= 20, gopi >= 1, hand >= 1, run > hand, text >= 1)
    return Said(
        title=f"The five papers have {every} errata: {rate} on a rate of the papers' own methods, {constant} on a "
        f"constant, {guarantee} on a privacy guarantee, and {text} on none of these",
        sentence=f"Each entry has its calculation. For {run} a command runs or shows the point; the other {hand} are "
        f"checked by hand. By paper: {of['wang2017']} on wang2017, {of['su2023']} on su2023, {of['zhang2022']} on "
        f"zhang2022, {of['bassily2021']} on bassily2021 and {gopi} on gopi2022.",
        means="A guarantee counts if a stated epsilon is exceeded, and also if the privacy of a method is only not "
        "shown. The entry says what follows from it and what does not, and whether it is only loose.",
        label="entries",
        points=[
            Point("a rate", rate),
            Point("a constant", constant),
            Point("a privacy guarantee", guarantee),
            Point("none of these", text),
        ],
    )


@finding(["su2023.thm8", "wang2017.table1.zhang17"], profiles=COMPLETE, pages=[BOARD_POINTS])
def families(results: Results) -> Said:
    """Say how much private methods gain over the starting point on real data."""
    rows = results.decided(*REAL)
    low, high = results.decided(*REAL, epsilon=(0.25, 1)), results.decided(*REAL, epsilon=(4,))
    low_most, high_least, high_most = max(gains(low)), min(gains(high)), max(gains(high))
    points, low_points, high_points, largest = len(rows), len(low), len(high), max(row.n for row in rows)
    phased = won(low, "phased_dp_sgd")
    by_output = won(high, "dp_gd_by_output") + won(high, "dp_gd_pl_by_output")
    search, undecided = max(over_search(rows)), len(results.undecided(*REAL))
    costs = [" or ".join(dict.fromkeys(map(cost_text, results.undecided(instance)))) for instance in REAL]
    need(largest == 1024, low_most < 20, high_least > low_most, phased == low_points, by_output == high_points)
    need(low_points + high_points == points, search > 1, undecided >= 1, all(costs))
    return Said(
        title=f"On {largest:,} real records the least private risk is at most {upper(low_most)} % below the starting "
        f"point's up to eps = 1, and {lower(high_least)} to {upper(high_most)} % below it at eps = 4",
        sentence="The data are Covertype, Adult and KDD Cup 99. Up to eps = 1 phased SGD has the least mean risk at "
        f"all {low_points} points, {ties(low)} of them ties. At eps = 4 gradient descent charged by its output has it "
        f"at all {high_points}, {ties(high)} of them ties. A public search finds up to {search:.1f} times less risk. "
        f"The {undecided} larger points are undecided. Deciding one would take {costs[0]} on Covertype, {costs[1]} on "
        f"Adult and {costs[2]} on KDD Cup 99.",
        means="At these sizes privacy leaves almost nothing up to eps = 1. On larger real data the board cannot say "
        "who wins, only what it would cost to know. Ask `dpsco choose` about your own point.",
        label="per cent below the starting point's risk",
        points=[
            Point("up to eps = 1, at most", low_most, "main", "upper"),
            Point("at eps = 4, at least", high_least, "main", "lower"),
            Point("at eps = 4, at most", high_most, "plain", "upper"),
        ],
    )


@finding(
    [
        *("su2023.thm10", "su2023.thm11", "su2023.thm12", "gopi2022.cor4.sco", "bassily2021.thm10.erm", "su2023.thm5"),
        "su2023.table1.app_objp",
    ],
    profiles=COMPLETE,
    papers=PAPERS,
    pages=[BOARD_POINTS],
)
def other_families(results: Results) -> Said:
    """Say who wins on heavy tails, on cubes, spheres and balls, and where all tie."""
    heavy, cube, squares = (results.decided(name) for name in ("heavy", "linear-linf", "quadratic-l2"))
    mean, strong = results.decided("mean"), results.decided("strong-ball")
    balls = results.decided("logistic-l1", "logistic-l2")
    accept, su_accept = ran(heavy), ran(heavy, "su2023")
    euclid, mechanism, descent = won(heavy, "heavy_tailed_euclid"), won(cube, "reg_exp_mech"), won(squares, "noisy_smd")
    sphere, objective = won(mean, "app_objp_sc"), won(balls, "app_objp")
    winners, tied = len({row.winner for row in strong}), ties(strong)
    need(accept == su_accept, euclid > 0.5 * len(heavy), mechanism == len(cube), descent >= 0.5 * len(squares))
    need(sphere >= 0.5 * len(mean), objective >= 0.5 * len(balls), winners == len(strong), tied == len(strong))
    return Said(
        title="With heavy tails few methods remain: only those run for su2023 accept them, and our stand-in for one "
        f"that it cites has the least mean risk at {euclid} of {len(heavy)} decided points",
        sentence=f"On noisy quadratics each of {len(strong)} decided points has a different winner, always tied. "
        f"Elsewhere one method often wins: the exponential mechanism at {mechanism} of {len(cube)} points with "
        f"linear losses on the linf ball, noisy mirror descent at {descent} of {len(squares)} with least squares. "
        f"Strongly convex objective perturbation wins at {sphere} of {len(mean)} points for the mean on a sphere. "
        f"The approximate one wins at {objective} of {len(balls)} for logistic losses on balls.",
        means="The stand-in's schedule and constants are ours. Where first places are shared, ask `dpsco choose` "
        "about your own point, and take the cheapest method.",
        label="decided points",
        points=[
            Point("Euclidean stand-in, heavy tails", euclid),
            Point("all, heavy tails", len(heavy), "plain"),
            Point("exponential mechanism, linf ball", mechanism),
            Point("all, linf ball", len(cube), "plain"),
        ],
    )


@finding(profiles=COMPLETE, papers=PAPERS, pages=[BOARD_SEARCHES, BOARD_POINTS])
def search(results: Results) -> Said:
    """Hold private methods against a public search of their parameters."""
    rows = results.decided()
    ratios, own = over_search(rows), over_search(rows, own=True)
    decided, points, above = len(rows), len(ratios), sum(ratio > 1 for ratio in ratios)
    own_points, own_above = len(own), sum(ratio > 1 for ratio in own)
    middle, own_middle, most = median(ratios), median(own), max(ratios)
    kdd, cube, heavy = (max(over_search(results.decided(name))) for name in ("kddcup99", "linear-linf", "heavy"))
    rest = max(over_search(results.decided(*REST)))
    need(decided > points, above > 0.2 * points, middle < 1, own_above > 0.5 * own_points, own_middle > 1)
    need(most == kdd >= cube >= heavy >= rest)
    return Said(
        title=f"At {above} of {points} points a public grid search finds less risk than every private method with its "
        "theorem's parameters",
        sentence=f"Of {decided} decided points {points} have a search; elsewhere none of its settings could run. At "
        f"the median the least private risk is {middle:.2f} of the search's. With its theorem's parameters the "
        f"searched method has more risk than in the search at {own_above} of {own_points} points, "
        f"{own_middle:.2f} times as much at the median. The largest gains are {kdd:.1f} times on KDD Cup 99, "
        f"{cube:.1f} on the linf ball and {heavy:.1f} for heavy tails.",
        means="The search is not private and tries few settings. It shows what better parameters could gain, not "
        "what a private choice would keep of that.",
        label="decided points",
        points=[
            Point("public search is better", above),
            Point("all with a search", points, "plain"),
            Point("better than the same method", own_above),
            Point("all where that ran", own_points, "plain"),
        ],
    )


@finding(profiles=BOTH, papers=PAPERS, pages=[BOARD_POINTS])
def frontier(results: Results) -> Said:
    """Bracket the n eps/sqrt(d) from which private methods beat the starting point."""
    d = 8
    last, after = bracket([row for row in results.decided("ridge", "quadratic-l2") if row.d == d])
    run_here = {row.instance for row in results.standings()}
    near, far = bracket(results.decided(*[name for name in COVERTYPE if name in run_here] or COVERTYPE))
    linear_losses = results.decided("linear-l1", "linear-l1.5", "linear-l2", "linear-linf")
    _, linear_from = bracket([row for row in linear_losses if row.d == d])
    rows = results.decided()
    highest, _ = bracket(rows)
    first = won(rows, TRIVIAL)
    need(30 < highest < 300, last <= highest, near <= highest, first >= 1, linear_from < 23, last > 0, near > 0)
    return Said(
        title="On ridge logistic losses and least squares (d = 8) the starting point ties with the best private method "
        f"up to n eps/sqrt(d) = {last:.1f}, and loses from {after:.0f}",
        sentence=f"On Covertype (d = 54) these two values are {near:.1f} and {far:.0f}, with no decided point "
        f"between. On linear losses (d = 8) a method beats the start from {linear_from:.1f} on, the least that "
        f"was tried. Of {len(rows)} decided points the start has the least mean risk at {first}, and has or "
        f"shares the first place at {shared(rows, TRIVIAL)}, nowhere above n eps/sqrt(d) = {highest:.0f}.",
        means="Compute n eps/sqrt(d) before you spend privacy. On these losses the frontier lies between the two "
        "values, on other losses elsewhere. Around and below it, check whether anything beats the start.",
        label="n eps/sqrt(d)",
        points=[
            Point("start shares the first place, d = 8", last),
            Point("a method beats it, d = 8", after, "plain"),
            Point("start shares it, Covertype", near),
            Point("a method beats it, Covertype", far, "plain"),
        ],
    )
