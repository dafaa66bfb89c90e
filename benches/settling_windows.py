"""How long must flows with large windows run before their link needs its lasting buffer?

    .venv/bin/python benches/settling_windows.py [WARMUP_S DURATION_S]...

Finds where 100 flows just use 98 % of links of 0.2 to 4 Gbit/s (six seeds, one core), with each
warm-up and window in turn, and prints a line a link. docs/explanation/scaled-links.md has the
table. CUBIC over round trips of 10 to 180 ms, and of 50 to 900 ms; Reno over the former.
"""

from __future__ import annotations

import sys

from forebay import engines, laws
from forebay.scenario import Duration, Measure, Scenario, loads
from forebay.search.options import Options
from forebay.search.strategies.crossing.crossing import find
from forebay.search.strategies.crossing.curve import curve_of

FLOWS = 100
SHORT, LONG = '["10 ms", "180 ms"]', '["50 ms", "900 ms"]'
LINKS = (
    *(("cubic", rate, SHORT) for rate in (0.5, 1.0, 2.0, 4.0)),
    *(("cubic", rate, LONG) for rate in (0.2, 0.4)),
    *(("reno", rate, SHORT) for rate in (1.0, 2.0)),
)
MEASURES = ((20.0, 20.0), (30.0, 60.0), (60.0, 60.0), (150.0, 120.0))


def scenario(control: str, gbps: float, rtt: str) -> Scenario:
    """Return one link."""
    return loads(
        f'[link]\nrate = "{gbps} Gbit/s"\n[[traffic]]\nflows = {FLOWS}\n'
        f"rtt = {{ uniform = {rtt} }}\n"
        f'congestion_control = "{control}"\n[goals]\nutilization = 0.98\n'
    )


def main(measures: tuple[tuple[float, float], ...]) -> None:
    """Print the crossings of every link."""
    for control, gbps, rtt in LINKS:
        asked = scenario(control, gbps, rtt)
        guess = max(1, round(asked.bdp_packets / FLOWS**0.5 / 2))
        wanted = laws.assumptions.sawtooths_s(asked, guess)
        said = [f"{control}, {gbps:g} Gbit/s, {asked.bdp_packets / FLOWS:.0f} packets a flow"]
        for warmup, duration in measures:
            measure = Measure(warmup=Duration(warmup), duration=Duration(duration))
            link = asked.model_copy(update={"measure": measure})
            curve = curve_of(link, engines.get("simulation"), Options(range(1, 7), 6, jobs=1))
            found = find(curve, guess, curve.limit)
            said.append(f"{warmup:g} s: {found.packets:.0f} ({found.low:.0f} to {found.high:.0f})")
        print("; ".join([*said, f"warm-up by rule {wanted.warmup_s:.0f} s"]), flush=True)


if __name__ == "__main__":
    words = [float(word) for word in sys.argv[1:]]
    main(tuple(zip(words[::2], words[1::2], strict=True)) or MEASURES)
