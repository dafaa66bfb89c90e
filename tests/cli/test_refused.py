"""What the command line refuses: status 2, one line on stderr, nothing on stdout, nothing made."""

import shlex

import pytest
from tests.cases import rows

FILES = {
    "a.json": "{",
    "two.csv": "name,rate,n,rtt\nx,1 Gbit/s,900,20 ms..80 ms\ny,1 Gbit/s,400,20 ms..80 ms\n",
    "broken.toml": '[link]\nrate = "155 Mbit/s\n',
    "broken.graphml": "<graphml",
    "entity.graphml": "<!DOCTYPE a [<!ENTITY b 'c'>]><graphml>&b;</graphml>",
    "one-way.graphml": '<graphml><graph edgedefault="directed"><node id="A"/><node id="B"/>'
    '<node id="C"/><edge source="A" target="B"/></graph></graphml>',
    "some.cfg": "hello\n",
    "grid.toml": 'base = "oc3-gsr"\n[axes]\n"queue.size" = ["9 packets", "20 packets"]\n',
    "net.toml": 'link = { rate = "5 Mbit/s", delay = "9 ms" }\ntraffic = [{ flows = 9 }]\n'
    '[topology]\nmodel = "hisamatsu-2007"\nlinks = [{ between = ["A", "B"] }]\n',
    "timed.toml": 'budget = "3 s"\nbase = "oc3-gsr"\n[axes]\n"traffic.0.flows" = [9, 20]\n',
}
"""What lies in the folder; endless.csv is there too."""
REFUSED = """
siz x.toml | did you mean size?
size | SCENARIO
size link.toml --again a.json | SCENARIO
size x --ports y | SCENARIO
size no-such-file.toml | no-such-file.toml
size . | directory
run broken.toml | broken.toml
run oc3-gsr --engine magic | write one of: theory, simulation
run oc3-gsr --seeds 0 | --seeds
run oc3-gsr --seed -1 | --seed
run oc3-gsr --jobs many | --jobs
run oc3-gsr --colour | --colour
run oc3-gsr --budget soon | --budget: "soon" is not a quantity
run oc3-gsr --budget 3 | --budget: "3" has no unit
compare oc3-gsr --engine theory --budget '0 s' | --budget: "0 s"; write a time such as "2 min"
compare oc3-gsr --engine theory --budget '50000 min' | up to 30 days
run oc3-gsr --set queue.size | queue.size
run oc3-gsr --set 'queue.size=3 furlongs' | queue.size
run oc3-gsr --set traffic.0.flows=1000000000 | traffic.0.flows
run oc3-gsr --set 'link.rate=-1 Mbit/s' | link.rate
run oc3-gsr --set traffic.0.congestion_control=rino | reno
run oc3-gsr --set queue.size=1 --set queue.size=2 | is set twice
compare oc3-gsr --set queue.size=1 --set queue.size=2 | is set twice
trace oc3-gsr --set queue.size=1 --set queue.size=2 | is set twice
sensitivity oc3-gsr --set queue.size=1 --set queue.size=2 | is set twice
sweep oc3-gsr --set queue.size=1 --set queue.size=2 | is set twice
network oc3-gsr --set queue.size=1 --set queue.size=2 | is set twice
size --rate '1 Gbit/s' --goal loss_rate=0.1 --goal loss_rate=0.2 | --goal: loss_rate is set twice
size oc3-gsr --figure out.gif | .svg
size oc3-gsr --figure no-such-folder/out.svg | no-such-folder
size oc3-gsr --figure /proc/out.svg | cannot be written
size oc3-gsr --seeds 9 --max-seeds 4 | --max-seeds
size oc3-gsr --sizes some | --sizes: "some" is not a quantity
size oc3-gsr --sizes '9 packets' --set queue.discipline=codel | forebay: --sizes:
size oc3-gsr --halves --set queue.discipline=codel | under codel its aim is sized
size oc3-gsr --set queue.discipline=cake --emit linux-tc --budget '9 min' | cake has no limit
size oc3-gsr --engine theory --emit jumos | jumos
size oc3-gsr --draws 9 | --draws: belongs to --uncertain; write that
size oc3-gsr --holds 0.5 | --holds: belongs to --uncertain; write that
size oc3-gsr --memory '1 MB' | --memory: belongs to --class-queues; write that
size oc3-gsr --force | --force: belongs to --emit; write that
size oc3-gsr --of link.policer.burst --emit junos | --emit: writes the size of a queue, not link.p
size oc3-gsr --engine theory --link core | --link: there is no network in the scenario
size oc3-gsr --link-class core | --link-class: there is no network in the scenario
size oc3-gsr --uncertain traffic.0.flows | write PATH=RANGE
size oc3-gsr --uncertain link.rate=20% | forebay: --uncertain: link.rate: "20%" is no range
size oc3-gsr --uncertain nothing=1..2 | forebay: --uncertain: nothing: there is no such key
sensitivity oc3-gsr --uncertain traffic.0.flows=50 | forebay: --uncertain: traffic.0.flows: 50
size oc3-gsr --engine theory --memory-limit '1 bdp' | --memory-limit: "1 bdp" is a multiple
size oc3-gsr --sizes 64,128 | --sizes: "64,128" has no unit; write it with one, such as "64,128 pack
size oc3-gsr --budget '-1 min' | --budget: "-1 min" is negative
size oc3-gsr --budget 5 | --budget: "5" has no unit; write it with one, such as "5 ms" or "5 s"
size oc3-gsr --uncertain link.rate=±1% --uncertain link.rate=±2% | named twice
size oc3-gsr --uncertain link.rate=±1% --halves | --halves: is not read with --uncertain
size oc3-gsr --uncertain link.rate=±1% --emit junos | --emit: is not read with --uncertain
size oc3-gsr --uncertain link.rate=±1% --explain | --explain: is not read with --uncertain
size oc3-gsr --uncertain link.rate=±1% --holds 95 | above 0 and below 1
size oc3-gsr --uncertain link.rate=±1% --draws 4 | --draws
size --again a.json --html a.html | --html: is not read with --again
size --again a.json --seeds 3 | --seeds: is not read with --again
size --again a.json --set queue.size=3 | --set: is not read with --again
size --again endless.csv | endless.csv
size --ports two.csv --html a.html | --html: is not read with --ports; leave it out
size --ports two.csv --figure a.svg | --figure: is not read with --ports; leave it out
size --ports two.csv --halves | --halves: is not read with --ports; leave it out
size --ports two.csv --chip-ports 8 | --chip-ports: is not read with --ports; leave it out
size --ports two.csv --emit junos | --emit: is not read with --ports; leave it out
size --ports two.csv --force | --force: is not read with --ports; leave it out
size --ports two.csv --link 'A->B' | --link: is not read with --ports; leave it out
size --ports two.csv --link-class core | --link-class: is not read with --ports; leave it out
size --ports two.csv --uncertain link.rate=±1% | --uncertain: is not read with --ports; leave it out
size --ports two.csv --class-queues | --class-queues: is not read with --ports; leave it out
size --ports two.csv --explain | --explain: is not read with --ports; leave it out
size --ports two.csv --draws 9 | --draws: is not read with --ports; leave it out
size --ports two.csv --memory '1 MB' | --memory: is not read with --ports; leave it out
size --ports two.csv --rate '1 Gbit/s' | --rate: is not read with --ports; leave it out
size --ports two.csv --set goals.colour=0.9 | --set: goals.colour: there is no such key
size --ports two.csv --flows 9 | --flows: is not read with --ports; leave it out
size --ports two.csv --save a.toml | --save: is not read with --ports; leave it out
sweep grid.toml --set queue.sise=1 | queue
sweep grid.toml --set 'queue.size=5 packets' | --set: queue.size: is an axis
sweep grid.toml --x queue.size | --x: belongs to --figure or --html; write that
sweep grid.toml --wait '9 s' | --wait: belongs to --cluster; write that
sweep grid.toml --engine none | none
sweep grid.toml --store . | is a folder
sweep grid.toml --figure p.svg --y link.bottleneck.used | is no metric
sweep grid.toml --figure p.svg --x queue | is no axis
sweep grid.toml --store s.sqlite --figure f.svg --y foo | "foo" is no
sweep grid.toml --store s.sqlite --figure f.svg --x foo | "foo" is no
sweep grid.toml --store s.sqlite --figure f.svg --y link.bottleneck.loss_rat | loss_rat" is no
sweep timed.toml | leave it out, or write ask = "size"
reproduce A.fig51 | A.fig5
reproduce '' | ARTEFACT is empty
reproduce '  ' | ARTEFACT is empty
trace oc3-gsr --output t.txt | .csv, .npz
trace oc3-gsr --histograms t.npz | .csv
trace oc3-gsr --output /nowhere/t.csv | there is no folder
trace oc3-gsr --flows one | write whole numbers
trace oc3-gsr --flows -1 | forebay: --flows: -1; write a whole number from 0
run --rate '1 Gbit/s' --flows 1 --flows 2 | --flows: is written twice; write one table
run --rate '1 Gbit/s' --flows a.csv --flows b.csv | --flows: is written twice; write one table
run --rate '1 Gbit/s' --flows 9..1 | --flows: 9 is above 1
run --rate '1 Gbit/s' --flows .5 | --flows: 0.5 is not a whole number
run oc3-gsr --flows ./a.xls | '--flows': './a.xls': write a name that ends in .csv
run oc3-gsr --engine theory --flows a.csv | forebay: --flows:
trace oc3-gsr --step '1 furlong' | step:
trace oc3-gsr --engine theory | cannot trace packets over time; write --engine simulation
run oc3-gsr --capture x.pcapng | no packets to capture
run oc3-gsr --capture x.pcap | .pcapng
run oc3-gsr --counters snmp | no packets to count
report none.json | write the path of a document
report endless.csv | endless.csv
network broken.graphml | broken.graphml
network one-way.graphml | write --set topology.both_directions=true to let each go both ways
network one-way.graphml --both-directions | write --set topology.largest_part=true to leave them
network one-way.graphml --rate 10G | forebay: --rate: "G" in "10G" is not a known unit
network entity.graphml | entity.graphml
network oc3-gsr --failures | topology: there is no network in the scenario
network net.toml --rate '1 Gbit/s' | --rate has no effect
network net.toml --connections 5 | --connections has no effect
network net.toml --against oc3-gsr | topology: there is no network in the scenario
network net.toml --against net.toml --growth 2 | the demand has no unit
network net.toml --against net.toml --multistart 2 | --multistart
network net.toml --against net.toml --transient '1 s' | --transient
network net.toml --against net.toml --step '1 ms' | --step
network net.toml --transient 2 | unit
network net.toml --transient '0 s' | is not above 0
network net.toml --transient '1 h' --step '1 ns' | more than 20,000,000
network net.toml --transient '1 s' --starts 3 | exclude each other
network net.toml --transient '1 s' --paths p.csv | exclude each other
network net.toml --step '1 ms' | --transient
network net.toml --from net.toml | --transient
network net.toml --failures --figure f.svg | --figure
network net.toml --failures --multistart 3 | --multistart
network net.toml --failures --memory-limit '1 GB' | --memory-limit exclude each other
network net.toml --smallest-buffers --multistart 3 | --multistart exclude each other
network net.toml --failures --series s.csv | --series
network net.toml --failures --transient '1 s' | --transient
platforms emit --answer a.json --platform junos | make one with --json
platforms emit --answer endless.csv --platform junos | endless.csv
platforms emit '129 packets' --platform junos | the port's rate is not given
platforms emit '1 bdp' --rate '1 Gbit/s' --platform junos | depends on round-trip times
platforms emit '129 packet s' --rate '1 Gbit/s' --platform junos | is not a known unit
platforms emit '10 ms' --rate fast --platform junos | --rate
platforms emit oc3-gsr --rate '1 Gbit/s' --platform junos | leave --rate and --packet out
platforms emit '9 packets' --rate '1 Gbit/s' --platform junos --force | --force: belongs to --answer
platforms emit a.json --set link.rate=5 --platform junos | --set changes a scenario's field
platforms lint some.cfg --rate '1 Gbit/s' --set link.rate=5 | --set: belongs to --scenario; write
platforms emit oc3-gsr --platform eos | eos is refused: no public page
platforms emit oc3-gsr --platform jumos | "jumos" is not a platform
platforms emit oc3-gsr --platform junos --form bytes | junos has no form "bytes"
platforms emit missing.toml --platform junos | missing.toml: no such file
platforms emit --platform ios-xe --answer a.json '10 ms' | --answer already gives the buffer
platforms emit --platform ios-xe --answer broken.toml | broken.toml is not a document of a sizing
platforms emit --platform ios-xe | nothing to emit
testbed check --set link.rate=5 | --set: belongs to SCENARIO; write that
platforms lint missing.cfg --rate '1 Gbit/s' | missing.cfg cannot be read: No such file
platforms lint some.cfg --rate '1 Gbit/s' | cannot recognise the platform
platforms lint some.cfg | the port's rate is not given
platforms lint . --rate '1 Gbit/s' | cannot be read: Is a directory
platforms lint some.cfg --rate '5 ms' | --rate: "5 ms" is a time, not a rate
platforms lint some.cfg --rate '1 Gbit/s' --header '1 GB' | --header: 1 GB is out of range
measure | nothing to measure; name captures
measure none.pcap | none.pcap: cannot be read (No such file or directory
measure --counters x.csv --replay r.csv | --replay needs captures
measure none.pcap --counters x.csv | captures and --counters exclude each other
measure --counters x.csv | --rtt is missing
measure --counters endless.csv --rtt '10 ms' | endless.csv
measure --ss endless.csv | endless.csv
measure --counters x.csv --rtt '1 s' --congestion-control cubik | did you mean "cubic"
measure none.pcap --congestion-control cubik | --congestion-control: "cubik" is not a known
measure none.pcap --buffer 64 | --buffer: "64" has no unit
measure endless.csv --exports | endless.csv
measure --seconds 2 | --seconds needs --listen
measure --listen router | write an address and a port
measure none.pcap --listen 2055 | records and --listen exclude each other
measure --counters x.csv --rtt '1 s' | x.csv: cannot be read (No such file
measure --counters x.csv --rtt '2 s..1 s' | write the smaller end first
measure x.pcap --rtt '1 s' | --rtt is not read with captures; leave it out
measure x.pcap --busy-hour | --busy-hour is not read with captures
measure x.pcap --ss s.txt | --ss is not read with captures
measure --counters x.csv --rtt '1 s' --overhead 38 | --overhead is not read with
measure --counters x.csv --exports | --exports is not read with --counters
measure x.pcap --exports --toward 10.0.0.0/8 | --toward is not read with flow
measure --listen 2055 --at ingress | --at is not read with flow records
measure --snmp 192.0.2.1 --interface e --busy-hour | --busy-hour is not read with
measure --snmp 192.0.2.1 --rtt '1 ms' | --interface is missing
measure --snmp 192.0.2.1 --rtt '1 ms' --interface a x.pcap | leave one out
measure --every 3 --rtt '1 ms' | --every and --keep need --snmp
measure --ss s.txt --buffer '9 packets' | --buffer is not read with a host's own
measure --counters x.csv --answer a.json --rtt '1 s' | --rtt is not read with
measure --answer a.json | --answer needs --counters
measure --counters x.csv --answer none.json | cannot be read
"""


@pytest.mark.parametrize(("words", "said"), rows(REFUSED))
def test_it_is_refused_in_one_line(forebay_, link, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "endless.csv").symlink_to("/dev/zero")
    rate = ["--rate", "10 Mbit/s"] if words.startswith("measure") else []
    result = forebay_(*shlex.split(words), *rate)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("forebay: ") and result.err.count("\n") == 1
    assert said in result.err
    assert {each.name for each in tmp_path.iterdir()} == {*FILES, "endless.csv"}
