"""What a buffer's size is called on each router platform: emit it, and lint what is there.

``ask`` reads what is wanted, ``emit`` writes it for a platform, ``lint`` reads a snippet
back. One platform is one file and one line in the registry.
"""

from typing import TYPE_CHECKING

from forebay.lazy import attributes

if TYPE_CHECKING:
    from forebay.outcome import Memory
    from forebay.platforms.asking import (
        ask,
        found,
        of_answer,
        parse_bytes,
        parse_rate,
        read_snippet,
        with_choices,
    )
    from forebay.platforms.emission import Emission, emit
    from forebay.platforms.errors import PlatformError
    from forebay.platforms.linting import Lint, lint
    from forebay.platforms.memory import REFERENCE_POINTS, TIERS, memory_for
    from forebay.platforms.port import Port, Wanted
    from forebay.platforms.protocol import Platform
    from forebay.platforms.reading import Note, Reading
    from forebay.platforms.registry import REFUSED, get, names
    from forebay.platforms.snippet import Snippet

__all__ = [
    "REFERENCE_POINTS",
    "REFUSED",
    "TIERS",
    "Emission",
    "Lint",
    "Memory",
    "Note",
    "Platform",
    "PlatformError",
    "Port",
    "Reading",
    "Snippet",
    "Wanted",
    "ask",
    "emit",
    "found",
    "get",
    "lint",
    "memory_for",
    "names",
    "of_answer",
    "parse_bytes",
    "parse_rate",
    "read_snippet",
    "with_choices",
]

# Who holds each name. A file is read when something of it is asked for: a sizing wants memory only.
_HOLDERS = {
    "Emission": "emission",
    "Lint": "linting",
    "Memory": "memory",
    "Note": "reading",
    "Platform": "protocol",
    "PlatformError": "errors",
    "Port": "port",
    "REFERENCE_POINTS": "memory",
    "REFUSED": "registry",
    "Reading": "reading",
    "Snippet": "snippet",
    "TIERS": "memory",
    "Wanted": "port",
    "ask": "asking",
    "emit": "emission",
    "found": "asking",
    "get": "registry",
    "lint": "linting",
    "memory_for": "memory",
    "names": "registry",
    "of_answer": "asking",
    "parse_bytes": "asking",
    "parse_rate": "asking",
    "read_snippet": "asking",
    "with_choices": "asking",
}


__getattr__ = attributes(__name__, _HOLDERS)
