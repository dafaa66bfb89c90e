"""The rates of the shipped traces over a minute: docs/images/links-that-vary.svg.

python docs/explanation/figures/links_that_vary.py
"""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

import forebay

ROOT = Path(__file__).parents[3]
NAMES = ("cellular-4g", "cellular-5g", "leo-satellite", "wi-fi")
SECONDS = 60


def main() -> None:
    """Draw the rate of each over time."""
    figure = Figure(figsize=(7.2, 6.0), layout="constrained")
    panels = figure.subplots(len(NAMES), 1, sharex=True)
    for panel, name in zip(panels, NAMES, strict=True):
        trace = forebay.load(name).link.rate_trace
        assert trace is not None
        times, rates = zip(*((t, r / 1e6) for t, r in trace.rates if t <= SECONDS), strict=True)
        panel.step(times, rates, where="post", linewidth=0.9, color="#1f5fa8")
        panel.axhline(float(trace.mean) / 1e6, color="#777777", linewidth=0.9, linestyle="--")
        panel.set_ylabel("Mbit/s")
        panel.set_title(f"{name} (dashed: mean)", loc="left", fontsize=9)
        panel.set_xlim(0, SECONDS)
        panel.set_ylim(bottom=0)
    panels[-1].set_xlabel("time, s")
    figure.savefig(ROOT / "docs/images/links-that-vary.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
