"""A link shared by Reno flows whose losses and round trips are known, and a capture of it.

Not our simulator: some eighty lines of their own, so that what `measure` reads out of the capture
is held against something else. Senders know at once which segment an ACK is for, take a segment
as lost when three sent after it have arrived (RFC 6675, section 4), and halve once a window.
"""

import heapq
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np

MSS = 1448
HEADERS = 52
PACKET = MSS + HEADERS


@dataclass
class Sender:
    number: int
    legs: tuple[float, float, float, float]
    """Sender to capture, capture to receiver, receiver to capture, capture to sender; seconds."""
    cwnd: float = 10.0
    ssthresh: float = float("inf")
    next: int = 0
    recover: int = -1
    flying: dict[int, tuple[int, float]] = field(default_factory=dict)
    """Segment: how many transmissions were before it, and when it went."""
    sent: int = 0
    echo: int = 0
    again: list[int] = field(default_factory=list)
    expected: int = 0
    """What the receiver waits for; ``ahead`` has come before it, ``recent`` it echoes."""
    ahead: set[int] = field(default_factory=set)
    recent: int = 0


@dataclass
class Link:
    rate_bps: float
    buffer: int
    seed: int = 1
    arrivals: int = 0
    drops: int = 0
    rtts: list[float] = field(default_factory=list)
    frames: list[tuple[float, tuple[Any, ...]]] = field(default_factory=list)
    senders: list[Sender] = field(default_factory=list)

    def play(self, flows: int, seconds: float, low: float, high: float, ramp: float) -> None:
        """Play so many flows, their round trips from low to high, begun within ``ramp``."""
        random = np.random.default_rng(self.seed)
        self.free, self.serial = 0.0, 0
        self.events: list[Any] = []
        for number in range(flows):
            rtt = random.uniform(low, high)
            legs = tuple(rtt * random.dirichlet([5.0] * 4))
            self.senders.append(Sender(number, legs))
            self._handshake(self.senders[-1], random.uniform(0, ramp))
        while self.events and self.events[0][0] < seconds:
            now, _, act, sender, rest = heapq.heappop(self.events)
            act(now, sender, *rest)
        self.frames = sorted(frame for frame in self.frames if frame[0] < seconds)

    def _later(self, at, act, sender, *rest):
        self.serial += 1
        heapq.heappush(self.events, (at, self.serial, act, sender, rest))

    def _handshake(self, sender, at):
        a, b, c, d = sender.legs
        self._frame(at + a, sender, True, -1, 0, 2, at, 0)
        self._frame(at + a + b + c, sender, False, 0, 0, 18, at + a + b, _tick(at))
        sender.echo = _tick(at + a + b)
        self._frame(at + 2 * a + b + c + d, sender, True, 0, 0, 16, at + sum(sender.legs),
                    sender.echo)  # fmt: skip
        self._later(at + sum(sender.legs), self._go, sender)
        self._later(at + 1.0, self._timer, sender)

    def _go(self, now, sender):
        while len(sender.flying) < int(sender.cwnd):
            if sender.again:
                segment = sender.again.pop(0)
            else:
                segment, sender.next = sender.next, sender.next + 1
            sender.flying[segment] = (sender.sent, now)
            sender.sent += 1
            args = (segment, sender.sent - 1, now, sender.echo)
            self._later(now + sender.legs[0], self._arrive, sender, *args)

    def _arrive(self, now, sender, segment, order, sent_at, echo):
        self.arrivals += 1
        service = PACKET * 8 / self.rate_bps
        if (self.free - now) / service > self.buffer + 1:
            self.drops += 1
            return
        self.free = max(self.free, now) + service
        self._frame(self.free, sender, True, segment, MSS, 16, sent_at, echo)
        there = self.free + sender.legs[1]
        self._receive(sender, segment, _tick(sent_at))
        self._frame(there + sender.legs[2], sender, False, 0, 0, 16, there, sender.recent)
        args = (segment, order, sent_at, _tick(there))
        self._later(there + sender.legs[2] + sender.legs[3], self._acked, sender, *args)

    def _receive(self, sender, segment, stamp):
        """Go on to what is next due; echo what was in order (RFC 7323, section 4.3)."""
        if segment <= sender.expected:
            sender.recent = stamp
        sender.ahead.add(segment)
        while sender.expected in sender.ahead:
            sender.ahead.remove(sender.expected)
            sender.expected += 1

    def _acked(self, now, sender, segment, order, sent_at, stamp):
        sender.echo = stamp
        if sender.flying.pop(segment, None) is not None:
            self.rtts.append(now - sent_at)
            slow = sender.cwnd < sender.ssthresh
            sender.cwnd += 1.0 if slow else 1.0 / sender.cwnd
        lost = [s for s, (number, _) in sender.flying.items() if number < order - 2]
        for one in sorted(lost):
            del sender.flying[one]
            sender.again.append(one)
            if order > sender.recover:
                sender.ssthresh = sender.cwnd = max(sender.cwnd / 2, 2.0)
                sender.recover = sender.sent
        self._go(now, sender)

    def _timer(self, now, sender):
        stale = [s for s, (_, at) in sender.flying.items() if now - at > 1.0]
        if stale:
            sender.ssthresh, sender.cwnd = max(sender.cwnd / 2, 2.0), 1.0
            sender.again = sorted({*sender.again, *sender.flying})
            sender.flying.clear()
            self._go(now, sender)
        self._later(now + 0.25, self._timer, sender)

    def _frame(self, at, sender, forward, segment, payload, flags, stamp_s, echo):
        """Segment -1 is the SYN."""
        seq = sender.number * 7919 + 1 + segment * MSS if segment >= 0 else sender.number * 7919
        ack = sender.number * 7919 + 1 + sender.expected * MSS
        self.frames.append((at, (sender.number, forward, seq if forward else 0, payload, flags,
                                 _tick(stamp_s), echo, ack)))  # fmt: skip


def _tick(seconds):
    return int(seconds * 1000) + 12345


def pcap(path, frames, *, stamps=True, back=True, start_s=0.0):
    """Write frames as raw IP cut after their headers, ACKs too if ``back``."""
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 96, 101))
        for at, frame in frames:
            if at >= start_s and (frame[1] or back):
                ns = round((at + 1_700_000_000) * 1e9)
                kept, length = _packet(frame, stamps)
                file.write(struct.pack("<IIII", ns // 10**9, ns % 10**9, len(kept), length))
                file.write(kept)


def _packet(frame, stamps):
    number, forward, seq, payload, flags, value, echo, ack = frame
    options = struct.pack(">BBBBII", 1, 1, 8, 10, value, echo) if stamps else b""
    length = 40 + len(options) + payload
    hosts = [struct.pack(">I", 0x0A000000 + number), struct.pack(">I", 0x0A800000 + number)]
    ports = [20000 + number, 80]
    order = 1 if forward else -1
    ip = struct.pack(">BBHHHBBH", 0x45, 0, length, 0, 0, 64, 6, 0) + b"".join(hosts[::order])
    offset = (5 + len(options) // 4) << 4
    tcp = struct.pack(">HHIIBBHHH", *ports[::order], seq % 2**32, ack % 2**32, offset, flags,
                      65535, 0, 0)  # fmt: skip
    return ip + tcp + options, length
