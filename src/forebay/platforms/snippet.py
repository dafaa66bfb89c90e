"""A snippet of configuration, untrusted and of limited size, as lines and statements."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from forebay.platforms.errors import PlatformError

MOST_BYTES = 1 << 20
MOST_QUEUES = 2000
_DEEPEST = 64
_TOKEN = re.compile(r"""[{};]|"[^"]*"|'[^']*'|[^\s{};"']+""")


@dataclass(frozen=True, slots=True)
class Statement:
    """The words of one line, or of one path through braces; ``line`` counts from 1."""

    line: int
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Snippet:
    """Text of at most 1 MiB. ``comment`` starts a comment if it stands before a word."""

    text: str
    comment: str | None = None

    @classmethod
    def decode(cls, raw: bytes) -> Snippet:
        """Return the text of a file. Raises PlatformError if it is too long or not UTF-8."""
        if len(raw) > MOST_BYTES:
            wrong = f"the configuration is longer than {MOST_BYTES} bytes"
            raise PlatformError("too-long", wrong, "cut out the part about queues")
        try:
            return cls(raw.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            wrong = f"byte {error.start} of the configuration is not UTF-8"
            raise PlatformError("not-text", wrong, "save it as plain text") from None

    def with_comment(self, comment: str | None) -> Snippet:
        """Return the same text with another comment character."""
        return Snippet(self.text, comment)

    def lines(self) -> Iterator[Statement]:
        """Yield the words of each line; a backslash at its end continues it on the next."""
        words: list[str] = []
        start = 0
        for number, line in enumerate(self.text.split("\n"), 1):
            start = start or number
            found, goes_on = self._words(line)
            words += found
            if not goes_on:
                if words:
                    yield Statement(start, tuple(words))
                words, start = [], 0
        if words:
            yield Statement(start, tuple(words))

    def _words(self, line: str) -> tuple[list[str], bool]:
        found: list[str] = []
        for word in line.split():
            if self.comment and word.startswith(self.comment):
                return found, False
            found.append(word)
        if found and found[-1].endswith("\\"):
            last = found.pop()[:-1]
            return found + ([last] if last else []), True
        return found, False

    def statements(self) -> Iterator[Statement]:
        """Yield each statement with the path of braces before it (Junos, VyOS).

        A line's end closes a statement like a semicolon. Raises PlatformError if braces are
        nested too deeply.
        """
        path: list[tuple[str, ...]] = []
        for number, line in enumerate(self.text.split("\n"), 1):
            words: list[str] = []
            for token in _TOKEN.findall(self._uncommented(line)):
                if token not in ("{", "}", ";"):
                    words.append(token.strip("\"'"))
                    continue
                if token == "{":
                    path.append(tuple(words))
                    _check_depth(path)
                else:
                    yield from _statement(number, path, words)
                    if token == "}" and path:
                        path.pop()
                words = []
            yield from _statement(number, path, words)

    def _uncommented(self, line: str) -> str:
        bare = line.lstrip()
        if self.comment and bare.startswith((self.comment, "/*")):
            return ""
        return line

    def json(self) -> Any:
        """Return the text as JSON. Raises PlatformError."""
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError) as error:
            reason = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
            wrong = f"this is not JSON: {reason}"
            raise PlatformError("not-json", wrong, "paste the whole JSON document") from None


def _statement(number: int, path: list[tuple[str, ...]], words: list[str]) -> Iterator[Statement]:
    if words:
        yield Statement(number, (*(word for part in path for word in part), *words))


def _check_depth(path: list[tuple[str, ...]]) -> None:
    if len(path) > _DEEPEST or len(path[-1]) > _DEEPEST:
        wrong = f"braces with more than {_DEEPEST} levels, or words before one"
        raise PlatformError("too-deep", wrong, "cut out the part about queues")


def whole(text: str, most: int = 2**64 - 1) -> int | None:
    """Return a whole number from 0 to ``most``, or None if the text is not one."""
    if not (0 < len(text) <= 20 and text.isascii() and text.isdigit()):
        return None
    number = int(text)
    return number if number <= most else None


def decimal(text: str, most: int) -> Fraction | None:
    """Return a number such as "10.25" from 0 to ``most``, or None if the text is not one."""
    before, point, after = text.partition(".")
    parts = (whole(before, most), whole(after if point else "0"))
    if parts[0] is None or parts[1] is None:
        return None
    number = parts[0] + Fraction(parts[1], 10 ** len(after or "0"))
    return number if number <= most else None


def plain(value: Any) -> str:
    """Return a JSON string or number as text, and anything else as "…"."""
    scalar = isinstance(value, str | int | float) and not isinstance(value, bool)
    return str(value)[:40] if scalar else "…"
