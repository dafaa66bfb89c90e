"""A snippet of configuration, untrusted and of limited size, as statements with their path.

What is wrong with one, or with a size that is wanted, is a PlatformError.

A statement has the statements above it, so that a reader asks for what stands below a known path
and nothing else. They come from braces or paths of words (``statements``), from indentation and
a CLI's sections (``sections``), or there are none (``lines``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from forebay.errors import ForebayError
from forebay.words import one_line

MOST_BYTES = 1 << 20
MOST_QUEUES = 2000
SUFFIXES = {"k": 10**3, "m": 10**6, "g": 10**9}
_DEEPEST = 64
_TOKEN = re.compile(r"""[{};]|"[^"]*"|'[^']*'|[^\s{};"']+""")


class PlatformError(ForebayError, ValueError):
    """An invalid size, platform or snippet."""


class NotRecommended(PlatformError):
    """The evidence of a sizing does not decide which size to configure."""

    exit_status = 3


def short(text: str, most: int = 80) -> str:
    """Return printable text of at most ``most`` characters."""
    shown = one_line(text[: most + 1])  # snippets are untrusted
    return shown if len(shown) <= most else shown[: most - 1] + "…"


@dataclass(frozen=True, slots=True)
class Statement:
    """The words of a statement, and those of the ones it stands in, outermost first.

    ``line`` counts from 1; ``indent`` is that of a line, in characters.
    """

    line: int
    words: tuple[str, ...]
    above: tuple[tuple[str, ...], ...] = ()
    indent: int = 0

    @property
    def path(self) -> tuple[str, ...]:
        """All words above it, and its own."""
        return (*(word for part in self.above for word in part), *self.words)

    @property
    def text(self) -> str:
        """Its own words."""
        return " ".join(self.words)


@dataclass(frozen=True, slots=True)
class Snippet:
    """Text of at most 1 MiB. ``comment`` starts a comment if it stands before a word."""

    text: str
    comment: str | None = None

    @classmethod
    def decode(cls, raw: bytes) -> Snippet:
        """Return the text of a file. Raises PlatformError if it is too long or not UTF-8."""
        if len(raw) > MOST_BYTES:
            raise PlatformError("too-long.configuration", most=MOST_BYTES)
        try:
            return cls(raw.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise PlatformError("not-text", at=error.start) from None

    def lines(self) -> Iterator[Statement]:
        """Yield the words of each line; a backslash at its end continues it on the next."""
        words: list[str] = []
        start = indent = 0
        for number, line in enumerate(self.text.split("\n"), 1):
            if not start:
                bare = line.lstrip()
                start, indent = number, len(line[: len(line) - len(bare)].expandtabs(8))
            parts, goes_on = self._words(line)
            words += parts
            if not goes_on:
                if words:
                    yield Statement(start, tuple(words), (), indent)
                words, start = [], 0
        if words:
            yield Statement(start, tuple(words), (), indent)

    def _words(self, line: str) -> tuple[list[str], bool]:
        words: list[str] = []
        for word in line.split():
            if self.comment and word.startswith(self.comment):
                return words, False
            words.append(word)
        if words and words[-1].endswith("\\"):
            last = words.pop()[:-1]
            return words + ([last] if last else []), True
        return words, False

    def sections(
        self,
        levels: Sequence[Collection[str]],
        *,
        ends: Collection[str] = (),
        last: str = "",
        leaves: Collection[str] = (),
    ) -> Iterator[Statement]:
        """Yield each line with the lines it is indented under.

        Pasted text may have lost its indentation: a line that opens a section holds what follows
        at its own indentation too, if the first line after it stands there. A section ends with
        less indentation, with a line that opens one of its own or a higher level, or with a word
        of ``ends``.

        Parameters
        ----------
        levels : the first words that open a section, from the outermost level on.
        ends : first words that end the innermost section.
        last : word that ends a line which opens a section of no known level.
        leaves : first words of lines that hold none, whatever the indentation after them.
        """
        open_: list[_Section] = []
        for statement in self.lines():
            words, indent = statement.words, statement.indent
            while open_ and open_[-1].indent > indent:
                open_.pop()
            level = next((n for n, heads in enumerate(levels) if words[0] in heads), None)
            if words[0] in ends:
                while open_ and not open_[-1].opens and open_[-1].flat is not False:
                    open_.pop()
                del open_[-1:]
                continue
            while open_ and open_[-1].ends_before(indent, level):
                open_.pop()
            if open_ and open_[-1].flat is None:
                open_[-1].flat = open_[-1].indent == indent
            yield Statement(statement.line, words, tuple(section.words for section in open_))
            if words[0] in leaves:
                continue
            opens = level is not None or (bool(last) and words[-1] == last)
            open_.append(_Section(words, indent, level, opens))
            if len(open_) > _DEEPEST:
                raise PlatformError("too-deep.lines", most=_DEEPEST)

    def statements(self) -> Iterator[Statement]:
        """Yield each statement with the braces it stands in (Junos, VyOS, the MD-CLI of SR OS).

        A line's end closes a statement like a semicolon. Raises PlatformError if braces are
        nested too deeply.
        """
        path: list[tuple[str, ...]] = []
        for number, line in enumerate(self.text.split("\n"), 1):
            words: list[str] = []
            if self.comment and line.lstrip().startswith((self.comment, "/*")):
                continue
            for token in _TOKEN.findall(line):
                if token not in ("{", "}", ";"):
                    words.append(token.strip("\"'"))
                    continue
                if words and token != "{":
                    yield Statement(number, tuple(words), tuple(path))
                if token == "{":
                    path.append(tuple(words))
                    if len(path) > _DEEPEST or len(words) > _DEEPEST:
                        raise PlatformError("too-deep.braces", most=_DEEPEST)
                elif token == "}" and path:
                    path.pop()
                words = []
            if words:
                yield Statement(number, tuple(words), tuple(path))

    def json(self) -> Any:
        """Return the text as JSON. Raises PlatformError."""
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError) as error:
            deep = isinstance(error, RecursionError)
            kind = "not-json.too-deep" if deep else "not-json.parsed"
            raise PlatformError(kind, why=error) from None


@dataclass(slots=True)
class _Section:
    """A line that others may stand in; ``flat`` if they do at its own indentation."""

    words: tuple[str, ...]
    indent: int
    level: int | None
    opens: bool
    flat: bool | None = None

    def ends_before(self, indent: int, level: int | None) -> bool:
        """Whether a line that is not indented less stands beside this one, not in it."""
        if indent > self.indent:
            return False
        outer = level is not None and self.level is not None and level <= self.level
        return not self.opens or self.flat is False or outer


def whole(text: str, most: int = 2**64 - 1) -> int | None:
    """Return a whole number from 0 to ``most``, or None if the text is not one."""
    if not (0 < len(text) <= 20 and text.isascii() and text.isdigit()):
        return None
    number = int(text)
    return number if number <= most else None


def suffixed(text: str, most: int) -> int | None:
    """Return a whole number that may end in k, m or g; None if it is none, or above ``most``."""
    factor = SUFFIXES.get(text[-1:].lower(), 1)
    number = whole(text[:-1] if factor > 1 else text, most)
    return number * factor if number is not None and number * factor <= most else None


def decimal(text: str, most: int) -> Fraction | None:
    """Return a number such as "10.25" from 0 to ``most``, or None if the text is not one."""
    before, point, after = text.partition(".")
    parts = (whole(before, most), whole(after if point else "0"))
    if parts[0] is None or parts[1] is None:
        return None
    number = parts[0] + Fraction(parts[1], 10 ** len(after or "0"))
    return number if number <= most else None


def objects(document: Any) -> Iterator[dict[str, Any]]:
    """Yield each object of a JSON document, in the order of the text."""
    waiting = [document]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            waiting += list(part.values())[::-1]
        elif isinstance(part, list):
            waiting += part[::-1]


def count(value: Any) -> int | None:
    """Return a whole number of JSON, which may be a string; None if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    if isinstance(value, str):
        return whole(value)
    return value if 0 <= value < 2**64 else None


def plain(value: Any) -> str:
    """Return a JSON string or number as text, and anything else as "…"."""
    scalar = isinstance(value, str | int | float) and not isinstance(value, bool)
    return str(value)[:40] if scalar else "…"
