import json

import pytest

from dpsco_bench.datasets import registry
from dpsco_bench.errors import DataAbsent, InputError


def test_description_is_json_and_complete():
    entries = registry.describe()
    assert json.loads(json.dumps(entries)) == entries
    assert [entry["data_set"] for entry in entries] == sorted(registry.DATASETS)
    for entry in entries:
        assert all(entry.values())
        assert all(url.startswith("https://") for url in entry["addresses"])
        assert entry["command"] == f"python -m dpsco_bench data {entry['data_set']}"
        assert all(len(digest) == 64 for digest in entry["hashes"].values())


@pytest.mark.parametrize("call", [registry.fetch, registry.verify])
def test_unknown_data_set_names_the_known_ones(tmp_path, call):
    with pytest.raises(InputError, match="data set = 'mnist': must be one of adult, covertype, kddcup99"):
        call("mnist", tmp_path)


def test_verify_of_an_absent_data_set_names_the_command(tmp_path):
    with pytest.raises(DataAbsent, match="python -m dpsco_bench data covertype"):
        registry.verify("covertype", tmp_path)
