"""Files that a verb writes: after the answer, never over its input, never two at one path."""

import errno
import os

import pytest
from tests import scenarios as small

import forebay.report.figures
from forebay.cli.program import call


@pytest.fixture
def short(tmp_path):
    path = tmp_path / "short.toml"
    one = {"link.rate": "1 Mbit/s", "queue.size": "8 packets", "traffic": [{"flows": 1}]}
    small.scenario(one | {"traffic.0.start": "0 s"}).save(path)
    return path


def full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("json", [(), ("--json",)])
def test_a_figure_that_cannot_be_written_costs_nobody_the_answer(
    forebay_, link, scenario, tmp_path, monkeypatch, json
):
    monkeypatch.setattr(forebay.report.figures, "save", full)
    path = tmp_path / "a.svg"
    result = forebay_("size", scenario, "--figure", str(path), *json)
    assert result.status == 2
    assert ('"buffer"' if json else "Recommended: ") in result.out
    assert result.err == f"forebay: {path}: No space left on device; " + (
        "make room there or write elsewhere\n"
    )


def test_the_trace_is_printed_before_its_files_are_written(forebay_, short, tmp_path, monkeypatch):
    monkeypatch.setattr(forebay.report.figures, "save", full)
    samples, picture = tmp_path / "a.csv", tmp_path / "a.svg"
    result = forebay_("trace", str(short), "--output", str(samples), "--figure", str(picture))
    assert (result.status, samples.exists(), picture.exists()) == (2, True, False)
    assert "short" in result.out or result.out
    assert result.err.splitlines()[0] == f"samples: {samples}"


@pytest.mark.parametrize(
    "arguments",
    [
        ("trace", "{s}", "--output", "{s}"),
        ("trace", "{s}", "--output", "{a}", "--histograms", "{a}"),
        ("trace", "{s}", "--output", "{a}", "--histograms", "{link}"),
        ("trace", "{s}", "--output", "{a}" + 250 * "a" + ".csv"),
        ("size", "{s}", "--figure", "x\0.svg"),
    ],
)
def test_places_that_cannot_be_meant_are_refused(forebay_, short, tmp_path, arguments):
    scenario = short.rename(tmp_path / "s.csv")
    (tmp_path / "link.csv").symlink_to("a.csv")
    names = {"s": scenario, "a": tmp_path / "a.csv", "link": tmp_path / "link.csv"}
    text = scenario.read_text()
    result = forebay_(*(each.format(**names) for each in arguments))
    assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
    assert scenario.read_text() == text and not names["a"].exists()


def test_a_packet_list_is_not_overwritten(forebay_, short, tmp_path):
    packets = tmp_path / "packets.csv"
    packets.write_text("0,1500\n")
    short.write_text(
        '[link]\nrate = "1 Mbit/s"\n[queue]\nsize = "8 packets"\n[[traffic]]\nkind = "replay"\n'
        'flows = 1\nfile = "packets.csv"\n[measure]\nwarmup = "0 s"\nduration = "1 s"\n'
    )
    result = forebay_("trace", str(short), "--flows", "", "--output", str(packets))
    assert result.status == 2 and "is read by this command" in result.err
    assert packets.read_text() == "0,1500\n"


def test_a_linked_output_stays_a_link(short, tmp_path):
    (tmp_path / "there").mkdir()
    link = tmp_path / "a.csv"
    link.symlink_to("there/b.csv")
    assert call(["trace", str(short), "--output", str(link)]) == 0
    assert link.is_symlink() and (tmp_path / "there" / "b.csv").read_text().startswith("at_s,")
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["b.csv"]


def test_a_run_that_ends_early_leaves_no_capture(forebay_, short, tmp_path, monkeypatch):
    from forebay.engines.simulation import isolated

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(isolated, "to_reading", stop)  # its packets are written by then
    result = forebay_("run", str(short), "--capture", str(tmp_path / "link.pcapng"))
    assert (result.status, result.err) == (130, "forebay: interrupted; nothing was kept\n")
    assert [path.name for path in tmp_path.iterdir()] == ["short.toml"]


def test_an_answer_that_is_cut_off_is_called_a_part(forebay_, short, monkeypatch):
    import click

    import forebay.report

    def stop(_):
        click.echo("half of")
        raise KeyboardInterrupt

    monkeypatch.setattr(forebay.report, "print_answer", stop)
    result = forebay_("run", str(short))
    assert (result.status, result.out) == (130, "half of\n")
    assert result.err == "forebay: interrupted; the printed answer may be incomplete\n"


def test_a_sizing_stopped_before_its_first_buffer_kept_nothing(forebay_, link, scenario):
    link.stop_after = 0
    result = forebay_("size", scenario)
    assert (result.status, result.out) == (130, "")
    assert result.err == "forebay: interrupted; nothing was kept\n"
