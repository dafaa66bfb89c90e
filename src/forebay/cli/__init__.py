"""The command line: one file for each verb. A verb is imported when it is called."""

import gc
import os
import sys

from forebay.cli import signals


def main() -> None:
    """Entry point of the ``forebay`` command."""
    # NumPy's import starts a thread on each core, which spins for 0.1 s. Our matrices are small,
    # and sums that are split over cores could depend on their number.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Objects of imports stay alive: collecting after every 700 of them takes 5 % of a short run.
    gc.set_threshold(100_000)
    signals.install()
    try:
        from forebay.cli.program import call

        status = call(sys.argv[1:])
        signals.finish()
    except KeyboardInterrupt:  # no verb was running yet
        signals.finish()
        print(f"forebay: {signals.word()}; nothing was kept", file=sys.stderr)
        status = signals.exit_status()
    # Searching for cycles when the process ends would take a fifth of a short command.
    gc.freeze()
    sys.exit(status)
