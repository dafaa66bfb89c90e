"""``make kills``: verbs are killed, have no room, or may not write; nothing is lost, nothing left.

SIGKILL within the first 20 s of work: outputs are whole or not there, what the store had is there,
and the same call then works and leaves nothing else. A full disk and a folder without the right to
write end in one line. As root and with util-linux only (mount namespaces); the testbed needs TUN.
"""

import argparse
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
NAMESPACES = Path("/run/netns")
MAIN = [sys.executable, "-c", "from forebay.cli import main; main()"]
MOST_S, MOST_OF_A_CALL_S = 20.0, 300.0
_FITS = 300_000
"""Bytes of a full disk: enough to begin every output, not enough to end the larger ones."""

KILLED = {
    "size": ["size", "{oc3}", "--store", "{out}/store", "--figure", "{out}/a.svg"],
    "reproduce": ["reproduce", "A.fig9", "--quick", "--store", "{out}/store"],
    "measure": ["measure", "{capture}", "--rate", "155 Mbit/s", "--scenario", "{out}/m.toml",
                "--html", "{out}/m.html", "--figure", "{out}/m.svg"],
    "testbed": ["run", "{short}", "--engine", "testbed", "--capture", "{out}/t.pcapng"],
}  # fmt: skip
WRITING = {
    "run --capture": ["run", "{oc3}", "--capture", "{out}/c.pcapng"],
    "size --store": ["size", "{oc3}", "--store", "{out}/store", "--budget", "10 s"],
    "reproduce --store": ["reproduce", "A.fig9", "--quick", "--store", "{out}/store"],
    "trace --output": ["trace", "{oc3}", "--output", "{out}/t.csv"],
    "measure --html": ["measure", "{capture}", "--rate", "155 Mbit/s", "--html", "{out}/m.html",
                       "--figure", "{out}/m.png"],
    "network --paths": ["network", "{net}", "--paths", "{out}/p.csv"],
}  # fmt: skip
SHORT = """
link.rate = "5 Mbit/s"
queue.size = "20 packets"
measure = { warmup = "1 s", duration = "3 s" }
[[traffic]]
flows = 4
"""


def main() -> int:
    """Run all; 1 if anything is lost or left."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100, help="of each verb")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=KILLED, help="kill this verb alone, and fill no disk")
    asked = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as place:
        places = _inputs(Path(place))
        for name in [asked.only] if asked.only else KILLED:
            chance = random.Random(asked.seed)
            wrong += _kills(name, KILLED[name], places, asked.kills, chance)
        for name, verb in () if asked.only else WRITING.items():
            for how, start in (("a full disk", _full), ("a folder not its own", _not_ours)):
                said = _in_one_line(verb, places, start)
                wrong += bool(said)
                print(f"{name}, {how}: {said or 'well'}", flush=True)
    return min(wrong, 1)


def _inputs(folder: Path) -> dict[str, str]:
    """Write what the verbs read."""
    found = {
        "oc3": SCENARIOS / "oc3-gsr.toml", "net": SCENARIOS / "abilene-fast-edge-small.toml",
        "capture": folder / "in.pcapng", "short": folder / "short.toml",
    }  # fmt: skip
    found["short"].write_text(SHORT)
    less = ["--set", "measure.warmup=1 s", "--set", "measure.duration=4 s"]
    words = ["run", str(found["oc3"]), *less, "--capture", str(found["capture"])]
    subprocess.run([*MAIN, *words], check=True, capture_output=True)
    return {name: str(path) for name, path in found.items()}


def _kills(
    name: str, verb: list[str], places: dict[str, str], many: int, chance: random.Random
) -> int:
    """Kill a verb so many times; return how often something was wrong."""
    wrong, killed, whole_s = 0, 0, MOST_S
    for number in range(many + 1):
        after_s = MOST_S if number == 0 else chance.uniform(0.0, min(whole_s, MOST_S))
        with tempfile.TemporaryDirectory() as place:
            began = time.monotonic()
            was_killed = _kill(verb, places, Path(place), after_s)
            if number == 0:  # how long it takes to its end
                whole_s = time.monotonic() - began
                continue
            said = _after(verb, places, Path(place))
            killed, wrong = killed + was_killed, wrong + bool(said)
            if said:
                print(f"{name}, killed after {after_s:.2f} s: {said}", flush=True)
    print(f"{name}: {killed} of {many} killed within {whole_s:.1f} s, {wrong} wrong", flush=True)
    return wrong


def _kill(verb: list[str], places: dict[str, str], out: Path, after_s: float) -> bool:
    """Start a verb and kill it after so long; whether it still ran."""
    made = subprocess.Popen(
        [*MAIN, *_words(verb, places, out)], env=_environment(out), start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        made.wait(after_s)
        return False
    except subprocess.TimeoutExpired:
        made.send_signal(signal.SIGKILL)
        made.wait()
        return True


def _after(verb: list[str], places: dict[str, str], out: Path) -> str:
    """Call it again; return what was lost, left, or does not work."""
    kept = _stored(out / "store")
    done = subprocess.run(
        [*MAIN, *_words(verb, places, out)], env=_environment(out), check=False, text=True,
        capture_output=True, timeout=MOST_OF_A_CALL_S,
    )  # fmt: skip
    if done.returncode not in (0, 1) or "Traceback" in done.stderr:
        return f"the next call ends with {done.returncode}: {done.stderr[-300:]!r}"
    if _stored(out / "store") < kept:
        return f"{kept} rows were stored, {_stored(out / 'store')} are"
    named = {Path(word).name for word in _words(verb, places, out)} | {"lock"}
    files = [str(path) for path in out.rglob("*") if path.is_file() and path.name not in named]
    spaces = [path for path in NAMESPACES.glob("forebay-*") if not _is_of_another(path)]
    return f"left {files + spaces}" if files or spaces else ""


def _is_of_another(namespace: Path) -> bool:
    """Whether the process that made it still runs: one that is not ours, for ours have ended."""
    return Path("/proc", namespace.name.split("-")[1]).exists()


def _stored(path: Path) -> int:
    """Return how many replications a store has, and that it is sound."""
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as store:
        assert store.execute("pragma integrity_check").fetchone() == ("ok",), path
        tables = [name for (name,) in store.execute("select name from sqlite_master")]
        if "replications" not in tables:
            return 0
        (count,) = store.execute("select count(*) from replications").fetchone()
        return int(count)


Start = Callable[[list[str], Path], list[str]]


def _in_one_line(verb: list[str], places: dict[str, str], start: Start) -> str:
    """Run a verb where it cannot write; return what is wrong with how it ends."""
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory() as other:
        out = Path(place) / "out"
        out.mkdir()
        command = start([*MAIN, *_words(verb, places, out)], out)
        done = subprocess.run(
            command, env=_environment(Path(other)), check=False, text=True, capture_output=True
        )
        lines, _, left = done.stderr.rpartition("LEFT ")
        errors = [line for line in lines.splitlines() if line.startswith("forebay: ")]
        left_files = [each for each in left.split() if not each.startswith("store")]
        if done.returncode in (0, 1) and not errors:
            return "" if not left_files or start is _full else f"wrote {left_files}"
        if len(errors) != 1 or "Traceback" in lines or done.returncode not in (2, 3):
            return f"status {done.returncode}, {lines[-400:]!r}"
        return f"left {left_files}" if set(left_files) - _outputs(verb) else ""


def _outputs(verb: list[str]) -> set[str]:
    """Return the names of what it had written before: outputs that were whole."""
    return {Path(word).name for word in verb if word.startswith("{out}")}


def _full(command: list[str], out: Path) -> list[str]:
    """Run it in a mount namespace with a small disk; then say what is there."""
    mount = f"mount -t tmpfs -o size={_FITS} none {out}"
    script = f'{mount} && "$@"; status=$?; echo "LEFT $(ls -A {out} | xargs)" >&2; exit $status'
    return ["unshare", "--mount", "sh", "-c", script, "sh", *command]


def _not_ours(command: list[str], out: Path) -> list[str]:
    """Run it without root's right to write where the mode of a folder does not let it."""
    out.chmod(0o555)
    caps = "-dac_override,-dac_read_search"
    script = f'"$@"; status=$?; echo "LEFT $(ls -A {out} | xargs)" >&2; exit $status'
    return ["setpriv", f"--bounding-set={caps}", f"--inh-caps={caps}", "sh", "-c", script, "sh",
            *command]  # fmt: skip


def _words(verb: list[str], places: dict[str, str], out: Path) -> list[str]:
    return [word.format(**places, out=out) for word in verb]


def _environment(out: Path) -> dict[str, str]:
    return os.environ | {"TMPDIR": str(out), "FOREBAY_RUNTIME_DIR": str(out / "run")}


if __name__ == "__main__":
    raise SystemExit(main())
