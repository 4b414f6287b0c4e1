import pytest

from dpsco_bench.datasets import registry
from dpsco_bench.errors import DataAbsent, InputError


def test_every_data_set_says_what_it_is_and_where_it_comes_from():
    for name, entry in registry.DATASETS.items():
        assert entry.name == name and all(vars(entry).values())
        assert all(remote.url.startswith("https://") for remote in entry.remote_files)
        assert entry.command == f"python -m dpsco_bench data {name}"
        assert all(len(digest) == 64 for digest in entry.hashes.values())


@pytest.mark.parametrize("call", [registry.fetch, registry.verify])
def test_unknown_data_set_names_the_known_ones(tmp_path, call):
    with pytest.raises(InputError, match="data set = 'mnist': must be one of adult, covertype, kddcup99"):
        call("mnist", tmp_path)


def test_verify_of_an_absent_data_set_names_the_command(tmp_path):
    with pytest.raises(DataAbsent, match="python -m dpsco_bench data covertype"):
        registry.verify("covertype", tmp_path)
