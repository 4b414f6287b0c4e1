"""Status rules of the privacy ledger, and their words, in one place."""

from __future__ import annotations

KINDS = ("upper", "exact", "lower")
SEVERITY = ("none", "proven", "target_law_only", "unproven", "exceeds_claim")
"""Statuses, the best first."""
STATUS_WORDS = {
    "none": "no noise",
    "proven": "proven",
    "target_law_only": "target law only",
    "unproven": "not shown",
    "exceeds_claim": "exceeds the claim",
}
SEQUENCE_WORDS = "not shown, the query sequence exceeds the claim"
"""The same of a sequence above the claim, if nothing is known of the output."""
STATUS_CLAUSES = {
    "proven": "private",
    "target_law_only": "proven of the target law only",
    "unproven": "not shown to be private",
    "exceeds_claim": "not private",
}
"""The same said of noise."""
SIGNS = {"upper": "<=", "lower": ">=", "exact": "="}
PHRASES = {"upper": "at most ", "lower": "at least ", "exact": ""}
"""Relation of an accountant's epsilon to the true one."""
OUTPUT, RELEASE, SEQUENCE = "output", "release", "sequence"
"""Subjects of an epsilon: all that is released, the one answer that the output is made of, or all answers."""
OF = {OUTPUT: "of the output", RELEASE: "of its one release", SEQUENCE: "of the query sequence", "": ""}
"""The same in words."""
SOME_RECORDS = "for some records that the theorem admits"
"""Condition of a lower bound that no records of the instance are known to attain."""
ROUNDING = 1e-9


def privacy_status(
    kind: str,
    epsilon_real: float,
    epsilon_claimed: float,
    constants: str,
    calibration: str,
    exact_minimiser: bool = False,
    sampler_status: str = "",
    of: str = OUTPUT,
) -> str:
    """Decide the status of a run's privacy.

    ``kind`` says what ``epsilon_real``, NaN if no accountant covers the run, is to the true epsilon. ``proven``: upper
    or exact and at most the claim. ``exceeds_claim``: exact or lower and above the claim, of what is released; a
    ``sequence`` above it leaves the output open. ``target_law_only``: as proven, but for the law that an exact
    minimiser has; or a draw of a sampler without a proof, whatever epsilon its target law has. Everything else is
    ``unproven``: an upper bound above the claim refutes nothing.
    """
    if calibration == "none":
        return "none"
    if constants == "nominal":
        return "unproven"
    if sampler_status == "target_law_only":
        return "target_law_only"
    limit = epsilon_claimed * (1.0 + ROUNDING)
    if kind in ("upper", "exact") and epsilon_real <= limit:
        return "target_law_only" if exact_minimiser else "proven"
    if kind in ("exact", "lower") and epsilon_real > limit and of != SEQUENCE:
        return "exceeds_claim"
    return "unproven"


def draw_statement(
    sampler_status: str,
    epsilon_real: float | None,
    epsilon_law: float | None,
    tau: float | None,
    delta: float,
    nominal: bool = False,
    kind: str = "upper",
) -> str:
    """Describe the privacy of a drawn output; a draw without a proof never gets a bare (epsilon, delta).

    ``nominal`` constants are declared and prove nothing; ``kind`` is that of `epsilon_real`.
    """
    if nominal:
        said = draw_statement(sampler_status, epsilon_real, epsilon_law, tau, delta, kind=kind)
        return f"NOT proven private, as the constants are only declared; if they held: {said}"
    law = (
        "the target law is not private"
        if epsilon_law is None
        else f"the target law is ({epsilon_law:.4g}, {delta:g})-DP"
    )
    if sampler_status == "target_law_only":
        return f"{law}; this run is NOT proven private"
    known = epsilon_real is not None and epsilon_real == epsilon_real
    if sampler_status == "exact" and kind == "lower":
        return f"{law} (real arithmetic), and two data sets attain {epsilon_real:.4g}"
    if sampler_status == "exact" and known:
        return f"({epsilon_real:.4g}, {delta:g})-DP (real arithmetic)"
    if known:
        return f"({epsilon_real:.4g}, {delta:g})-DP, tau = {tau:.3g}"
    return f"{law}, the draw within tau = {tau:.3g} of it; for that tau no epsilon reaches delta"
