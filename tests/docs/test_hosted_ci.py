"""Workflow files and the container file, which nothing runs here, name what there is."""

import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
TARGETS = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.M)[1].split()
MADE = ("build/", "dist/", ".venv/")
"""Folders that commands of a job make."""


def jobs() -> Iterator[tuple[str, dict[str, Any]]]:
    for workflow in WORKFLOWS:
        for name, job in yaml.safe_load(workflow.read_text("utf-8"))["jobs"].items():
            yield f"{workflow.stem}.{name}", job


def lines(job: dict[str, Any]) -> list[str]:
    """Return the commands of a job, one a line."""
    text = "\n".join(step.get("run", "") for step in job["steps"])
    return re.sub(r"\\\n\s*", " ", text).splitlines()


def asked(script: Path) -> int:
    """Return the number of arguments that a script of the shell refuses to do without."""
    numbers = re.findall(r"\$([1-9])", script.read_text("utf-8").partition("refused()")[0])
    return max(map(int, numbers), default=0)


@pytest.mark.parametrize(("name", "job"), [pytest.param(*each, id=each[0]) for each in jobs()])
def test_a_job_names_scripts_targets_extras_and_files_that_exist(name, job):
    assert job["timeout-minutes"] > 0 and job["runs-on"]
    for line in lines(job):
        for script, rest in re.findall(r"(\.ci/[\w-]+)([^|;&]*)", line):
            assert os.access(ROOT / script, os.X_OK), line
            assert len(rest.split()) == asked(ROOT / script), line
        for target in re.findall(r"(?:^|&& )make ([\w-]+)", line):
            assert target in TARGETS, line
        extras = re.findall(r"--extra (\w+)", line)
        for bracket in re.findall(r"\.whl\)?\[([\w,]+)\]", line):
            extras += bracket.split(",")
        assert set(extras) <= set(PROJECT["optional-dependencies"]), line
        for path in re.findall(r"(?<![\w./-])[\w-]+(?:/[\w.-]+)*\.(?:toml|lock|txt)\b", line):
            assert path.startswith(MADE) or (ROOT / path).exists(), line


def test_a_folder_is_made_before_a_job_writes_into_it() -> None:
    for name, job in jobs():
        text = "\n".join(lines(job))
        for folder in re.findall(r"--output-file (\w+)/", text):
            assert f"mkdir -p {folder}" in text, name


def test_the_pythons_that_are_tried_are_those_that_are_allowed() -> None:
    pythons = dict(jobs())["check.pythons"]["strategy"]["matrix"]
    tried = {*pythons["python"], *(each["python"] for each in pythons["include"]), "3.11"}
    assert min(tried, key=lambda each: int(each.split(".")[1])) == "3.11"
    assert PROJECT["requires-python"] == ">=3.11"
    assert {"3.11", "3.12", "3.13", "3.14"} <= tried


def test_the_container_has_what_the_tests_need_and_the_oldest_rust() -> None:
    text = (ROOT / "Containerfile").read_text("utf-8")
    pairs = re.search(r"for pair in ([^;]*);", (ROOT / ".ci/debian-packages").read_text("utf-8"))
    wanted = {pair.partition(":")[2] for pair in pairs[1].split()} | {"libbpf-dev"}
    assert wanted <= set(text.split())
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))
    rust = cargo["workspace"]["package"]["rust-version"]
    assert f"rust:{rust}-" in text
    for target in re.findall(r"\bmake (setup|demo|test)\b", text):
        assert target in TARGETS
