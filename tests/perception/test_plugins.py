"""The folder is the registry."""

import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from perception import plugins
from perception.errors import CuelightError, UnknownName


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    package = tmp_path / "cups"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "_hidden.py").write_text("")
    (package / "tea.py").write_text("class Options: ...\ndef build(options): return options")
    (package / "empty.py").write_text("")
    (package / "exploding.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "cups"
    for name in [name for name in sys.modules if name.split(".")[0] == "cups"]:
        del sys.modules[name]


def test_names_lists_without_importing(folder: str) -> None:
    assert plugins.names(folder) == ["empty", "exploding", "tea"]


def test_take_gives_what_the_file_exports(folder: str) -> None:
    plugin = plugins.take(folder, "tea")
    options = plugin.Options()
    assert plugin.build(options) is options


def test_an_unknown_name_lists_what_exists_and_the_nearest(folder: str) -> None:
    with pytest.raises(UnknownName, match=r"no cup 'tee'. Did you mean 'tea'\? Available: empty"):
        plugins.take(folder, "tee")


@pytest.mark.parametrize("name", ["_hidden", "../tea", "tea.py", "", "os"])
def test_only_listed_names_are_imported(folder: str, name: str) -> None:
    with pytest.raises(UnknownName):
        plugins.take(folder, name)


def test_an_incomplete_plugin_is_named(folder: str) -> None:
    with pytest.raises(CuelightError, match=r"cups.empty is incomplete: .*Options"):
        plugins.take(folder, "empty")


def test_other_distributions_add_by_entry_point(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = {"cuelight.cups": [EntryPoint("foreign", "cups.tea", "cuelight.cups")]}
    monkeypatch.setattr(plugins, "entry_points", lambda group: points.get(group, []))
    assert "foreign" in plugins.names(folder)
    assert plugins.take(folder, "foreign").build("x") == "x"
