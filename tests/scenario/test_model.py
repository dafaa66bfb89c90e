"""What a scenario means: defaults, derived quantities, names, equality and its hash."""

import pickle
from pathlib import Path

import pytest
from tests.refused import refused

import forebay
from forebay.scenario import Duration, Rate, Scenario, ScenarioError, dumps, load, loads
from forebay.scenario.model import document_and_hash

from .build import SMALLEST

OC3 = Path(__file__).parents[2] / "scenarios" / "oc3-gsr.toml"


def test_the_shipped_link_is_figure_15_s():
    """Appenzeller et al. 2004, Figure 15: BDP 1291 packets, 129 of them at n = 100."""
    scenario = load(OC3)
    assert scenario.link.rate == 155e6
    assert scenario.mean_rtt == pytest.approx(0.1)
    assert scenario.bdp_packets == pytest.approx(1291.67, abs=0.01)
    assert scenario.buffer_packets == 129
    assert scenario.goals.utilization == 0.98


FIGURE_15 = {
    100: [64, 129, 258, 387],
    200: [46, 91, 182, 273],
    300: [37, 74, 148, 222],
    400: [32, 64, 128, 192],
}


@pytest.mark.parametrize("flows", FIGURE_15)
def test_all_sizes_of_figure_15(flows):
    """The paper rounds 1x first and multiplies after; ours differs by 2 packets at most."""
    for multiple, packets in zip((0.5, 1, 2, 3), FIGURE_15[flows], strict=True):
        sets = (f"queue.size={multiple} bdp/sqrt(n)", f"traffic.0.flows={flows}")
        assert loads(SMALLEST, overrides=sets).buffer_packets == pytest.approx(packets, abs=2)


@pytest.mark.parametrize(
    ("size", "packets"),
    [
        ("129 packets", 129),
        ("1.5 MB", 1000),
        ("64 KiB", 43),  # 43.69 packets: the last would not fit
        ("10 ms", 129),  # 129.17
        ("200 us", 3),  # 2.58: to the nearest
        ("1 bdp", 1292),
        ("0.5 bdp", 646),
        ("1 bdp/sqrt(n)", 129),
        ("0.5 bdp / sqrt(n)", 65),
    ],
)
def test_sizes_resolve_to_packets(size, packets):
    scenario = loads(SMALLEST, overrides=[f"queue.size={size}"])
    assert scenario.buffer_packets == packets
    assert str(scenario.queue.size) == size


def test_sizes_behind_a_shaper_are_of_its_rate():
    """21 Mbit/s x 100 ms / 12 kbit; its tokens come once Bc over the rate."""
    shaper = {"rate": "21 Mbit/s", "burst": "52.5 kB", "refill": "interval", "excess": "1 kB"}
    changes = {"link": {"rate": "100 Mbit/s", "shaper": shaper}, "queue.size": "10 ms"}
    scenario = loads(SMALLEST).replace(changes)
    assert scenario.link.capacity == 21e6
    assert (scenario.bdp_packets, scenario.buffer_packets) == (175, 18)
    bucket = scenario.link.shaper
    assert (bucket.interval, bucket.depth) == (Duration(0.02), 53_500)
    assert scenario.replace({"link.shaper": None}).bdp_packets == pytest.approx(833.3, abs=0.1)


def test_means_are_weighted_by_flows():
    second = '[[traffic]]\nflows = 300\nrtt = "20 ms"\npacket = "500 B"\n'
    scenario = loads(SMALLEST + second)
    assert scenario.n_flows == 400
    assert scenario.mean_rtt == pytest.approx((0.1 + 3 * 0.02) / 4)
    assert scenario.packet == 750


def test_a_class_without_a_name_has_its_kind_and_place():
    voip = '[[traffic]]\nkind = "udp"\nname = "voip"\nflows = 1\nload = 0.01\n'
    scenario = loads(SMALLEST + voip + "[[traffic]]\nflows = 2\n")
    assert scenario.class_names == ("long-0", "voip", "long-2")
    assert "name" not in loads(SMALLEST).to_dict()["traffic"][0], "which changes no hash"


@pytest.mark.parametrize(("place", "name"), [(0, "long-1"), (1, "long-0")])
def test_two_classes_of_one_name_are_refused(place, name):
    """Of a name that was written and one that was not, the written one is to be changed."""
    written = f"traffic.{place}.name"
    with refused("another class has this name", field=written):
        loads(SMALLEST + "[[traffic]]\nflows = 2\n", overrides=[f"{written}={name}"])


def test_hash_is_of_the_meaning():
    base = loads(SMALLEST)
    same = '# a remark\n[[traffic]]\nflows = 1_00\nrtt="0.1 s"\n[link]\nrate = "0.155 Gbit/s"\n'
    assert loads(same).sha256() == base.sha256()
    assert loads(same) == base
    written_out = loads(SMALLEST, overrides=["queue.size=1.0 bdp", "traffic.0.packet=12 kbit"])
    assert written_out.sha256() == base.sha256()
    for change in ("link.rate=156 Mbit/s", "traffic.0.flows=101", "goals.utilization=0.5"):
        assert loads(SMALLEST, overrides=[change]).sha256() != base.sha256()
    # 35 * 1e-3 is not 0.035 in binary floating point; exact decimals make them one.
    one, other = (loads(SMALLEST, overrides=[f"traffic.0.rtt={t}"]) for t in ("35 ms", "0.035 s"))
    assert one.sha256() == other.sha256()


@pytest.mark.parametrize(
    ("law", "same"),
    [
        ({"uniform": ["80 ms", "0.12 s"]}, {"uniform": ["80000 us", "120 ms"]}),
        ({"exponential": {"mean": "0.1 s", "low": "1 ms"}},
         {"exponential": {"mean": "100 ms", "low": "1 ms", "high": "4 s"}}),
        ({"normal": {"mean": "90 ms", "deviation": "9 ms"}},
         {"normal": {"mean": "90 ms", "deviation": "9 ms", "low": "54 ms", "high": "126 ms"}}),
        ({"lognormal": {"mean": "90 ms", "deviation": "9 ms"}},
         {"lognormal": {"mean": "0.09 s", "deviation": "0.009 s"}}),
        ({"pareto": {"mean": "90 ms", "shape": 1.5, "high": "2 s"}},
         {"pareto": {"mean": "0.09 s", "shape": 1.5, "high": "2000 ms"}}),
        ({"values": ["28 ms", "67 ms"]}, {"values": ["28 ms", "0.067 s"], "shares": [0.5, 0.5]}),
    ],
)  # fmt: skip
def test_a_law_is_known_by_its_parameters(law, same):
    one, other = (loads(SMALLEST).replace({"traffic.0.rtt": each}) for each in (law, same))
    assert one == other and one.sha256() == other.sha256() != loads(SMALLEST).sha256()
    assert loads(dumps(one)) == one and loads(dumps(one)).sha256() == one.sha256()


@pytest.mark.parametrize("name", ["oc3-gsr", "class-queues", "pareto", "l4s", "parking-lot"])
def test_the_document_that_is_kept_is_the_scenarios_own(name):
    scenario = forebay.load(name)
    for _ in range(2):
        assert document_and_hash(scenario) == (scenario.to_dict(), scenario.sha256())
    document_and_hash(scenario)[0]["traffic"].clear()
    assert document_and_hash(scenario)[0] == scenario.to_dict()
    other = scenario.replace({"name": "other"})
    assert document_and_hash(other)[0]["name"] == "other"


def test_paths_of_a_document_follow_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "below").mkdir()
    (tmp_path / "packets.csv").write_text("time_s,bytes\n0.0,1000\n0.1,1000\n")
    monkeypatch.chdir(tmp_path)
    replay = {"kind": "replay", "flows": 1, "file": "packets.csv"}
    scenario = loads(SMALLEST).replace({"traffic": [replay], "queue.size": "9 packets"})
    assert document_and_hash(scenario)[0] == scenario.to_dict()
    monkeypatch.chdir(tmp_path / "below")
    assert document_and_hash(scenario)[0] == scenario.to_dict()


def test_another_buffer_is_another_question():
    scenario = load(OC3)
    smaller = scenario.with_buffer(64)
    assert smaller.buffer_packets == 64
    assert smaller.traffic == scenario.traffic
    assert smaller.sha256() != scenario.sha256()
    assert loads(dumps(smaller)) == smaller
    with refused("packets: 0; write a whole number of packets"):
        scenario.with_buffer(0)


def test_scenarios_and_errors_cross_processes():
    scenario = load(OC3)
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    error = ScenarioError("missing", "is missing", "write it", file="a", field="b")
    assert str(pickle.loads(pickle.dumps(error))) == "a: b: is missing; write it"


def test_a_scenario_cannot_be_changed():
    scenario: Scenario = load(OC3)
    with refused(r"Link: rate: .* frozen; write scenario.replace"):
        scenario.link.rate = Rate(1.0)  # type: ignore[misc]
