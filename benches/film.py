"""Makes `film.csv.gz`: an encoded film, streamed in real time, captured on loopback.

    python benches/film.py FOLDER      # needs ffmpeg, tcpdump and root; takes longer than the film

The source is synthetic: a sequence of scenes as in a film. Scene lengths are heavy-tailed, and each
scene has its own level of detail; its shots are short and change the picture. The encoder is x264
at a constant quality, so the rate follows the picture. Sound is included, as in the paper's film.
The stream is MPEG-TS in RTP, as sent by VLC: up to seven cells of 188 bytes in a packet.
"""

from __future__ import annotations

import gzip
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

SECONDS, FRAME_RATE, SIZE = 1200, 25, "352x288"
QUALITY = 22
"""x264's crf: with the scenes below about 1.3 Mbit/s, as in the paper's film."""
PORT, SEED = 50_004, 2006
SHORTEST_S, TAIL = 15.0, 1.3
"""Scene lengths: Pareto, with a tail like that of file sizes and talk spurts; shots: mean 4 s."""
SHOT_S = 4.0
CELL_US = 1024
"""Packets are summed in intervals of 2^10 µs, the shortest window of Figure 3."""


def shots() -> Iterator[tuple[str, int]]:
    """Yield the source of each shot in ffmpeg's notation, and its frames."""
    chance, left = random.Random(SEED), SECONDS * FRAME_RATE
    while left > 0:
        scene = min(round(SHORTEST_S * chance.paretovariate(TAIL) * FRAME_RATE), left)
        detail = chance.lognormvariate(1.8, 0.8)
        left -= scene
        while scene > 0:
            frames = min(max(round(chance.expovariate(1 / SHOT_S) * FRAME_RATE), 5), scene)
            scene -= frames
            yield _picture(chance, detail), frames


def _picture(chance: random.Random, detail: float) -> str:
    seed = chance.randrange(1 << 30)
    kinds = [
        f"testsrc2=s={SIZE}:r={FRAME_RATE}",
        f"cellauto=s={SIZE}:r={FRAME_RATE}:random_seed={seed}",
        f"life=s={SIZE}:r={FRAME_RATE}:mold=10:ratio=0.1:random_seed={seed}",
        f"mandelbrot=s={SIZE}:r={FRAME_RATE}:maxiter=300:start_scale={chance.uniform(0.01, 3):.4f}",
    ]
    noise = f"noise=alls={min(max(round(detail), 1), 60)}:allf=t:all_seed={seed % 10_000}"
    return f"{chance.choice(kinds)},{noise}"


def encode(film: Path) -> None:
    """Render the shots one after another into one encoder."""
    raw = ["-f", "rawvideo", "-pix_fmt", "yuv420p"]
    voice = "anoisesrc=c=pink:r=44100:a=0.3:seed=1,tremolo=f=3:d=0.9"
    encoder = subprocess.Popen(
        ["ffmpeg", "-v", "error", "-y", *raw, "-s", SIZE, "-r", str(FRAME_RATE), "-i", "-",
         "-f", "lavfi", "-t", str(SECONDS), "-i", voice, "-c:v", "libx264", "-preset", "veryfast",
         "-crf", str(QUALITY), "-threads", "1", "-c:a", "mp2", "-b:a", "128k", "-shortest", film],
        stdin=subprocess.PIPE,
    )  # fmt: skip
    assert encoder.stdin is not None
    for source, frames in shots():
        drawing = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", source, "-frames:v", str(frames)]
        subprocess.run([*drawing, *raw, "-"], stdout=encoder.stdin, check=True)
    encoder.stdin.close()
    if encoder.wait():
        raise SystemExit("ffmpeg could not encode the film")


def stream(film: Path, capture: Path) -> None:
    """Send the film in real time over loopback, and capture it."""
    tap = ["tcpdump", "-i", "lo", "-s", "64", "-B", "8192", "--time-stamp-precision=nano"]
    watching = subprocess.Popen([*tap, "-w", capture, f"udp dst port {PORT}"])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as player:
        player.bind(("127.0.0.1", PORT))
        threading.Thread(target=_play, args=(player,), daemon=True).start()
        time.sleep(1)
        to = f"rtp://127.0.0.1:{PORT}?pkt_size=1328"
        reading = ["ffmpeg", "-v", "error", "-re", "-i", str(film)]
        sending = [*reading, "-c", "copy", "-f", "rtp_mpegts", to]
        subprocess.run(sending, check=True)
        time.sleep(1)
    watching.send_signal(signal.SIGINT)
    watching.wait()


def _play(player: socket.socket) -> None:
    """Receive and discard the stream; without a receiver an ICMP error would stop the sender."""
    while True:
        try:
            player.recv(2048)
        except OSError:
            return


def packets(capture: Path) -> Iterator[tuple[int, int]]:
    """Yield time in ns and IP bytes of each packet of tcpdump's pcap of loopback."""
    data, at = capture.read_bytes(), 24
    while at + 16 <= len(data):
        seconds, ns, kept, length = struct.unpack_from("<IIII", data, at)
        yield seconds * 10**9 + ns, length - 14
        at += 16 + kept


def write(capture: Path, path: Path) -> None:
    """Write each interval with packets: the intervals since the previous one, and its bytes."""
    cells: dict[int, int] = {}
    begin = None
    for at_ns, octets in packets(capture):
        begin = at_ns if begin is None else begin
        cell = (at_ns - begin) // (CELL_US * 1000)
        cells[cell] = cells.get(cell, 0) + octets
    rows, last = ["cells_since,bytes"], 0
    for cell, octets in sorted(cells.items()):
        rows.append(f"{cell - last},{octets}")
        last = cell
    text = "\n".join([*rows, ""]).encode()
    path.write_bytes(gzip.compress(text, 9, mtime=0))


def main() -> None:
    """Make everything in the folder that is named."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    film, capture = folder / "film.mp4", folder / "film.pcap"
    if not film.exists():
        encode(film)
    if not capture.exists():
        stream(film, capture)
    write(capture, folder / "film.csv.gz")


if __name__ == "__main__":
    main()
