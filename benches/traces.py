"""The shipped traces of rates, drawn by models whose numbers were published.

    .venv/bin/python benches/traces.py

writes `src/forebay/scenarios/traces` anew. No measured trace was copied.
docs/how-to/links-that-vary.md says which numbers are published, by whom, and which are not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random
from statistics import median

FOLDER = Path(__file__).parents[1] / "src/forebay/scenarios/traces"
Rates = list[float]
"""Mbit/s, one for each step."""

_STEP_S = 0.1
_SEED = 1


def cellular_4g(random: Random, seconds: float = 120.0) -> Rates:
    """Return the rates of a model of LTE, scaled to a median of 13 Mbit/s.

    The rate is a Brownian motion between 0 and a largest rate: 200 packets/s per root of a second,
    and 1000 packets/s (Winstein et al. 2013, section 3). Here both ends reflect it; theirs stays at
    0 for a second in the mean. The median is that of 3000 users (Huang et al. 2012).
    """
    most, noise = 1000.0, 200.0
    now, rates = most / 2, []
    for _ in range(round(seconds / _STEP_S)):
        rates.append(now)
        moved = abs(now + noise * math.sqrt(_STEP_S) * random.gauss(0.0, 1.0))
        now = most - abs(most - moved)
    return _scaled(rates, 13.0)


def cellular_5g(random: Random, seconds: float = 120.0) -> Rates:
    """Return the rates of a model of mid-band 5G: median 150 Mbit/s while on 5G.

    Mid-band users had 100 to 200 Mbit/s (Narayanan et al. 2020); a hand-off takes 108 ms, and where
    there is no 5G the rate is that of 4G (Xu et al. 2020). Assumed: 25 s on 5G and 4 s on 4G in the
    mean, a coefficient of variation of 1/2 with a correlation time of 2 s.
    """
    walk, on_5g, rates = _log_walk(random, variation=0.5, time_s=2.0), True, Rates()
    while len(rates) < round(seconds / _STEP_S):
        steps = max(1, round(random.expovariate(1 / (25.0 if on_5g else 4.0)) / _STEP_S))
        rates += [(150.0 if on_5g else 13.0) * next(walk) for _ in range(steps)]
        rates.append(0.0)
        on_5g = not on_5g
    return rates[: round(seconds / _STEP_S)]


def leo_satellite(random: Random, seconds: float = 150.0) -> Rates:
    """Return the rates of a model of a satellite access: median 105 Mbit/s, new every 15 s.

    Links are assigned anew every 15 s (Mohan et al. 2024). The median is that of users in the
    United States (Ookla, first quarter of 2025). Assumed: a spread of a factor 1.6 between
    assignments, 10 % within one, and a pause of 100 ms between two.
    """
    within, rates = _log_walk(random, variation=0.1, time_s=1.0), Rates()
    for _ in range(round(seconds / 15.0)):
        level = random.lognormvariate(0.0, math.log(1.6))
        rates += [0.0, *(level * next(within) for _ in range(round(15.0 / _STEP_S) - 1))]
    return _scaled(rates, 105.0)


def wi_fi(random: Random, seconds: float = 60.0) -> Rates:
    """Return the rates of a model of Wi-Fi 4: two streams of 20 MHz, other stations, gaps.

    The rates on the air are those of 802.11n (MCS 8 to 15, guard interval 800 ns). Every 100 ms, as
    often as Minstrel chooses, it may move to the next. Assumed: 70 % of it is left above the MAC,
    up to two other stations that come and go every 2 s share it evenly, and once in 10 s a pause.
    """
    on_air = (13.0, 26.0, 39.0, 52.0, 78.0, 104.0, 117.0, 130.0)
    mcs, others, rates = 5, 0, Rates()
    for _ in range(round(seconds / _STEP_S)):
        mcs = min(max(mcs + random.choice((-1, 0, 0, 1)), 0), len(on_air) - 1)
        if random.random() < _STEP_S / 2.0:
            others = random.randrange(3)
        gap = random.random() < _STEP_S / 10.0
        rates.append(0.0 if gap else 0.7 * on_air[mcs] / (1 + others))
    return rates


MODELS: dict[str, Callable[[Random], Rates]] = {
    "cellular-4g": cellular_4g,
    "cellular-5g": cellular_5g,
    "leo-satellite": leo_satellite,
    "wi-fi": wi_fi,
}
"""By the name of the trace and of its scenario."""


def _log_walk(random: Random, variation: float, time_s: float) -> Iterator[float]:
    """Yield factors of median 1, lognormal, correlated over so long, from step to step."""
    spread, keep = math.sqrt(math.log1p(variation**2)), math.exp(-_STEP_S / time_s)
    level = random.gauss(0.0, spread)
    while True:
        yield math.exp(level)
        level = keep * level + math.sqrt(1.0 - keep**2) * random.gauss(0.0, spread)


def _scaled(rates: Rates, middle: float) -> Rates:
    factor = middle / median(rates)
    return [factor * each for each in rates]


def text(name: str) -> str:
    """Return the content of a trace's file: steps of at least 100 ms, in s and Mbit/s."""
    rates = MODELS[name](Random(_SEED))
    rows = (f"{_STEP_S * place:.1f} s,{rate:.1f} Mbit/s" for place, rate in _changes(rates))
    return "\n".join([f"# {name}: drawn by benches/traces.py", *rows, ""])


def _changes(rates: Rates) -> Iterable[tuple[int, float]]:
    """Yield the first step of each run of one rate."""
    shown = [round(rate, 1) for rate in rates]
    for place, rate in enumerate(shown):
        if not place or rate != shown[place - 1]:
            yield place, rate


def main() -> None:
    """Write all traces."""
    for name in MODELS:
        (FOLDER / f"{name}.csv").write_text(text(name), encoding="utf-8")


if __name__ == "__main__":
    main()
