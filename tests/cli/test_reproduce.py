"""The artefacts of the package are run, no others; their verdicts become the exit status."""

import json
import re
import sys

import pytest
from tests.cases import rows

from forebay.reproduction import papers as shipped
from forebay.store import Store

ARTEFACT = """
from dataclasses import dataclass
from forebay.reproduction import Reproduction

@dataclass(frozen=True)
class Row:
    ours: float

def reproduce(effort, quick=False):
    effort.tell(1.0)
    return Reproduction(
        artefact="z-2000/tab1", title="Paper Z, Table 1", columns=["flows", "printed", "ours"],
        rows=[[1, 97.0, Row(97.5).ours], [2, 99.0, float(effort.seeds)]],
        reasons=["", "" if effort.seeds == 5 else "far off"],
    )
"""
ITSELF = "import sys\n\ntab1 = tab2 = sys.modules[__name__]\n"
"""What makes a module the artefact that it has."""


PACKAGE = "forebay.reproduction.papers.z_2000"


@pytest.fixture
def papers(tmp_path, monkeypatch):
    """Put the one artefact of paper Z in the place of those that ship."""
    folder = tmp_path / "shipped" / "z_2000" / "tab1"
    folder.mkdir(parents=True)
    (folder / "artefact.py").write_text(ARTEFACT + ITSELF)
    monkeypatch.setattr(shipped, "__path__", [str(tmp_path / "shipped")])
    monkeypatch.setattr(shipped, "MODULES", {"z-2000": {"tab1.artefact": "tab1"}})
    monkeypatch.setitem(shipped.KEYS, "Z", "z-2000")
    monkeypatch.setattr("forebay.reproduction.running._LETTERS", {"z-2000": "Z"})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.chdir(tmp_path)
    yield folder
    forget()


def forget():
    """Let the next call import the artefacts anew."""
    for name in [name for name in sys.modules if name.startswith(PACKAGE)]:
        del sys.modules[name]


def test_list_says_the_name_and_the_alias(forebay_, papers):
    assert forebay_("reproduce", "--list").out == "z-2000/tab1  Z.tab1\n"
    document = json.loads(forebay_("reproduce", "--list", "--json").out)
    assert document["artefacts"] == ["z-2000/tab1"]
    assert document["aliases"] == {"Z.tab1": "z-2000/tab1"}


@pytest.mark.parametrize("name", ["Z.tab1", "z.TAB1", "Z/tab1", "z-2000/tab1", "z-2000.tab1"])
def test_every_way_to_write_a_name_and_in_its_band_is_0(printed, papers, name):
    assert "2 of 2 rows are in their band" in printed(f"reproduce {name}")


def test_json_of_one_with_its_figure_and_of_all(forebay_, papers, tmp_path):
    figure = tmp_path / "z.png"
    one = json.loads(forebay_("reproduce", "Z.tab1", "--json", "--figure", str(figure)).out)
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert one["agrees"] is True and one["rows"][0]["cells"] == [1, 97.0, 97.5]
    every = json.loads(forebay_("reproduce", "--json").out)
    assert every["artefacts"] == [one]
    assert [(each["kind"], each["rows"], each["in_band"]) for each in every["counts"]] == [
        ("ours against ours", 2, 2)
    ]


OFFERED = """
from forebay.reproduction import Reproduction
from forebay.store import Store

def reproduce(effort, quick=False):
    return Reproduction("mylab-2026/fig1", "Theirs", ["flows"], [[effort.seeds]], [""])
"""


def install(folder, value):
    """Lay a package in a folder that names an artefact by an entry point."""
    info = folder / "mylab-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mylab\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[forebay.artefacts]\nmylab-2026/fig1 = {value}\n")
    (folder / "mylab_fig1.py").write_text(OFFERED)


def test_an_installed_package_offers_its_own(forebay_, papers, tmp_path, monkeypatch):
    install(tmp_path / "site", "mylab_fig1")
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert forebay_("reproduce", "--list").out.startswith("mylab-2026/fig1\n")
    result = forebay_("reproduce", "mylab-2026.fig1", "--quick")
    assert result.status == 0 and "1 of 1 rows" in result.out


def test_what_is_offered_but_is_none_is_3_and_said(forebay_, papers, tmp_path, monkeypatch):
    install(tmp_path / "site", "mylab_none")
    monkeypatch.syspath_prepend(tmp_path / "site")
    result = forebay_("reproduce", "mylab-2026/fig1")
    assert result.status == 3 and "cannot be imported" in result.err
    (tmp_path / "site" / "mylab_none.py").write_text("reproduce = None")
    result = forebay_("reproduce", "mylab-2026/fig1")
    assert result.status == 3 and "has no reproduce(" in result.err
    for body, said in (("raise ValueError('boom')", "failed: ValueError: boom"),
                       ("return 7", "returned int, no Reproduction")):  # fmt: skip
        (tmp_path / "site" / "mylab_none.py").write_text(f"def reproduce(*_):\n    {body}")
        monkeypatch.delitem(sys.modules, "mylab_none", raising=False)
        result = forebay_("reproduce", "mylab-2026/fig1")
        assert result.status == 3 and said in result.err


PLANTED = 'raise SystemExit("planted code was run")'


@pytest.mark.parametrize("above", [False, True], ids=["here", "above"])
def test_what_lies_about_is_not_run_and_offers_nothing(
    forebay_, papers, tmp_path, monkeypatch, above
):
    strange = tmp_path / "strange"
    planted = strange / "papers" / "Z" / "z"
    planted.mkdir(parents=True)
    install(strange, "mylab_fig1")
    for place in (planted / "artefact.py", strange / "mylab_fig1.py"):
        place.write_text(PLANTED)
    (strange / "below").mkdir()
    monkeypatch.chdir(strange / "below" if above else strange)
    monkeypatch.syspath_prepend(strange)  # as `python -m` does with the working directory
    assert forebay_("reproduce", "--list").out == "z-2000/tab1  Z.tab1\n"
    for name in ("Z.z", "mylab-2026/fig1"):
        result = forebay_("reproduce", name)
        assert result.status == 2 and "there is no such artefact" in result.err
    result = forebay_("reproduce", "--all")
    assert result.status == 0 and "planted" not in result.out + result.err


def test_a_paper_s_letter_is_all_of_its_artefacts(forebay_, two):
    document = json.loads(forebay_("reproduce", "Z", "--json").out)
    assert [each["artefact"] for each in document["artefacts"]] == ["z-2000/tab1", "z-2000/tab2"]


QUICK = ARTEFACT.replace("97.5)", "1.0 * quick)")


@pytest.fixture
def two(papers):
    """A second artefact, which knows quick."""
    folder = papers.parent / "tab2"
    folder.mkdir()
    (folder / "artefact.py").write_text(QUICK.replace("z-2000/tab1", "z-2000/tab2") + ITSELF)
    shipped.MODULES["z-2000"]["tab2.artefact"] = "tab2"
    return folder


def test_all_says_at_its_end_which_rows_are_out(forebay_, two):
    result = forebay_("reproduce", "--all", "--seeds", "2")
    assert result.status == 1
    assert result.out.endswith("OUT z-2000/tab1 2: far off\nOUT z-2000/tab2 2: far off\n")
    assert "2 artefacts: 2 of 4 rows are in their band.\n" in result.out
    assert "  ours against ours: 2 of 4 rows in their band; 0 of the 4 have" in result.out
    assert forebay_("reproduce", "--all").status == 0


def test_one_that_fails_leaves_the_others_and_is_said(forebay_, two):
    broken = "from forebay.engines import Unsupported\n\n\n"
    broken += "def reproduce(effort, quick):\n"
    broken += "    raise Unsupported('simulation', 'this', 'queue')\n"
    (two.parent / "tab1" / "artefact.py").write_text(broken + ITSELF)
    result = forebay_("reproduce", "--all")
    assert result.status == 3 and "1/2 z-2000/tab1: not reproduced: " in result.err
    assert "NOT REPRODUCED z-2000/tab1: " in result.out
    assert "1 artefacts: 2 of 2 rows are in their band.\n" in result.out
    document = json.loads(forebay_("reproduce", "--all", "--json").out)
    assert [each["artefact"] for each in document["artefacts"]] == ["z-2000/tab2"]
    assert list(document["not_reproduced"]) == ["z-2000/tab1"]
    assert forebay_("reproduce", "Z.tab1").out == ""


def test_quick_reaches_those_that_know_it_with_fewer_seeds(forebay_, two):
    made = json.loads(forebay_("reproduce", "--quick", "--json").out)["artefacts"]
    assert [each["rows"][0]["cells"][2] for each in made] == [97.5, 1.0]
    assert [each["rows"][1]["cells"][2] for each in made] == [2.0, 2.0]


def test_a_run_goes_on_where_it_stopped(forebay_, two, tmp_path):
    broken = two / "artefact.py"
    good = broken.read_text()
    broken.write_text(good.replace("effort.tell(1.0)", "raise KeyboardInterrupt"))
    stopped = forebay_("reproduce", "--all")
    assert stopped.status == 130 and "kept in" in stopped.err
    with Store(tmp_path / "cache" / "forebay" / "store.sqlite") as kept:
        assert kept.count == 1
    broken.write_text(good)
    forget()
    result = forebay_("reproduce", "--all")
    assert result.status == 0
    assert (
        "1/2 z-2000/tab1: from the cache" in result.err
        and "2/2 z-2000/tab2: from" not in result.err
    )


def test_what_made_a_result_is_what_it_hangs_on(forebay_, papers, tmp_path):
    def said(*more: str) -> str:
        return forebay_("reproduce", "Z.tab1", "--store", str(tmp_path / "s"), *more).err

    assert "from the cache" not in said() and "from the cache" in said()
    assert "from the cache" not in said("--seeds", "4")
    (papers / "band.toml").write_text("band = 2")
    assert "from the cache" not in said("--seeds", "4")
    with Store(tmp_path / "s") as store:
        (key,) = store._connection.execute("SELECT key FROM documents").fetchone()
        store.put_document("artefact", "z-2000/tab1", key, "{")
    assert "from the cache" not in said("--seeds", "4")


def test_report_is_one_page_that_needs_nothing(forebay_, two, tmp_path):
    page = tmp_path / "report.html"
    assert forebay_("reproduce", "--all", "--seeds", "2", "--report", str(page)).status == 1
    text = page.read_text()
    assert text.count("<svg") == 2 and "z-2000/tab2" in text and "2: far off" in text
    assert "<li>ours against ours: 2 of 4 rows in their band" in text
    assert not re.findall(r'(?:src|href)="(?!#)', text)
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert sorted(each.name for each in tmp_path.glob("*.*")) == ["report.html"]


MEASURED = (
    ARTEFACT
    + """
def measure(progress, seeds=3, again=False):
    progress(0.5)
    return [f"seed {seed}: late" for seed in range(3, seeds)] + ["all again"] * again
"""
    + ITSELF
)


def test_records_are_made_and_nothing_is_shown_but_what_the_gate_refused(forebay_, papers):
    (papers / "artefact.py").write_text(MEASURED)
    result = forebay_("reproduce", "Z.tab1", "--testbed")
    assert (result.status, result.out) == (0, "")
    assert f"recorded in {papers}" in result.err
    gated = forebay_("reproduce", "Z.tab1", "--testbed", "--seeds", "4", "--again")
    assert gated.status == 3
    assert "not recorded: seed 3: late\nnot recorded: all again\n" in gated.err


def test_testbed_s_ctrl_c_says_what_is_kept(forebay_, papers):
    (papers / "artefact.py").write_text(
        MEASURED.replace("progress(0.5)", "raise KeyboardInterrupt")
    )
    result = forebay_("reproduce", "Z.tab1", "--testbed")
    assert result.status == 130 and f"recorded in {papers}" in result.err


REFUSED = """
Z.tab1 --testbed | has no testbed part
Z --testbed | name it
--testbed | name it
Z.tab1 --again | it needs --testbed
Z.tab1 --all | --all
Z.tab1 --report report.txt | .html
"""


@pytest.mark.parametrize(("asked", "said"), rows(REFUSED))
def test_what_does_not_go_together_is_refused_before_the_run(forebay_, papers, asked, said):
    result = forebay_("reproduce", *asked.split())
    assert result.status == 2 and said in result.err and result.err.count("\n") == 1
