"""Whether another checkout gives the same answers: every value of random scenarios, and sizings.

    .venv/bin/python benches/same_answers.py OTHER_CHECKOUT [SCENARIOS] [SIZINGS]

The scenarios are drawn once, by this checkout's fuzzer. Each checkout runs them with its own
interpreter and core; what differs is printed. Times, and what hangs on the clock, are left out.
Prints how many were asked, were answered, and differ; status 1 if any do.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RENAMED: dict[str, str] = {"pushes": "direction"}
"""Keys of JSON documents: the name in the older checkout, and the name now."""
MEANS = {"up": "increasing", "down": "decreasing", "either": "non-monotone"}
LEFT_OUT = ("wall_s", "cpu_s", "cost", "notes", "version")

RUN = """
import json, sys, warnings
warnings.simplefilter("ignore")
import forebay
from forebay.scenario import loads

def said(ask):
    try:
        return json.loads(json.dumps(ask().to_dict()))
    except Exception as error:
        return [type(error).__name__, str(error)]

for line in sys.stdin:
    ask = json.loads(line)
    try:
        scenario = loads(ask["text"])
    except Exception as error:
        print(json.dumps([type(error).__name__, str(error)]), flush=True)
        continue
    if ask["size"]:
        found = [said(lambda: forebay.size(scenario, "theory"))]
        how = {"seeds": 2, "max_seeds": 4, "budget": "1 h", "jobs": 1}
        found.append(said(lambda: forebay.size(scenario, **how)))
    else:
        engines = ("theory", "simulation")
        found = [said(lambda: forebay.run(scenario, each, jobs=1)) for each in engines]
    print(json.dumps(found), flush=True)
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


def ask(checkout: Path, asks: list[str]) -> list[object]:
    """Return what a checkout answers, in the order of the questions."""
    python = checkout / ".venv" / "bin" / "python"
    with tempfile.TemporaryFile("w+") as questions:
        questions.write("\n".join(asks) + "\n")
        questions.seek(0)
        done = subprocess.run(
            [python, "-c", RUN], stdin=questions, stdout=subprocess.PIPE, text=True, check=True,
            cwd=checkout / "tests" / "fuzz" / "corpus",
        )  # fmt: skip
    return [plain(json.loads(line)) for line in done.stdout.splitlines()]


def plain(value: object) -> object:
    """Return a document without times, with the names of today."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {RENAMED.get(key, key): each for key, each in value.items() if key not in LEFT_OUT}
    if isinstance(kept.get("direction"), str):
        kept["direction"] = MEANS.get(kept["direction"], kept["direction"])
    return {key: plain(each) for key, each in kept.items()}


def differences(old: object, new: object, where: str = "") -> list[str]:
    """Return the places at which two documents differ; what only the new one has is none."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [
            each for key in old for each in differences(old[key], new.get(key), f"{where}.{key}")
        ]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [each for n, (a, b) in pairs for each in differences(a, b, f"{where}[{n}]")]
    return [] if old == new else [f"{where}: {str(old)[:80]} is now {str(new)[:80]}"]


def main() -> int:
    """Compare; return 1 if anything differs."""
    other = Path(sys.argv[1]).resolve()
    counts = [int(word) for word in sys.argv[2:4]] + [200, 10][len(sys.argv) - 2 :]
    asks = [json.dumps({"text": text, "size": False}) for text in drawn(counts[0])]
    asks += [json.dumps({"text": text, "size": True}) for text in sizings(counts[1])]
    wrong = ran = 0
    for number, (question, old, new) in enumerate(
        zip(asks, ask(other, asks), ask(ROOT, asks), strict=True)
    ):
        found = differences(old, new)
        wrong += bool(found)
        ran += isinstance(old, list) and any(isinstance(each, dict) for each in old)
        for each in found[:3]:
            print(f"{number}: {each}")
        if found:
            print(json.loads(question)["text"])
    print(f"{len(asks)} asked, {ran} answered, {wrong} differ")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
