"""Draw of long-range-dependent video.

Frame sizes are lognormal: an increasing function of fractional Gaussian noise. They keep its Hurst
parameter, are never negative and have a mean in closed form. Frames come at a fixed rate; each is
sent as full packets, then the rest. Below one frame time the variation of the volume depends on the
packets' spacing, about as s^(-1/2); above it is as s^-(1-H). The knee is at one frame time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from forebay.scenario import Video
from forebay.workload.model import FlowColumns, OwnPackets, Part, check_drawn
from forebay.workload.open_loop import numbered, part, starts
from forebay.workload.streams import PS_PER_S, normals


def autocovariance(hurst: float, lags: NDArray[np.int64]) -> _Floats:
    """Return the autocovariance for variance 1: (|k+1|^2H - 2|k|^2H + |k-1|^2H) / 2 at lag k.

    Mandelbrot and Van Ness 1968.
    """
    k, power = np.abs(lags).astype(np.float64), 2 * hurst
    return np.asarray(((k + 1) ** power - 2 * k**power + np.abs(k - 1) ** power) / 2)


def noise(hurst: float, normals: _Floats) -> _Floats:
    """Return n samples from 2 n standard normal numbers, n a power of two.

    The covariance matrix is embedded in a circulant matrix of twice its size. The eigenvalues of
    that are a Fourier transform and, for this noise, never negative. The samples then have exactly
    this covariance (Davies and Harte 1987; Dietrich and Newsam 1997).

    Parameters
    ----------
    hurst : hurst parameter, from 0.5 to below 1.
    normals : shape (2 n,)
    """
    size = len(normals)
    half = size // 2
    row = autocovariance(hurst, np.minimum(np.arange(size), size - np.arange(size)))
    # Rounding can make the smallest eigenvalues slightly negative.
    eigenvalues = np.maximum(np.fft.rfft(row).real, 0.0)
    spectrum = np.empty(half + 1, dtype=np.complex128)
    spectrum[0], spectrum[half] = normals[0], normals[half]
    spectrum[1:half] = (normals[1:half] + 1j * normals[half + 1 :]) * np.sqrt(0.5)
    samples = np.fft.irfft(spectrum * np.sqrt(eigenvalues * size), size)
    return np.asarray(samples[:half], dtype=np.float64)


LEAST_PACKET = 64
"""Size of the smallest packet in bytes; a smaller rest takes bytes from the packet before it."""
_LEAST_FRAMES = 1024

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


def video(group: Video, index: int, seed: int, link_rate: float, end_ps: int) -> Part:
    """Draw flows with a video each, whose mean rate in this run is the specified one."""
    start = starts(group, index, seed)
    frame_ps = PS_PER_S / group.frame_rate
    mean_bytes = group.flow_rate(link_rate) / (8 * group.frame_rate)
    columns = FlowColumns(len(start))
    for flow, begin in enumerate(start.tolist()):
        count = max(0, int(np.ceil((end_ps - begin) / frame_ps)))
        frames = _film(group, index, seed, flow, mean_bytes, count)
        for at, sizes in _packets(frames, begin, frame_ps, group, end_ps):
            columns.add(np.full(len(at), flow), (at, sizes))
    times, octets = columns.joined()
    own = OwnPackets(columns.counts, np.asarray(times, np.int64), np.asarray(octets, np.int32))
    return part(start, own)


def frame_sizes(hurst: float, variation: float, gaussian: _Floats) -> _Floats:
    """Return lognormal frame sizes of mean 1, from 2 n standard normal numbers; shape (n,)."""
    sigma = np.sqrt(np.log1p(variation**2))
    return np.asarray(np.exp(sigma * noise(hurst, gaussian) - sigma**2 / 2))


def _film(group: Video, index: int, seed: int, flow: int, mean_bytes: float, count: int) -> _Ints:
    """Return the bytes of each frame, scaled so that those sent have the specified mean.

    With H near 1 the mean of an hour still varies by a third. Without scaling, each seed would have
    another load.
    """
    if count < 1:
        return np.zeros(0, dtype=np.int64)
    made = max(_LEAST_FRAMES, 1 << (count - 1).bit_length())
    gaussian = normals(seed, f"video/{flow}", index, 2 * made)
    sizes = frame_sizes(group.hurst, group.variation, gaussian)[:count]
    ends = np.rint(np.cumsum(sizes) * (mean_bytes * count / sizes.sum())).astype(np.int64)
    return np.asarray(np.diff(ends, prepend=0))


def _packets(
    frames: _Ints, start_ps: int, frame_ps: float, group: Video, end_ps: int
) -> Iterator[tuple[_Ints, NDArray[np.int32]]]:
    """Yield times and bytes of one flow's packets before the end of the run."""
    counts = -(-frames // group.packet)
    begins = start_ps + np.floor(np.arange(len(frames)) * frame_ps).astype(np.int64)
    # With even spacing the last frame may extend far beyond the end of the run.
    apart = frame_ps / np.maximum(counts, 1) if group.spacing == "even" else np.zeros(len(frames))
    with np.errstate(divide="ignore"):
        before_end = np.ceil((end_ps - begins) / apart) + 1
    sent = np.where(apart > 0, np.minimum(counts, before_end), counts).astype(np.int64)
    check_drawn(int(sent.sum()))
    yield np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
    for _, frame, place in numbered(sent):
        at = begins[frame] + np.floor(place * apart[frame]).astype(np.int64)
        inside = at < end_ps
        sizes = _sizes(frames[frame], counts[frame], place, group.packet)
        yield at[inside], sizes[inside]


def _sizes(frame: _Ints, count: _Ints, place: _Ints, packet: int) -> NDArray[np.int32]:
    """Return each packet's size in bytes: full packets, then the rest of the frame."""
    rest = frame - (count - 1) * packet
    lent = np.where(count > 1, np.maximum(LEAST_PACKET - rest, 0), 0)
    lent = np.minimum(lent, packet - LEAST_PACKET)
    last, before_last = place == count - 1, place == count - 2
    sizes = np.where(last, rest + lent, np.where(before_last, packet - lent, packet))
    return np.maximum(sizes, LEAST_PACKET).astype(np.int32)
