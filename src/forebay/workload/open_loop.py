"""Draws of classes that send datagrams without congestion control.

Frame sizes of video are lognormal: an increasing function of fractional Gaussian noise. They keep
its Hurst parameter, are never negative and have a mean in closed form. Frames come at a fixed rate;
each is sent as full packets, then the rest. Below one frame time the variation of the volume
depends on the packets' spacing, about as s^(-1/2); above it is as s^-(1-H). The knee is at one
frame time.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from forebay.scenario import OnOff, Replay, Standing, Udp, Video
from forebay.workload import streams
from forebay.workload.model import FlowColumns, OwnPackets, Part, check_drawn
from forebay.workload.streams import PS_PER_S, Block, Steps, picoseconds, uniforms, until

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

_AT_ONCE = 1 << 18
"""Packets whose times are computed at a time, because intermediate arrays are larger."""


def starts(group: Standing, index: int, seed: int) -> _Ints:
    """Return the start of each flow."""
    groups = -(-group.flows // group.together)
    times = picoseconds(group.start, uniforms(seed, "start", index, groups))
    return np.repeat(times, group.together)[: group.flows] if groups < group.flows else times


def part(start_ps: _Ints, packets: OwnPackets) -> Part:
    """Make the part of flows with packets and without TCP."""
    zeros = np.zeros(len(start_ps), dtype=np.int64)
    return Part(start_ps, zeros, zeros, zeros.astype(np.int32), packets=packets)


def udp(group: Udp, index: int, seed: int, link_rate: float, end_ps: int) -> Part:
    """Draw datagrams at a constant rate from each flow's start, or a Poisson process after it."""
    start = starts(group, index, seed)
    gap_s = 8 * group.packet / group.flow_rate(link_rate)
    if group.arrivals == "constant":
        return part(start, _constant(group, start, gap_s * PS_PER_S, end_ps))

    def gaps(block: Block) -> tuple[_Ints]:
        return (streams.exponential_gaps(block.uniforms(seed, "gap", index), gap_s, end_ps),)

    columns = FlowColumns(len(start))
    for walk in until(end_ps, start, end_ps / PS_PER_S / gap_s, gaps):
        columns.add_group(_ends(steps, end_ps) for steps in walk)
    return part(start, _alike(columns, group.packet))


def onoff(group: OnOff, index: int, seed: int, _link_rate: float, end_ps: int) -> Part:
    """Draw datagrams with equal gaps of on time, beginning at a random phase."""
    start = starts(group, index, seed)
    gap = 8 * group.packet / group.peak_rate * PS_PER_S
    phase = uniforms(seed, "phase", index, group.flows)

    def periods(block: Block) -> tuple[_Ints, ...]:
        on, off = (block.uniforms(seed, name, index) for name in ("on", "off"))
        sending, silent = picoseconds(group.on, on), picoseconds(group.off, off)
        return np.maximum(sending + silent, 1), sending

    columns = FlowColumns(len(start))
    for walk in until(end_ps, start, group.periods(end_ps / PS_PER_S), periods):
        columns.add_group(_spaced(walk, gap, phase, end_ps))
    return part(start, _alike(columns, group.packet))


def replay(group: Replay, index: int, seed: int, _link_rate: float, end_ps: int) -> Part:
    """Return the listed packets after each flow's start."""
    start = starts(group, index, seed)
    listed = group.file.at_ps
    counts = np.searchsorted(listed, end_ps - start)  # times are sorted
    at = np.concatenate([begin + listed[:n] for begin, n in zip(start, counts, strict=True)])
    sizes = np.concatenate([group.file.bytes[:n] for n in counts])
    return part(start, OwnPackets(counts, at, sizes))


def _ends(steps: Steps, end_ps: int) -> tuple[_Ints, tuple[_Ints]]:
    """Return the end of each gap, at which a datagram is sent."""
    at = steps.begins + steps.parts[0]
    sent = at < end_ps
    return np.repeat(steps.flows, sent.sum(axis=1)), (at[sent],)


def _constant(group: Udp, start: _Ints, gap: float, end_ps: int) -> OwnPackets:
    counts = np.maximum(np.ceil((end_ps - start) / gap), 0).astype(np.int64)
    check_drawn(int(counts.sum()))
    at = np.empty(int(counts.sum()), dtype=np.int64)
    for begin, flow, place in numbered(counts):
        at[begin : begin + len(place)] = start[flow] + np.floor(place * gap).astype(np.int64)
    return OwnPackets(counts, at, np.full(len(at), group.packet, dtype=np.int32))


def _spaced(
    walk: Iterator[Steps], gap: float, phase: NDArray[np.float64], end_ps: int
) -> Iterator[tuple[_Ints, tuple[_Ints]]]:
    """Yield packets of each flow and their times: one in every ``gap`` of on time."""
    spent: _Ints | int = 0
    numbered_to: _Ints | int = 0
    for steps in walk:
        begins, phases = steps.begins, phase[steps.flows]
        sending = np.clip(end_ps - begins, 0, steps.parts[1])
        after = np.cumsum(sending, axis=1) + np.reshape(spent, (-1, 1))
        before = after - sending
        upto = np.maximum(np.ceil(after / gap - phases[:, None]), 0).astype(np.int64)
        first = np.empty_like(upto)
        first[:, 0], first[:, 1:] = numbered_to, upto[:, :-1]
        spent, numbered_to = after[:, -1], upto[:, -1]
        counts = upto - first
        check_drawn(int(counts.sum()))
        row = np.repeat(np.arange(len(begins)), counts.sum(axis=1))
        counts = counts.ravel()
        number = np.repeat(first.ravel(), counts) + within(counts)
        at = np.floor((number + phases[row]) * gap).astype(np.int64)
        yield steps.flows[row], (np.repeat((begins - before).ravel(), counts) + at,)


def _alike(columns: FlowColumns, packet: int) -> OwnPackets:
    at = np.asarray(columns.joined()[0], dtype=np.int64)
    return OwnPackets(columns.counts, at, np.full(len(at), packet, dtype=np.int32))


def numbered(counts: _Ints) -> Iterator[tuple[int, _Ints, _Ints]]:
    """Yield pieces of all entries: first entry's number, each entry's owner, its index there."""
    ends = np.cumsum(counts)
    for begin in range(0, int(ends[-1]) if len(ends) else 0, _AT_ONCE):
        entries = np.arange(begin, min(begin + _AT_ONCE, int(ends[-1])))
        owner = np.searchsorted(ends, entries, side="right")
        yield begin, owner, entries - (ends - counts)[owner]


def within(counts: _Ints) -> _Ints:
    """Return 0, 1, … for each count in turn: the index of each entry among its owner's."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) - np.repeat(ends - counts, counts)


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
    frames = max(_LEAST_FRAMES, 1 << (count - 1).bit_length())
    gaussian = streams.normals(seed, f"video/{flow}", index, 2 * frames)
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
