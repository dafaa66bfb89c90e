"""The ways out of a verb: one JSON document or text for a person, and files.

The answer comes first: a file that cannot be written afterwards costs nobody the answer.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

written: list[str] = []
"""What this call has written so far, for the line that says so should it be interrupted."""


def print_json(document: Mapping[str, Any], indent: int | None = 2) -> None:
    """Write exactly one JSON document on stdout; NaN is no JSON, so it is an error here."""
    click.echo(json.dumps(document, indent=indent, ensure_ascii=False, allow_nan=False))
    answered()


def answered() -> None:
    """Note that the answer is on stdout."""
    written.append("the answer as printed")


def write(what: str, path: Path, writer: Callable[[Path], object]) -> None:
    """Write one file and tell where it is: on stderr, for stdout may be a JSON document.

    Raises
    ------
    OSError
        It cannot be written; ``filename`` names it.
    """
    try:
        writer(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
    written.append(f"{what} {path}")
    say(f"{what}: {path}")


def say(line: str) -> None:
    """Tell how it goes: on stderr, for stdout may be a JSON document.

    Where stderr takes nothing the verb goes on: its answer does not depend on it.
    """
    with suppress(OSError):
        click.echo(printable(line), err=True)


def printable(text: str) -> str:
    """Return one line for a terminal: what could steer it is written as an escape."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
