"""The two ways out of a verb: one JSON document, or text for a person."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click


def print_json(document: Mapping[str, Any]) -> None:
    """Write exactly one JSON document on stdout; NaN is no JSON, so it is an error here."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


def say_drawn(path: object) -> None:
    """Tell where the picture is: on stderr, for stdout may be a JSON document."""
    click.echo(f"picture: {path}", err=True)


def say(line: str) -> None:
    """Tell how it goes: on stderr, for stdout may be a JSON document."""
    click.echo(line, err=True)
