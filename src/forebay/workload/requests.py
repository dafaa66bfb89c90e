"""Draw of requests: workers in groups, with an answer each to every request of their group."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from forebay.scenario import Requests
from forebay.workload.drawing import apportioned, rtts
from forebay.workload.model import OwnFiles, OwnRequests, Part, check_drawn
from forebay.workload.open_loop import starts
from forebay.workload.streams import PS_PER_S, Block, blocks, picoseconds, until, whole_packets

_AT_ONCE = 1 << 17

_Ints = NDArray[np.int64]


def requests(group: Requests, index: int, seed: int, link_rate: float, end_ps: int) -> Part:
    """Draw workers, each with more answers than it can send before the end."""
    asked, rtt = starts(group, index, seed), rtts(group, index, seed, group.flows)
    first = np.arange(0, group.flows, group.together)
    workers = np.diff(np.append(first, group.flows))
    thinks = _thinks(group, index, seed, asked[first], np.maximum.reduceat(rtt, first), end_ps)
    counts = np.repeat([len(each) for each in thinks], workers)
    check_drawn(int(counts.sum()))

    def own(name: str, values: Callable[[NDArray[np.float64]], _Ints]) -> list[_Ints]:
        """Return for each group an array of shape (workers, requests)."""
        return [
            values(_columns(seed, name, index, np.arange(begin, begin + n), len(each)))
            for begin, n, each in zip(first.tolist(), workers.tolist(), thinks, strict=True)
        ]

    segments = own("file", lambda u: whole_packets(group.response, group.packet, u))
    service = own("service", lambda u: picoseconds(group.service_time, u))
    begins = np.concatenate([each[:, 0] for each in service])
    files = OwnFiles(
        counts,
        np.concatenate([each.ravel() for each in segments]),
        np.concatenate([_next(each).ravel() for each in service]),
    )
    return Part(
        start_ps=asked + (rtt - rtt // 2) + begins,
        rtt_ps=rtt,
        segments=np.zeros(group.flows, dtype=np.int64),
        congestion_control=apportioned(group, index, seed),
        files=files,
        requests=OwnRequests(workers, asked[first], [each[:-1] for each in thinks]),
    )


def _next(service: _Ints) -> _Ints:
    """Return for each answer the service time of the one after it; 0 after the last."""
    return np.concatenate([service[:, 1:], np.zeros((len(service), 1), np.int64)], axis=1)


def _thinks(
    group: Requests, index: int, seed: int, asked: _Ints, rtt: _Ints, end_ps: int
) -> list[_Ints]:
    """Return for each group the pause after each request that can be asked before the end."""

    def cycles(block: Block) -> tuple[_Ints, ...]:
        think = picoseconds(group.think, block.uniforms(seed, "think", index))
        return think + rtt[block.flows][:, None], think  # the least time from request to request

    found: list[list[_Ints]] = [[] for _ in asked]
    for walk in until(end_ps, asked, group.requests_in(end_ps / PS_PER_S), cycles):
        for place, steps in enumerate(walk):
            wanted = steps.begins < end_ps
            wanted[:, 0] |= place == 0
            for row, flow in enumerate(steps.flows.tolist()):
                found[flow].append(steps.parts[1][row][wanted[row]])
    return [np.concatenate(pieces) for pieces in found]


def _columns(seed: int, name: str, index: int, flows: _Ints, count: int) -> NDArray[np.float64]:
    """Return the first numbers of some flows' streams, shape (flows, count)."""
    pieces, drawn = [], 0
    for block in blocks(flows, _AT_ONCE):
        pieces.append(block.uniforms(seed, name, index))
        drawn += len(block.columns)
        if drawn >= count:
            break
    return np.concatenate(pieces, axis=1)[:, :count]
