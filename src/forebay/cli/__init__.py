"""The command line: one verb, one file. A verb is imported when it is called."""

from __future__ import annotations


def main() -> None:
    """Entry point of the ``forebay`` command."""
    import sys

    from forebay.cli.program import call

    sys.exit(call(sys.argv[1:]))
