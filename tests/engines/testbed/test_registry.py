"""What was made is written down first; exactly what a dead owner's record names is removed."""

import json
import os
import subprocess
import sys
import time

import pytest

from forebay.engines.testbed import namespaces, registry
from forebay.engines.testbed.errors import TestbedError
from forebay.engines.testbed.registry import Owner


@pytest.fixture
def removed(monkeypatch, tmp_path):
    names = []
    monkeypatch.setenv("FOREBAY_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setattr(namespaces, "remove", names.append)
    return names


def records():
    return sorted(path.name for path in registry.directory().glob("*.json"))


def dead_owner():
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"],
                           capture_output=True, text=True, check=True)  # fmt: skip
    return Owner.here()._replace(pid=int(ended.stdout))


def leave(owner, *names, child=None, scratch=None):
    place = registry.directory()
    place.mkdir(exist_ok=True)
    path = place / f"{owner.pid}-0.json"
    registry.RunResources(path, owner, list(names), scratch, [child] if child else [])._write()
    return path


def test_a_name_is_on_record_before_anything_is_made(removed):
    with registry.recording() as record:
        record.will_make("forebay-x-send", "forebay-x-recv")
        (path,) = registry.directory().glob("*.json")
        assert json.loads(path.read_text())["namespaces"] == ["forebay-x-send", "forebay-x-recv"]
        scratch = record.make_scratch()
        assert scratch.is_dir()
    assert removed == ["forebay-x-send", "forebay-x-recv"]
    assert records() == [] and not scratch.exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_it_is_removed_however_a_run_ends(removed, error):
    with pytest.raises(error), registry.recording() as record:
        record.will_make("forebay-y-send")
        raise error
    assert removed == ["forebay-y-send"] and records() == []


def test_what_the_dead_left_goes_at_the_next_start_and_what_the_living_use_stays(removed, tmp_path):
    """A number taken over by another process is not its owner."""
    scratch = tmp_path / "forebay-1-0-0123456789abcdef"
    scratch.mkdir(mode=0o755)
    leave(dead_owner(), "forebay-z-send", scratch=str(scratch))
    assert len(registry.remove_leftovers()) == 1
    assert removed == ["forebay-z-send"]
    assert records() == [] and not scratch.exists()
    path = leave(Owner.here(), "forebay-alive-send")
    assert registry.remove_leftovers() == [] and len(removed) == 1 and path.exists()
    earlier = Owner.here()._replace(started=1)
    assert not earlier.alive
    leave(earlier, "forebay-old-send")
    registry.remove_leftovers()
    assert removed[1:] == ["forebay-old-send"]


def test_a_leftover_child_is_ended_but_not_its_namesake(removed):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        found = Owner.of(child.pid)
        leave(dead_owner(), child=found._replace(started=found.started - 1))
        registry.remove_leftovers()
        assert child.poll() is None, "another process of that number"
        leave(dead_owner(), child=found)
        registry.remove_leftovers()
        assert child.wait(5) == -9
    finally:
        child.kill()
        child.wait()


def test_what_is_no_record_of_ours_is_left_alone(removed):
    place = registry.directory()
    place.mkdir()
    (place / "notes.json").write_text("{}")
    (place / f"{os.getpid()}-0.new").write_text("{")
    registry.remove_leftovers()
    assert sorted(path.name for path in place.iterdir()) == [f"{os.getpid()}-0.new", "lock",
                                                             "notes.json"]  # fmt: skip


OUTLIVED = """
import os, pathlib, sys, time
from forebay.engines.testbed import namespaces, registry
with registry.recording() as record:
    record.will_make("forebay-z-send")
    if os.fork() == 0:
        time.sleep(0.5)  # as the netlink library's fork, which makes a namespace for its parent
        pathlib.Path(sys.argv[1]).touch()
        os._exit(0)
    os.kill(os.getpid(), 9)
"""


def test_what_a_fork_of_the_dead_still_makes_is_waited_for(removed, tmp_path):
    late = tmp_path / "late"
    subprocess.run([sys.executable, "-c", OUTLIVED, str(late)], check=False)
    assert records() and not late.exists()
    registry.remove_leftovers()
    assert late.exists() and removed == ["forebay-z-send"]
    assert [path.name for path in registry.directory().iterdir()] == ["lock"]


def test_what_a_fork_makes_after_an_interrupt_is_removed_too(tmp_path, monkeypatch):
    """The netlink library makes a namespace in a fork, which an interrupt of ours does not end."""
    monkeypatch.setenv("FOREBAY_RUNTIME_DIR", str(tmp_path / "run"))
    made = tmp_path / "made"
    monkeypatch.setattr(namespaces, "remove", lambda _: made.unlink(missing_ok=True))
    with pytest.raises(KeyboardInterrupt), registry.recording() as record:
        record.will_make("forebay-made")
        fork = os.fork()
        if not fork:
            time.sleep(0.3)
            made.touch()
            os._exit(0)
        raise KeyboardInterrupt
    os.waitpid(fork, 0)
    assert not made.exists()


def test_a_planted_record_removes_no_folder_but_ours(removed, tmp_path):
    names = ("kept", *(f"forebay-{number}-0-0123456789abcdef" for number in (2, 3)))
    kept, link, open_to_all = (tmp_path / name for name in names)
    kept.mkdir()
    link.symlink_to(kept)
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    for scratch in (kept, link, open_to_all):
        leave(dead_owner(), scratch=str(scratch))
        registry.remove_leftovers()
        assert scratch.exists()


@pytest.mark.parametrize("name", ["home", "../netns/x", "forebay-x/../y", "forebay-"])
def test_a_record_that_names_what_we_never_make_is_left_alone(removed, name):
    path = leave(dead_owner(), name)
    assert registry.remove_leftovers() == [] and removed == [] and path.exists()


def test_a_record_or_a_directory_that_others_may_write_is_not_believed(removed):
    path = leave(dead_owner(), "forebay-z-send")
    path.chmod(0o666)
    assert registry.remove_leftovers() == [] and removed == []
    registry.directory().chmod(0o777)
    for use in (registry.remove_leftovers, lambda: registry.recording().__enter__()):
        with pytest.raises(TestbedError, match="others may write to it"):
            use()
    assert removed == []


def test_a_folder_that_was_there_before_is_not_removed_by_close(removed, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr("secrets.token_hex", lambda _: "0" * 16)
    with pytest.raises(TestbedError), registry.recording() as record:
        taken = tmp_path / f"forebay-{record.path.stem}-{'0' * 16}"
        taken.mkdir()
        record.make_scratch()
    assert taken.is_dir()
