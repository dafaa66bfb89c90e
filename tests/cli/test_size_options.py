"""What else an operator asks of a sizing: smaller buffers, a page, many ports, the same again."""

import json
from pathlib import Path

import pytest
from tests.cli.test_members import HEAD

from forebay.api import ports
from forebay.cli.program import call

QUICK = """
name = "uplink <1>"
link.rate = "20 Mbit/s"
measure = { warmup = "1 s", duration = "3 s" }
goals.utilization = 0.9
[[traffic]]
flows = 20
rtt = { uniform = ["20 ms", "60 ms"] }
"""
FEW = "--seeds 2 --max-seeds 2 --jobs 1"


@pytest.fixture
def link(tmp_path: Path) -> Path:
    path = tmp_path / "link.toml"
    path.write_text(QUICK)
    return path


def test_one_flow_and_one_packet_are_no_plural(printed):
    said = printed("size --rate '10 kbit/s' --flows 2 --rtt '1 s' --engine theory")
    assert "2 flows\n" in said and "synchronized: 1 packet," in said
    link = "size --rate '1 Mbit/s' --flows 1 --rtt '1 s' --engine theory"
    assert printed(link).startswith("1 Mbit/s, 1 flow\n")


def test_a_configuration_says_how_it_was_made(tmp_path, printed):
    spread = "--rtt '20 ms..60 ms' --engine theory --emit junos"
    saved = tmp_path / "my link.toml"
    link = f"size --rate '1 Gbit/s' --flows 400 {spread} --save '{saved}'"
    assert ", from a sizing of 1 Gbit/s, 400 flows\n" in printed(link)
    said = printed(f"size '{saved}' --engine theory --emit junos")
    assert f", from forebay size '{saved}'\n" in said


def test_what_half_the_buffer_costs_and_a_chip_of_many_ports(link, printed):
    document = json.loads(printed(f"size {link} --halves --chip-ports 64 --json {FEW}"))
    assert document["memory"]["ports"] == 64
    assert document["memory"]["bytes"] == 64 * document["recommended"]["bytes"]
    rows, chosen = document["cheaper"], document["recommended"]["packets"]
    assert [row["share"] for row in rows] == [1.0, 0.5, 0.25, 0.125]
    assert [row["packets"] for row in rows] == [max(1, round(chosen / k)) for k in (1, 2, 4, 8)]
    used = [row["utilization"]["value"] for row in rows]
    lost = [row["loss_rate"]["value"] for row in rows]
    assert used[0] > used[-1] and lost[0] < lost[-1]
    assert rows[0]["queue_delay_p99_s"]["value"] > rows[-1]["queue_delay_p99_s"]["value"]
    assert "What a smaller buffer costs" in printed(f"size {link} --halves {FEW}")


def test_the_page_is_whole_and_escaped(link, tmp_path, printed):
    page = tmp_path / "out.html"
    printed(f"size {link} --html {page} --emit junos --halves {FEW}")
    text = page.read_text()
    assert "uplink &lt;1&gt;" in text and "<1>" not in text
    parts = ("Recommended:", "buffer-size temporal", "Sizes that were run", "Goals",
             "data:image/svg+xml;base64,", "What a smaller buffer", "[[traffic]]")  # fmt: skip
    for part in parts:
        assert part in text
    assert "http://" not in text.replace("http://www.w3.org", "") and "<script" not in text


def test_sizes_that_can_be_configured(link, printed):
    document = json.loads(printed(f"size {link} --sizes '4,16,64,256 packets' --json {FEW}"))
    assert document["recommended"]["packets"] in (16, 64, 256)
    said = printed(f"size {link} --sizes '1 packets' {FEW}", status=1)
    assert "none of the sizes that can be configured" in " ".join(said.split())


def test_why_a_size_that_can_be_configured_is_above_the_least(printed):
    link = "--rate '1 Gbit/s' --flows 400 --rtt '20 ms..60 ms' --goal utilization=0.99"
    theory = f"size {link} --engine theory --set goals.loss_rate=0.9"
    least = json.loads(printed(f"{theory} --json"))["buffer"]["packets"]
    above = printed(f"{theory} --sizes '{least + 9} packets'")
    assert "Why: the next of the sizes that can be configured.\n" in above
    assert "Why:" not in printed(f"{theory} --sizes '{least} packets'")


def test_the_same_work_gives_the_same_digits(link, tmp_path, printed):
    text = printed(f"size {link} --json {FEW}")
    saved = tmp_path / "answer.json"
    saved.write_text(text)
    tried = len(json.loads(text)["curve"])
    assert f"{tried} of {tried} buffers gave the same digits" in printed(f"size --again {saved}")
    document = json.loads(text)
    document["curve"][0]["outcome"]["links"]["bottleneck"]["utilization"]["value"] *= 0.999
    saved.write_text(json.dumps(document))
    again = json.loads(printed(f"size --again {saved} --json", status=1))
    assert again["different"] == [document["curve"][0]["packets"]]


PORTS = """name,rate,n,load,rtt,platform,interface,loss_rate
sure,20 Mbit/s,30,,"20 ms..60 ms",ios-xe,GigabitEthernet0/0/1,
wide,10 Mbit/s,3..30,,30 ms,,,
short,5 Mbit/s,,0.5,30 ms,linux-tc,eth7,0.01
"""


def test_a_table_of_ports(tmp_path, forebay_):
    table = tmp_path / "ports.csv"
    table.write_text(PORTS)
    store = tmp_path / "kept.sqlite"
    words = ("--ports", str(table), "--budget", "6 s", "--store", str(store), "--json")
    result = forebay_("size", *words, *FEW.split())
    assert result.status in (0, 1, 3) and "3 of 3" in result.err
    ports = json.loads(result.out)["ports"]
    assert {port["name"] for port in ports} == {"sure", "wide", "short"}
    assert store.exists(), "a stopped table continues from it"
    wide = [_width(port) for port in ports]
    assert wide == sorted(wide, reverse=True), "the most uncertain ones first"
    (sure,) = (port for port in ports if port["name"] == "sure")
    lines = sure["configuration"]["configuration"]
    assert "interface GigabitEthernet0/0/1" in lines
    assert any(line.strip().startswith("queue-limit") for line in lines)


def test_ports_of_one_platform_have_names_of_their_own(tmp_path, printed):
    table = tmp_path / "two.csv"
    rows = "up,1 Gbit/s,400,20 ms..80 ms,ios-xe,Gi1\ndown,10 Gbit/s,900,20 ms..80 ms,ios-xe,Te1\n"
    table.write_text(
        f"name,rate,n,rtt,platform,interface\n{rows}z,1 Gbit/s,400,20 ms..80 ms,sros,\n"
    )
    out = printed(f"size --ports {table} --engine theory")
    assert [out.count(f"policy-map {name}\n") for name in ("FOREBAY-up", "FOREBAY-down")] == [1, 1]
    assert " service-policy output FOREBAY-down" in out and "sap-egress 100 create" in out


TWO = "name,rate,n,rtt\nx,1 Gbit/s,900,20 ms..80 ms\ny,1 Gbit/s,400,20 ms..80 ms\n"


def test_set_changes_every_ports_scenario(tmp_path, printed):
    table = tmp_path / "two.csv"
    table.write_text(TWO)
    theory = f"size --ports {table} --engine theory --json"
    ports = json.loads(printed(f"{theory} --set goals.utilization=0.9"))["ports"]
    assert {port["answer"]["goals"][0]["target"] for port in ports} == {0.9}


def test_a_port_has_a_mix_as_a_link_of_options_has(tmp_path):
    table = tmp_path / "ports.csv"
    mixed = '"reno=0.5,cubic=0.5"'
    table.write_text(f"name,rate,n,congestion_control\nx,1 Gbit/s,400,{mixed}\ny,1 Gbit/s,4,reno\n")
    read = ports.read_ports(str(table))
    controls = [row.scenario.traffic[0].congestion_control for row in read]
    assert controls == [{"reno": 0.5, "cubic": 0.5}, "reno"]


def test_what_no_port_can_be_sized_with_is_bad_input(tmp_path, forebay_):
    """An engine without a law for a port cannot run (3); a wrong option is the user's (2)."""
    table = tmp_path / "ports.csv"
    table.write_text("name,rate,n,rtt\nx,1 Gbit/s,100,20 ms..80 ms\n")
    for words, status in (("--sizes 64,128", 2), ("--set queue.discipline=codel", 3)):
        asked = words.split()
        assert (
            forebay_("size", "--ports", str(table), "--engine", "theory", *asked).status == status
        )


def test_reasons_stand_below_the_table(tmp_path, printed):
    """No long text pads the rows: a mark, and a line for all ports of which it is true."""
    table = tmp_path / "ports.csv"
    head = "name,rate,n,rtt,queue_delay_p99,utilization\n"
    never = "1 Gbit/s,900,20 ms..80 ms,1 us,0.999"
    table.write_text(f"{head}a,{never}\nb,{never}\nc,1 Gbit/s,900,20 ms..80 ms,,0.9\n")
    lines = printed(f"size --ports {table} --engine theory", status=1).splitlines()
    assert max(map(len, lines[:5])) < 80 and all(line.rstrip().endswith("*") for line in lines[2:5])
    below = "\n".join(lines[5:])
    assert "* a, b: " in below and "is missed with each size" in below
    assert "\n* c: raised towards 1 bdp/sqrt(n)" in below and "* a, b, c: assumed: " in below


@pytest.mark.parametrize("as_json", [False, True])
def test_a_stop_prints_the_ports_done_so_far(tmp_path, forebay_, monkeypatch, as_json):
    import forebay

    table, whole = tmp_path / "two.csv", forebay.size
    table.write_text(TWO)

    def stopped(scenario: forebay.Scenario, **how: object) -> forebay.SizeResult:
        if scenario.name == "y":
            raise KeyboardInterrupt
        return whole(scenario, engine="theory")

    monkeypatch.setattr(forebay, "size", stopped)
    words = ("--engine", "theory", "--store", str(tmp_path / "a.sqlite"))
    result = forebay_("size", "--ports", str(table), *words, *["--json"][: int(as_json)])
    assert result.status == 130
    assert "1 of 2 ports are printed" in result.err and "kept: the answer as printed" in result.err
    assert "sqlite" not in result.err, "laws leave nothing in a store"
    if as_json:
        document = json.loads(result.out)
        assert document["interrupted"] and document["left"] == ["y"]
        assert [port["name"] for port in document["ports"]] == ["x"]
    else:
        assert "\nx  " in result.out and "\ny" not in result.out


def _width(port: dict) -> float:
    answer = port["answer"]
    if answer is None or answer["recommended"] is None:
        return float("inf")
    return answer["buffer"]["high"] / max(answer["buffer"]["low"], 1)


GROUP = f"{HEAD}a,1 Gbit/s,"
"""A member of a group, up to its number of flows."""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,n\na,5\n", "has no column rate"),
        ("name,rate,colour\na,1 Gbit/s,red\n", 'has a column "colour"'),
        ("name,rate\na,1 Gbit/s\n", "line 2: neither n nor load"),
        ("name,rate,n\na,1 Gbit/s,5\na,1 Gbit/s,6\n", 'has two ports "a"'),
        ("name,rate,n\n\n\na,fast,5\n", "line 4: rate: "),
        ("name,rate,n,rtt\na,1 Gbit/s,5,..80 ms\n", 'line 2: rtt: ""'),
        ("name,rate,n,utilization\na,1 Gbit/s,5,high\n", 'line 2: utilization: "high"'),
        ("name,rate,load\na,1 Gbit/s,high\n", 'line 2: load: "high"'),
        ("name,rate,n,queue_delay_p99\na,1 Gbit/s,5,9\n", "line 2: queue_delay_p99: "),
        ("name,rate,n,platform\na,1 Gbit/s,5,jumos\n", 'line 2: "jumos" is not a platform'),
        ("", "has 0 ports"),
        ("name;rate;n\na;1 Gbit/s;5\n", "with commas between"),
        ("name,rate,n\n,1 Gbit/s,5\n", "line 2: no name; write one"),
        (
            "name,rate,n,congestion_control\na,1 Gbit/s,5,reno=x\n",
            'line 2: congestion_control: "reno=x" is no mix',
        ),
        ("name,rate,n\na,1 Gbit/s,5,6,7\n", "more cells than in the header"),
        (f"{GROUP}5,,,1,,\n", 'line 2: members: "1"; write a whole number from 2'),
        (f"{GROUP}5,,,four,,\n", 'members: "four"'),
        (f"{GROUP}5,,,4,8,\n", "largest_share: missing"),
        (f"{GROUP}5,,,4,8,30 %\n", "write a number from 0 to 1, such as 0.3"),
        (f"{GROUP}5,,,,8,0.3\n", "largest_flows: no members"),
        (f"{GROUP}many,,,4,,\n", 'n: "many"; write a whole number from 1 to'),
        (f"{GROUP}18446744073709551616,,,4,,\n", 'n: "18446744073709551616"'),
        (f"{GROUP}{'9' * 5000},,,4,,\n", 'n: "9999'),
        (f"{GROUP}\u00b2,,,4,,\n", 'n: "\u00b2"'),
        (f"{GROUP}1..x,,,4,,\n", "not a whole number"),
    ],
)
def test_a_bad_table_is_refused_in_one_line(tmp_path, capsys, text, said):
    table = tmp_path / "ports.csv"
    table.write_text(text)
    assert call(["size", "--ports", str(table)]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and said in err
