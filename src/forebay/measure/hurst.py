"""The Hurst parameter H of a series, by four methods with different errors.

All need stationary increments. Daily cycles, a drifting rate or a queue that limits peaks make each
of them wrong; the four methods then disagree.

Local Whittle, from the low frequencies of the periodogram I. Robinson 1995, Gaussian semiparametric
estimation of long range dependence, Annals of Statistics 23(5): R(H) = log mean(lambda^(2H-1) I) -
(2H-1) mean(log lambda), minimized over H; the error is asymptotically normal, variance 1/(4m).

Wavelet, from the energy of the details of each octave. Veitch and Abry 1999, A wavelet-based joint
estimator of the parameters of long-range dependence, IEEE Transactions on Information Theory 45(3):
log2 of an octave's mean energy, without the bias g(n_j), against the octave, by weighted least
squares; the slope is 2H - 1. They assume that details are independent and that fine octaves follow
the power law; the latter gives an H that is 0.002 too large near 1, half a standard deviation. Both
are corrected here. For Gaussian details D of octaves j and k = j + g, n of them in the finer one,

    Cov(mean D_j^2, mean D_k^2) = 2/n sum over offsets of Cov(D_j, D_k)^2

(Isserlis 1918), over all offsets of a coarse detail to the fine ones. Divided by the product of the
means, the sum depends only on the gap g, because the noise is self-similar; for independent details
it is 1 for g = 0 and else 0.

Variance-time: the variance of means of blocks of m is proportional to m^(2H-2). Leland et al. 1994,
section 4.1. It is about the mean of the series: for N samples of fractional Gaussian noise,

    E[S_m^2] = sigma^2 (m^(2H-2) - N^(2H-2)),

because that mean itself has the variance sigma^2 N^(2H-2). So the plot of log S_m^2 bends down, and
for large H all of its points vary together with the one mean. The differences S_m^2 - S_2m^2 have
neither effect; they are exactly proportional to m^(2H-2). They are the energies of Haar's details,
or Allan variances (Allan 1966), and are fitted as such.

Rescaled range: the range of block sums over their deviation is about m^H (Hurst 1951; Mandelbrot
and Wallis 1969). Short blocks give too large values; Anis and Lloyd 1976 give the expectation for
independent normal numbers,

    E = Gamma((m-1)/2) / (sqrt(pi) Gamma(m/2)) * sum_{i<m} sqrt((m-i)/i),

and H is 1/2 plus the slope after it is subtracted. That is exact only for H = 1/2; for other H the
bias is corrected by `hurst_calibration.csv`, which also gives the interval: quantiles of the
estimator over some hundred draws of fractional Gaussian noise, for each length of the series and
H. `benches/hurst_calibration.py` makes it.
"""

import csv
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from forebay.measure.estimate import NORMAL_95, Estimate, Floats, Refused
from forebay.words import Fact
from forebay.workload.open_loop import autocovariance

_FINE = 3  # octave of the finer details; from this octave on the noise is close to its limit
_SAMPLES = 1 << 15
_GAPS = 8  # details with a larger gap have correlations below 0.01


@cache
def overlaps(scaling: tuple[float, ...], hurst: float) -> Floats:
    """Return the relative sums for the gaps 0, 1, … of a scaling filter with sum sqrt(2)."""
    spectrum = _spectrum(hurst)
    fine = _response(scaling, _FINE)
    own = _covariances(fine, fine, spectrum)
    sums = [float((own**2).sum()) / own[0] ** 2]
    for gap in range(1, _GAPS + 1):
        coarse = _response(scaling, _FINE + gap)
        energy = _energy(coarse, spectrum)
        crossed = _covariances(coarse, fine, spectrum)
        sums.append(float((crossed**2).sum()) / (own[0] * energy))
    return np.array(sums)


@cache
def excess(scaling: tuple[float, ...], hurst: float) -> Floats:
    """Return log2 of the mean energy above its power law, for the octaves 1, 2, …

    The power law is that of coarse octaves. Fine octaves deviate from it, because samples that are
    sums over intervals are not the approximations that the filter cascade needs (Veitch, Taqqu and
    Abry 2000, Meaningful MRA initialization for discrete time series). For Haar's filter they are.
    """
    spectrum, octaves = _spectrum(hurst), np.arange(1, _FINE + _GAPS)
    energies = [_energy(_response(scaling, int(octave)), spectrum) for octave in octaves]
    logs = np.log2(energies) - octaves * (2 * hurst - 1)
    return np.asarray(logs - logs[-1])


def _spectrum(hurst: float) -> Floats:
    lags = np.minimum(np.arange(_SAMPLES), _SAMPLES - np.arange(_SAMPLES))
    return np.asarray(np.fft.fft(autocovariance(hurst, lags)).real)


def _energy(response: Floats, spectrum: Floats) -> float:
    return float((np.abs(response) ** 2 * spectrum).mean())


def _covariances(one: Floats, other: Floats, spectrum: Floats) -> Floats:
    """Return covariances of a detail with those of the fine octave, for each offset."""
    lagged: Floats = np.fft.ifft(one * np.conj(other) * spectrum).real
    return lagged[:: 1 << _FINE]


def _response(scaling: tuple[float, ...], octave: int) -> Floats:
    """Return the transfer function of the filter cascade of an octave's details."""
    low = np.array(scaling)
    high = low[::-1] * (-1.0) ** np.arange(len(low))
    turns = np.arange(_SAMPLES)
    product = np.fft.fft(high, _SAMPLES)[turns * (1 << (octave - 1)) % _SAMPLES]
    for level in range(octave - 1):
        product = product * np.fft.fft(low, _SAMPLES)[turns * (1 << level) % _SAMPLES]
    return np.asarray(product)


_ROUNDS = 3  # the weights depend on H, and H depends slightly on the weights
_LEAST, _MOST = 0.05, 0.99


def hurst_of_energies(
    octaves: Floats, energies: Floats, counts: Floats, scaling: tuple[float, ...], offset: float
) -> Estimate:
    """Return H if the energy of an octave's details grows as 2^(octave (2H - offset)).

    ``octaves`` ascend, and ``energies`` are the mean squares of so many (``counts``) details;
    ``offset`` is 1 for details of filters of norm 1, 2 for differences of means.
    """
    hurst, deviation = 0.5, 0.0
    for _ in range(_ROUNDS):
        near = round(min(max(hurst, _LEAST), _MOST), 2)
        logs = np.log2(energies) - _of(excess(scaling, near), octaves.astype(int) - 1)
        slope, variance = _regression(octaves, logs, counts, overlaps(scaling, near))
        hurst, deviation = (slope + offset) / 2, math.sqrt(variance) / 2
    half = NORMAL_95 * deviation
    return Estimate(hurst, hurst - half, hurst + half, len(octaves))


def _regression(
    octaves: Floats, logs: Floats, counts: Floats, overlap: Floats
) -> tuple[float, float]:
    """Return the slope of logarithms by generalized least squares, and its variance.

    A mean of squares has about n / overlap degrees of freedom. The bias of its log2,
    psi(n/2)/ln 2 - log2(n/2), is subtracted.
    """
    from scipy.special import psi, zeta

    half = counts / overlap[0] / 2
    unbiased = logs - (psi(half) / math.log(2) - np.log2(half))
    design = np.column_stack([np.ones(len(octaves)), octaves])
    octave = np.arange(len(counts))
    finer = np.maximum(counts[:, None], counts)
    covariance = 2 * _of(overlap, np.abs(octave[:, None] - octave)) / finer
    np.fill_diagonal(covariance, zeta(2, half))  # trigamma(n/2), as for independent ones
    weighted = np.linalg.solve(covariance / math.log(2) ** 2, design)
    spread = np.linalg.inv(design.T @ weighted)
    return float(spread[1] @ (weighted.T @ unbiased)), float(spread[1, 1])


def _of(known: Floats, index: NDArray[np.int64]) -> Floats:
    """Return the values at an index, zero beyond the known ones."""
    return np.where(index < len(known), known[np.minimum(index, len(known) - 1)], 0.0)


# Daubechies' filter with three vanishing moments: linear and quadratic trends have no effect.
# Ten lectures on wavelets (1992), table 6.1, N = 3; its sum is sqrt(2).
_SCALING = (
    0.3326705529500825, 0.8068915093110924, 0.4598775021184914,
    -0.1350110200102546, -0.0854412738820267, 0.0352262918857095,
)  # fmt: skip
_DETAIL = np.array(_SCALING[::-1]) * (-1.0) ** np.arange(len(_SCALING))
_FIRST = 4  # finer octaves are affected by short-range correlations
_FEWEST = 8


def wavelet(series: Floats) -> Estimate:
    """Return H of a series of shape (n,)."""
    energies, counts = [], []
    smooth = series - series.mean()
    while len(smooth) >= 2 * _FEWEST + len(_SCALING):
        detail = np.convolve(smooth, _DETAIL, "valid")[::2]
        smooth = np.convolve(smooth, _SCALING, "valid")[::2]
        energies.append(float((detail**2).mean()))
        counts.append(len(detail))
    octaves, first = np.arange(1.0, len(counts) + 1), min(_FIRST, len(counts) - 2) - 1
    number = np.array(counts[first:], dtype=np.float64)
    return hurst_of_energies(octaves[first:], np.array(energies[first:]), number, _SCALING, 1)


_FINEST = 3  # finer blocks, of up to four samples, are affected by short-range correlations
_HAAR = (0.5**0.5, 0.5**0.5)


def variance_time(series: Floats) -> Estimate:
    """Return H of a series of shape (n,)."""
    return hurst_of_energies(*falls(series), _HAAR, 2)


def falls(series: Floats) -> tuple[Floats, Floats, Floats]:
    """Return octaves of m, S_m^2 - S_2m^2 for each, and the number of pairs of blocks.

    Both variances are of the same samples, because a last block without a pair is omitted. Their
    difference is then a quarter of the mean square of the differences within pairs.
    """
    octaves, differences, counts = [], [], []
    means, octave = np.asarray(series, dtype=np.float64), 0
    while len(means) >= 2 * _FEWEST:
        pairs = means[: len(means) // 2 * 2].reshape(-1, 2)
        means = pairs.mean(axis=1)
        if octave >= _FINEST:
            octaves.append(float(octave))
            differences.append(float((np.diff(pairs) ** 2).mean()) / 4)
            counts.append(float(len(means)))
        octave += 1
    return np.array(octaves), np.array(differences), np.array(counts)


TABLE = Path(__file__).with_name("hurst_calibration.csv")
QUANTILES = {"low": 0.025, "middle": 0.5, "high": 0.975}
_FLATTEST = 0.2  # lower limit of the slope of an estimator as a function of H, for its inversion


def calibrated(raw: float, length: int) -> Estimate:
    """Return the H of fractional Gaussian noise for which the estimator typically gives ``raw``.

    The value is the H whose median is ``raw``. The interval has each H for which ``raw`` is between
    the 2.5 % and the 97.5 % quantile (Neyman 1937). It covers the truth in 95 % of all series of
    such noise, for any bias and variance of the estimator. The curves are extrapolated linearly
    beyond the table's ends. The series is no longer than the table's longest.
    """
    hurst, curves = _curves(length)
    low, value, high = (_inverse(hurst, curves[name], raw) for name in ("high", "middle", "low"))
    return Estimate(value, low, high, length)


def _curves(length: int) -> tuple[Floats, dict[str, Floats]]:
    """Return the table's H, and the quantiles for a length, interpolated in its logarithm."""
    table = _table()
    lengths = np.array(sorted(table))
    right = min(max(int(np.searchsorted(lengths, length)), 1), len(lengths) - 1)
    left = right - 1
    share = np.log(length / lengths[left]) / np.log(lengths[right] / lengths[left])
    hurst = table[lengths[0]]["hurst"]
    ends = [table[lengths[at]] for at in (left, right)]
    return hurst, {n: (1 - share) * ends[0][n] + share * ends[1][n] for n in QUANTILES}


@cache
def _table() -> dict[int, dict[str, Floats]]:
    """Return the columns of the table by the length of the series."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    table = {}
    for length in {int(row["length"]) for row in rows}:
        kept = [row for row in rows if int(row["length"]) == length]
        columns = ("hurst", *QUANTILES)
        table[length] = {name: np.array([float(row[name]) for row in kept]) for name in columns}
    return table


def _inverse(hurst: Floats, curve: Floats, raw: float) -> float:
    """Return the H at which a rising curve is ``raw``; random decreases are flattened."""
    rising = np.maximum.accumulate(curve)
    at = min(max(int(np.searchsorted(rising, raw)), 1), len(hurst) - 1)
    slope = max((rising[at] - rising[at - 1]) / (hurst[at] - hurst[at - 1]), _FLATTEST)
    end = at if raw > rising[-1] else at - 1
    return float(hurst[end] + (raw - rising[end]) / slope)


_SHORTEST_BLOCK = 32
_FEWEST_BLOCKS = 8


def rescaled_range(series: Floats) -> Estimate:
    """Return H of a series of shape (n,)."""
    while len(series) > max(_table()):  # of sums of neighbours H is the same
        series = series[: len(series) // 2 * 2].reshape(-1, 2).sum(axis=1)
    return calibrated(raw(series), len(series))


@cache
def expected(block: int) -> float:
    """Return E[R/S] of `block` independent normal numbers (Anis and Lloyd 1976)."""
    i = np.arange(1, block)
    gammas = math.lgamma((block - 1) / 2) - math.lgamma(block / 2)
    return math.exp(gammas) / math.sqrt(math.pi) * float(np.sqrt((block - i) / i).sum())


def raw(series: Floats) -> float:
    """Return the uncorrected estimate of a series of shape (n,)."""
    blocks, left = [], []
    block = _SHORTEST_BLOCK
    while len(series) // block >= _FEWEST_BLOCKS:
        ranges = _rescaled(series[: len(series) // block * block].reshape(-1, block))
        if len(ranges):
            blocks.append(math.log(block))
            left.append(math.log(float(ranges.mean()) / expected(block)))
        block *= 2
    return 0.5 + float(np.polyfit(blocks, left, 1)[0])


def _rescaled(blocks: Floats) -> Floats:
    """Return R/S of each row that is not constant."""
    apart = blocks - blocks.mean(axis=1, keepdims=True)
    sums = np.cumsum(apart, axis=1)
    deviation = blocks.std(axis=1)
    ranges = np.maximum(sums.max(axis=1), 0) - np.minimum(sums.min(axis=1), 0)
    changes = deviation > 0
    return np.asarray(ranges[changes] / deviation[changes])


_FREQUENCIES = 0.65  # m = n^0.65: so few that only the power law at low frequencies is used


def whittle(series: Floats) -> Estimate:
    """Return H of a series of shape (n,)."""
    from scipy.optimize import minimize_scalar

    n = len(series)
    m = int(n**_FREQUENCIES)
    power = np.abs(np.fft.rfft(series - series.mean())[1 : m + 1]) ** 2
    logs = np.log(2 * np.pi * np.arange(1, m + 1) / n)

    def contrast(h: float) -> float:
        power_law = np.exp((2 * h - 1) * logs)
        return float(np.log(np.mean(power_law * power)) - (2 * h - 1) * logs.mean())

    value = float(minimize_scalar(contrast, bounds=(0.01, 1.49), method="bounded").x)
    half = NORMAL_95 / (2 * math.sqrt(m))
    return Estimate(value, value - half, value + half, m)


SHORTEST = 1 << 10

METHODS: dict[str, Callable[[Floats], Estimate]] = {
    "variance-time": variance_time,
    "rescaled-range": rescaled_range,
    "wavelet": wavelet,
    "whittle": whittle,
}


def hurst(series: Floats) -> dict[str, Estimate] | Refused:
    """Return H of amounts in equal intervals by every method, or why they do not allow it."""
    if len(series) < SHORTEST:
        few = Fact("hurst.few-intervals", intervals=len(series), least=SHORTEST)
        return Refused("hurst", str(few))
    if not series.std() > 0:
        return Refused("hurst", str(Fact("hurst.constant")))
    if not falls(series)[1].min() > 0:
        return Refused("hurst", str(Fact("hurst.periodic")))
    return {name: method(series) for name, method in METHODS.items()}
