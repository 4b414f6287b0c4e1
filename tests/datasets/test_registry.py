import pytest

from dpsco_bench.datasets import covertype, registry
from dpsco_bench.datasets.distribution import ADULT, KDDCUP99
from dpsco_bench.errors import DataAbsent, InputError


def test_every_data_set_says_what_it_is_and_where_it_comes_from():
    for name, entry in registry.DATASETS.items():
        assert entry.name == name and all(entry.told.values())
    for remote in (*covertype.REMOTE_FILES, *ADULT.remote_files, *KDDCUP99.remote_files):
        assert remote.url.startswith("https://")


@pytest.mark.parametrize("call", [registry.fetch, registry.verify])
def test_unknown_data_set_names_the_known_ones(tmp_path, call):
    with pytest.raises(InputError, match="data set = 'mnist': must be one of adult, covertype, kddcup99"):
        call("mnist", tmp_path)


def test_verify_of_an_absent_data_set_names_the_command(tmp_path):
    with pytest.raises(DataAbsent, match="python -m dpsco_bench data covertype"):
        registry.verify("covertype", tmp_path)
