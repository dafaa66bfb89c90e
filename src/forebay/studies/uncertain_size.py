"""The size that meets the goals in a share of the draws, and which input moves it."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from forebay.outcome import Metric
from forebay.outcome.uncertain import Draw, InputInfluence, UncertainBuffer, UncertainSize
from forebay.studies.columns import columns_of_size
from forebay.studies.uncertain import Uncertain
from forebay.words import Fact

_LEVEL = 0.95
_NOT_SHOWN = 0.05
_FEWEST_OF_A_GROUP, _MOST_GROUPS = 8, 8
SIZED, IMPOSSIBLE, UNDECIDED = "sized", "no buffer", "undecided"


def draw_of(
    values: tuple[Any, ...], row: Mapping[str, Any] | None, why: str | Fact, sized: str = "buffer"
) -> Draw:
    """Return a draw from its row of a study; without one it has no answer."""
    of_least, of_best = columns_of_size(sized)
    if row is None:
        return Draw(values=values, least=None, largest=None, state=why)
    least = row.get(f"{of_least}.packets")
    state = SIZED if least is not None else UNDECIDED
    if least is None and row["exit_status"] == 1:
        state = IMPOSSIBLE
    return Draw(
        values=values, least=least, largest=row.get(f"{of_least}.largest"), state=state,
        recommended=row.get(f"{of_best}.packets"),
    )  # fmt: skip


class Holding:
    """In how many draws a buffer meets the goals."""

    def __init__(self, draws: Sequence[Draw]) -> None:
        sized = [draw for draw in draws if draw.least is not None]
        self.count = len(draws)
        self._least = np.sort(np.array([draw.least for draw in sized], dtype=np.float64))
        most = [np.inf if draw.largest is None else draw.largest for draw in sized]
        self._most = np.sort(np.array(most, dtype=np.float64))
        self.sizes = np.unique(self._least)

    def at(self, packets: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the number of draws that each size meets the goals in."""
        enough = np.searchsorted(self._least, packets, side="right")
        return np.asarray(enough - np.searchsorted(self._most, packets, side="left"))

    def first(self, fewest: int) -> int | None:
        """Return the smallest size that meets the goals in so many draws."""
        good = self.sizes[self.at(self.sizes) >= fewest]
        return ceil(good[0]) if good.size else None


def share_of(good: int, count: int) -> Metric:
    """Return a share with its exact binomial interval (Clopper and Pearson 1934)."""
    ends = scipy.stats.binomtest(good, count).proportion_ci(_LEVEL, method="exact")
    return Metric(value=good / count, low=float(ends.low), high=float(ends.high), n=count)


def _ranks(holds: float, count: int) -> tuple[int, int, int]:
    """Return in how many draws a size holds whose share's interval ends at, has, begins at it."""
    shares = [share_of(good, count) for good in range(count + 1)]
    asked = ceil(holds * count - 1e-9)
    low = next(at for at, share in enumerate(shares) if (share.high or 0.0) >= holds)
    high = next((at for at, share in enumerate(shares) if (share.low or 0.0) >= holds), count + 1)
    return low, asked, high


def enough_draws(holds: float) -> int:
    """Return the fewest draws that can show that a size holds in this share of all."""
    count = 1
    while (share_of(count, count).low or 0.0) < holds:
        count += 1
    return count


def uncertain_size(
    named: tuple[str, str, str],
    holds: float,
    inputs: Sequence[Uncertain],
    draws: Sequence[Draw],
    numbers: NDArray[np.float64],
    base: tuple[float | None, float],
) -> UncertainSize:
    """Return the answer.

    Parameters
    ----------
    named : the scenario, the engine and what is sized, as in an `UncertainSize`.
    numbers : the inputs as numbers, shape (draws, inputs).
    base : packets for the scenario as it is, and bytes of a packet.
    """
    holding = Holding(draws)
    low, asked, high = _ranks(holds, len(draws))
    size, upper = holding.first(asked), holding.first(high)
    counts = holding.at(holding.sizes)
    buffer, held = None, share_of(int(counts.max(initial=0)), len(draws))
    if size is not None:
        lower = holding.first(low)
        assert lower is not None, "fewer draws are met by a smaller size"
        buffer = UncertainBuffer(packets=size, bytes=round(size * base[1]), low=lower, high=upper)
        held = share_of(int(holding.at(np.array([float(size)]))[0]), len(draws))
    impossible = sum(draw.state == IMPOSSIBLE for draw in draws)
    unanswered = sum(draw.least is None for draw in draws) - impossible
    why = _why(holding, holds, size, upper)
    if size is None and unanswered and held.value * len(draws) + unanswered >= asked:
        why = Fact("uncertain-size.unanswered", unanswered=unanswered, draws=len(draws))
    scenario, engine, sized = named
    return UncertainSize(
        scenario=scenario, engine=engine, holds=holds, buffer=buffer, held=held,
        recommended=upper, reason=why, as_written=base[0], impossible=impossible,
        unanswered=unanswered, influences=_influences(inputs, draws, numbers),
        inputs=tuple(input_.path for input_ in inputs), draws=tuple(draws), sized=sized,
    )  # fmt: skip


def _why(holding: Holding, holds: float, size: int | None, upper: int | None) -> Fact | None:
    """Return why nothing is recommended."""
    if upper is not None:
        return None
    if size is None:
        return Fact("uncertain-size.none")
    fewest = enough_draws(holds)
    if holding.count < fewest:
        return Fact("uncertain-size.few", draws=holding.count, holds=holds, fewest=fewest)
    return Fact("uncertain-size.not-shown", holds=holds)


def _influences(
    inputs: Sequence[Uncertain], draws: Sequence[Draw], numbers: NDArray[np.float64]
) -> tuple[InputInfluence, ...]:
    sized = np.array([draw.least is not None for draw in draws])
    packets = np.array([draw.least for draw in draws if draw.least is not None], dtype=np.float64)
    if packets.size < 2 * _FEWEST_OF_A_GROUP:
        return ()
    effects = [_influence(each, packets, numbers[sized][:, at]) for at, each in enumerate(inputs)]
    return tuple(sorted(effects, key=lambda effect: effect.share * effect.shown, reverse=True))


def _influence(
    each: Uncertain, packets: NDArray[np.float64], numbers: NDArray[np.float64]
) -> InputInfluence:
    share, shown = _share(packets, _groups(each, numbers))
    levels = tuple(
        (_words(each, numbers[group]), float(np.median(packets[group])))
        for group in _ends(each, numbers)
    )
    return InputInfluence(path=each.path, said=each.said, share=share, shown=shown, levels=levels)


def _words(input_: Uncertain, numbers: NDArray[np.float64]) -> str:
    """Return where a group lies, by its median, one of its numbers."""
    return input_.word(float(np.sort(numbers)[(numbers.size - 1) // 2]))


def _groups(input_: Uncertain, numbers: NDArray[np.float64]) -> list[NDArray[np.intp]]:
    """Return the draws of each value of a list, or of equal parts of a range."""
    if input_.is_list:
        return [np.flatnonzero(numbers == value) for value in np.unique(numbers)]
    parts = max(2, min(_MOST_GROUPS, numbers.size // (2 * _FEWEST_OF_A_GROUP)))
    return np.array_split(np.argsort(numbers, kind="stable"), parts)


def _ends(input_: Uncertain, numbers: NDArray[np.float64]) -> list[NDArray[np.intp]]:
    if input_.is_list:
        return _groups(input_, numbers)
    order = np.argsort(numbers, kind="stable")
    quarter = max(1, order.size // 4)
    return [order[:quarter], order[-quarter:]]


def _share(packets: NDArray[np.float64], groups: Sequence[NDArray[np.intp]]) -> tuple[float, bool]:
    """Return the first-order share of the variance, and whether the groups differ.

    It is epsilon squared (Kelley 1935): the correlation ratio without its bias.
    """
    size, count = packets.size, len(groups)
    whole = float(((packets - packets.mean()) ** 2).sum())
    if whole <= 0.0 or count < 2 or size <= count:
        return 0.0, False
    inside = sum(float(((packets[g] - packets[g].mean()) ** 2).sum()) for g in groups)
    share = 1.0 - (inside / (size - count)) / (whole / (size - 1))
    if inside <= 0.0:
        return 1.0, True
    ratio = ((whole - inside) / (count - 1)) / (inside / (size - count))
    return max(0.0, share), bool(scipy.stats.f.sf(ratio, count - 1, size - count) < _NOT_SHOWN)
