"""Packages that an extra installs: one line says which, before the work."""

import sys

import pytest

from forebay.cli.program import call
from forebay.packages import MissingPackage, check_file, import_package


def test_a_file_of_no_extra_needs_nothing(monkeypatch):
    for package in ("matplotlib", "jinja2", "pyarrow"):
        monkeypatch.setitem(sys.modules, package, None)
    check_file("a.csv")
    check_file("a.json")


def test_a_package_of_no_extra_is_named_itself(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingPackage, match="'pandas'"):
        import_package("a DataFrame", "pandas")


@pytest.mark.parametrize(
    ("package", "arguments", "extra"),
    [
        ("matplotlib", ["size", "oc3-gsr", "--engine", "theory", "--figure", "a.PNG"], "report"),
        ("jinja2", ["size", "oc3-gsr", "--engine", "theory", "--html", "a.html"], "report"),
        ("pyarrow", ["run", "oc3-gsr", "--flows", "a.parquet"], "parquet"),
        ("pyarrow", ["sweep", "oc3-buffers", "--export", "a.parquet"], "parquet"),
        ("uvicorn", ["serve", "--port", "0"], "web"),
    ],
)
def test_a_command_says_what_to_install(monkeypatch, tmp_path, capsys, package, arguments, extra):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, package, None)
    assert call(arguments) == 3
    said = capsys.readouterr()
    assert said.out == ""
    assert f" needs {package}, which is not installed; write pip" in said.err
    assert f"'forebay[{extra}]'" in said.err
    assert said.err.count("\n") == 1
    assert not list(tmp_path.iterdir())
