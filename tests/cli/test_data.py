import json
from dataclasses import replace

import pytest

from dpsco_bench.datasets import registry


@pytest.fixture
def calls(monkeypatch):
    """Replace the data set's functions and note what they are asked for."""
    made = []
    entry = registry.DATASETS["covertype"]
    fake = replace(
        entry,
        fetcher=lambda root: made.append(("fetch", root)) or {"status": "verified", "fetched": True},
        verifier=lambda root: made.append(("verify", root)) or {"status": "verified"},
    )
    monkeypatch.setitem(registry.DATASETS, "covertype", fake)
    return made


def test_fetches_by_default_and_verifies_on_request(dpsco, calls, tmp_path):
    found = json.loads(dpsco("data", "covertype", "--root", "here", "--json").out)
    known = registry.DATASETS["covertype"].told
    assert found == {**known, "status": "verified", "fetched": True} and known["data_set"] == "covertype"
    outcome = dpsco("data", "covertype", "--verify", "--root", "here")
    assert outcome.code == 0 and "verified" in outcome.out and "CC BY 4.0" in outcome.out
    assert [what for what, _ in calls] == ["fetch", "verify"] and {str(root) for _, root in calls} == {"here"}
