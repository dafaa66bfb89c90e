"""Video: rate, fractional noise and its Hurst parameter, burstiness and its knee, packets."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from forebay.scenario import Scenario, loads
from forebay.workload import Packets, draw
from forebay.workload.open_loop import autocovariance, frame_sizes, noise
from forebay.workload.streams import normals


def local_whittle(samples: NDArray[np.float64], frequencies: int) -> float:
    """Hurst parameter from the lowest frequencies; standard error 1 / (2 sqrt(frequencies)).

    Robinson 1995: minimizes log(mean(I λ^(2H-1))) - (2H - 1) mean(log λ).
    """
    n = len(samples)
    rates = 2 * np.pi * np.arange(1, frequencies + 1) / n
    power = np.abs(np.fft.rfft(samples)[1 : frequencies + 1]) ** 2
    candidates = np.arange(0.3, 1.2, 0.001)
    costs = [
        np.log((power * rates ** (2 * h - 1)).mean()) - (2 * h - 1) * np.log(rates).mean()
        for h in candidates
    ]
    return float(candidates[int(np.argmin(costs))])


def burstiness(
    at_s: NDArray[np.float64], octets: NDArray[np.int32], span_s: float, step_s: float
) -> float:
    """β(s): coefficient of variation of the bytes in windows of length s (paper B, II.C)."""
    windows = int(span_s / step_s)
    inside = at_s < windows * step_s
    volume = np.bincount(
        (at_s[inside] / step_s).astype(np.int64), weights=octets[inside], minlength=windows
    )
    return float(volume.std() / volume.mean())


TEXT = """
queue.size = "48 packets"
link.rate = "21 Mbit/s"
measure = { warmup = "0 s", duration = "600 s" }
traffic = [{ kind = "video", flows = 2, rate = "1.3 Mbit/s", start = "0 s" }]
"""


def scenario(*sets: str) -> Scenario:
    return loads(TEXT, overrides=sets)


def packets(*sets: str, seed: int = 1) -> Packets:
    return draw(scenario(*sets), seed).packets


def film(drawn: Packets, flow: int = 0) -> tuple[np.ndarray, np.ndarray]:
    own = slice(drawn.offsets[flow], drawn.offsets[flow + 1])
    return drawn.at_ps[own] / 1e12, drawn.bytes[own]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_rate_is_the_run_s(seed):
    drawn = packets(seed=seed)
    for flow in (0, 1):
        assert film(drawn, flow)[1].sum() * 8 / 600 == pytest.approx(1.3e6, rel=1e-3)


def test_packets_are_in_order_and_within_bounds():
    drawn = packets("traffic.0.variation=2.0", "traffic.0.spacing=even")
    for flow in (0, 1):
        at, octets = film(drawn, flow)
        assert (np.diff(at) >= 0).all()
        assert at.min() >= 0 and at.max() < 600
        assert octets.min() >= 64 and octets.max() == 1500
    assert drawn.offsets.tolist() == [0, len(film(drawn)[0]), len(drawn)]


def test_films_differ():
    drawn = packets()
    first, second = (film(drawn, flow)[1][:5000] for flow in (0, 1))
    assert (first != second).any()
    assert (packets(seed=2).bytes[:5000] != first).any()


def test_frames_are_full_packets_and_a_rest():
    at, octets = film(packets())
    frame = np.rint(at * 60).astype(int)
    assert (np.diff(at)[np.diff(frame) > 0] > 0.016).all()
    last = np.append(np.diff(frame) > 0, True)
    before_last = np.append(last[1:], False)
    assert (octets[~last & ~before_last] == 1500).all()


def test_sizes_have_the_mean_and_the_variation_asked_for():
    """Without memory (H = 1/2), where a million frames show it."""
    sizes = frame_sizes(0.5, 0.5, normals(1, "video", 0, 2**21))
    assert sizes.mean() == pytest.approx(1.0, abs=0.003)
    assert sizes.std() == pytest.approx(0.5, abs=0.005)
    assert sizes.min() > 0


def test_sizes_keep_the_hurst_parameter():
    """A rising function of the noise keeps H; within 0.02 at 2^20 frames."""
    sizes = frame_sizes(0.96, 0.5, normals(1, "video", 0, 2**21))
    assert local_whittle(sizes, 2**13) == pytest.approx(0.96, abs=0.02)


def test_burstiness_has_paper_b_s_shape():
    """Theagarajan et al., II.C and Figure 3: two lines that meet near 2^14 us = 16.4 ms.

    Below, packets come one by one: β falls as s^(-1/2) or faster. Above, β falls as s^-(1-H)
    = s^-0.04; over a single hour it falls by a little more, since the hour's own mean is all
    that β can be measured against.
    """
    at, octets = film(packets("measure.duration=3600 s"))
    beta = {
        k: burstiness(at, octets, 3600.0, 2.0**k * 1e-6) for k in (8, 10, 12, 13, 14, 15, 16, 18)
    }
    slope = {(a, b): np.log2(beta[b] / beta[a]) / (b - a) for a, b in pairwise(beta)}
    assert slope[8, 10] == pytest.approx(-0.5, abs=0.05)
    assert slope[10, 12] < -0.5
    assert slope[13, 14] < -1
    for above in ((14, 15), (15, 16), (16, 18)):
        assert -0.15 < slope[above] < -0.02
    # Exact at s far below a frame: β² = E[sum of squared packets] / (rate² s) - 1 at worst.
    assert beta[8] > 5 and 0.2 < beta[14] < 0.6


def test_knee_moves_with_the_frame_rate():
    at, octets = film(packets("traffic.0.frame_rate=15.0"))
    knee = [burstiness(at, octets, 600.0, s) for s in (1 / 30, 1 / 15 + 1e-4, 2 / 15)]
    assert knee[0] > 1.9 * knee[1]
    assert knee[1] < 1.2 * knee[2]


def test_long_memory_makes_windows_of_seconds_uneven():
    """Over 10 s without memory β would be 0.5 / sqrt(600) = 0.02."""
    bursty, smooth = (film(packets(f"traffic.0.hurst={h}")) for h in (0.96, 0.5))
    assert burstiness(*smooth, 600.0, 10.0) == pytest.approx(0.02, abs=0.01)
    assert burstiness(*bursty, 600.0, 10.0) > 0.1


def test_load_is_shared_by_the_films():
    text = TEXT.replace('rate = "1.3 Mbit/s"', "load = 0.1")
    drawn = draw(loads(text), 1).packets
    assert drawn.bytes.sum() * 8 / 600 == pytest.approx(2.1e6, rel=1e-3)


def test_autocovariance():
    """H = 1/2 has no memory; γ(1) = 2^(2H-1) - 1; γ(k) ~ H(2H-1) k^(2H-2)."""
    lags = np.arange(4)
    np.testing.assert_allclose(autocovariance(0.5, lags), [1, 0, 0, 0], atol=1e-15)
    assert autocovariance(0.96, np.array([1]))[0] == pytest.approx(2**0.92 - 1)
    assert autocovariance(0.9, np.array([1000]))[0] == pytest.approx(
        0.9 * 0.8 * 1000**-0.2, rel=1e-6
    )


@pytest.mark.parametrize("hurst", [0.5, 0.7, 0.96, 0.99])
def test_the_covariance_is_exact(hurst):
    """The noise is linear in its numbers: its matrix times its transpose is the covariance."""
    half = 16
    matrix = np.array([noise(hurst, unit) for unit in np.eye(2 * half)])
    lags = np.abs(np.subtract.outer(np.arange(half), np.arange(half)))
    np.testing.assert_allclose(matrix.T @ matrix, autocovariance(hurst, lags), atol=1e-12)
    size = 2**12
    row = autocovariance(hurst, np.minimum(np.arange(size), size - np.arange(size)))
    assert np.fft.rfft(row).real.min() > -1e-9, "the embedding has no negative eigenvalue"
