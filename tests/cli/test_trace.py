"""`forebay trace`: what it writes, and what it refuses before it runs."""

import json

import pytest

SHORT = "--set 'measure.warmup=1 s' --set 'measure.duration=2 s' --set traffic.0.flows=20"


def test_json_is_one_document_and_files_are_written(printed, scenario, tmp_path):
    output, figure = tmp_path / "t.npz", tmp_path / "t.svg"
    files = f"--output {output} --figure {figure}"
    told = json.loads(printed(f"trace {scenario} {SHORT} --flows 0,5 --json {files}"))
    assert told["samples"] == 200
    assert set(told) >= {"links", "window_sum_packets", "synchronization", "long_flows"}
    busy, idle = (told["links"]["bottleneck"][kind]["total_s"] for kind in ("busy", "idle"))
    assert busy + idle == pytest.approx(2.0)
    assert output.stat().st_size > 1000 and b"<svg" in figure.read_bytes()[:500]


def test_without_a_flow_and_without_a_file_it_prints_the_readings(printed, scenario):
    said = printed(f"trace {scenario} {SHORT} --flows ''")
    for line in ("queue seen by arrivals", "idle periods", "synchronization index"):
        assert line in said


def test_a_flow_that_is_not_there_is_refused(forebay_, scenario):
    made = forebay_("trace", scenario, "--flows", "100000")
    assert (made.status, made.out, made.err.count("\n")) == (2, "", 1)
    assert "write different numbers from 0 to 99" in made.err


def test_flows_that_have_not_settled_are_named_with_the_warm_up_that_they_need(printed, tmp_path):
    file = tmp_path / "one.toml"
    text = '[link]\nrate = "100 Mbit/s"\n[queue]\nsize = "400 packets"\n[[traffic]]\nflows = 20\n'
    file.write_text(f'{text}rtt = "50 ms"\ncongestion_control = "bbr"\n')
    early = json.loads(printed(f"trace {file} --json"))
    assert early["unsettled"]["long-0"].startswith("not settled: warm-up of about 40 s (its flows")
    assert "not settled" in printed(f"trace {file}")
    late = json.loads(printed(f"trace {file} --set 'measure.warmup=45 s' --json"))
    assert late["unsettled"] == {"long-0": None}
