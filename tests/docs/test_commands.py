"""Every command on a page is one that the command line takes: its verb, options and choices."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from forebay.cli.program import program as main

from .blocks import blocks_in
from .test_pages import PAGES, ROOT

PAPERS = sorted((ROOT / "src/forebay/reproduction/papers").rglob("README.md"))
COMMAND = re.compile(r"^\s*(?:\$ )?(?:[A-Z_]+=\S+ )?(?:sudo )?(?:\.venv/bin/)?forebay (.*)$", re.M)
INLINE = re.compile(r"`(?:\$ )?(?:sudo )?(?:\.venv/bin/)?forebay ([a-z][^`]*)`")
PLACEHOLDERS = {"N": "1", "K": "2", "F": "flows.csv", "P": "p.svg", "…": "", "...": ""}
"""What pages write for a value of the reader's."""


def commands(text: str) -> Iterator[str]:
    """Yield what stands after `forebay` in blocks and in running text, without a shell's words."""
    text = re.sub(r"\\\n\s+", " ", text)
    blocks = "\n".join(code for _, _, code in blocks_in(text))
    for match in (*COMMAND.finditer(blocks), *INLINE.finditer(text)):
        line = re.split(r"\s(?:\s\s|(?:\||>|>>|&&|#|;)(?:\s|$))", match[1])[0]
        yield re.sub(r"\[[^\]]*\]$", "", line)


def refused(line: str) -> str:
    """Return why the command line does not take it; "" if it does.

    Files need not exist, and a page may name an option without its value.
    """
    words = [PLACEHOLDERS.get(word, word) for word in shlex.split(line)]
    words = [word.partition("|")[0] for word in words if word]
    with click.Context(main, info_name="forebay") as context:
        command = main.get_command(context, words[0])
        if command is None:
            return f"there is no verb {words[0]!r}"
        try:
            while isinstance(command, click.Group) and len(words) > 1:
                inner = command.get_command(context, words[1])
                if inner is None:
                    return f"there is no verb {words[1]!r}"
                command, words = inner, words[1:]
            parser = command.make_parser(click.Context(command))
            given, _, _ = parser.parse_args(args=words[1:])
        except click.UsageError as error:
            said = error.format_message()
            return "" if "requires an argument" in said else said
    choices = {each.name: each.type for each in command.params}
    for name, value in given.items():
        kind = choices[name]
        for each in value if isinstance(value, list | tuple) else (value,):
            if isinstance(kind, click.Choice) and str(each) not in kind.choices:
                return f"{name}: {each!r} is none of {', '.join(map(str, kind.choices))}"
    return ""


READ = [page for page in PAGES if page.name != "CHANGELOG.md"] + PAPERS
"""The changelog also names what is gone."""


@pytest.mark.parametrize("page", READ, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_command_line_takes_every_command_of_a_page(page: Path) -> None:
    wrong = {line: refused(line) for line in commands(page.read_text(encoding="utf-8"))}
    assert {line: why for line, why in wrong.items() if why} == {}


def test_a_wrong_command_is_seen() -> None:
    assert "no verb" in refused("seize link.toml")
    assert "--bugdet" in refused('size link.toml --bugdet "2 s"')
    assert "no verb 'emmit'" in refused("platforms emmit --answer answer.json")
    assert "none of" in refused("measure a.pcap --rate 1 --at outside")
    assert list(commands("    sudo forebay size a.toml --json > b.json   # as root\n")) == [
        "size a.toml --json"
    ]
