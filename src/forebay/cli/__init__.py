"""The command line: one verb, one file. A verb is imported when it is called."""

from __future__ import annotations


def main() -> None:
    """Entry point of the ``forebay`` command."""
    import sys

    try:
        from forebay.cli.program import call

        sys.exit(call(sys.argv[1:]))
    except KeyboardInterrupt:  # so early that no verb was there to say more
        sys.exit(130)
