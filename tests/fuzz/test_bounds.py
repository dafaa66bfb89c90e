"""What is refused for its size, or for a number that no run can have: in one line, at once."""

import json
import re
import resource
import subprocess
import sys

import pytest
from tests.refused import refused

import forebay
from forebay._core import structure_bytes
from forebay.engines.footprint import TooMuchMemory, estimate
from forebay.report import draw_answer
from forebay.scenario import ScenarioError, loads

HEAD = '[link]\nrate = "10 Mbit/s"\n[measure]\nwarmup = "0 s"\nduration = "100 ms"\n'
ONE = HEAD + '[[traffic]]\nflows = 1\nstart = "0 s"\n'


@pytest.mark.parametrize("how", [{"jobs": -1}, {"jobs": 10**30}, {"seeds": 10**30}], ids=str)
def test_numbers_that_no_run_can_have(how):
    with refused("write a whole number from"):
        forebay.run(loads(ONE), **how)


def test_ten_million_flows_are_refused_with_the_number():
    with pytest.raises(TooMuchMemory, match=r"about 1\d(\.\d)? GB, above the limit of 2 GB"):
        forebay.run(loads(ONE.replace("flows = 1", "flows = 10000000")), memory_limit="2 GB")


def test_a_limit_that_is_raised_lets_it_run():
    scenario = loads(ONE.replace("flows = 1", "flows = 2000"))
    needs = estimate(scenario, structure_bytes()).least(1)
    with pytest.raises(TooMuchMemory):
        forebay.run(scenario, memory_limit=f"{int(needs) - 1} B")
    assert forebay.run(scenario, memory_limit=f"{int(needs) + 10**9} B").classes[0].flows == 2000


def test_many_seeds_count():
    with pytest.raises(TooMuchMemory, match="100000 replications"):
        forebay.run(loads(ONE, overrides=["queue.size=4000 packets"]), seeds=100_000)


def test_replications_are_the_same_however_few_fit_at_once():
    scenario = loads(ONE.replace("flows = 1", "flows = 30"))
    needs = estimate(scenario, structure_bytes()).least(5)
    few = forebay.run(scenario, seeds=5, jobs=4, memory_limit=f"{int(needs * 1.2)} B")
    many = forebay.run(scenario, seeds=5, jobs=4)
    assert few.links == many.links
    assert few.classes == many.classes


def test_a_run_that_grows_is_stopped():
    """A buffer without end before a link that stands still, as if nobody had foreseen it."""
    text = (
        '[link]\nrate = "100 Gbit/s"\n[queue]\nsize = "1000000000 packets"\n'
        '[[traffic]]\nflows = 100\nstart = "0 s"\npacket = "64 B"\nsender = "ns2"\nrtt = "1 ms"\n'
        '[measure]\nwarmup = "0 s"\nduration = "100 s"\n'
    )
    code = (
        "from forebay.engines.footprint import Limit\nLimit.check = lambda *_: None\n"
        "import forebay, sys\nfrom forebay.scenario import loads\n"
        "try: forebay.run(loads(sys.argv[1]), memory_limit='300 MB')\n"
        "except forebay.engines.footprint.TooMuchMemory as error: print(error)\n"
    )
    command = [sys.executable, "-c", code, text]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    assert "the run has taken 3" in done.stdout
    assert "a larger memory_limit" in done.stdout


@pytest.mark.parametrize("control", [pytest.param("reno", marks=pytest.mark.long), "bbr", "prague"])
@pytest.mark.parametrize("sender", ["linux", pytest.param("ns2", marks=pytest.mark.long)])
def test_flows_take_no_more_than_was_estimated(control, sender):
    """A paced flow has a record for each segment: 20,000 of Prague took twice the estimate."""
    text = (
        '[link]\nrate = "1 Mbit/s"\n[queue]\nsize = "20 packets"\n'
        f'[[traffic]]\nflows = {{}}\nsender = "{sender}"\ncongestion_control = "{control}"\n'
        'rtt = "200 ms"\nstart = "0 s"\n[measure]\nwarmup = "1 s"\nduration = "1 s"\n'
    )
    few, many = text.format(100), text.format(20_000)
    code = (
        "import forebay, resource, sys\nfrom forebay.scenario import loads\n"
        "for text in sys.argv[1:]:\n    forebay.run(loads(text))\n"
        "    print(1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    command = [sys.executable, "-c", code, few, many]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    before, after = map(int, done.stdout.split())
    estimates = [estimate(loads(each), structure_bytes()).least(1) for each in (few, many)]
    assert after - before < estimates[1] - estimates[0]


def test_fq_codel_keeps_the_queue_of_each_flow_at_each_link():
    """It grows with the links, unlike all else of a flow: 200 MB at 1000 links of 50,000 flows."""
    traffic = '[[traffic]]\nflows = 50000\nrtt = "50 ms"\n[queue]\nsize = "1000 packets"\n'
    links = "".join(
        f'[[links]]\nname = "l{i}"\nrate = "1 Gbit/s"\nqueue.size = "1000 packets"\n{{}}'
        for i in range(20)
    )
    text = '[link]\nrate = "1 Gbit/s"\n' + traffic + links
    few, fair = (
        estimate(loads(text.replace("{}", each)), structure_bytes()).running
        for each in ("", 'queue.discipline = "fq_codel"\n')
    )
    assert fair - few >= 4 * 50_000 * 20


def test_a_key_of_thousands_of_parts(tmp_path):
    """tomllib keeps every beginning of it, which was 2.3 GB."""
    with pytest.raises(ScenarioError, match="line 2 has a key of more than 32 parts"):
        loads("[link]\n" + ".".join(["a"] * 24_000) + " = 1\n")
    with pytest.raises(ScenarioError, match="more than 32 parts"):
        loads("x = {" + " . ".join(['"a"'] * 100) + " = 1}\n")
    loads(ONE + f"# {'.'.join('a' * 100)}\n" + f'[queue]\nsize = "9 packets" # {"a." * 99}\n')


@pytest.mark.parametrize(
    ("traffic", "what"),
    [
        ('kind = "udp"\nflows = 50\nload = 0.9\n', "1800000050 datagrams"),
        ('kind = "short"\nload = 0.9\nlength = "2 packets"\n', "900000000 flows"),
    ],
)
def test_more_than_a_run_may_have_is_for_laws_and_smaller_links(traffic, what):
    text = f'[link]\nrate = "400 Gbit/s"\n[queue]\nsize = "9 packets"\n[[traffic]]\n{traffic}'
    scenario = loads(text)
    with pytest.raises(ScenarioError, match=re.escape(what)):
        forebay.run(scenario)
    assert forebay.run(scenario, "theory").links["bottleneck"].loss_rate is not None


def test_files_of_users_without_number_are_refused():
    text = (
        '[[traffic]]\nkind = "session"\nflows = 100\nthink = "0 s"\nrtt = "2 us"\nfile = "1 kB"\n'
    )
    with pytest.raises(ScenarioError, match="flows in all"):
        estimate(
            loads(HEAD.replace("100 ms", "60 s") + '[queue]\nsize = "9 packets"\n' + text),
            structure_bytes(),
        )


def test_on_times_without_number_are_refused():
    text = HEAD + '[[traffic]]\nkind = "onoff"\nflows = 1\npeak_rate = "1 Mbit/s"\n'
    for ends in ('on = "0 s"\noff = "0 s"\n', 'on = "1 ps"\noff = "1 ps"\n'):
        with pytest.raises(ScenarioError, match="on times in"):
            loads(text + ends)


def test_on_times_are_counted_within_the_run():
    """A mean that lies in pauses of hours says nothing of how many fit into a minute."""
    text = HEAD + '[queue]\nsize = "9 packets"\n[[traffic]]\nkind = "onoff"\nflows = 1000000\n'
    text += 'peak_rate = "1 kbit/s"\non = "1 us"\n'
    with pytest.raises(ScenarioError, match="on times in"):
        loads(text + 'off = { pareto = { mean = "1 s", shape = 0.4, high = "86400 s" } }\n')
    loads(text + 'off = "1 s"\n')


@pytest.mark.long
def test_two_thousand_classes_in_seconds():
    """A square over the classes took 24 s; now a few."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    one = '[[traffic]]\nflows = 1\nstart = "0 s"\nrtt = { uniform = ["90 ms", "110 ms"] }\n'
    scenario = loads(HEAD + one * 2000, overrides=["link.rate=10 Gbit/s"])
    for engine in ("theory", "simulation"):
        json.dumps(forebay.run(scenario, engine).model_dump(mode="json"))
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert after.ru_utime - before.ru_utime < 12


def test_a_name_is_no_formula(tmp_path):
    scenario = loads("name = 'up $x^$ \\frac'\n" + ONE)
    draw_answer(forebay.trace(scenario, step="10 ms"), tmp_path / "x.svg")
