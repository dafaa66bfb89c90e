"""The smallest sizes of places whose goals are known."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.outcomes import around, link_of, outcome_of

from forebay.outcome import CurvePoint, Verdict
from forebay.search.network_links import smallest_set

Sizes = NDArray[np.float64]


@dataclass
class Known:
    """Place k meets its goals from ``needs[k]`` on, and the more, the smaller the places before it.

    ``coupled`` is the exponent with which a need falls as the sizes of the others shrink.
    """

    needs: tuple[float, ...]
    coupled: float = 0.0
    tried: list[Sizes] = field(default_factory=list)

    @property
    def largest(self) -> Sizes:
        return np.full(len(self.needs), 4.0)

    @property
    def least(self) -> Sizes:
        return np.full(len(self.needs), 0.01)

    def meet(self, sizes: Sizes) -> NDArray[np.bool_]:
        self.tried.append(sizes)
        others = np.exp(np.mean(np.log(sizes / 4.0)))
        met: NDArray[np.bool_] = sizes >= np.array(self.needs) * others**self.coupled
        return met


@pytest.mark.parametrize("coupled", [0.0, 0.3, 0.6])
def test_each_place_meets_its_goals_and_alone_does_not_with_a_tenth_less(coupled):
    places = Known((0.2, 0.5, 3.0), coupled)
    sizes = smallest_set(places)
    assert places.meet(sizes).all()
    for place in range(3):
        smaller = sizes.copy()
        smaller[place] /= 1.1
        assert not places.meet(smaller)[place]


def test_a_hundred_places_take_a_few_times_the_tries_of_one_and_progress_ends_at_one():
    one, many, reported = Known((0.5,)), Known(tuple(np.linspace(0.1, 3.9, 100))), list[float]()
    smallest_set(one)
    smallest_set(many, reported.append)
    assert len(many.tried) <= 4 * len(one.tried)
    assert reported == sorted(reported) and reported[-1] == 1.0


def test_places_that_need_more_where_others_shrink_end_with_goals_met():
    places = Known((0.2, 0.5, 3.0), -0.6)
    assert places.meet(smallest_set(places)).all()


def tried(packets: int, **used: float) -> CurvePoint:
    """Return a size of links by name, with what each was used."""
    sizes = {"buffer_packets": packets, "bdp_packets": 100.0}
    links = {name: link_of(utilization=around(share, n=1), **sizes) for name, share in used.items()}
    outcome = outcome_of(link_of(), seeds=(1,), engine="network", links=links)
    return CurvePoint(packets=packets, seeds=1, verdict=Verdict.MET, outcome=outcome)
