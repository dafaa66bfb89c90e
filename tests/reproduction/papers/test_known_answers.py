"""What the papers print, and what follows from it by hand: the artefacts' bands and numbers."""

import math
import tomllib
from typing import Any

import numpy as np
import pytest
from tests.outcomes import around

import forebay
from forebay.laws import bursts, heterogeneous, utilization
from forebay.outcome import Metric
from forebay.reproduction import Effort, Reproduction, Work, find
from forebay.reproduction.claims import Claim, read_claims
from forebay.reproduction.papers.appenzeller_2004 import arithmetic, short
from forebay.reproduction.papers.appenzeller_2004.windows import growth
from forebay.reproduction.papers.theagarajan_2006 import bottleneck
from forebay.reproduction.papers.yang_2013 import mix


def claims(artefact: str) -> dict[str, Claim]:
    return {each.name: each for each in read_claims(find(artefact).folder)}


def file_of(artefact: str, name: str) -> dict[str, Any]:
    return tomllib.loads((find(artefact).folder / name).read_text())


def reproduced(artefact: str) -> Reproduction:
    return find(artefact).load().reproduce()


def cells(found: Reproduction, label: Any) -> dict[str, Any]:
    row = next(row for row in found.rows if row[0] == label)
    return dict(zip(found.columns, row, strict=True))


# --- paper A -------------------------------------------------------------------------------------


def test_the_headline_s_bands_are_eq_6():
    """Section 3.2: at least erf(3 sqrt 3 / (2 sqrt 2) B sqrt n / (2 T C + B))."""

    def eq_6(buffer: float, n: int, bdp: float) -> float:
        factor = 3 * math.sqrt(3) / (2 * math.sqrt(2))
        return math.erf(factor * buffer * math.sqrt(n) / (bdp + buffer))

    bdp, band = {rate: rate * 0.25 / 12_000 for rate in (2.5e9, 10e9)}, claims("A.headline")
    oc48 = eq_6(0.01 * bdp[2.5e9], 10_000, bdp[2.5e9])
    assert band["oc48"].at_least == pytest.approx(100 * oc48, abs=0.005)
    assert band["oc48-lost"].at_most == pytest.approx(100 * (1 - oc48), abs=0.005)
    oc192 = eq_6(10e6 / 12_000, 50_000, bdp[10e9])
    assert band["oc192"].at_least == pytest.approx(100 * oc192, abs=0.01)


def test_the_sawtooth_s_period_is_appendix_b_s():
    """T = 1.5 B^2 / C = 30.2 s with B = 142 packets and 1000 packets/s."""
    period = claims("A.fig4")["period"]
    assert period.published == pytest.approx(1.5 * 142**2 / 1000, abs=0.05)
    assert period.at_least == pytest.approx(30.2 * 0.95, abs=0.05)
    assert period.at_most == pytest.approx(30.2 * 1.05, abs=0.05)
    away = max(math.sqrt(2 * s + 1) - 1 - s / 1.5 for s in (i / 1000 for i in range(1501)))
    assert away == pytest.approx(0.0833, abs=1e-4)  # a straight line would be out of the band
    assert claims("A.fig4")["root"].at_most < 100 * away


def test_half_a_buffer_s_band_is_the_fluid_sawtooth_s():
    """Window 0.75 to 1.5 bdp: below bdp it grows by one a round trip, above by C/W."""
    short, long = 0.25, (1.5**2 - 1) / 2
    used = 100 * ((1 - 0.75**2) / 2 + long) / (short + long)
    assert used == pytest.approx(96.4, abs=0.05)
    band = claims("A.fig5")["utilization"]
    assert (band.at_least, band.at_most) == pytest.approx((used - 1, used + 1), abs=0.05)
    assert "96.4" in claims("A.villamizar-song")["half-1"].because


@pytest.mark.parametrize("length, error", [(14, 0.022), (62, 0.042)])
def test_figure_10_s_band_is_its_noise(length, error):
    """Reflected Brownian motion: relative error sqrt(2 s^2 / (T (1 - rho)^2))."""
    drawn = bursts.Bursts.of_lengths([length])
    variance = 0.8 * drawn.moment(2) / drawn.mean
    packet_times = 5 * 80_000 / 0.8
    found = math.sqrt(2 * variance / (packet_times * 0.2**2))
    assert found == pytest.approx(error, abs=0.001)
    assert claims("A.fig10")["coincide"].at_most >= 100 * 3.5 * found


def test_figure_10_s_peaks_are_the_law_s():
    """Section 4: 14 packets queue more than 16; largest bursts are likeliest at 2^k - 2."""
    law = short.law
    for peak, beside in ((14, (10, 16)), (30, (26, 36)), (62, (56, 70))):
        assert all(law(peak) > law(other) for other in beside)
    assert law(14) == pytest.approx(11.60)
    assert law(14, as_printed=True) == pytest.approx(10.13, 1e-3)


def test_figure_16_s_model_is_shorter_than_the_exact_queue_of_its_bursts():
    """What its red row is put down to: 16 % at 0.1 %, without any simulation."""
    drawn = bursts.Bursts.of_lengths([short.LENGTH])
    exact = forebay.laws.finite_queue.exact_queue(short.LOAD, drawn)
    far = short.reached(exact.tail(range(400)), 0.001) / short.tail_model(0.001) - 1
    assert far == pytest.approx(0.158, abs=0.002)
    assert 100 * far > claims("A.fig16")["matches"].at_most
    tail = 0.5 ** np.arange(12.0)  # between whole packets
    assert short.reached(tail, 0.5**3.25) == pytest.approx(3.25)


def test_morris_s_bdp_is_the_printed_one():
    scenario = forebay.load(find("A.morris").folder / "scenario.toml")
    assert scenario.bdp_packets == pytest.approx(217, abs=0.5)


def test_shares_that_go_by_rtt_squared_make_the_index_that_the_band_names():
    """Rates 1/RTT^2, RTT uniform over 60 to 100 ms."""
    first = (1 / 0.06 - 1 / 0.1) / 0.04
    second = (1 / 0.06**3 - 1 / 0.1**3) / 3 / 0.04
    assert first**2 / second == pytest.approx(0.92, abs=0.005)
    assert "0.92" in claims("A.goodput-loss-fairness")["fairness-little"].because


def test_the_table_below_eq_6_is_wrong_at_one_and_a_half():
    """Section 3.2: 99.99988 % is printed, eq. 6 gives 99.98767 %."""
    made = reproduced("A.eq6")
    row = cells(made, 1.5)
    assert (row["printed %"], row["print"]) == ("99.99988", "wrong")
    assert row["ours"] == pytest.approx(123.3, abs=0.1) == row["right"]
    assert [each[-1] for each in made.rows] == ["right", "wrong", "right"]


def test_figure_12_orders_its_lengths_as_the_text_does():
    """Section 4: 14 packets queue longer than 16; exact and whole lie above the second order."""
    made = reproduced("A.fig12-model")
    shorter, longer = (cells(made, length) for length in (14, 16))
    assert shorter["ours (second order)"] > longer["ours (second order)"]
    assert (shorter["whole"], shorter["exact"]) == (pytest.approx(50.17, abs=0.01), 50)


def test_a_formula_that_moves_is_red(monkeypatch):
    true = utilization.utilization
    monkeypatch.setattr(utilization, "utilization", lambda *given: 0.999 * true(*given))
    assert not any(reproduced("A.eq6").verdicts)


def test_the_paper_s_remainder_would_be_red(monkeypatch):
    """Bursts 2, 4, 8, 4 for 16 packets, as printed, ask for another buffer."""
    true = bursts.Bursts.of_lengths

    def printed(lengths: Any, *rest: Any) -> bursts.Bursts:
        sixteen = lengths.tolist() == [16]
        return bursts.Bursts.given([2, 4, 8, 4]) if sixteen else true(lengths, *rest)

    monkeypatch.setattr(bursts.Bursts, "of_lengths", printed)
    found = reproduced("A.fig12-model")
    assert [row[0] for row, ok in zip(found.rows, found.verdicts, strict=True) if not ok] == [16]


def test_figure_15_s_ram_is_worked_out():
    assert [arithmetic.ram(packets) for packets in (64, 387, 37)] == [1, 8, 0.5]
    assert math.ceil(10e9 / 36e6) == 278 in {row[4] for row in reproduced("A.memory").rows}


def test_delayed_acks_halve_what_a_round_trip_adds():
    """Appendix A's growth is that of an ACK for each packet; a receiver that delays halves it."""
    work = Work(find("A.appendix-a").folder, quick=False, effort=Effort())
    each, delayed = growth(work, ()), growth(work, ["traffic.0.delayed_ack=true"])
    assert each["doubles"] == pytest.approx(2, abs=0.1)
    assert each["adds"] == pytest.approx(1, abs=0.1)
    assert delayed["adds"] == pytest.approx(each["adds"] / 2, rel=0.1)


# --- paper B -------------------------------------------------------------------------------------


def curve(*loss: float) -> list[tuple[int, Metric]]:
    buffers = (18, 27, 35, 48, 62, 100)
    return list(zip(buffers, map(around, loss), strict=True))


def test_fig5_knows_the_paper_s_curve_when_it_sees_it():
    numbers, band = bottleneck._losses({1: curve(6, 5, 4, 4.4, 4.6, 5)}), claims("B.fig5")
    assert numbers == {"falls-1": 0.5, "minimum-1": 35, "rises-1": 0.25}
    assert all(not band[name].reason(value) for name, value in numbers.items())
    falling = bottleneck._losses({1: curve(6, 5, 4, 3, 2, 1)})
    assert all(band[name].reason(falling[name]) for name in ("minimum-1", "rises-1"))


def test_fig4_interpolates_and_never_below_the_least_buffer():
    rising = [(buffer, metric.value) for buffer, metric in curve(18, 19, 20, 20, 20, 20)]
    assert bottleneck._reaches(rising, 19.5) == pytest.approx(31.0)
    assert bottleneck._reaches(rising, 17.0) == 18.0


def test_printed_values_are_the_text_s():
    """Section II.D; the saturation without video is a full link of payload."""
    printed = {
        "saturation-0": 20.08, "saturation-1": 19.32, "saturation-2": 18.76,
        "buffer-0": 27, "buffer-1": 48, "buffer-2": 62,
    }  # fmt: skip
    for name, value in printed.items():
        found = claims("B.fig4")[name]
        assert found.published == value and not found.reason(value)
    assert pytest.approx(20.08, abs=0.005) == 21 * bottleneck.PAYLOAD


def test_the_set_up_is_the_shipped_scenario():
    paper, shipped = forebay.load(bottleneck.HERE / "scenario.toml"), forebay.load("video-and-tcp")
    without_goals = shipped.model_copy(update={"goals": paper.goals})  # the paper states none
    assert without_goals.sha256() == paper.sha256()


def test_fig7_s_computers_leave_tcp_what_the_text_says():
    """Section III.B: about 2.5 Mbit/s a computer, 7.6 together; the core carries 85 %."""
    scenario = forebay.load(bottleneck.FIG7 / "scenario.toml")
    left = sum(10e6 - float(each.rate) for each in scenario.traffic if each.kind == "udp")
    assert left == pytest.approx(7.6e6, abs=0.05e6)
    for videos, core in bottleneck.CORE.items():
        assert (left + videos * 1.3e6) / (core * 1e6) == pytest.approx(0.85, abs=0.01)


def test_the_films_hurst_parameter_is_no_end_stop():
    """Of noise with the spectrum of H = 1.2 the estimate is 1.2, and 0.5 without memory."""
    rng = np.random.default_rng(1)
    white = np.fft.rfft(rng.standard_normal(2**16))
    rates = np.arange(1, white.size + 1)
    for wanted in (0.5, 0.9, 1.2):
        made = np.fft.irfft(white * rates ** (0.5 - wanted))
        assert bottleneck.local_whittle(made) == pytest.approx(wanted, abs=0.05)


# --- papers C and D ------------------------------------------------------------------------------


def test_the_fast_edge_is_held_against_what_is_printed():
    """Slides 16 to 18."""
    printed = {
        "core-small": 0.638, "core-traditional": 0.968, "loss-small": 0.001973,
        "loss-traditional": 0.004195, "throughput-small": 9.29, "throughput-traditional": 9.23,
        "rtt-small": 16.72, "rtt-traditional": 23.93, "delay": 4.829,
    }  # fmt: skip
    band = claims("C.fast-edge")
    assert {name: band[name].published for name in printed} == printed


def test_print_and_right_stand_side_by_side():
    fig5, table3 = reproduced("D.fig5"), reproduced("D.table3")
    assert cells(fig5, "RENO") == {
        "protocol": "RENO", "printed": 1526, "ours": 1526, "right": 1965,
    }  # fmt: skip
    assert cells(fig5, "BIC")["ours"] == 24
    assert (cells(table3, "BIC")["print"], cells(table3, "RENO")["print"]) == ("wrong", "right")
    last = [row[-1] for row in reproduced("D.table2").rows]
    assert last == ["right", "right", "wrong", "wrong", "right"]


def test_published_values_are_the_papers():
    """Spot checks against Table III and sections V, VII, VIII."""
    table = file_of("D.table3", "published.toml")["rows"]
    assert [row["mean"] for row in table] == [0.75, 0.85, 0.95, 0.925, 0.73]
    assert [row["deviation"] for row in table][1:] == [0.0241, 0.06, 0.09, 0.19]
    text = file_of("D.text", "published.toml")
    assert sum(text["mix"].values()) == 198
    assert [each["printed"] for each in text["number"]] == [1526, 24, 24, 87, 0, 45.45, 0.24]


def test_a_number_that_moves_is_red(monkeypatch):
    """With a deviation of BIC's that is 10 % off, its rows leave their band and say by how much."""
    true = heterogeneous.characteristic_value

    def off(protocol: str, *rest: object, **options: bool) -> object:
        return true(protocol, **options) * (1.1 if protocol == "bic" else 1.0)

    monkeypatch.setattr(heterogeneous, "characteristic_value", off)
    found = reproduced("D.fig5")
    red = dict(zip((row[0] for row in found.rows), found.reasons, strict=True))
    assert red["BIC"] == "29 flows, printed 24" and red["RENO"] == ""


def test_buffers_are_those_of_the_paper():
    """Inequality 7 as printed is 1.9 % of BDP; section VIII: inequality 14 asks for 45 % more."""
    for rtt_ms in mix.RTTS_MS:
        bdp = 622e6 * rtt_ms / 1e3 / 12_000
        small, large = mix.buffer_of(bdp, False), mix.buffer_of(bdp, True)
        assert small / bdp == pytest.approx(0.0193, abs=0.0005)
        assert large / small == pytest.approx(1.4545, abs=0.5 / small + 0.01)
    assert sum(mix.FLOWS.values()) == 198


def test_inequality_10_by_hand_and_with_the_deviation_measured():
    eq_6, wide = mix.least_buffer(1500, 1451), mix.least_buffer(1500, 1451, 4.0)
    assert eq_6 == pytest.approx((2.05 * mix.spread() * 1500 + 1500) * 0.99 - 1451)
    assert wide - eq_6 == pytest.approx(3 * 2.05 * mix.spread() * 1500 * 0.99)


MEASURED = {  # percent of 30,000 web servers: minimum and maximum
    "reno": (3.31, 14.47),
    "bic": (20.45, 20.45),
    "cubic_beta_0_8": (12.81, 12.81),
    "cubic_beta_0_7": (13.66, 13.66),
    "ctcp": (14.5, 25.66),
}


def test_the_deployment_s_bounds_are_the_least_and_most_percent_of_a_protocol_among_the_five():
    for name, claim in claims("D.deployment").items():
        low, high = MEASURED[name]
        others = [each for other, each in MEASURED.items() if other != name]
        least, most = (sum(each[side] for each in others) for side in (0, 1))
        bounds = 100 * low / (low + most), 100 * high / (high + least)
        assert (claim.at_least, claim.at_most) == pytest.approx(bounds, abs=0.005)
