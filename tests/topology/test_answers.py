"""Tables in addition to the Outcome, and the sensitivity of throughputs to buffers."""

import csv
import sys
from pathlib import Path

import numpy as np
import pytest

import forebay
from forebay import networks
from forebay.packages import MissingPackage
from forebay.report import print_network

LOT = Path(__file__).with_name("parking-lot.toml")


def read(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


@pytest.fixture(scope="module")
def answer():
    return networks.solve(forebay.load(LOT))


@pytest.mark.parametrize("model", ["response-functions", "hisamatsu-2007"])
def test_sensitivities_are_what_solving_again_gives(tmp_path, model):
    """All three core buffers moved at once, against the sum over the three."""
    changes = [f"topology.model={model}", "topology.sigma_factor=0.9"]
    answer = networks.solve(forebay.load(LOT, changes))
    answer.write_sensitivities(tmp_path / "s.csv")
    rows = read(tmp_path / "s.csv")
    said = [sum(float(row[name]) for row in rows if row["class"] == "core")
            for name in ("hops_3", "hops_5")]  # fmt: skip
    got = [
        forebay.run(forebay.load(LOT, [*changes, f"queue.size={n} packets"]), engine="network")
        for n in (90, 92)
    ]
    less, more = ([each.throughput_bps for each in one.network.by_hops] for one in got)
    seen = np.log(np.array(more) / np.array(less)) / np.log(92 / 90)
    assert said == pytest.approx(seen, rel=0.1)


def test_larger_core_buffers_help_those_who_stay_and_hurt_those_who_cross(tmp_path, answer):
    answer.write_sensitivities(tmp_path / "s.csv")
    first = next(row for row in read(tmp_path / "s.csv") if row["link"] == "A->B")
    assert float(first["hops_3"]) > 0.0 > float(first["hops_5"])


def test_parquet_holds_what_csv_does(tmp_path, answer):
    parquet = pytest.importorskip("pyarrow.parquet")
    answer.write_links(tmp_path / "links.parquet")
    answer.write_links(tmp_path / "links.csv")
    rows = read(tmp_path / "links.csv")
    table = parquet.read_table(tmp_path / "links.parquet").to_pylist()
    assert [row["link"] for row in table] == [row["link"] for row in rows]
    assert [row["rate_bps"] for row in table] == [float(row["rate_bps"]) for row in rows]


def test_parquet_without_its_library_is_one_line_and_leaves_no_file(tmp_path, answer, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingPackage, match=r"forebay\[parquet\]") as error:
        answer.write_links(tmp_path / "links.parquet")
    assert "\n" not in str(error.value) and not list(tmp_path.iterdir())


def test_random_starts_are_said_in_the_answer(capsys):
    answer = networks.solve(forebay.load(LOT), multistart=2)
    found = answer.outcome.to_dict()["provenance"]["fixed_points"]
    assert (found["starts"], found["points"], found["not_converged"]) == (2, 1, 0)
    print_network(answer.outcome)
    assert "2 random starts: 1 fixed point, " in capsys.readouterr().out
