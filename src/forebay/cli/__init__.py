"""The command line: one verb, one file. A verb is imported when it is called."""

from __future__ import annotations


def main() -> None:
    """Entry point of the ``forebay`` command."""
    import os
    import sys

    # NumPy's import makes a thread a core, which spin beside us for a tenth of a second. Our
    # matrices are small, and sums that are split by cores could differ with them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from forebay.cli.program import call

        sys.exit(call(sys.argv[1:]))
    except KeyboardInterrupt:  # so early that no verb was there to say more
        sys.exit(130)
