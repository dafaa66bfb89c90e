"""Figure 3: burstiness of the video against the length of the window."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import OURS, Progress, Reproduction, judge
from forebay.reproduction.papers.theagarajan_2006 import encoded
from forebay.workload import draw  # this artefact tests the draw itself, not an Outcome

HERE = Path(__file__).resolve().parent
POWERS = range(10, 25)  # windows of 2^10 µs (1 ms) to 2^24 µs (17 s)
BELOW, ABOVE = slice(0, 4), slice(5, 13)  # 2^10 … 2^13 µs, 2^15 … 2^22 µs
MIDWAY = -(0.5 + 0.04) / 2  # between the slopes of independent packets and of H = 0.96
GENERATED_RATE = 60  # frames a second, of scenario.toml
FREQUENCIES = 2**12  # number of lowest ones in the estimate of H: a standard error of 0.008
TRIED = 0.3, 1.7, 0.004
"""H that are tried: far beyond both ends of a stationary sequence, so that none is an end stop."""
NOTES = [
    "β(s): standard deviation over mean of the bytes in windows of length s. Slopes are fitted "
    "from 2^10 to 2^13 µs and from 2^15 to 2^22 µs; the knee is the first power of two after "
    "which β falls by less than midway between those of H = 0.5 and H = 0.96 (README.md).",
    "H by local Whittle estimation from the lowest frequencies of the bytes in frames, for within "
    "one run β(s) falls faster than s^-(1-H): its own mean is taken out.",
    "The encoded film is ours: synthetic scenes, encoded at constant quality, streamed in real "
    "time and captured on loopback. The generated one is of kind video, made to the paper's "
    "numbers: it shows that the generator keeps its word.",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Draw one film of an hour for each seed; medians over the films."""
    scenario = forebay.load(HERE / "scenario.toml")
    span = float(scenario.measure.duration)
    films = []
    for seed in range(1, seeds + 1):
        packets = draw(scenario, seed).packets
        assert packets is not None
        films.append(_measured(packets.at_ps / 1e12, packets.bytes, span, GENERATED_RATE))
        if progress is not None:
            progress(seed / seeds)
    names = [name for name in films[0] if name != "beta"]
    ours = {name: float(np.median([film[name] for film in films])) for name in names}
    beta = np.median([film["beta"] for film in films], axis=0)
    at_s, octets = encoded.packets()
    film = _measured(at_s, octets, float(at_s[-1]), encoded.FRAME_RATE)
    ours |= {f"film-{name}": film[name] for name in ("slope", "hurst", "knee", "pieces")}
    return judge(
        "theagarajan-2006/fig3",
        "Theagarajan et al. 2006, Figure 3: burstiness of the video",
        HERE,
        ours,
        kind=OURS,
        notes=NOTES,
        picture=_picture(film["beta"], beta),
    )


def _measured(at_s: Any, octets: Any, span: float, frame_rate: int) -> dict[str, Any]:
    """Return the numbers of claims.toml, and the profile."""
    s = 2.0 ** np.array(POWERS) / 1e6
    beta = np.array([_beta(at_s, octets, span, step) for step in s])
    low, high = (np.polyfit(np.log(s[part]), np.log(beta[part]), 1) for part in (BELOW, ABOVE))
    frames = np.bincount((at_s * frame_rate + 1e-6).astype(np.int64), weights=octets)
    return {
        "rate": float(octets.sum()) * 8 / span / 1e6,
        "hurst": _local_whittle(frames[: int(span * frame_rate)]),
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


def _local_whittle(samples: Any) -> float:
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


def _picture(film: Any, generated: Any) -> Picture:
    powers = [float(power) for power in POWERS]
    rises = [[float(x) for x in np.log2(beta)] for beta in (film, generated)]
    middle = powers.index(14.0)
    stated = [rises[1][middle] - 0.04 * (power - 14.0) for power in powers[middle:]]
    lines = [
        Line(powers, rises[0], "encoded film", "line"),
        Line(powers, rises[1], "generated film", "dots"),
        Line(powers[middle:], stated, "slope of H = 0.96", "dashes"),
    ]
    return Picture([Panel(lines, "log2 of s in µs", "log2 of β(s)")])
