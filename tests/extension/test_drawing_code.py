"""Code of one's own that draws or ranks is in what figures, site and standings depend on, with what lies beside it."""

import sys
from types import SimpleNamespace

import pytest

from dpsco_bench.claims.bounds.registry import BOUNDS
from dpsco_bench.cli.depends import board_digest, own_drawing
from dpsco_bench.errors import DpscoError
from dpsco_bench.execution import plugins
from dpsco_bench.execution.digest import code_digest
from dpsco_bench.report.own_figures import FIGURES, PANELS

DRAWS = """\
from functools import partial
from drawers import nothing
from dpsco_bench.report.own_figures import claim_panels, paper_figure

claim_panels("mine.claim")(partial(nothing, "a"))


@paper_figure("mine.figure", "A figure", "")
def figure(inputs):
    return []
"""
FAMILY = "from dpsco_bench.claims.bounds.registry import bound\n\n\ndef add(name, c):\n"
FAMILY += "    bound(name, f'{c}/n')\n"


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(plugins, "_GIVEN", set())
    before, modules = {registry: registry.registered() for registry in (PANELS, FIGURES, BOUNDS)}, {*sys.modules}

    def load(name, folder="", **helpers):
        (tmp_path / folder).mkdir(exist_ok=True)
        files = {own: tmp_path / folder / f"{own}.py" for own in helpers}
        for own, text in helpers.items():
            files[own].write_text(text)
        plugins.load_plugins([files[name]])
        return files

    yield load
    for registry, known in before.items():
        registry.forget(*(registry.registered().keys() - known.keys()))
    for module in {*sys.modules} - modules:
        if str(getattr(sys.modules[module], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[module]


def edit(path):
    path.write_text(path.read_text() + "EDITED = 1\n")


def test_a_figure_and_a_site_depend_on_what_draws_of_ones_own(plugin):
    files = plugin("mine", mine=DRAWS, drawers="def nothing(name, results):\n    return []\n")

    def digests():
        return [code_digest(own_drawing(id)) for id in ("mine.claim", "", "mine.other", "leaderboard.covertype")]

    found = [digests()]
    for file in files.values():
        edit(file)
        found.append(digests())
    claim, site, *others = zip(*found, strict=True)
    assert len({*claim}) == len({*site}) == 3 and [len({*other}) for other in others] == [1, 1]


def test_standings_depend_on_the_factory_of_a_bound(plugin):
    files = plugin("mine", mine="from families import add\n\nadd('mine.one_n', 1.0)\n", families=FAMILY)
    board = SimpleNamespace(instances=[SimpleNamespace(lower_bound="mine.one_n")])
    entry, found = SimpleNamespace(board=board, digest="", jobs=[]), []
    for file in files.values():
        found.append(board_digest(entry))
        edit(file)
    assert len({*found, board_digest(entry)}) == 3


def test_a_module_that_is_not_beside_a_plugin_is_said_with_where_it_is_looked_for(plugin):
    with pytest.raises(DpscoError, match="No module named 'no_such_helper', line 1; it is looked for beside the file"):
        plugin("mine", mine="import no_such_helper\n")


def test_a_helper_of_another_plugin_stands_for_no_own_one(plugin):
    plugin("mine", "first", mine="from common_helper import A\n", common_helper="A = 1\n")
    with pytest.raises(DpscoError, match=r"common_helper\.py is taken from .*first"):
        plugin("other", "second", other="def later():\n    import common_helper\n", common_helper="A = 2\n")
    plugin("alone", "third", alone="from sole_helper import A\n", sole_helper="A = 3\n")
