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


@finding(profiles=REDUCED, papers=PAPERS, pages=["privacy", "errata/index"])
def privacy_as_printed(results: Results) -> Said:
    """Count the theorems on private noise by what is known: of the output, as charged, for an open constant."""
    found = results.noise_answers
    stated, words = len(found), Counter(cell.word for cell in found.values())
    larger = sum(map(larger_constant, found.values()))
    sequence = sum("q" in cell.marks for cell in found.values())
    proven, refuted, rest = words[YES] - larger, words[NO], words[OPEN] + words[UNTESTED] - sequence
    unused = results.row("wang2017.thm5.3", "literal-epsilon").epsilon_real
    need(proven + larger + refuted + sequence + rest == stated, proven > refuted > 0, unused == math.inf)
    return Said(
        title=f"Of {stated} theorems and rows that state private noise, {proven} are proven private as printed, and "
        f"{refuted} are refuted by what they release",
        sentence=f"A larger constant than the printed text fixes makes {larger} more private. For {sequence} the query "
        f"sequence exceeds the claim and the output is open, and {rest} are open for other reasons. Algorithm 3 of "
        "wang2017 draws noise and never uses it: its eps is infinite.",
        means="Do not take the noise of a theorem for granted. The privacy ledger has the real eps of every "
        "mechanism, and `dpsco account` has it for your own point.",
        label="theorems and rows that state private noise",
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
    noise, word = printed.noise, printed.word
    real, kind, claimed = noise.epsilon_real, noise.epsilon_real_kind, noise.epsilon_claimed
    ours = results.row("wang2017.thm4.2", "batch_rule-n", "accounted").noise.epsilon_real
    worst = results.worst("wang2017.thm4.2", "ridge_logistic-n")
    steps = worst.calibrated.schedule["epochs"] * worst.calibrated.schedule["inner_steps"]
    c1 = claimed * worst.cell.n**2 / steps
    need(word == "match", real > 1000, kind == "lower", claimed <= 1, ours <= 1, c1 > 1000)
    return Said(
        title=f"DP-SVRG with noise as printed has slope {slope(printed.slope)} in n, where the bound has "
        f"{slope(printed.bound_slope)}, and a real eps of at least {lower(real)} for a claim of {number(claimed)}",
        sentence="The eps is of the query sequence as charged, for some records, with the noise of equation (3) and "
        f"its open constant c as 1. The output alone may reveal less. The worst cell is {noise.place}; there the "
        f"theorem's range of eps would need a c1 of {number(c1)} (erratum E1). Accounted noise keeps it at most "
        f"{ours:.2f}.",
        means="A slope that matches says nothing about privacy. Ask for the real eps of the noise that was plotted.",
        label="real eps, for a claim of 1",
        reference=1,
        points=[
            Point("noise as printed (at least)", real, "printed", "lower"),
            Point("accounted noise (at most)", ours, "private", "upper"),
        ],
    )


@finding(["wang2017.thm4.2", "wang2017.thm4.2.gc"], profiles=BOTH)
def svrg_private(results: Results) -> Said:
    """Price a private DP-SVRG in risk and in gradients."""
    n = 8192
    ours = results.row("wang2017.thm4.2", "batch_rule-n", "accounted")
    private = results.mean_at(ours, n)
    printed = results.mean_at(results.row("wang2017.thm4.2", "ridge_logistic-n"), n)
    counted = results.mean_at(results.row("wang2017.thm4.2.gc", "ridge_logistic-n", "accounted"), n)
    planned = results.mean_at(results.row("wang2017.thm4.2.gc", "ridge_logistic-n"), n)
    word, single = ours.word, results.row("wang2017.thm4.2", "single_record-n", "accounted").word
    price, gradients = private / printed, counted / planned
    need(word == "match", single == "not_observable", price > 3, gradients > 1)
    return Said(
        title=f"Made private with larger batches, DP-SVRG keeps slope {slope(ours.slope)} in n, at {price:.0f} times "
        f"the risk and {gradients:.1f} times the gradients",
        sentence=f"The bound has slope {slope(ours.bound_slope)}. The noise is accounted, and a rule gives the size "
        "of the batches; risk and gradients are at n = 8,192, over those with the printed noise. With batches of one "
        "record, as printed, no rate shows at these sizes.",
        means="The printed constant is not what privacy needs. Plan with the accounted noise, and with batches for it.",
        label="excess risk at n = 8,192",
        points=[Point("noise as printed", printed, "printed"), Point("accounted noise", private, "private")],
    )


@finding(["wang2017.fig1"], profiles=BOTH)
def figure_1(results: Results) -> Said:
    """Compare DP-SVRG with DP-GD on Covertype under both noises."""
    as_printed = results.row("wang2017.fig1", "literal_loss_constant_step")
    constant = results.row("wang2017.fig1", "literal_loss_constant_step", "accounted")
    barzilai = results.row("wang2017.fig1", "literal_loss", "accounted")
    fewer = results.row("wang2017.fig1", "literal_loss_120", "accounted")
    printed, private, bb, short = (row.ratio["end, epsilon 0.5"] for row in (as_printed, constant, barzilai, fewer))
    word, status, bb_word, short_word = constant.word, constant.noise.status, barzilai.word, fewer.word
    need(printed < 1, word == "reversed", private > 1, status == "proven")
    need(bb < 1, bb_word == "holds", short > 1, short_word == "reversed")
    return Said(
        title=f"On Covertype, DP-SVRG with a constant step ends at {printed:.2f} of DP-GD's gap under the printed "
        f"noise, and at {private:.2f} of it under accounted noise",
        sentence=f"So private noise turns this order round, at eps = 0.5 and {constant.noise.place}. The figure has "
        f"no constant step. With the Barzilai-Borwein step DP-SVRG stays below the DP-GD of the figure, at {bb:.2f} "
        f"of its gap. But DP-GD with 120 steps in place of the figure's number ends {short:.1f} times lower than "
        "that.",
        means="Compare methods at equal accounted eps, each with steps that suit this noise. An order that was found "
        "with too little noise need not survive.",
        label="gap of DP-SVRG over that of DP-GD",
        reference=1,
        points=[
            Point("constant step, as printed", printed, "printed"),
            Point("constant step, accounted", private, "private"),
            Point("Barzilai-Borwein, accounted", bb, "private"),
            Point("the same, DP-GD of 120 steps", short, "private"),
        ],
    )


@finding(["bassily2021.thm10.privacy", "bassily2021.thm10.erm"], profiles=BOTH)
def mirror_descent(results: Results) -> Said:
    """Show the factor that noisy mirror descent's variance lacks."""
    printed = results.row("bassily2021.thm10.privacy", "literal-n")
    parts = ("corrected-n", "corrected_kappa2-n", "corrected_kappa2_d32-n")
    fixed = [results.row("bassily2021.thm10.privacy", part) for part in parts]
    explicit = results.row("bassily2021.thm10.erm", "explicit")
    real, kind, claimed = printed.epsilon_real, printed.epsilon_real_kind, printed.epsilon_claimed
    corrected, words = max(row.epsilon_real for row in fixed), " ".join({row.word for row in fixed})
    word, noise = explicit.word, explicit.noise
    largest, largest_kind, status = noise.epsilon_real, noise.epsilon_real_kind, noise.status
    need(word == "holds", real > 100, kind == "lower", claimed <= 1, corrected <= 1, words == "holds")
    need(largest > 1, largest_kind == "upper", status == "unproven")
    return Said(
        title="Noisy mirror descent's variance lacks the factor T: its query sequence has a real eps of "
        f"at least {lower(real)} for a claim of {number(claimed)}, with the factor at most {upper(largest)}",
        sentence=f"The first is at p = 2; its worst cell is {printed.noise.place}. With the factor T the largest "
        f"bound is at {noise.place}, one of the sizes of the risk, and does not show the claim. In three sweeps of "
        f"the privacy alone, at p = 2 or 1.5 and d <= 32, it is at most {upper(corrected)}, which does.",
        means="Use the corrected variance, and let an accountant check it. The explicit bound on the risk is met "
        "with it.",
        label="real eps, for a claim of 1",
        reference=1,
        points=[
            Point("variance as printed (at least)", real, "printed", "lower"),
            Point("with the factor T (at most)", largest, "private", "upper"),
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
        title=f"The printed noise of polytope Frank-Wolfe uses at most {poly:.2f} of the claimed eps, that of "
        f"shuffled truncated mirror descent {shuffled:.2f} and that of online-to-batch {otb:.2f}",
        sentence="These are the largest shares where rates and privacy were measured; audits, with far fewer "
        "records, are not among them. Shuffled truncated mirror descent has two open constants: its noise's is 1, "
        f"its range's 2. At {pairs} points of {len(sweeps)} sweeps both the printed and the accounted noise are "
        f"proven private. The accounted noise's excess risk there is {middle:.2f} of the printed noise's at the "
        f"median, from {min(ratios):.4f} to {max(ratios):.2f}.",
        means="A proof that is generous costs its users records. Have the noise of a proven mechanism calibrated by "
        "an accountant.",
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
    kinds, claims = {row.epsilon_real_kind for row in below}, {row.epsilon_claimed for row in below}
    need(sco > 1.2, erm > 1.2, claimed == 1, kind == "exact", planar > 16, planar_erm > 8)
    need(kinds == {"lower"}, claims == {8})
    return Said(
        title=f"The regularised exponential mechanism has an eps of {sco:.2f} (Theorem 4) or {erm:.2f} (Theorem 3) for "
        f"a claim of {number(claimed)}",
        sentence="That is at p = 2, exactly, of the worst pair of data sets of two points on an axis. At p = 1.5 two "
        f"data sets in a plane show at least {lower(planar)} (Theorem 4) and {lower(planar_erm)} (Theorem 3) for a "
        "claim of 8.",
        means="The theorems replace a record, and their proofs take the difference of two losses to be G-Lipschitz, "
        "where it is 2G-Lipschitz. Check the sensitivity that a proof uses. The accounted law keeps the claim.",
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
        title=f"Of {matching} slopes that match under the papers' noise, {owed} say little about it: without noise "
        "at least half of the risk is left",
        sentence=f"Such a slope is that of the schedule. These {owed} are of {len({row.id for row in schedule})} "
        f"theorems and rows. Of all, {sum(bool(row.recalled) for row in rows)} ran with noise recalled of a cited "
        "source.",
        means="A slope plot is evidence about noise only beside the same plot with the noise off. Every rate's page "
        "on the site shows both.",
        label="slopes that match under the papers' noise",
        points=[Point("all", matching, "plain"), Point("at least half of the risk without noise", owed)],
        rows=schedule,
    )


@finding(["bassily2021.thm4"], profiles=BOTH)
def vertices(results: Results) -> Said:
    """Compare polytope Frank-Wolfe's slope in ln K with that of its bound."""
    row = results.row("bassily2021.thm4", "lnk")
    exact = results.row("bassily2021.thm4", "lnk_law")
    measured, bound, word, claimed = row.slope, row.bound_slope, row.word, row.noise.epsilon_claimed
    law, percent = exact.word, 100.0 * abs(exact.worst_ratio - 1.0)
    explicit = results.row("bassily2021.thm4", "explicit").word
    need(explicit == "vacuous", claimed == 16, word == "fails", measured > bound, law == "holds", percent < 10)
    return Said(
        title=f"In ln K, with K vertices, the risk of polytope Frank-Wolfe grows with slope {slope(measured)} at eps "
        f"= {claimed:.0f}, not {slope(bound)} as the bound says",
        sentence=f"The sweep ends at {row.noise.place}, where the explicit bound is vacuous. The exact law of a "
        f"noisy minimum gives the measured values to within {upper(percent)} %. By it the slope falls to 1 as K "
        "grows.",
        means="At the sizes that one runs, the bound's logarithm is too kind. Use the exact law, which is computed "
        "in a moment.",
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
    word, place = sets.word, sets.noise.place
    need(
        place == "n = 131,072, d = 256", 0.3 < linear < 0.9, 1.7 < boundary < 2.4, -0.1 < inside < 0.1, word == "holds"
    )
    return Said(
        title=f"Objective perturbation's risk grows in the Gaussian width with slope {slope(boundary)} on l2 balls "
        f"of growing dimension, but with {signed(f'{inside:.2g}')} among sets in d = 256 with the optimum inside",
        sentence="On the l2 balls the optimum lies on the boundary, and Theorem 4 has a slope of "
        f"{slope(balls.bound_slope, 0)}. The sets are k-support balls, from the l1 to the l2 ball. With linear "
        f"losses on such balls, their optimum on the boundary, the slope is {slope(linear)}; Theorem 2 has "
        f"{slope(linear_balls.bound_slope, 0)}.",
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
    moving, bound, word = row.slope, row.bound_slope, row.word
    need(frozen == "not_observable", word == "match", 0.02 < moving < 0.15, bound < 0.15)
    return Said(
        title="The parameter-free learner leaves its start at a signal that hardly depends on the distance to the "
        f"optimum: slope {slope(moving)}, {slope(bound)} by the bound",
        sentence="Noise is off. So the risk there is proportional to the distance, as Theorem 11 says. These slopes "
        "are with smaller, certified constants. With the printed C = 1 it left its start at no distance and no "
        "signal tried.",
        means="The constants of the analysis hide the adaptation at these sizes. Smaller ones show it.",
        label="slope of the signal in the distance to the optimum",
        linear=True,
        points=[Point("measured", moving), Point("the bound", bound, "plain")],
    )


@finding(["su2023.table1.app_objp"], profiles=REDUCED, pages=[BOARD_POINTS])
def generalised_linear(results: Results) -> Said:
    """Compare objective perturbation with methods that add noise as they iterate."""
    close = results.point("logistic-l2", n=1024, d=8, epsilon=1)
    distant = results.point("logistic-l2", n=16384, d=8, epsilon=1)
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
        title="On logistic losses with n = 1,024, d = 8 and eps = 1 the best method that adds noise as it iterates "
        f"has {near:.1f} times the excess risk of approximate objective perturbation",
        sentence=f"At n = 16,384 the best such method that ran has {far:.0f} times. At the {points} decided points "
        "of this instance, logistic losses on the l2 ball, objective perturbation has the least mean risk at "
        f"{wins}. It has or shares the first place at {shared(decided, 'app_objp')}.",
        means="For logistic losses with known constants, objective perturbation is one to try first. Its assumptions "
        "have to hold, and at other eps a method that iterates can be as good.",
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
        title=f"One noisy mean has the least mean risk at {wins} of {points} decided points with linear losses on "
        "the l1, l1.5 and l2 balls",
        sentence="The method is linear minimisation after generalised Gaussian noise. At "
        f"{shared(rows, 'reg_exp_mech')} of these points the exponential mechanism shares the first place. Left "
        f"undecided on the l2 ball: {undecided}. Few compete: {l1} methods ran on the l1 ball and {between} on the "
        f"l1.5 ball, {l2} on the l2 ball.",
        means="A single query with the right noise is enough there. Look for such a query before you iterate.",
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
        title=f"Of {every} errata of the five papers {rate} change a rate of the papers' own methods, {constant} a "
        f"constant, {guarantee} a privacy guarantee, and {text} none of these",
        sentence=f"Each entry has its calculation, and {run} have a command that runs or shows what they speak of. "
        f"The other {hand} are checked by hand, along the calculation. Of all entries {of['wang2017']} are on "
        f"wang2017, {of['su2023']} on su2023, {of['zhang2022']} on zhang2022, {of['bassily2021']} on bassily2021 and "
        f"{gopi} on gopi2022.",
        means="A guarantee counts here where a stated epsilon is exceeded, and also where the privacy of a method is "
        "only not shown. The entry says what follows from it, and what does not. An entry that is only loose says so.",
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
    phased, output = won(low, "phased_dp_sgd"), won(high, "output_perturbation_zhang17")
    search, undecided = max(over_search(rows)), len(results.undecided(*REAL))
    costs = [" or ".join(dict.fromkeys(map(cost_text, results.undecided(instance)))) for instance in REAL]
    need(largest == 1024, low_most < 20, high_least > low_most, phased == low_points, output == high_points)
    need(low_points + high_points == points, search > 1, undecided >= 1, all(costs))
    return Said(
        title=f"With {largest:,} real records the least private risk is at most {upper(low_most)} % below the "
        f"starting point's up to eps = 1, and {lower(high_least)} to {upper(high_most)} % below it at eps = 4",
        sentence="The data are Covertype, Adult and KDD Cup 99. Up to eps = 1 phased SGD has the least mean risk at "
        f"all {low_points} points, {ties(low)} of them ties. At eps = 4 output perturbation has it at all "
        f"{high_points}, {ties(high)} of them ties. A public search has up to {search:.1f} times less risk. The "
        f"{undecided} larger points are undecided. Deciding one would take {costs[0]} on Covertype, {costs[1]} on "
        f"Adult and {costs[2]} on KDD Cup 99.",
        means="At these sizes privacy leaves almost nothing up to eps = 1. On large real data the board does not say "
        "who wins; it says what knowing would cost. `dpsco choose` asks the same of your own point.",
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
    mean, strong, balls = (
        results.decided("mean"),
        results.decided("strong-ball"),
        results.decided("logistic-l1", "logistic-l2"),
    )
    accept, su_accept = ran(heavy), ran(heavy, "su2023")
    euclid, mechanism, descent = won(heavy, "heavy_tailed_euclid"), won(cube, "reg_exp_mech"), won(squares, "noisy_smd")
    sphere, objective = won(mean, "app_objp_sc"), won(balls, "app_objp")
    winners, tied = len({row.winner for row in strong}), ties(strong)
    need(accept == su_accept, euclid > 0.5 * len(heavy), mechanism == len(cube), descent >= 0.5 * len(squares))
    need(sphere >= 0.5 * len(mean), objective >= 0.5 * len(balls), winners == len(strong), tied == len(strong))
    return Said(
        title="Of the methods tried, only those run for su2023 accept heavy tails; our stand-in for one that it "
        f"cites has the least mean risk at {euclid} of {len(heavy)} decided points",
        sentence=f"On noisy quadratics each of {len(strong)} decided points has another method of least risk, always "
        f"tied. Elsewhere one often has it: the exponential mechanism at {mechanism} of {len(cube)} points with "
        f"linear losses on the linf ball, noisy mirror descent at {descent} of {len(squares)} of least squares. For "
        f"the mean on a sphere strongly convex objective perturbation has {sphere} of {len(mean)}, and the "
        f"approximate one {objective} of {len(balls)} of logistic losses on balls.",
        means="With heavy tails few methods are left to choose from, and the stand-in's schedule and constants are "
        "ours. Where first places are shared, ask `dpsco choose` of your own point, and take what is cheapest.",
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
        title=f"At {above} of {points} points a public grid search has less risk than every private method with its "
        "theorem's parameters",
        sentence=f"Of {decided} decided points {points} have a search; elsewhere none of its settings could run. The "
        f"least private risk is {middle:.2f} of the search's at the median. With its theorem's parameters the "
        f"searched method has more risk than in the search at {own_above} of {own_points} points, at the median "
        f"{own_middle:.2f} times as much. The largest gains are {kdd:.1f} times on KDD Cup 99, {cube:.1f} on the "
        f"linf ball and {heavy:.1f} for heavy tails.",
        means="The search is not private and has few settings. It shows what better parameters could gain, and not "
        "what a private choice of them would leave of that.",
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
        title="With d = 8, on ridge logistic losses and least squares, the starting point shares the first place up "
        f"to n eps/sqrt(d) = {last:.1f}, and is beaten from {after:.0f}",
        sentence=f"On Covertype, with d = 54, these two are {near:.1f} and {far:.0f}; no decided point lies between. "
        f"On linear losses with d = 8 a method beats the start from {linear_from:.1f} on, the least that was tried. "
        f"Of {len(rows)} decided points the start has the least mean risk at {first}, and has or shares the first "
        f"place at {shared(rows, TRIVIAL)}, nowhere above n eps/sqrt(d) = {highest:.0f}.",
        means="Compute n eps/sqrt(d) before you spend privacy. On these losses the frontier lies between the two "
        "values, on other losses elsewhere. Around and below it, look whether anything beats the start.",
        label="n eps/sqrt(d)",
        points=[
            Point("start shares the first place, d = 8", last),
            Point("a method beats it, d = 8", after, "plain"),
            Point("start shares it, Covertype", near),
            Point("a method beats it, Covertype", far, "plain"),
        ],
    )
