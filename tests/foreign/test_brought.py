"""Controls that others bring: modules of the Linux kernel over the shim, and distributions.

A module of our own, and Debian's where they are; an installed distribution brings controls by the
entry point group ``forebay.controls``.
"""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.foreign.test_controls import SCENARIO, digits, scenario

import forebay
from forebay.api import controls
from forebay.foreign.build import compile_control

if not sys.platform.startswith("linux") or shutil.which("cc") is None:
    pytest.skip("no C compiler", allow_module_level=True)

MODULE = """
#include <linux/module.h>
#include <net/tcp.h>
static struct tcp_congestion_ops mini = {
    .ssthresh = tcp_reno_ssthresh, .cong_avoid = tcp_reno_cong_avoid,
    .undo_cwnd = tcp_reno_undo_cwnd, .name = "mini", .owner = THIS_MODULE,
};
static int __init mini_register(void) { return tcp_register_congestion_control(&mini); }
static void __exit mini_unregister(void) { tcp_unregister_congestion_control(&mini); }
module_init(mini_register);
module_exit(mini_unregister);
MODULE_LICENSE("GPL");
"""
LINUX = os.environ.get("FOREBAY_LINUX", "6.12")
"""Of the sources; 6.1, too, is known to do."""
PACKAGE = f"linux-source-{LINUX}"
ALONE = [
    "bbr", "bic", "cdg", "cubic", "dctcp", "highspeed", "htcp", "hybla", "illinois", "lp", "nv",
    "scalable", "vegas", "veno", "westwood",
]  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("controls")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FOREBAY_CONTROLS", str(folder))
        yield folder


@pytest.mark.parametrize(
    ("linux", "hz"),
    [
        ("6.1", 250),
        ("6.12", 1000),
        pytest.param("6.1", 1000, marks=pytest.mark.long),
        pytest.param("6.12", 250, marks=pytest.mark.long),
    ],
)
def test_a_module_with_the_kernels_reno_gives_renos_digits(home, tmp_path, linux, hz):
    source = tmp_path / "tcp_mini.c"
    source.write_text(MODULE)
    made = controls.build(source, linux=linux, hz=hz)
    assert made.name == f"mini@{linux}"
    assert (made.built["linux"], made.built["hz"]) == (linux, hz)
    assert digits(forebay.run(scenario(made.name))) == digits(forebay.run(scenario("reno")))


def test_a_module_without_its_version_says_what_to_write(home, tmp_path):
    source = tmp_path / "tcp_mini.c"
    source.write_text(MODULE)
    with pytest.raises(controls.ControlError, match=r'linux="6\.12"'):
        controls.build(source)


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The kernel's net/ipv4: FOREBAY_LINUX_SOURCE, or of Debian's package."""
    if given := os.environ.get("FOREBAY_LINUX_SOURCE"):
        return Path(given)
    if os.environ.get("FOREBAY_LONG") != "1":
        pytest.skip(f"long: `make long` fetches Debian's {PACKAGE}")
    folder = tmp_path_factory.mktemp("linux")
    got = subprocess.run(["apt-get", "download", PACKAGE], cwd=folder, check=False)
    package = next(folder.glob("*.deb"), None)
    if got.returncode or package is None:
        pytest.skip(f"{PACKAGE} cannot be fetched here")
    subprocess.run(["dpkg-deb", "-x", package.name, "."], cwd=folder, check=True)
    packed = next(folder.rglob("*.tar.xz"))
    subprocess.run(
        ["tar", "xJf", packed, "--wildcards", "*/net/ipv4/tcp_*"], cwd=folder, check=True
    )
    return next(folder.glob("*/net/ipv4"))


def test_every_module_builds_and_runs(home, sources):
    files = {name: [sources / f"tcp_{name}.c"] for name in ALONE}
    files["yeah"] = [sources / "tcp_yeah.c", sources / "tcp_vegas.c"]
    for name, paths in files.items():
        made = controls.build(*paths, linux=LINUX)
        assert made.name == f"{name}@{LINUX}"
        used = forebay.run(scenario(made.name)).links["bottleneck"].utilization
        assert used.value > 0.4, name


@pytest.mark.parametrize("name", ["cubic", "bbr", "vegas"])
def test_the_kernels_modules_pass_the_check(home, sources, name):
    controls.build(sources / f"tcp_{name}.c", linux=LINUX)
    assert controls.check(f"{name}@{LINUX}").passes


@pytest.mark.skipif(LINUX != "6.12", reason="ours follow 6.12")
@pytest.mark.parametrize(
    ("name", "most"),
    [("scalable", 0.0), ("bbr", 0.001), ("dctcp", 0.002), ("cubic", 0.002), ("westwood", 0.004)],
)
def test_ours_do_as_the_kernels(home, sources, name, most):
    """The share of the calls that differ: of 100 flows in oc3-gsr."""
    controls.build(sources / f"tcp_{name}.c", linux="6.12")
    assert controls.compare(name, f"{name}@6.12").share <= most


@pytest.mark.skipif(LINUX != "6.12", reason="ours follow 6.12")
def test_cubic_does_on_a_fast_link_with_large_windows(home, sources):
    """Many ACKs a tick: the clock and the root in whole numbers count."""
    controls.build(sources / "tcp_cubic.c", linux="6.12")
    fast = scenario("cubic", link={"rate": "1 Gbit/s"}, queue={"size": "0.5 bdp"})
    assert controls.compare("cubic", "cubic@6.12", fast).share <= 0.005


PROVIDED = """
from pathlib import Path
from forebay.api.controls import Provided
ours = Provided(library=Path(__file__).with_name("aimd.so"), source="Me 2026", {says})
"""
RUN = """
import json, sys, forebay
from forebay.api import controls
scenario = forebay.Scenario.from_dict(json.loads(sys.argv[1]))
outcome = forebay.run(scenario, seeds=1)
print(json.dumps([
    [each.name + " of " + each.brought_by for each in controls.listed()],
    outcome.links["bottleneck"].utilization.value,
    outcome.provenance.controls,
]))
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the AIMD of the examples, compiled."""
    folder = tmp_path_factory.mktemp("aimd")
    compile_control([controls.EXAMPLES / "aimd.c"], folder)
    return (folder / "control.so").read_bytes()


def wheel(folder: Path, library: bytes, says: str) -> Path:
    """Return a wheel with a compiled control, whose record says so."""
    made = folder / "my_control-1.0-py3-none-any.whl"
    info = "my_control-1.0.dist-info"
    files: dict[str, bytes | str] = {
        "my_control/__init__.py": PROVIDED.format(says=says),
        "my_control/aimd.so": library,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: my-control\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[forebay.controls]\ngentle = my_control:ours\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in files)
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made


def run_with(folder: Path, wheel: Path, *, pip: bool) -> subprocess.CompletedProcess[str]:
    site = folder / "site"
    if pip:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
        subprocess.run([*command, "--target", site, wheel], check=True)
    else:
        zipfile.ZipFile(wheel).extractall(site)
    asked = SCENARIO.to_dict(defaults=False)
    asked["traffic"][0]["congestion_control"] = "gentle"
    environment = os.environ | {"PYTHONPATH": str(site), "FOREBAY_CONTROLS": str(folder / "none")}
    command = [sys.executable, "-c", RUN, json.dumps(asked)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_distribution_brings_one(tmp_path, library):
    done = run_with(tmp_path, wheel(tmp_path, library, "state_bytes=4"), pip=True)
    assert done.returncode == 0, done.stderr
    listed, used, facts = json.loads(done.stdout)
    assert listed == ["gentle of my-control"]
    assert used > 0.7
    assert facts["gentle"]["source"] == "Me 2026" and len(facts["gentle"]["library_sha256"]) == 64


@pytest.mark.parametrize(
    ("says", "wrong"),
    [
        ("state_bytes=4, paces=True", "its library has paces False, its record True"),
        ("state_bytes=0", "its library has state_bytes 4, its record 0"),
    ],
)
def test_what_its_record_says_wrong_is_one_line(tmp_path, library, says, wrong):
    done = run_with(tmp_path, wheel(tmp_path, library, says), pip=False)
    assert done.returncode != 0
    last = done.stderr.splitlines()[-1]
    assert "'gentle'" in last and wrong in last
