import math

import pytest

from dpsco_bench.privacy.ledger import KINDS, SEVERITY, privacy_status

BELOW, AT, ABOVE, UNKNOWN, INFINITE = 0.9, 1.0, 1.1, math.nan, math.inf

TRUTH = {
    ("upper", BELOW): "proven",
    ("upper", AT): "proven",
    ("upper", ABOVE): "unproven",  # an upper bound above the claim refutes nothing
    ("upper", INFINITE): "unproven",
    ("upper", UNKNOWN): "unproven",
    ("exact", BELOW): "proven",
    ("exact", AT): "proven",
    ("exact", ABOVE): "exceeds_claim",
    ("exact", INFINITE): "exceeds_claim",
    ("exact", UNKNOWN): "unproven",
    ("lower", BELOW): "unproven",  # a lower bound proves nothing
    ("lower", AT): "unproven",
    ("lower", ABOVE): "exceeds_claim",
    ("lower", INFINITE): "exceeds_claim",
    ("lower", UNKNOWN): "unproven",
}


@pytest.mark.parametrize(("kind", "epsilon"), TRUTH)
@pytest.mark.parametrize("calibration", ["paper", "accounted"])
def test_truth_table(kind, epsilon, calibration):
    assert privacy_status(kind, epsilon, 1.0, "global", calibration) == TRUTH[kind, epsilon]


@pytest.mark.parametrize(("kind", "epsilon"), TRUTH)
def test_nominal_constants_prove_and_refute_nothing(kind, epsilon):
    assert privacy_status(kind, epsilon, 1.0, "nominal", "paper") == "unproven"


@pytest.mark.parametrize(("kind", "epsilon"), TRUTH)
@pytest.mark.parametrize("constants", ["global", "nominal"])
def test_without_noise_there_is_no_status(kind, epsilon, constants):
    assert privacy_status(kind, epsilon, 1.0, constants, "none") == "none"


def test_the_table_is_complete():
    assert {kind for kind, _ in TRUTH} == set(KINDS)
    assert set(TRUTH.values()) | {"none", "target_law_only"} == set(SEVERITY)


def test_rounding_of_the_solver_is_no_violation():
    assert privacy_status("exact", 1.0 + 1e-12, 1.0, "global", "accounted") == "proven"
    assert privacy_status("exact", 1.0 + 1e-6, 1.0, "global", "accounted") == "exceeds_claim"


@pytest.mark.parametrize(("kind", "epsilon"), TRUTH)
def test_a_sampler_without_a_proof_is_never_promoted(kind, epsilon):
    found = privacy_status(kind, epsilon, 1.0, "global", "accounted", sampler_status="target_law_only")
    assert found == "target_law_only"
