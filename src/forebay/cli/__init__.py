"""The command line: one verb, one file. A verb is imported when it is called."""

from __future__ import annotations


def main() -> None:
    """Entry point of the ``forebay`` command."""
    import gc
    import os
    import sys

    from forebay.cli import signals

    # NumPy's import makes a thread a core, which spin beside us for a tenth of a second. Our
    # matrices are small, and sums that are split by cores could differ with them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # What imports make stays: to look through it after every 700 objects is 5 % of a short command.
    gc.set_threshold(100_000)
    signals.install()
    try:
        from forebay.cli.program import call

        status = call(sys.argv[1:])
        signals.finish()
    except KeyboardInterrupt:  # so early that no verb was there to say more
        signals.finish()
        print(f"forebay: {signals.word()}; nothing was kept", file=sys.stderr)
        status = signals.exit_status()
    # What lives to the end need not be searched for cycles while the process ends: a fifth of a
    # short command.
    gc.freeze()
    sys.exit(status)
