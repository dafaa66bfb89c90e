"""Whether another checkout gives the same answers: raw readings, values, sizings and verdicts.

    .venv/bin/python benches/same_answers.py OTHER_CHECKOUT [SCENARIOS] [SIZINGS] [ARTEFACTS]

The scenarios are drawn once, by this checkout's fuzzer. Each checkout answers them with its own
interpreter and core; what differs is printed, by its place. A simulated scenario is compared twice:
every array that the core hands to Python, and every value of the Outcome. ARTEFACTS is "quick" or
"whole": the verdict on every row of `forebay reproduce`. Times, and what depends on the clock, are
left out. Prints how many were asked, were answered, and differ; status 1 if any do.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RENAMED: dict[str, str] = {
    "pushes": "direction",
    "cuts": "reductions",
    "dealt": "stratified",
    "retransmits": "retransmissions",
}
"""Keys of documents and readings: the name in the older checkout, and the name now."""
MEANS = {"up": "increasing", "down": "decreasing", "either": "non-monotone"}
LEFT_OUT = ("wall_s", "cpu_s", "peak_bytes", "cost", "notes", "version")

ANSWER = """
import hashlib, json, sys, warnings
warnings.simplefilter("ignore")
import numpy as np
import forebay
from forebay import _core
from forebay.scenario import loads

simulate, raw = _core.simulate, []

def digests(value, place, into):
    if isinstance(value, dict):
        for key, each in value.items():
            digests(each, place + (key,), into)
    elif isinstance(value, (list, tuple)):
        for index, each in enumerate(value):
            digests(each, place + (str(index),), into)
    elif isinstance(value, np.ndarray):
        exact = json.dumps([list(value.shape), value.tolist()])
        into.append([place, hashlib.sha256(exact.encode()).hexdigest()[:16]])
    elif value is None or isinstance(value, (bool, int, float, str)):
        into.append([place, value])
    return into

def simulate_and_keep(runs, *arguments, **named):
    made = simulate(runs, *arguments, **named)
    raw.extend(digests(made, (), []))
    return made

_core.simulate = simulate_and_keep

def answer(ask):
    try:
        return json.loads(json.dumps(ask().to_dict()))
    except Exception as error:
        return [type(error).__name__, str(error)]

for line in sys.stdin:
    ask = json.loads(line)
    raw.clear()
    try:
        scenario = loads(ask["text"])
    except Exception as error:
        print(json.dumps([type(error).__name__, str(error)]), flush=True)
        continue
    if ask["size"]:
        how = {"seeds": 2, "max_seeds": 4, "budget": "1 h", "jobs": 1}
        answers = {
            "theory": answer(lambda: forebay.size(scenario, "theory")),
            "simulation": answer(lambda: forebay.size(scenario, **how)),
        }
    else:
        answers = {
            each: answer(lambda: forebay.run(scenario, each, jobs=1))
            for each in ("theory", "simulation")
        }
        answers["raw"] = list(raw)
    print(json.dumps(answers), flush=True)
"""


def drawn(count: int) -> list[str]:
    """Return the texts of random scenarios, the same ones in every call."""
    sys.path.insert(0, str(ROOT / "tests" / "fuzz"))
    import tomli_w
    from hypothesis import HealthCheck, Phase, given, seed, settings
    from scenarios import trees

    texts: list[str] = []

    @seed(38)
    @settings(
        max_examples=count, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(trees())
    def draw(tree: dict[str, object]) -> None:
        texts.append(tomli_w.dumps(tree))

    draw()
    return texts[:count]


def sizings(count: int) -> list[str]:
    """Return links with goals that a search of some seconds decides."""
    controls, queues = ("reno", "cubic", "bbr"), ("drop-tail", "red", "codel")
    return [
        f'[link]\nrate = "{10 + 10 * (each % 4)} Mbit/s"\n'
        f'[queue]\ndiscipline = "{queues[each // 3 % 3]}"\n'
        f'[[traffic]]\nflows = {5 + 5 * (each % 5)}\ncongestion_control = "{controls[each % 3]}"\n'
        f'rtt = {{ uniform = ["20 ms", "{40 + each} ms"] }}\nstart = "0 s"\n'
        '[measure]\nwarmup = "5 s"\nduration = "10 s"\n[goals]\n'
        f"utilization = {0.9 + 0.002 * (each % 40)}\n"
        + ('queue_delay_p99 = "60 ms"\n' if each % 2 else "")
        for each in range(count)
    ]


def asked(checkout: Path, asks: list[str]) -> list[Any]:
    """Return what a checkout answers, in the order of the questions."""
    python = checkout / ".venv" / "bin" / "python"
    with tempfile.TemporaryFile("w+") as lines:
        lines.write("\n".join(asks) + "\n")
        lines.seek(0)
        done = subprocess.run(
            [python, "-c", ANSWER], stdin=lines, stdout=subprocess.PIPE, text=True, check=True,
            cwd=checkout / "tests" / "fuzz" / "corpus",
        )  # fmt: skip
    return [plain(json.loads(line)) for line in done.stdout.splitlines()]


def verdicts(checkout: Path, how: str) -> dict[str, Any]:
    """Return the verdict on each row of all artefacts, by artefact and row."""
    command = [checkout / ".venv/bin/forebay", "reproduce", "--json"]
    quick = ["--quick"] if how == "quick" else []
    done = subprocess.run(
        [*command, *quick],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=checkout,
    )
    return {
        each["artefact"]: plain(each["checks"]) for each in json.loads(done.stdout)["artefacts"]
    }


def plain(value: Any) -> Any:
    """Return a document without times, with the names of today."""
    if isinstance(value, list):
        if len(value) == 2 and isinstance(value[0], list):  # a reading: its place, its digest
            return [[RENAMED.get(key, key) for key in value[0]], value[1]]
        return [plain(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {RENAMED.get(key, key): each for key, each in value.items() if key not in LEFT_OUT}
    if isinstance(kept.get("direction"), str):
        kept["direction"] = MEANS.get(kept["direction"], kept["direction"])
    if "raw" in kept:
        readings = [plain(each) for each in kept["raw"]]
        kept["raw"] = {".".join(at): each for at, each in readings if at[-1] not in LEFT_OUT}
    return {key: plain(each) for key, each in kept.items()}


def differences(old: Any, new: Any, where: str = "") -> list[str]:
    """Return the places at which two documents differ; what only the new one has is none."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [
            each for key in old for each in differences(old[key], new.get(key), f"{where}.{key}")
        ]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [each for n, (a, b) in pairs for each in differences(a, b, f"{where}[{n}]")]
    return [] if old == new else [f"{where}: {str(old)[:80]} is now {str(new)[:80]}"]


def report(asks: list[str], before: list[Any], now: list[Any]) -> int:
    """Print what differs, and how often each part of an answer does; return how many differ."""
    parts: Counter[str] = Counter()
    wrong = answered = 0
    for number, (question, old, new) in enumerate(zip(asks, before, now, strict=True)):
        found = differences(old, new)
        wrong += bool(found)
        answered += isinstance(old, dict) and any(isinstance(each, dict) for each in old.values())
        parts.update({each.split(".")[1].split(":")[0] for each in found if "." in each})
        for each in found[:3]:
            print(f"{number}: {each}")
        if found:
            print(json.loads(question)["text"])
    print(f"{len(asks)} asked, {answered} answered, {wrong} differ", dict(parts) or "")
    return wrong


def main() -> int:
    """Compare; return 1 if anything differs."""
    other = Path(sys.argv[1]).resolve()
    counts = [int(word) for word in sys.argv[2:4]] + [200, 10][len(sys.argv[2:4]) :]
    asks = [json.dumps({"text": text, "size": False}) for text in drawn(counts[0])]
    asks += [json.dumps({"text": text, "size": True}) for text in sizings(counts[1])]
    wrong = report(asks, asked(other, asks), asked(ROOT, asks))
    if len(sys.argv) > 4:
        found = differences(verdicts(other, sys.argv[4]), verdicts(ROOT, sys.argv[4]))
        print(*found, f"verdicts: {len(found)} differ", sep="\n")
        wrong += len(found)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
