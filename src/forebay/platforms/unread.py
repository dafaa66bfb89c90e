"""Statements about buffers that no reader understood, which lint lists."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from forebay.platforms.errors import short
from forebay.platforms.reading import Unread
from forebay.platforms.snippet import Snippet, Statement

_LONGEST = 2000  # limits the time of regular expressions on hostile lines

Read = frozenset[int | str]
Finder = Callable[[Snippet, Read], Iterator[Unread]]
"""Yields what a reader left out of a snippet; the set has the lines, or keys, that it read."""


def matching(
    pattern: str, statements: Callable[[Snippet], Iterable[Statement]] = Snippet.lines
) -> Finder:
    """Return the finder of statements that match a regular expression of all about buffers."""
    touches = re.compile(pattern)

    def find(snippet: Snippet, read: Read) -> Iterator[Unread]:
        for statement in statements(snippet):
            text = " ".join(statement.path)[:_LONGEST]
            if statement.line not in read and touches.search(text):
                yield Unread(statement.line, short(text))

    return find


def keys(*names: str) -> Finder:
    """Return the finder of a JSON document's keys about buffers that were not read."""

    def find(snippet: Snippet, read: Read) -> Iterator[Unread]:
        for name in dict.fromkeys(_known(snippet.json(), frozenset(names))):
            if name not in read:
                yield Unread(line_of(snippet, name), name)

    return find


def _known(document: Any, names: frozenset[str]) -> Iterator[str]:
    waiting = [document]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield from (key for key in part if key.rpartition(":")[2] in names)
            waiting += list(part.values())[::-1]
        elif isinstance(part, list):
            waiting += part[::-1]


def line_of(snippet: Snippet, key: str) -> int:
    """Return the line of a key of JSON; 1 if it is not found as it is written."""
    before, found, _ = snippet.text.partition(f"{json.dumps(key)}:")
    return before.count("\n") + 1 if found else 1
