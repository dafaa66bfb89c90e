"""Clients that drag at once: errors, answers, the latency of laws, the server's resident memory.

    .venv/bin/python benches/workbench_soak.py --clients 20 --minutes 10

Each client moves its rate twenty times a second for three seconds, with the answer to each change
broken off by the next, then rests until it is answered. The last line is JSON; the exit status is 1
with an error, a client that was not answered, a run that was left, or a slope of 1 MB/min.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import statistics
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

DRAG_S, EVERY_S, SAMPLE_S = 3.0, 0.05, 2.0
SETTLES = 0.2
"""Share of the time after which the memory is judged: caches fill in it."""


@dataclass
class Client:
    """One page in a browser."""

    number: int
    place: str
    answered: int = 0
    laws_s: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def live(self, until: float) -> None:
        """Drag and rest until the time is over."""
        chance = random.Random(self.number)
        while time.monotonic() < until:
            try:
                self._drag(chance)
                self._rest(chance)
            except (OSError, http.client.HTTPException, ValueError) as error:
                self.errors.append(f"{type(error).__name__}: {error}")
                time.sleep(0.5)

    def _drag(self, chance: random.Random) -> None:
        end = time.monotonic() + DRAG_S
        while time.monotonic() < end:
            asked, since = question(chance), time.monotonic()
            status, _ = self._post("/laws", asked)
            self.laws_s.append(time.monotonic() - since)
            if status != 200:
                self.errors.append(f"laws: {status}")
            if chance.random() < 0.1:
                self._broken_off(asked)
            time.sleep(EVERY_S)

    def _broken_off(self, asked: str) -> None:
        """Ask, read the beginning, and go."""
        connection = self._ask("/answer", asked)
        connection.getresponse().readline()
        connection.close()

    def _rest(self, chance: random.Random) -> None:
        _, text = self._post("/answer", question(chance))
        if "event: sized" in text:
            self.answered += 1
        elif "event: failed" in text:
            self.errors.append(text[-300:])

    def _post(self, path: str, asked: str) -> tuple[int, str]:
        connection = self._ask(path, asked)
        try:
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def _ask(self, path: str, asked: str) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection(self.place, timeout=300)
        headers = {"Content-Type": "application/json", "X-Client": f"soak-client-{self.number}"}
        connection.request("POST", path, asked, headers)
        return connection


def question(chance: random.Random) -> str:
    """Return a small link whose rate a hand moves."""
    traffic = {"kind": "long", "flows": 10, "rtt": {"uniform": ["40 ms", "60 ms"]}}
    return json.dumps(
        {
            "link": {"rate": f"{chance.uniform(5, 15):.2f} Mbit/s"},
            "queue": {"size": "20 packets"},
            "traffic": [traffic],
            "measure": {"warmup": "5 s", "duration": "10 s"},
            "goals": {"utilization": 0.9},
        }
    )


def resident_mb(process: int) -> float:
    """Return the resident memory of a process."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return float(line.split()[1]) / 1024
    return 0.0


def main() -> int:
    """Run the clients, and judge."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--clients", type=int, default=20)
    given.add_argument("--minutes", type=float, default=10.0)
    asked = given.parse_args()
    command = [sys.executable, "-c", "from forebay.cli import main; main()", "serve", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    place = server.stdout.readline().split()[-1].split("/")[2]
    clients = [Client(number, place) for number in range(asked.clients)]
    try:
        memory = soaked(clients, server.pid, 60 * asked.minutes)
        left = left_over(place)
    finally:
        server.terminate()
        server.wait(timeout=10)
    return judged(clients, memory, left)


def soaked(clients: list[Client], process: int, seconds: float) -> list[tuple[float, float]]:
    """Let the clients live; return minutes and MB of the server."""
    began = time.monotonic()
    threads = [threading.Thread(target=each.live, args=(began + seconds,)) for each in clients]
    for each in threads:
        each.start()
    memory = []
    while any(each.is_alive() for each in threads):
        memory.append(((time.monotonic() - began) / 60, resident_mb(process)))
        time.sleep(SAMPLE_S)
    return memory


def left_over(place: str) -> int:
    """Return the number of runs a second after the last client has gone."""
    time.sleep(1.0)
    connection = http.client.HTTPConnection(place, timeout=10)
    connection.request("GET", "/start")
    return int(json.loads(connection.getresponse().read())["running"])


def judged(clients: list[Client], memory: list[tuple[float, float]], left: int) -> int:
    """Print what was seen; return the exit status."""
    settled = np.array(memory[int(SETTLES * len(memory)) :])
    slope = float(np.polyfit(settled[:, 0], settled[:, 1], 1)[0])
    laws = [each for client in clients for each in client.laws_s]
    errors = [each for client in clients for each in client.errors]
    found = {
        "clients": len(clients),
        "minutes": round(memory[-1][0], 2),
        "errors": len(errors),
        "first_error": errors[0] if errors else None,
        "laws": len(laws),
        "laws_median_ms": round(1e3 * statistics.median(laws), 1),
        "answered": sum(client.answered for client in clients),
        "fewest_answered": min(client.answered for client in clients),
        "left": left,
        "resident_mb": round(memory[-1][1], 1),
        "slope_mb_per_min": round(slope, 3),
    }
    print(json.dumps(found))
    return int(bool(errors or left or not found["fewest_answered"] or slope >= 1.0))


if __name__ == "__main__":
    sys.exit(main())
