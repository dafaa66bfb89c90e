"""SIGINT, SIGTERM and SIGHUP at random moments over all verbs, and what must be true afterwards.

One line on stderr; status 130 or 143; no temporary file, process, namespace or record left; what
is said to be kept is there, and what is there is said.

``python tests/cli/signal_storm.py 200`` tries that many moments; test_signals.py tries a few.
"""

import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from forebay.store import Store

READY = "import sys; print('ready', flush=True); from forebay.cli import main; main()"
STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 143}
MOST_S = 30.0
"""Ctrl-C ends within a second on a machine of one's own; this one may be busy."""
HANGS_S = 120.0
NAMESPACES = Path("/run/netns")
_SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
_STORE = "store"
_PRINTED = re.compile(r"the answer as printed|may be incomplete|stopped after [1-9]")
_OF_PYTHON = re.compile(
    r'Traceback \(most recent call last\):\n  File "<string>", line 1, in <module>\n'
    r"(?:    .*\n)*KeyboardInterrupt\n"
)
"""What Python itself prints on SIGINT, with no file of ours in it."""
_KEPT = re.compile(r"[a-z]+ (/\S+?)(?:,|$)")
_LOSS = ["--set", "goals.loss_rate=0.02"]
_MEASURE = ["measure", "{capture}", "--rate", "155 Mbit/s"]

VERBS = [
    ["size", "{oc3}"],
    ["size", "{oc3}", "--json", "--figure", "{out}/a.svg"],
    ["size", "{oc3}", "--engine", "theory", "--figure", "{out}/b.png", "--emit", "junos"],
    ["size", "{oc3}", "--store", f"{{out}}/{_STORE}", "--budget", "20 s"],
    ["size", "{net}", "--engine", "network", "--link-class", "core", *_LOSS],
    ["run", "{oc3}", "--seeds", "3"],
    ["run", "{oc3}", "--capture", "{out}/link.pcapng", "--json"],
    ["compare", "{oc3}", "--engine", "theory", "--engine", "simulation"],
    ["trace", "{oc3}", "--output", "{out}/a.csv", "--histograms", "{out}/h.csv", "--json"],
    ["trace", "{oc3}", "--output", "{out}/a.npz", "--figure", "{out}/c.svg"],
    ["reproduce", "A.fig9", "--quick", "--store", f"{{out}}/{_STORE}"],
    ["reproduce", "D.table3", "--figure", "{out}/d.pdf", "--report", "{out}/d.html"],
    ["network", "{net}", "--links", "{out}/l.csv", "--paths", "{out}/p.csv"],
    ["network", "{net}", "--graphml", "{out}/g.graphml", "--figure", "{out}/n.svg", "--json"],
    ["network", "{net}", "--smallest-buffers", *_LOSS],
    [*_MEASURE, "--scenario", "{out}/m.toml", "--html", "{out}/m.html", "--figure", "{out}/m.svg"],
    [*_MEASURE, "--json"],
    ["measure", "--listen", "127.0.0.1:20559", "--seconds", "60", "--rate", "1 Gbit/s"],
    ["report", "{answer}", "--figure", "{out}/r.png"],
    ["platforms", "emit", "{oc3}", "--platform", "junos"],
    ["platforms", "lint", "{config}", "--rate", "1 Gbit/s"],
]
TESTBED = [
    ["run", "{oc3}", "--engine", "testbed", "--capture", "{out}/t.pcapng"],
    ["compare", "{oc3}", "--engine", "theory", "--engine", "testbed", "--seeds", "2"],
    ["testbed", "check", "{oc3}"],
]


@dataclass(frozen=True)
class Ended:
    """How a verb ended after a signal."""

    pid: int
    status: int
    out: bytes
    err: str
    took_s: float


def inputs(folder: Path) -> dict[str, Path]:
    """Write what the verbs read: a capture, an answer and a configuration; name the scenarios."""
    found = {
        "oc3": _SCENARIOS / "oc3-gsr.toml",
        "net": _SCENARIOS / "abilene-fast-edge-small.toml",
        "capture": folder / "in.pcapng",
        "answer": folder / "in.json",
        "config": folder / "in.cfg",
    }
    code = "from forebay.cli import main; main()"
    short = ["--set", "measure.warmup=1 s", "--set", "measure.duration=4 s"]
    run = [sys.executable, "-c", code]
    capture = ["run", str(found["oc3"]), *short, "--capture", str(found["capture"])]
    subprocess.run([*run, *capture], check=True, capture_output=True)
    size = ["size", str(found["oc3"]), "--engine", "theory", "--json"]
    found["answer"].write_bytes(
        subprocess.run([*run, *size], check=True, capture_output=True).stdout
    )
    found["config"].write_text("policy-map P\n class class-default\n  queue-limit 128 packets\n")
    return found


def try_once(
    verb: list[str], number: signal.Signals, after_s: float, places: dict[str, Path], folder: Path
) -> str:
    """Run a verb in an empty folder, send it a signal after so long; return what was wrong."""
    words = [word.format(**places, out=folder) for word in verb]
    ended = _run(words, number, after_s, folder)
    for look in (_how_it_ended, _what_it_left, _what_it_claims):
        wrong = look(ended, number, words, folder)
        if wrong:
            return wrong
    return ""


def _run(words: list[str], number: signal.Signals, after_s: float, folder: Path) -> Ended:
    runtime = folder.with_name(f"{folder.name}-run")
    made = subprocess.Popen(
        [sys.executable, "-c", READY, *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, start_new_session=True,
        env=os.environ | {"TMPDIR": str(folder), "FOREBAY_RUNTIME_DIR": str(runtime)},
        preexec_fn=_listen,
    )  # fmt: skip
    made.stdout.readline()  # our first line is about to run
    time.sleep(after_s)
    made.send_signal(number)
    asked = time.monotonic()
    try:
        out, err = made.communicate(timeout=HANGS_S)
    except subprocess.TimeoutExpired:
        made.kill()
        out, err = made.communicate()
    return Ended(made.pid, made.returncode, out, err.decode(), time.monotonic() - asked)


def _listen() -> None:
    """A shell starts its background jobs deaf to SIGINT, and so are their children."""
    for number in STATUS:
        signal.signal(number, signal.SIG_DFL)


def _last_line(ended: Ended) -> str:
    """Return the line that says how it ended; "" where it had ended before the signal."""
    lines = [line for line in ended.err.splitlines() if line.startswith("forebay: ")]
    return lines[-1] if lines and ended.status not in (0, 1) else ""


def _how_it_ended(ended: Ended, number: signal.Signals, words: list[str], folder: Path) -> str:
    lines = [line for line in ended.err.splitlines() if line.startswith("forebay: ")]
    if ended.out == b"" and _OF_PYTHON.fullmatch(ended.err):
        return ""  # before our first line ran, while Python looked for our files
    if "Traceback" in ended.err or "ignored" in ended.err:
        return ended.err
    if ended.status in (0, 1) and not lines:
        return ""  # it had ended before
    if (ended.status, ended.out, ended.err) == (-number, b"", ""):
        return ""  # before our first line ran
    if ended.status != STATUS[number] or len(lines) != 1 or ended.took_s > MOST_S:
        return f"status {ended.status} after {ended.took_s:.1f} s, {ended.err[-400:]!r}"
    return ""


def _what_it_left(ended: Ended, number: signal.Signals, words: list[str], folder: Path) -> str:
    named = {Path(word) for word in words}
    kept = [path for path in folder.rglob("*") if path not in named and path.is_file()]
    files = [path for path in kept if path.name != _STORE]
    runtime = folder.with_name(f"{folder.name}-run")
    if runtime.is_dir():
        files += [path for path in runtime.iterdir() if path.name != "lock"]
    if NAMESPACES.is_dir():
        files += NAMESPACES.glob(f"forebay-{ended.pid}-*")
    if files:
        return f"left {sorted(map(str, files))}"
    alive = _session(ended.pid)
    return f"left processes {alive}" if alive else ""


def _session(number: int) -> list[str]:
    """Return the processes of a session, the leader being gone."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, fields = stat.read_text().rpartition(")")
        except OSError:
            continue
        if int(fields.split()[3]) == number and fields.split()[0] not in "ZX":
            found.append(name)
    return found


def _what_it_claims(ended: Ended, number: signal.Signals, words: list[str], folder: Path) -> str:
    line = _last_line(ended)
    if not line:
        return ""
    said = {Path(place) for place in _KEPT.findall(line.partition("kept: ")[2])}
    files = {Path(word) for word in words if word.startswith(str(folder)) and Path(word).is_file()}
    there = files - {folder / _STORE}
    if said != there:
        return f"files {sorted(map(str, there))}, but it says {line!r}"
    if bool(_PRINTED.search(line)) != bool(ended.out.strip()):
        return f"printed {ended.out[:200]!r}, but it says {line!r}"
    stored = _is_stored(folder / _STORE)
    if ("kept in" in line and not stored) or ("nothing was kept" in line and stored):
        return f"{'something' if stored else 'nothing'} is stored, but it says {line!r}"
    return ""


def _is_stored(path: Path) -> bool:
    if not path.exists():
        return False
    with Store(path) as store:
        return store.count > 0


def storm(count: int, seed: int = 1) -> int:
    """Try so many random moments; print each, and return how many went wrong."""
    chance, wrong = random.Random(seed), 0
    verbs = VERBS + (TESTBED if os.geteuid() == 0 else [])
    with tempfile.TemporaryDirectory() as place:
        places = inputs(Path(place))
        for each in range(count):
            verb, number = verbs[each % len(verbs)], chance.choice(list(STATUS))
            after_s = chance.choice([0.2, 1.0, 4.0, 12.0]) * chance.random()
            folder = Path(place) / str(each)
            folder.mkdir()
            said = try_once(verb, number, after_s, places, folder)
            wrong += bool(said)
            print(each, number.name, f"{after_s:.3f} s", *verb[:3], said or "well", flush=True)
    print(f"{wrong} wrong of {count}")
    return wrong


if __name__ == "__main__":
    sys.exit(min(storm(int(sys.argv[1]), *map(int, sys.argv[2:3])), 1))
