"""Estimates of simulated captures beside the outcome: the table in `docs/reference/estimates.md`.

python benches/measured_links.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import forebay
from forebay import measure
from forebay.outcome import Metric
from forebay.scenario import loads

SEED = 7
WARMUP_S = 8


def long(flows: int, low: int, high: int, control: str, more: str = "") -> str:
    """Return a class of long flows, round trips from low to high in ms."""
    return (
        f'[[traffic]]\nkind = "long"\nflows = {flows}\nrtt.uniform = ["{low} ms", "{high} ms"]\n'
        f'congestion_control = {control}\nstart.uniform = ["0 s", "2 s"]\n{more}\n'
    )


UDP = '[[traffic]]\nkind = "udp"\nflows = 1\nload = 0.1\narrivals = "poisson"\n'
SHORT = (
    '[[traffic]]\nkind = "short"\nload = 0.15\nrtt.uniform = ["40 ms", "80 ms"]\n'
    'length.geometric = "20 packets"\n'
)
BOTH = "{ cubic = 0.5, bbr = 0.5 }"
CODEL = '[queue]\ndiscipline = "codel"\nsize = "1000 packets"\n'

Link = tuple[str, str, int | str, int, str]
LINKS: list[Link] = [
    ("20 Mbit/s, 8 Reno", "20 Mbit/s", 60, 40, long(8, 40, 90, '"reno"')),
    ("100 Mbit/s, 8 CUBIC", "100 Mbit/s", 400, 40, long(8, 30, 90, '"cubic"')),
    ("50 Mbit/s, 60 CUBIC, 20 to 200 ms", "50 Mbit/s", 100, 20, long(60, 20, 200, '"cubic"')),
    ("155 Mbit/s, 400 CUBIC", "155 Mbit/s", 300, 15, long(400, 60, 120, '"cubic"')),
    ("622 Mbit/s, 400 CUBIC", "622 Mbit/s", 1500, 10, long(400, 60, 120, '"cubic"')),
    ("2 Gbit/s, 40 CUBIC", "2 Gbit/s", 2000, 4, long(40, 5, 20, '"cubic"')),
    ("1 Mbit/s, 3 CUBIC", "1 Mbit/s", 10, 60, long(3, 20, 60, '"cubic"')),
    ("1 Mbit/s, 3 Reno", "1 Mbit/s", 20, 60, long(3, 20, 60, '"reno"')),
    ("50 Mbit/s, 60 Reno without SACK and delayed ACKs", "50 Mbit/s", 100, 20,
     long(60, 60, 100, '"reno"', "sack = false\ndelayed_ack = false")),
    ("50 Mbit/s, 60 Reno, and short flows", "50 Mbit/s", 150, 20,
     long(60, 60, 100, '"reno"') + SHORT),
    ("30 Mbit/s, 30 CUBIC, CoDel", "30 Mbit/s", CODEL, 20, long(30, 40, 120, '"cubic"')),
    ("30 Mbit/s, 30 CUBIC, a tenth of UDP", "30 Mbit/s", 100, 20,
     long(30, 40, 120, '"cubic"') + UDP),
    ("20 Mbit/s, 8 BBR3", "20 Mbit/s", 40, 20, long(8, 30, 90, '"bbr3"')),
    ("50 Mbit/s, 5 BBR", "50 Mbit/s", 200, 20, long(5, 30, 90, '"bbr"')),
    ("60 Mbit/s, 12 CUBIC and 12 BBR", "60 Mbit/s", 700, 20, long(24, 20, 80, BOTH)),
    ("20 Mbit/s, 20 BBR, small queue", "20 Mbit/s", 20, 20, long(20, 30, 90, '"bbr"')),
    ("50 Mbit/s, 30 BBR, small queue", "50 Mbit/s", 40, 20, long(30, 30, 90, '"bbr"')),
    ("10 Mbit/s, 100 CUBIC", "10 Mbit/s", 60, 40, long(100, 40, 90, '"cubic"')),
]  # fmt: skip


def row(link: Link, folder: Path) -> str:
    """Simulate a link, measure its capture, and return a row of the table."""
    name, rate, queue, seconds, traffic = link
    size = queue if isinstance(queue, str) else f'[queue]\nsize = "{queue} packets"\n'
    window = f'[measure]\nwarmup = "{WARMUP_S} s"\nduration = "{seconds} s"\n'
    path = folder / "link.pcapng"
    scenario = loads(f'[link]\nrate = "{rate}"\n{size}{traffic}{window}')
    outcome = forebay.run(scenario, seed=SEED, capture=path)
    told = measure.capture(path, rate=rate, interface="bottleneck").estimates
    flows = sum(one.flows for one in outcome.classes if one.kind == "long")
    lost = 100 * known(outcome.links["bottleneck"].loss_rate)
    middle = 1e3 * median_rtt_s(outcome)
    loss, rtt = 100 * told["loss_rate"].value, 1e3 * told["rtt_s"]["p50"]["value"]
    return (
        f"| {name} | {flows} | {told['long_flows'].value:.1f} | {lost:.3g} | {loss:.3g} | "
        f"{loss / lost - 1:+.1%} | {middle:.1f} | {rtt:.1f} | {rtt / middle - 1:+.1%} |"
    )


def known(metric: Metric | None) -> float:
    """Return the value of what every simulation tells."""
    assert metric is not None
    return float(metric.value)


def median_rtt_s(outcome: forebay.Outcome) -> float:
    """Return the senders' median round trip; of several classes the mean by throughput."""
    classes = [one for one in outcome.classes if one.rtt_s is not None]
    weights = [known(one.throughput_bps) for one in classes]
    medians = [known(one.rtt_s.p50) for one in classes if one.rtt_s is not None]
    return float(sum(w * m for w, m in zip(weights, medians, strict=True)) / sum(weights))


def main() -> None:
    """Print the rows."""
    print("| link | n | found | loss, % | found | | median RTT, ms | found | |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for link in LINKS:
            print(row(link, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
