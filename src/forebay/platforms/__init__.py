"""What a buffer's size is called on each router platform: emit it, and lint what is there.

``ask`` reads what is wanted, ``emit`` writes it for a platform, ``lint`` reads a snippet
back. One platform is one file and one line in the registry.
"""

from forebay.platforms.asking import ask, parse_bytes, parse_rate, read_snippet, with_choices
from forebay.platforms.emission import Emission, emit
from forebay.platforms.errors import PlatformError
from forebay.platforms.linting import Lint, lint
from forebay.platforms.memory import REFERENCE_POINTS, TIERS, Memory, memory_for
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
    "get",
    "lint",
    "memory_for",
    "names",
    "parse_bytes",
    "parse_rate",
    "read_snippet",
    "with_choices",
]
