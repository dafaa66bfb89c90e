"""The recipe of `film.csv.gz`: an encoded film, streamed in real time, captured on loopback.

    python make.py FOLDER      # needs ffmpeg, tcpdump and root; takes as long as the film, and more

The source is synthetic: scenes cut together as a film has them. Scenes have lengths with a heavy
tail and a level of detail of their own; their shots are short and change the picture. The encoder
is x264 at a constant quality, so the rate follows the picture; sound goes with it, as in the
paper's film. MPEG transport stream in RTP, as VLC sends it: up to seven cells of 188 bytes a
packet.
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
"""x264's crf: with the scenes below about 1.3 Mbit/s, as the paper's film has."""
PORT, SEED = 50_004, 2006
SHORTEST_S, TAIL = 15.0, 1.3
"""Scenes: Pareto, a tail as file sizes and talk spurts have it; shots 4 s on average."""
SHOT_S = 4.0
CELL_US = 1024
"""Packets are kept by cells of 2^10 µs: the finest window of Figure 3."""


def shots() -> Iterator[tuple[str, int]]:
    """Yield the source of each shot, in ffmpeg's words, and its frames."""
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
    """Draw the shots one after another into one encoder."""
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
    """Take what comes: without anyone at the port the sender would be told so, and stop."""
    while True:
        try:
            player.recv(2048)
        except OSError:
            return


def packets(capture: Path) -> Iterator[tuple[int, int]]:
    """Yield time in ns and bytes of IP of each packet; tcpdump's own pcap of loopback."""
    data, at = capture.read_bytes(), 24
    while at + 16 <= len(data):
        seconds, ns, kept, length = struct.unpack_from("<IIII", data, at)
        yield seconds * 10**9 + ns, length - 14
        at += 16 + kept


def write(capture: Path, path: Path) -> None:
    """Keep what each cell of time holds: the cells since the last that held something, bytes."""
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
    """Make all of it in the folder named."""
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
