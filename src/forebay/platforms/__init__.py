"""Buffer sizes as configuration of router platforms: written, and read back.

``read_target`` reads the wanted size, ``emit`` writes it for a platform, and ``lint`` reads a
snippet. A platform is one file and one line in the registry.
"""

from typing import TYPE_CHECKING

from forebay.lazy import attributes

if TYPE_CHECKING:
    from forebay.outcome import Memory
    from forebay.platforms.class_queues import (
        ClassEmission,
        check_class_platform,
        emit_classes,
    )
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

# The module of each name. Modules are imported at first use: a sizing needs only `memory`.
_HOLDERS = {
    "ClassEmission": "class_queues",
    "check_class_platform": "class_queues",
    "emit_classes": "class_queues",
    "Emission": "emission",
    "Lint": "linting",
    "Memory": "memory",
    "Note": "reading",
    "Platform": "protocol",
    "PlatformError": "errors",
    "Port": "port",
    "REFERENCE_POINTS": "memory",
    "REFUSED": "registry",
    "ConfiguredQueue": "reading",
    "Snippet": "snippet",
    "TIERS": "memory",
    "Wanted": "port",
    "check_discipline": "emission",
    "emit": "emission",
    "get": "registry",
    "lint": "linting",
    "memory_for": "memory",
    "names": "registry",
    "object_names": "emission",
    "of_sizing": "target",
    "parse_port": "target",
    "read_sizing": "target",
    "read_snippet": "target",
    "read_target": "target",
    "with_choices": "target",
}


__getattr__ = attributes(__name__, _HOLDERS)
