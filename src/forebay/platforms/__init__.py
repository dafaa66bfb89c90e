"""Buffer sizes as configuration of router platforms: written, and read back.

``read_target`` reads the wanted size, ``emit`` writes it for a platform, and ``lint`` reads a
snippet. A platform is one file and one line in the registry.
"""

from typing import TYPE_CHECKING

from forebay.packages import attributes

if TYPE_CHECKING:
    from forebay.outcome import Memory
    from forebay.platforms.class_queues import ClassEmission, check_class_platform, emit_classes
    from forebay.platforms.emission import Emission, check_discipline, emit, object_names
    from forebay.platforms.errors import PlatformError
    from forebay.platforms.linting import Lint, lint
    from forebay.platforms.memory import REFERENCE_POINTS, TIERS, memory_for
    from forebay.platforms.port import Port, Wanted
    from forebay.platforms.protocol import Platform
    from forebay.platforms.reading import ConfiguredQueue, Note
    from forebay.platforms.registry import REFUSED, get, names
    from forebay.platforms.snippet import Snippet
    from forebay.platforms.target import (
        of_sizing,
        parse_port,
        read_sizing,
        read_snippet,
        read_target,
        with_choices,
    )

__all__ = [
    "REFERENCE_POINTS",
    "REFUSED",
    "TIERS",
    "ClassEmission",
    "ConfiguredQueue",
    "Emission",
    "Lint",
    "Memory",
    "Note",
    "Platform",
    "PlatformError",
    "Port",
    "Snippet",
    "Wanted",
    "check_class_platform",
    "check_discipline",
    "emit",
    "emit_classes",
    "get",
    "lint",
    "memory_for",
    "names",
    "object_names",
    "of_sizing",
    "parse_port",
    "read_sizing",
    "read_snippet",
    "read_target",
    "with_choices",
]

# The names of each module. Modules are imported at first use: a sizing needs only `memory`.
_GROUPS = (
    ("class_queues", "ClassEmission check_class_platform emit_classes"),
    ("emission", "Emission check_discipline emit object_names"),
    ("errors", "PlatformError"),
    ("linting", "Lint lint"),
    ("memory", "Memory REFERENCE_POINTS TIERS memory_for"),
    ("port", "Port Wanted"),
    ("protocol", "Platform"),
    ("reading", "ConfiguredQueue Note"),
    ("registry", "REFUSED get names"),
    ("snippet", "Snippet"),
    ("target", "of_sizing parse_port read_sizing read_snippet read_target with_choices"),
)
_HOLDERS = {name: module for module, names in _GROUPS for name in names.split()}

__getattr__ = attributes(__name__, _HOLDERS)
