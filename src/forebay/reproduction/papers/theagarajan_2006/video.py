"""Figures 2 and 3: the rate and the burstiness of the film; see `film/README.md` for ours."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np

from forebay.report import Line
from forebay.reproduction import Reproduction, Work, artefact, chart
from forebay.workload import draw  # Figure 3 tests the draw itself, not an Outcome

FILM = Path(__file__).resolve().parent / "film" / "film.csv.gz"
CELL_S = 1024e-6
FRAME_RATE = 25


def packets() -> tuple[Any, Any]:
    """Return the centre of each interval of 2^10 µs with packets, in seconds, and its IP bytes.

    Shapes (cells,); times are relative to the first packet's interval.
    """
    text = io.StringIO(gzip.decompress(FILM.read_bytes()).decode())
    rows = [(int(row["cells_since"]), int(row["bytes"])) for row in csv.DictReader(text)]
    since, octets = np.array(rows).T
    return (np.cumsum(since) + 0.5) * CELL_S, octets


INTERVAL_S = 10


@artefact()
def fig2(work: Work) -> Reproduction:
    """The rate of the film by intervals of 10 s."""
    at_s, octets = packets()
    rates = volumes(at_s, octets, INTERVAL_S) * 8 / INTERVAL_S / 1e6
    line = Line((np.arange(len(rates)) * INTERVAL_S).tolist(), rates.tolist(), "encoded film")
    picture = chart([line], "time, s", "Mbit/s over 10 s")
    return work.judge(numbers(at_s, octets), picture=picture)


def numbers(at_s: Any, octets: Any) -> dict[str, float]:
    """Figure 2's numbers, from packets at times in seconds."""
    each = volumes(at_s, octets, INTERVAL_S)
    frames = volumes(at_s, octets, 1 / FRAME_RATE)
    shuffled = frames.std() * np.sqrt(INTERVAL_S * FRAME_RATE)
    return {
        "rate": float(each.mean()) * 8 / INTERVAL_S / 1e6,
        "burst": float(each.std() / each.mean()),
        "memory": float(each.std() / shuffled),
    }


def volumes(at_s: Any, octets: Any, width_s: float) -> Any:
    """Return the bytes of each complete interval; shape (intervals,)."""
    place = (at_s / width_s).astype(np.int64)
    return np.bincount(place, weights=octets)[: int(at_s[-1] / width_s)]


POWERS = range(10, 25)  # windows of 2^10 µs (1 ms) to 2^24 µs (17 s)
BELOW, ABOVE = slice(0, 4), slice(5, 13)  # 2^10 … 2^13 µs, 2^15 … 2^22 µs
MIDWAY = -(0.5 + 0.04) / 2  # between the slopes of independent packets and of H = 0.96
GENERATED_RATE = 60  # frames a second, of scenario.toml
FREQUENCIES = 2**12  # number of lowest ones in the estimate of H: a standard error of 0.008
TRIED = 0.3, 1.7, 0.004
"""H that are tried: far beyond both ends of a stationary sequence, so that none is an end stop."""


@artefact()
def fig3(work: Work) -> Reproduction:
    """Burstiness against the length of the window; medians over a film of an hour for each seed."""
    scenario = work.load()

    def measured(part: Work, seed: int) -> dict[str, Any]:
        drawn, tell = draw(scenario, seed).packets, part.effort.progress
        assert drawn is not None
        span = float(scenario.measure.duration)
        found = profile(drawn.at_ps / 1e12, drawn.bytes, span, GENERATED_RATE)
        if tell is not None:
            tell(1.0)
        return found

    films = work.over_seeds(measured)
    names = [name for name in films[0] if name != "beta"]
    ours = {name: float(np.median([film[name] for film in films])) for name in names}
    at_s, octets = packets()
    film = profile(at_s, octets, float(at_s[-1]), FRAME_RATE)
    ours |= {f"film-{name}": film[name] for name in ("slope", "hurst", "knee", "pieces")}
    generated = np.median([film["beta"] for film in films], axis=0)
    return work.judge(ours, picture=_rises(film["beta"], generated))


def profile(at_s: Any, octets: Any, span: float, frame_rate: int) -> dict[str, Any]:
    """Return the numbers of claims.toml, and β(s) as "beta"."""
    s = 2.0 ** np.array(POWERS) / 1e6
    beta = np.array([_beta(at_s, octets, span, step) for step in s])
    low, high = (np.polyfit(np.log(s[part]), np.log(beta[part]), 1) for part in (BELOW, ABOVE))
    frames = np.bincount((at_s * frame_rate + 1e-6).astype(np.int64), weights=octets)
    return {
        "rate": float(octets.sum()) * 8 / span / 1e6,
        "hurst": local_whittle(frames[: int(span * frame_rate)]),
        "slope": float(high[0]),
        "knee": _knee(np.diff(np.log2(beta))),
        "pieces": float(high[0] - low[0]),
        "beta": beta,
    }


def _knee(slopes: Any) -> float:
    """Milliseconds from which β(s) decreases slowly."""
    steep = [place for place, slope in enumerate(slopes[: ABOVE.stop]) if slope < MIDWAY]
    return 2.0 ** (POWERS[0] + steep[-1] + 1) / 1e3 if steep else 0.0


def _beta(at_s: Any, octets: Any, span: float, step: float) -> float:
    windows = int(span / step)
    inside = at_s < windows * step
    place = (at_s[inside] / step).astype(np.int64)
    volume = np.bincount(place, weights=octets[inside], minlength=windows)[:windows]
    return float(volume.std() / volume.mean())


def local_whittle(samples: Any) -> float:
    """H from the lowest frequencies: minimum of log mean(I λ^(2H-1)) - (2H-1) mean log λ.

    Robinson 1995.
    """
    count = min(FREQUENCIES, len(samples) // 32)
    rates = 2 * np.pi * np.arange(1, count + 1) / len(samples)
    power = np.abs(np.fft.rfft(samples)[1 : count + 1]) ** 2
    tried = np.arange(*TRIED)
    costs = [
        np.log((power * rates ** (2 * h - 1)).mean()) - (2 * h - 1) * np.log(rates).mean()
        for h in tried
    ]
    return float(tried[int(np.argmin(costs))])


def _rises(film: Any, generated: Any) -> Any:
    powers, middle = [float(power) for power in POWERS], POWERS.index(14)
    encoded, ours = (np.log2(beta).tolist() for beta in (film, generated))
    stated = [ours[middle] - 0.04 * (power - 14.0) for power in powers[middle:]]
    lines = [
        Line(powers, encoded, "encoded film"),
        Line(powers, ours, "generated film", "dots"),
        Line(powers[middle:], stated, "slope of H = 0.96", "dashes"),
    ]
    return chart(lines, "log2 of s in µs", "log2 of β(s)")
