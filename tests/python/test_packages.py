"""Packages that an extra installs: one line says which, before the work."""

import sys

import pytest

from forebay.cli.program import call
from forebay.packages import MissingPackage, check_file, import_package


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [
        ("a.svg", "matplotlib", "report"),
        ("a.PNG", "matplotlib", "report"),
        ("a.html", "jinja2", "report"),
        ("a.parquet", "pyarrow", "parquet"),
    ],
)
def test_a_file_is_refused_by_its_name(monkeypatch, name, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackage, match=rf"needs {package}, .*'forebay\[{extra}\]'") as error:
        check_file(name)
    assert error.value.exit_status == 3
    assert "\n" not in str(error.value)


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
        ("matplotlib", ["size", "oc3-gsr", "--engine", "theory", "--figure", "a.svg"], "report"),
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
    assert f"'forebay[{extra}]'" in said.err
    assert said.err.count("\n") == 1
    assert not list(tmp_path.iterdir())
