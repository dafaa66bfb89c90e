"""The reference page's sections on distributions and lengths."""

from __future__ import annotations

_TIMES = (
    ('`"100 ms"`', "Always the same."),
    ('`{ uniform = ["80 ms", "120 ms"] }`', "Equally likely anywhere between the two."),
    (
        '`{ exponential = "1 s" }`, `{ exponential = { mean, low, high } }`',
        "Memoryless; from 0 to 40 means by default.",
    ),
    (
        "`{ normal = { mean, deviation, low, high } }`",
        "Normal; four standard deviations to either side and not below 0 by default.",
    ),
    (
        "`{ lognormal = { mean, deviation, low, high } }`",
        "Its logarithm is normal; six standard deviations of the logarithm to either side by "
        "default.",
    ),
    (
        "`{ pareto = { mean, shape, high } }`",
        "Heavy-tailed: P(X > x) falls as x to the power of -shape, up to `high`. It begins where "
        "that gives the mean.",
    ),
    (
        '`{ values = ["28 ms", "67 ms"], shares = [0.6, 0.4] }`',
        "One value of a list; equally likely without shares.",
    ),
)
_LENGTHS = (
    ('`"14 packets"`, `"20 kB"`', "Always the same, rounded up to whole packets."),
    ('`{ geometric = "14 packets" }`', "Geometric, from one packet on."),
    (
        "`{ pareto = { mean, shape, high } }`",
        "Heavy-tailed up to `high`: 1000000 packets or 1500 MB by default.",
    ),
    (
        "`{ lognormal = { mean, deviation, high } }`",
        "Its logarithm is normal; `high` as above.",
    ),
)


def laws() -> str:
    """Return both sections."""
    return f"""
## Distributions of a time

{_rows(_TIMES)}
Values beyond `low` and `high` are not drawn. `mean` and `deviation` are those of the law before
it is cut; for a Pareto law `mean` is the mean of the values drawn.

## Lengths

{_rows(_LENGTHS)}
Flows send whole packets, at least one; a drawn length is rounded to the nearest. `mean` is the
mean number of whole packets. Bytes include headers: `packet` bytes make one packet.
"""


def _rows(rows: tuple[tuple[str, str], ...]) -> str:
    head = "| written | law |\n|---|---|\n"
    return head + "".join(f"| {written} | {law} |\n" for written, law in rows)
