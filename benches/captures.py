"""Reading captures: packets a CPU-second, memory by a file's length and by live flows; and tshark.

    python benches/captures.py                 # a minute; captures of 0.7 GB, in the page cache
    python benches/captures.py --stream-gb 10  # a capture of 10 GB, through a named pipe

Each reading is a process of its own. The captures are of Ethernet and TCP with timestamps, an ACK
for every second segment, and the next packet is another flow's.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

HEADER = np.array([(0xA1B23C4D, 2, 4, 0, 0, 262144, 1)], dtype="<u4,<u2,<u2,<i4,<u4,<u4,<u4")
TARGET = 3e6
MSS = 1448
_HEADERS = 66
_FIELDS = [
    ("s", "<u4"), ("ns", "<u4"), ("kept", "<u4"), ("length", "<u4"), ("macs", "V12"),
    ("ether", ">u2"), ("version", "u1"), ("tos", "u1"), ("total", ">u2"), ("id", ">u4"),
    ("ttl", "u1"), ("protocol", "u1"), ("check", ">u2"), ("from", ">u4"), ("to", ">u4"),
    ("from_port", ">u2"), ("to_port", ">u2"), ("seq", ">u4"), ("ack", ">u4"), ("offset", "u1"),
    ("flags", "u1"), ("window", ">u2"), ("sums", ">u4"), ("options", ">u4"), ("value", ">u4"),
    ("echo", ">u4"),
]  # fmt: skip


def frames(packets: int, flows: int, kept: int, first: int = 0) -> NDArray[np.void]:
    """Return records of a pcap, one a microsecond, from the number ``first`` on."""
    padding = [("data", f"V{kept - _HEADERS}")] if kept > _HEADERS else []
    made = np.zeros(packets, dtype=[*_FIELDS, *padding])
    number = np.arange(first, first + packets)
    flow, turn = number % flows, number // flows
    is_ack = turn % 3 == 2
    segment = turn // 3 * 2 + np.minimum(turn % 3, 1)
    sent, acked = np.where(is_ack, 0, segment * MSS), np.where(is_ack, (segment + 1) * MSS, 0)
    payload = np.where(is_ack, 0, MSS)
    columns = {
        "s": 1_700_000_000 + number // 10**6, "ns": number % 10**6 * 1000, "kept": kept,
        "length": _HEADERS + payload, "ether": 0x0800, "version": 0x45, "total": 52 + payload,
        "ttl": 64, "protocol": 6, "from": np.where(is_ack, 0x0B000000, 0x0A000000) + flow,
        "to": np.where(is_ack, 0x0A000000, 0x0B000000) + flow,
        "from_port": np.where(is_ack, 80, 40000), "to_port": np.where(is_ack, 40000, 80),
        "seq": sent % 2**32, "ack": acked % 2**32, "offset": 0x80, "flags": 16, "window": 65535,
        "options": 0x0101080A, "value": number // 1000, "echo": number // 1000,
    }  # fmt: skip
    for name, values in columns.items():
        made[name] = values
    return made


def write(path: Path, packets: int, flows: int, kept: int = _HEADERS) -> None:
    """Write a capture, or into a named pipe, in pieces."""
    with path.open("wb") as file:
        file.write(HEADER.tobytes())
        for first in range(0, packets, 60_000):
            file.write(frames(min(60_000, packets - first), flows, kept, first).tobytes())


def read(path: str) -> dict[str, float]:
    """Read a capture in this process."""
    import ipaddress

    from forebay import _core

    toward = [(ipaddress.ip_address("11.0.0.0"), 8)]
    before = _peak()
    began = time.process_time()
    told = _core.measure_capture([path], toward=toward)
    spent = time.process_time() - began
    told = {"packets": told["files"][0]["frames"], "cpu_s": spent, "flows": told["peak_flows"]}
    return told | {"peak_bytes": _peak(), "grown_bytes": _peak() - before}


def _peak() -> int:
    """Return the most memory that this program has held; getrusage tells its parent's as well."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) * 1024


def read_apart(path: Path) -> dict[str, float]:
    """Read a capture in a fresh process."""
    command = [sys.executable, __file__, "--read", str(path)]
    told = subprocess.run(command, check=True, capture_output=True).stdout
    answer: dict[str, float] = json.loads(told)
    return answer


def speed(folder: Path) -> None:
    """Print packets a CPU-second for two ways to capture, and tshark's."""
    for name, packets, kept in [("headers", 4_000_000, _HEADERS), ("whole", 400_000, 1514)]:
        path = folder / f"{name}.pcap"
        write(path, packets, 1000, kept)
        path.read_bytes()
        runs = [read_apart(path) for _ in range(5)]
        rates = [run["packets"] / run["cpu_s"] for run in runs]
        print(
            f"{name:8} {median(rates) / 1e6:6.2f} M packets/CPU-s (best {max(rates) / 1e6:.2f}, "
            f"target {TARGET / 1e6:.0f}), peak {runs[0]['peak_bytes'] / 1e6:.0f} MB",
            flush=True,
        )
        if name == "headers" and shutil.which("tshark"):
            _tshark(folder)
        path.unlink()


def _tshark(folder: Path) -> None:
    path, packets = folder / "few.pcap", 100_000
    write(path, packets, 1000)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    fields = ["-T", "fields", "-e", "tcp.stream", "-e", "tcp.len"]
    subprocess.run(["tshark", "-n", "-r", path, *fields], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"tshark   {packets / spent / 1e6:6.2f} M packets/CPU-s (its start included)", flush=True)


def memory(folder: Path) -> None:
    """Print the memory of a live flow, and that of a file four times as long."""
    path = folder / "flows.pcap"
    grown = {}
    for flows in (1000, 500_000):  # both directions are a flow each
        write(path, 3 * flows, flows)
        told = read_apart(path)
        grown[told["flows"]] = told["grown_bytes"]
    (few, least), (many, most) = sorted(grown.items())
    print(f"a live flow: {(most - least) / (many - few):.0f} B (target 200), {many:.0f} flows")
    for packets in (2_000_000, 8_000_000):
        write(path, packets, 1000)
        print(f"{packets / 1e6:.0f} M packets: peak {read_apart(path)['peak_bytes'] / 1e6:.0f} MB")


def stream(folder: Path, gigabytes: float) -> None:
    """Print the memory and the speed of a capture of so many GB that is never on a disk."""
    path = folder / "pipe.pcap"
    os.mkfifo(path)
    packets = round(gigabytes * 1e9 / (_HEADERS + 16))
    writing = threading.Thread(target=write, args=(path, packets, 1000), daemon=True)
    writing.start()
    told = read_apart(path)
    rate, peak = told["packets"] / told["cpu_s"] / 1e6, told["peak_bytes"] / 1e6
    print(f"streamed: {told['packets']:.0f} packets, peak {peak:.0f} MB, {rate:.2f} M/s")


def main() -> None:
    """Print each figure beside its target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--read", help="a capture: read it once")
    parser.add_argument("--stream-gb", type=float, default=0, help="stream a capture as large")
    given = parser.parse_args()
    if given.read:
        print(json.dumps(read(given.read)))
        return
    with tempfile.TemporaryDirectory() as folder:
        if given.stream_gb:
            stream(Path(folder), given.stream_gb)
            return
        speed(Path(folder))
        memory(Path(folder))


if __name__ == "__main__":
    main()
