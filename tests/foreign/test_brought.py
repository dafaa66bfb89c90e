"""Modules of the Linux kernel over the shim: one of our own, and Debian's where they are."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.foreign.test_controls import digits, scenario

import forebay
from forebay.api import controls

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
