"""The tables of sentences, and the facts that the code makes: each kind has its sentence."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

from forebay import words
from forebay.words import Fact, Notation, Term, argument, either, entry, option, setting

SRC = Path(words.__file__).parents[1]
PYTHON, FILE, COMMAND_LINE = Notation
FORMS = {"option", "argument", "entry", "setting", "either", "literal"}
MAKERS = (
    "Fact", "Error", "Unavailable", "unavailable", "super().__init__", "found.add", "found.refuse",
    "found.note", "share",
)  # fmt: skip
CODE = {path: path.read_text(encoding="utf-8") for path in sorted(SRC.rglob("*.py"))}


def kinds() -> dict[str, str]:
    """Return all sentences by kind, also those of hints."""
    tables = [words.table(text) for text in words.TABLES]
    assert len(set().union(*tables)) == sum(map(len, tables)), "a kind stands in two tables"
    return {kind: said for table in tables for kind, said in table.items()}


def facts() -> Iterator[tuple[str, str, set[str] | None]]:
    """Yield where a fact is made, each kind it may have, and the names of its values.

    The names are None if they vary.
    """
    for path, text in CODE.items():
        for call in ast.walk(ast.parse(text)):
            if not isinstance(call, ast.Call) or not call.args:
                continue
            if not ast.unparse(call.func).endswith(MAKERS):
                continue
            names = {word.arg for word in call.keywords if word.arg}
            varies = any(word.arg is None for word in call.keywords)
            plain = (given for given in call.args if not isinstance(given, ast.Call))
            for kind in (part for given in plain for part in ast.walk(given)):
                if isinstance(kind, ast.Constant) and isinstance(kind.value, str):
                    yield f"{path.name}:{call.lineno}", kind.value, None if varies else names


def named(said: str) -> set[str]:
    """Return the values that a sentence names."""
    parsed = list(Formatter().parse(said))
    fields = {name.partition(".")[0].partition("[")[0] for _, name, _, _ in parsed if name}
    inside = {name for _, _, spec, _ in parsed if spec for name in named(spec)}
    return (fields | inside) - FORMS


def test_a_kind_has_its_sentence():
    told = kinds()
    for place, kind, _ in facts():
        if re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", kind):
            assert kind in told or f"{kind}.hint" in told, (place, kind)


def test_a_fact_has_the_values_that_its_sentence_names():
    told = kinds()
    for place, kind, names in facts():
        if kind in told and names is not None:
            needed = named(told[kind]) | named(told.get(f"{kind}.hint", ""))
            assert needed - {"value"} <= names, (place, kind)


TOML = re.compile(r"""\{ "?[\w.]+"? = |\[\[(?!")|\[[a-z]+\]|\b[a-z_.]+ = ["\[{\d]""")
OPTION = re.compile(r"(?<![\w-])--[a-z]")
OF_OPTIONS = re.compile(
    r"(unreadable-document|refused|engine-unavailable|study|made|judged|platforms|two-sizes|no-size"
    r"|class-queues|sweep)\b.*"
)
"""Kinds of the command line, the page or of other programs, or that name both notations."""
OF_GRID_FILES = {"bad-grid.axes.hint", "bad-grid.base.hint", "bad-grid.no-base.hint"}


def test_what_notations_write_differently_is_a_term():
    """Python and the command line write it in another way."""
    for kind, said in kinds().items():
        plain = "".join(text for text, *_ in Formatter().parse(said))
        assert kind in OF_GRID_FILES or not TOML.search(plain), (kind, said)
        assert OF_OPTIONS.fullmatch(kind) or not OPTION.search(plain), (kind, said)


def test_no_error_of_ours_brings_a_text():
    """A defect does: its text is that of the exception."""
    classes = [
        node for text in CODE.values() for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef)
    ]  # fmt: skip
    ours = {"ForebayError", "Fact"}
    for _ in range(3):  # as many as stand below each other
        ours |= {each.name for each in classes if {ast.unparse(of) for of in each.bases} & ours}
    assert len(ours) > 30
    ours -= {"Defect"}
    told = [
        (path.name, call.lineno, part.value) for path, text in CODE.items()
        for call in ast.walk(ast.parse(text))
        if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] in ours
        for given in call.args[:1] for part in ast.walk(given)
        if isinstance(part, ast.Constant) and " " in str(part.value)
    ]  # fmt: skip
    assert told == []


def test_every_sentence_is_told_by_some_code():
    """A kind stands in the code, or that of a regime by its parts."""
    text = "".join(CODE.values())
    unsaid = [kind for kind in kinds() if not kind.endswith(".hint") and f'"{kind}"' not in text]
    parts = {part for kind in unsaid for part in kind.split(".")[1:]} - {"change"}
    assert all(kind.startswith("regime.") for kind in unsaid)
    assert [part for part in parts if f'"{part}"' not in text] == []


@pytest.mark.parametrize(
    ("term", "python", "file", "command_line"),
    [
        (option("engine", "theory"), 'engine="theory"', 'engine = "theory"', "--engine theory"),
        (option("budget", "2 min"), 'budget="2 min"', 'budget = "2 min"', '--budget "2 min"'),
        (argument("memory_limit"), "memory_limit", "memory_limit", "--memory-limit"),
        (argument("start", "from"), "start", "start", "--from"),
        (entry("ecn", True), "ecn=True", "ecn = true", "ecn = true"),
        (either("a dict", "a table"), "a dict", "a table", "a table"),
        (Term("literal", {"a.b": [1, {"c-d": True}]}), '{"a.b": [1, {"c-d": True}]}',
         '{ "a.b" = [1, { c-d = true }] }', '{ "a.b" = [1, { c-d = true }] }'),
        (entry("mix", {"b c": 1}), 'mix={"b c": 1}', 'mix = { "b c" = 1 }', 'mix = { "b c" = 1 }'),
        (setting("goals.loss_rate", 0.01), 'scenario.replace({"goals.loss_rate": 0.01})',
         "goals.loss_rate = 0.01", "--set goals.loss_rate=0.01"),
    ],
)  # fmt: skip
def test_a_term_is_written_where_it_is_read(term, python, file, command_line):
    assert [term.text(each) for each in Notation] == [python, file, command_line]


def test_a_sentence_is_filled(monkeypatch):
    told = {
        "a": "{n:# packet|# packets} of {value!r}, as in {spread!l}",
        "b": "{inner}, or {option:engine={name}} and {entry:ecn=true}",
        "c": "{late:late|early}",
    }
    monkeypatch.setattr(words, "sentence", told.get)
    spread = {"uniform": ["1 ms", "2 ms"]}
    one = Fact("a", n=1, value="x" * 99, spread=spread)
    assert str(one) == f'1 packet of "{"x" * 59}…", as in {{ uniform = ["1 ms", "2 ms"] }}'
    many = Fact("a", n=3, value={}, spread=spread)
    assert many.text(PYTHON) == '3 packets of a dict, as in {"uniform": ["1 ms", "2 ms"]}'
    both = Fact("b", inner=Fact("c", late=True), name="theory")
    assert both.text(COMMAND_LINE) == "late, or --engine theory and ecn = true"
    assert both == Fact("b", inner=Fact("c", late=True), name="theory") != many


def test_a_text_is_a_fact_of_its_own():
    assert str(Fact("a {name} that stands as it is")) == "a {name} that stands as it is"


class Anything:
    """A value that fits every sentence: a number, with any attribute and item."""

    def __getattr__(self, name):
        return Anything()

    def __getitem__(self, place):
        return Anything()

    def __format__(self, spec):
        return format("7" if spec.startswith(".") and spec[1:].isdigit() else 7, spec)

    def __str__(self):
        return "7"


@pytest.mark.parametrize("notation", Notation)
def test_every_sentence_reads_as_one_line(notation):
    for kind, said in kinds().items():
        told = Fact(kind, **dict.fromkeys(named(said), Anything())).text(notation)
        assert told.isprintable() and "  " not in told, kind
        assert not kind.endswith(".hint") or not told.endswith((".", " ", ";")), kind
