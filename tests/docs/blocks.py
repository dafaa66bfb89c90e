"""The code blocks of a page, in order: a language, a file's name or a status, and the text."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

LANGUAGES = ("sh", "console", "toml", "python", "csv", "text")
"""`text` is what the command before it prints; a line of `console` with "$ " is a command."""


@dataclass(frozen=True)
class Block:
    """A fence of a page: a language, and what to do: `link.toml from oc3-gsr`, or `exits 1`."""

    page: str
    line: int
    language: str
    words: tuple[str, ...]
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def file(self) -> str | None:
        """The name under which a reader saves the block."""
        return self.words[0] if self.words and self.words[0] not in ("exits", "from") else None

    @property
    def base(self) -> str | None:
        """The scenario whose tables this block's own tables replace."""
        return self.after("from")

    @property
    def statuses(self) -> set[int]:
        """The statuses of the last command, such as "0|3" where a machine's speed decides."""
        return {int(status) for status in (self.after("exits") or "0").split("|")}

    def after(self, word: str) -> str | None:
        """Return the word that follows another one."""
        if word not in self.words:
            return None
        return self.words[self.words.index(word) + 1]


def blocks_in(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the line, the info string and the code of each block; an indented one has no info."""
    for token in MarkdownIt().enable("table").parse(text):
        if token.type in ("fence", "code_block") and token.map is not None:
            yield token.map[0] + 1, token.info, token.content


def blocks_of(page: Path, root: Path) -> Iterator[Block]:
    """Yield the blocks of a page; one without a language has the language ""."""
    for line, info, code in blocks_in(page.read_text(encoding="utf-8")):
        language, *words = info.split() or [""]
        yield Block(str(page.relative_to(root)), line, language, tuple(words), code)


def merged(base: str, changes: str) -> dict[str, Any]:
    """Return the tables of a scenario, with those of a block in place of its own."""
    return {**tomllib.loads(base), **tomllib.loads(changes)}
