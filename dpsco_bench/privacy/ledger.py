"""What may be said about the privacy of a run: the status rules of the ledger, in one place."""

from __future__ import annotations

KINDS = ("upper", "exact", "lower")
STATUSES = ("proven", "exceeds_claim", "unproven", "target_law_only", "none")
ROUNDING = 1e-9


def privacy_status(
    kind: str,
    epsilon_real: float,
    epsilon_claimed: float,
    constants: str,
    calibration: str,
    exact_minimiser: bool = False,
    sampler_status: str = "",
) -> str:
    """Status of a run's privacy.

    Parameters
    ----------
    kind : str
        ``upper``, ``exact`` or ``lower``: what `epsilon_real` is to the true epsilon.
    epsilon_real, epsilon_claimed : float
        Accountant's value (NaN where none covers the run) and the claim.
    constants : str
        ``global`` or ``nominal``; a sensitivity that rests on a nominal Lipschitz constant proves nothing.
    calibration : str
        ``none`` has no noise and status ``none``.
    exact_minimiser : bool
        Whether the proof speaks of an exact minimiser where an iterative one is computed.
    sampler_status : str
        Of a drawn output (`queries.SAMPLER_STATUSES`); a sampler without a proof has nothing but its target law.

    Returns
    -------
    str
        ``proven``: upper or exact and at most the claim. ``exceeds_claim``: exact or lower and above the claim.
        ``target_law_only``: as proven, but for the law that an exact minimiser has; or a draw of a sampler without a
        proof, whatever epsilon its target law has.
        Everything else is ``unproven``: an upper bound above the claim refutes nothing.
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
    if kind in ("exact", "lower") and epsilon_real > limit:
        return "exceeds_claim"
    return "unproven"
