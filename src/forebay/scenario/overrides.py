"""--set PATH=VALUE: a field of the file replaced before anything is checked."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any

from forebay.scenario.errors import ScenarioError, show

SOURCE = "--set"
_WRITE = 'write PATH=VALUE, such as queue.size="64 packets" or traffic.0.flows=100'


def apply(tree: dict[str, Any], overrides: Sequence[str]) -> list[str]:
    """Change ``tree`` in place, in order; return the paths. Raises ScenarioError."""
    return [_apply_one(tree, override) for override in overrides]


def blames(paths: Sequence[str], field: str) -> bool:
    """Tell whether a complaint about ``field`` is about something that --set wrote."""
    return any(f"{field}.".startswith(f"{p}.") or f"{p}.".startswith(f"{field}.") for p in paths)


def _apply_one(tree: dict[str, Any], override: str) -> str:
    path, equals, text = override.partition("=")
    path = path.strip()
    parts = path.split(".")
    if not equals or not all(parts):
        wrong = f"{show(override)} sets nothing"
        raise ScenarioError("bad-override", wrong, _WRITE, file=SOURCE, value=override)
    _put(tree, parts, _value(text.strip()), path)
    return path


def _put(tree: Any, parts: list[str], value: object, path: str) -> None:
    node: Any = tree
    for depth, part in enumerate(parts):
        here = ".".join(parts[:depth])
        last = depth == len(parts) - 1
        if isinstance(node, list):
            key: Any = _index(part, node, here)
        elif isinstance(node, dict):
            key = part
        else:
            hint = f"write {here}=VALUE to replace it whole"
            raise ScenarioError(
                "bad-override", f"{here} is not a table", hint, file=SOURCE, field=path
            )
        if last:
            node[key] = value
        else:
            node = node[key] if isinstance(node, list) else node.setdefault(key, {})


def _index(part: str, entries: list[Any], here: str) -> int:
    if part.isascii() and part.isdigit() and len(part) < 10 and int(part) < len(entries):
        return int(part)
    count = len(entries)
    wrong = f"there is no such entry: {here} holds {count}, counted from 0"
    hint = f"write {here}.0" + (f" to {here}.{count - 1}" if count > 1 else "")
    if not count:
        hint = f"write {here}=[...] to fill it"
    raise ScenarioError("bad-override", wrong, hint, file=SOURCE, field=f"{here}.{part}")


def _value(text: str) -> object:
    """Return a TOML value, or else the text itself."""
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    return parsed["value"] if len(parsed) == 1 else text
