"""Controls from outside: built, run, checked, compared, and what bad ones do."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from tests.cases import cases

import forebay
from forebay.api import controls
from forebay.engines.simulation import SimulationEngine, isolated
from forebay.scenario import loads

if not sys.platform.startswith("linux") or shutil.which("cc") is None:
    pytest.skip("no C compiler", allow_module_level=True)

SCENARIO = loads("""
link.rate = "20 Mbit/s"
queue.size = "30 packets"
measure = { warmup = "2 s", duration = "6 s" }
traffic = [
  { flows = 10, rtt = { uniform = ["20 ms", "60 ms"] }, start = { uniform = ["0 s", "1 s"] } },
]
""")
BAD = """
#include "forebay_cc.h"
#include <math.h>
#include <stdlib.h>
static void cong_avoid(void *s, struct forebay_cc_window *w, const struct forebay_cc_flow *f)
{{
    w->cwnd += w->cwnd < w->ssthresh ? f->acked : f->acked / w->cwnd;
    if (f->now_ns > 3000000000ull) {{ {does}; }}
}}
const struct forebay_cc *forebay_cc(void)
{{
    static const struct forebay_cc bad = {{ .abi = {abi}, .size = sizeof(bad), .name = "bad",
        .cong_avoid = cong_avoid }};
    return &bad;
}}
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder of controls for this file alone, with the examples in it."""
    folder = tmp_path_factory.mktemp("controls")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FOREBAY_CONTROLS", str(folder))
        for example in ("aimd.c", "vegas.c", "copa.c"):
            controls.build(controls.EXAMPLES / example)
        yield folder


def scenario(control, **changes):
    return SCENARIO.replace({"traffic.0.congestion_control": control, **changes})


@pytest.fixture(scope="module")
def engine(home):
    """One engine, whose process for controls from outside is started once."""
    return SimulationEngine()


def digits(outcome):
    """What an answer says, without names and times."""
    data = json.loads(outcome.model_dump_json(include={"links", "classes"}))
    return data, outcome.provenance.packets


def build_bad(tmp_path, does, abi=1):
    source = tmp_path / "bad.c"
    source.write_text(BAD.format(does=does, abi=abi))
    return controls.build(source, name="bad")


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"link": {"rate": "20 Mbit/s", "loss": 0.01}},
        {"queue": {"size": "3 packets"}},
        {"link": {"rate": "20 Mbit/s", "jitter": {"most": "8 ms", "reorder": True}}},
    ],
    ids=["queue", "loss", "timeouts", "reordering"],
)
def test_aimd_gives_the_digits_of_reno(engine, changes):
    ours = engine.run(scenario("reno", **changes), [1, 2])
    theirs = engine.run(scenario("aimd", **changes), [1, 2])
    assert digits(ours) == digits(theirs)


@pytest.mark.skipif(shutil.which("rustc") is None, reason="no rustc")
def test_aimd_in_rust_does_too(engine):
    controls.build(controls.EXAMPLES / "aimd.rs")
    ours, theirs = (engine.run(scenario(name), [1]) for name in ("reno", "aimd-rs"))
    assert digits(ours) == digits(theirs)


def test_its_origin_is_in_the_provenance_and_its_library_in_the_key(home):
    before = scenario("aimd")
    facts = forebay.run(before).provenance.model_dump()["controls"]["aimd"]
    assert set(facts) == {"library_sha256", "source", "source_sha256", "compiler"}
    sha = before.sha256()
    source = (controls.EXAMPLES / "aimd.c").read_text().replace("window->cwnd / 2", "window->cwnd")
    changed = home.parent / "aimd.c"
    changed.write_text(source)
    try:
        controls.build(changed)
        assert scenario("aimd").sha256() != sha
    finally:
        controls.build(controls.EXAMPLES / "aimd.c")
    assert scenario("aimd").sha256() == sha


@pytest.mark.parametrize("example", cases(["aimd", "vegas", "copa"], "aimd".__eq__))
def test_the_examples_pass_the_check(home, example):
    found = controls.check(example)
    assert found.passes, found
    assert "on_ack" not in found.never_called


def test_a_shadow_changes_nothing_and_counts_what_differs(home):
    same = controls.compare("reno", "aimd", scenario("reno"))
    assert same.share == 0.0 and same.first == ()
    other = controls.compare("cubic", "aimd", scenario("cubic"))
    assert 0.0 < other.share < 1.0
    assert other.first[0]["before"][0] > 0


@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("w->cwnd = NAN", "cwnd is NaN"),
        pytest.param("w->pacing_rate = 100", "without FOREBAY_CC_PACES", marks=pytest.mark.long),
        ("*(volatile int *)0 = 1", "crashed (SIGSEGV)"),
        ("exit(0)", "ended its process with status 0"),
    ],
)
def test_what_a_bad_one_does_is_one_line_with_its_name(home, tmp_path, does, said):
    build_bad(tmp_path, does)
    with pytest.raises(controls.ControlFailed) as failed:
        forebay.run(scenario("bad"))
    assert failed.value.exit_status == 3
    assert "'bad'" in str(failed.value) and said in str(failed.value)
    assert "\n" not in str(failed.value)


def test_a_hook_that_does_not_return_is_ended(home, tmp_path, monkeypatch):
    monkeypatch.setattr(isolated, "STALL_S", 2.0)
    build_bad(tmp_path, "for (volatile int i = 0;; i++)")
    with pytest.raises(controls.ControlFailed, match="did not return"):
        forebay.run(scenario("bad"))


def test_another_abi_is_refused_by_its_name(home, tmp_path):
    with pytest.raises(controls.ControlFailed, match=r"'bad.c': has ABI 7, not 1"):
        build_bad(tmp_path, "", abi=7)


def test_state_counts_in_the_memory_of_a_run(home, tmp_path):
    """Half a megabyte of each of a thousand connections; the header's BAD has none."""
    source = tmp_path / "large.c"
    source.write_text(
        BAD.format(does="", abi=1).replace(".size =", ".state_bytes = 500000, .size =")
    )
    assert controls.build(source, name="large").state_bytes == 500_000
    large = scenario("large").replace({"traffic.0.flows": 1000})
    with pytest.raises(forebay.ForebayError, match=r"(?i)memory"):
        forebay.run(large, seeds=1, memory_limit="400 MB")
    forebay.run(scenario("large"), seeds=1, memory_limit="400 MB")


CPLUSPLUS = """
#include "forebay_cc.h"
namespace {
struct Two {
    std::uint32_t rounds;
    void grow(forebay_cc_window &window, const forebay_cc_flow &flow) {
        window.cwnd += window.cwnd < window.ssthresh ? flow.acked : flow.acked / window.cwnd;
    }
};
void cong_avoid(void *state, forebay_cc_window *window, const forebay_cc_flow *flow) {
    static_cast<Two *>(state)->grow(*window, *flow);
}
}
extern "C" const struct forebay_cc *forebay_cc() {
    static const struct forebay_cc control = [] {
        struct forebay_cc made{};
        made.abi = FOREBAY_CC_ABI;
        made.size = sizeof made;
        made.state_bytes = sizeof(Two);
        made.name = "two";
        made.cong_avoid = cong_avoid;
        return made;
    }();
    return &control;
}
"""


@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler")
def test_the_header_is_cplusplus_too(home, tmp_path, monkeypatch):
    source = tmp_path / "two.cpp"
    source.write_text("#include <cstdint>\n" + CPLUSPLUS)
    monkeypatch.setenv("CXX", "c++ -Wall -Wextra -Wconversion -pedantic -Werror")
    made = controls.build(source)
    assert digits(forebay.run(scenario(made.name), seeds=1))[1] > 1000


def test_what_does_not_compile_says_the_first_error(home, tmp_path):
    source = tmp_path / "wrong.c"
    source.write_text('#include "forebay_cc.h"\nint x = ;\n')
    with pytest.raises(controls.ControlError, match="error"):
        controls.build(source)
    with pytest.raises(controls.ControlError, match="undefined reference"):
        source.write_text("void nothing(void); void forebay_cc(void) { nothing(); }\n")
        controls.build(source)


def test_names_of_ours_are_kept(home):
    with pytest.raises(controls.ControlError, match="simulator's own"):
        controls.build(controls.EXAMPLES / "aimd.c", name="reno")


def test_a_mix_of_ours_and_one_from_outside_and_its_flows(home, tmp_path):
    mix = scenario({"cubic": 0.5, "copa": 0.5})
    outcome = forebay.run(mix, flows=tmp_path / "flows.csv")
    shares = outcome.classes[0].controllers
    assert {"cubic", "copa"} == set(shares)
    assert (tmp_path / "flows.csv").read_text().count("copa") == 5


def test_traces_and_sweeps_know_it(home):
    traced = [
        forebay.trace(scenario(name), step="100 ms", flows=[0]).model_dump(
            exclude={"scenario", "provenance"}
        )
        for name in ("aimd", "reno")
    ]
    assert str(traced[0]) == str(traced[1])
    rows = forebay.sweep(scenario("aimd"), {"queue.size": ["10 packets", "20 packets"]})
    assert len(rows) == 10 and len({row["queue.size"] for row in rows.rows()}) == 2


class Doubling:
    """Two segments a round trip."""

    def on_round(self, window, round):
        if window.cwnd < window.ssthresh:
            window.cwnd = min(2 * window.cwnd, window.ssthresh)
        else:
            window.cwnd += 2

    def ssthresh(self, window, event):
        assert event in ("loss", "mark", "timeout")
        return max(window.cwnd / 2, 2)


def test_a_python_class_is_called_once_a_round_trip():
    rounds = []

    class Counting(Doubling):
        def on_round(self, window, round):
            rounds.append((round.now_s, round.acked, round.rtt_s))
            super().on_round(window, round)

    controls.use(Counting)
    first = forebay.run(scenario("counting"), jobs=1)
    assert first.links["bottleneck"].utilization.value > 0.7
    flow_seconds = 10 * 8.0
    assert flow_seconds / 0.1 < len(rounds) < flow_seconds / 0.02
    again = forebay.run(scenario("counting"), seeds=2, jobs=2)
    assert again.provenance.seeds == [1, 2]
    with pytest.raises(controls.ControlError, match="on_round"):
        controls.use(dict, "no-hooks")
    for check in (controls.check, lambda name: controls.compare("reno", name)):
        with pytest.raises(controls.ControlError, match="is a Python class of this process"):
            check("counting")
    with pytest.raises(controls.ControlError, match=r"python: .* is no class; write a class with"):
        controls.use(Counting())  # type: ignore[arg-type]
    with pytest.raises(controls.ControlError, match="3 is no name of a control"):
        controls.use(Counting, 3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (lambda window: 1 / 0, "on_round raises ZeroDivisionError"),
        (lambda window: setattr(window, "cwnd", float("nan")), "cwnd is NaN"),
        (lambda window: setattr(window, "cwnd", 0.5), "cwnd is 0.5"),
        (lambda window: setattr(window, "cwnd", 3e9), "cwnd is 3000000000"),
        (lambda window: setattr(window, "ssthresh", -1.0), "ssthresh is -1"),
        (lambda window: setattr(window, "pacing_rate", 10.0), "without FOREBAY_CC_PACES"),
    ],
)
def test_what_a_python_class_does_wrong_has_its_name(body, said):
    class Wrong:
        def on_round(self, window, round):
            body(window)

    controls.use(Wrong)
    with pytest.raises(controls.ControlFailed, match=said) as failed:
        forebay.run(scenario("wrong"))
    assert "'wrong'" in str(failed.value)
    assert str(failed.value).endswith("or name its class again with controls.use")


def test_the_command_line(home, printed):
    listed = json.loads(printed("controls list --json"))["controls"]
    assert {"aimd", "vegas", "copa"} <= {each["name"] for each in listed}


def test_the_header_is_the_layout_of_the_core():
    header = (controls.INCLUDE / "forebay_cc.h").read_text()
    hooks = ["init", "on_ack", "cong_avoid", "ssthresh", "on_loss_state", "undo", "release"]
    places = [header.index(f"(*{hook})") for hook in hooks]
    assert places == sorted(places)
    assert Path(controls.INCLUDE).name == "include"
