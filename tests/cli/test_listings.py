"""Commands, Python and JSON that the documents show: they parse, name what is registered, and the quick ones run.

Of a verb that takes long all is checked that it checks before its first run: options, keys, and their values.
"""

import ast
import importlib
import re
import shlex
from pathlib import Path
from unittest.mock import Mock

import pytest

from dpsco_bench.algorithms.registry import list_algorithms
from dpsco_bench.claims.catalogue import claim_ids
from dpsco_bench.cli import main as program
from dpsco_bench.jsonio import loads
from dpsco_bench.problems.registry import list_problems

ROOT = Path(__file__).parents[2]
DOCS = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md"))]
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", *DOCS)
QUICK = {"show", "list", "account"}
KNOWN = {*list_algorithms(), *list_problems(), *claim_ids()}
OWN = ("mine.", "examples/", "example2026", "NAME")
TEXTS = {page: (ROOT / page).read_text(encoding="utf-8") for page in PAGES}
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(kind):
    return [(page, text) for page in PAGES for found, text in BLOCK.findall(TEXTS[page]) if found == kind]


def lines():
    shells = blocks("console") + blocks("")
    return [(page, line) for page, text in shells for line in text.replace("\\\n", " ").splitlines()]


def commands():
    found = {}
    for page, line in lines():
        called = re.match(r"(?:\$ )?(?:python -m dpsco_bench|dpsco) ([a-z].*)", line)
        if called:
            found.setdefault(called[1], page)
    return [pytest.param(shlex.split(call, comments=True), id=f"{page}: {call[:60]}") for call, page in found.items()]


class Reached(BaseException):
    """A verb has checked what it was given, and would begin."""


BEGINS = {
    "audit": "dpsco_bench.cli.verbs.audit.audit_cell",
    "check": "dpsco_bench.audit.contract.calibrate_cell",
    "choose": "dpsco_bench.cli.verbs.choose.choose_at",
    "run": "dpsco_bench.cli.sweeps.run_request",
    "run -m": "dpsco_bench.cli.sweeps.run_sweep",
}


@pytest.mark.parametrize("arguments", commands())
def test_a_command_that_is_shown_works(arguments, monkeypatch, capsys, tmp_path, examples):
    monkeypatch.chdir(tmp_path)
    arguments = [word for word in arguments if not word.startswith("hydra")]
    verb = program.load_verb(arguments[0])
    place = "run -m" if arguments[:2] == ["run", "-m"] else arguments[0]
    if place in BEGINS:
        monkeypatch.setattr(BEGINS[place], Mock(side_effect=Reached))
        with pytest.raises(Reached):
            assert program.main(arguments) == 0, capsys.readouterr().err
        return
    if place not in QUICK:
        monkeypatch.setattr(verb, "execute", lambda args: 0)
    assert program.main(arguments) == 0, capsys.readouterr().err
    own = "-h" in arguments or any(word in " ".join(arguments) for word in OWN)
    assert own or set(named_in(arguments)) <= KNOWN


def named_in(arguments):
    settings = dict(argument.split("=", 1) for argument in arguments if "=" in argument)
    yield from (word for word in arguments[1:] if re.fullmatch(r"[a-z]+20\d\d\.\S+", word))
    if "problem" in settings:
        yield settings["problem"]
    yield from (id.replace("/", ".") for id in settings.get("algorithm", "").split(",") if id)


MAKE = (ROOT / "Makefile").read_text(encoding="utf-8")


def calls_of(page, programs):
    shown = [line.removeprefix("$ ") for here, line in lines() if here == page]
    shown += re.findall(r"`([^`\n]+)`", TEXTS[page])
    return [shlex.split(line, comments=True) for line in shown if re.match(rf"(?:{programs}) ", line)]


@pytest.mark.parametrize("page", PAGES)
def test_scripts_and_what_make_is_called_with_exist(page):
    targets = set(re.findall(r"^([\w.-]+):", MAKE, re.M))
    variables = set(re.findall(r"^(\w+) *\?=|\$\((?:if )?\$?\(?(\w+)\)", MAKE, re.M))
    variables = {name for pair in variables for name in pair}
    words = {word for call in calls_of(page, "make") for word in call[1:]}
    assert {word for word in words if "=" not in word} <= targets
    assert {word.partition("=")[0] for word in words if "=" in word} <= variables
    scripts = [word for call in calls_of(page, "python") for word in call[1:] if word.endswith(".py")]
    assert [file for file in scripts if not (ROOT / file).is_file()] == []


@pytest.mark.parametrize(("page", "code"), blocks("python"))
def test_the_python_that_is_shown_compiles_and_what_it_imports_exists(page, code):
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("dpsco_bench"):
            module = importlib.import_module(node.module)
            assert [name.name for name in node.names if not hasattr(module, name.name)] == []


def test_the_python_of_the_readme_runs(capsys):
    (code,) = re.findall(r"^```python\n(.*?)^```", TEXTS["README.md"], re.M | re.S)
    exec(compile(code, "README.md", "exec"), {})
    assert re.fullmatch(r"[\d.e-]+ [\d.]+ proven\n", capsys.readouterr().out)


JSON = {  # rows of the table of JSON -> calls that are quick
    "`list X`": "list claims",
    "`list errata`": "list errata",
    "`show` of an erratum, or of a paper": "show wang2017.E1",
    "`list algorithms --for`": "list algorithms --for problem=ridge_logistic",
    "`account`": "account wang2017.dp_gd_pl problem=ridge_logistic n=1024 d=5",
}


def keys_told(text):
    """Keys of the outermost braces, and of those in them by the key that they follow."""
    inner = dict(re.findall(r"(\w+): \[?\{([^{}]*)\}", text))
    outer = re.sub(r": \[?\{[^{}]*\}\]?", "", text[text.index("{") + 1 :]).partition("}")[0]
    return {"": outer, **inner}


@pytest.mark.parametrize(("row", "call"), JSON.items())
def test_what_is_printed_as_json_has_the_keys_that_are_told(dpsco, row, call):
    (told,) = re.findall(rf"^\| {re.escape(row)} \| (.*) \|$", TEXTS["docs/verbs.md"], re.M)
    found = loads(dpsco(*call.split(), "--json").out)
    first = found[0] if told.startswith("list of") else found
    for place, keys in keys_told(told).items():
        values = first[place] if place else first
        names = set(re.findall(r"\w+", keys)) - {"same"}
        assert names <= (values[0] if isinstance(values, list) else values).keys()


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere_and_every_verb_exists(page):
    links = re.findall(r"\]\((?!https?:|#)([^)\s#]+)", TEXTS[page])
    assert [link for link in links if not (ROOT / page).parent.joinpath(link).exists()] == []
    named = re.findall(r"(?:-m dpsco_bench|`dpsco|^dpsco) ([a-z]+)\b", TEXTS[page], re.MULTILINE)
    assert set(named) <= set(program.verb_names())


FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
PIECE = re.compile(r"\n\s*\n|\n(?=\s*(?:[*+-]|\d+\.) )|\n(?=[|#])")
LONGEST = 30


def sentences(page):
    """Sentences of a page's prose: without listings, tables and headings; a piece of code counts as a word."""
    for block in PIECE.split(FENCE.sub("\n\n", re.sub(r"<!--.*?-->", "", page, flags=re.DOTALL))):
        if block.strip()[:1] not in {"", "|", "#"}:
            plain = re.sub(r"`[^`]+`", "Code", re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"\n> ?", " ", block)))
            yield from re.split(r"(?<=[.!?:])[*\"')]*\s+(?=[A-Z*(\"\d])", " ".join(plain.split()))


@pytest.mark.parametrize("page", PAGES)
def test_no_sentence_is_long(page):
    assert [one for one in sentences(TEXTS[page]) if len(re.findall(r"\S*\w\S*", one)) > LONGEST] == []


def test_every_verb_and_every_page_is_told_of():
    verbs, readme = TEXTS["docs/verbs.md"], TEXTS["README.md"]
    assert [verb for verb in program.verb_names() if f"dpsco_bench {verb}" not in verbs] == []
    assert [page for page in DOCS if page not in readme] == []
    assert len(readme.splitlines()) <= 200
