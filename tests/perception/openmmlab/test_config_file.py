"""Configs of OpenMMLab are pinned together with all that they build on; nothing is imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from perception.errors import BadInput
from perception.skeleton.openmmlab.config_file import ConfigFile

MIM = "{package}/.mim/configs/_base_/run.py"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that ships configs as OpenMMLab's do."""
    folder = tmp_path / "site" / "mmtheatre"
    (folder / ".mim" / "configs" / "_base_").mkdir(parents=True)
    (folder / "__init__.py").write_text("raise ImportError('imported')")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return folder


def sha256(path: Path) -> str:
    return ConfigFile.named(str(path), "mmtheatre").sha256


@pytest.mark.parametrize(
    ("written", "base"),
    [
        ("_base_ = '../base.py'", "base.py"),
        ("_base_ = ('{folder}/base.py',)", "base.py"),
        ("_base_ = ['../ba' + 'se.py']", "base.py"),
        ("_base_ = ['../base.py', 'mmtheatre::_base_/run.py']", "base.py"),
        ("_base_ = ['../base.py', 'mmtheatre::_base_/run.py']", MIM),
        ("with read_base():\n    from ..base import *", "base.py"),
        ("with read_base():\n    from mmtheatre.configs.run import *", "{package}/configs/run.py"),
        ("with read_base():\n    from mmtheatre.configs._base_.run import *", MIM),
    ],
)
def test_a_config_is_another_when_what_it_builds_on_changes(
    tmp_path: Path, package: Path, written: str, base: str
) -> None:
    for place in ("base.py", MIM, "{package}/configs/run.py"):
        path = tmp_path / place.format(package=package)
        path.parent.mkdir(exist_ok=True)
        path.write_text("a = 1")
    config = tmp_path / "mine" / "config.py"
    config.parent.mkdir()
    config.write_text(written.format(folder=tmp_path))
    before = sha256(config)
    assert sha256(config) == before
    (tmp_path / base.format(package=package)).write_text("a = 2")
    assert sha256(config) != before


def test_bases_of_bases_count_and_may_go_in_a_circle(tmp_path: Path) -> None:
    for name, base in (("a", "b"), ("b", "c"), ("c", "a")):
        (tmp_path / f"{name}.py").write_text(f"_base_ = '{base}.py'")
    before = sha256(tmp_path / "a.py")
    (tmp_path / "c.py").write_text("_base_ = 'a.py'\nmore = 1")
    assert sha256(tmp_path / "a.py") != before


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("_base_ = 'absent.py'", r"builds on 'absent\.py', which is not there .*absent\.py"),
        ("_base_ = '/no/such.py'", r"builds on '/no/such\.py', which is not there"),
        ("_base_ = 'mmtheatre::absent.py'", r"'mmtheatre::absent\.py'.*\.mim/configs/absent\.py"),
        ("_base_ = 'mmnothing::a.py'", r"'mmnothing::a\.py'.*no package of that name"),
        ("_base_ = [root + 'a.py']", r"must write out what it builds on.*root \+ 'a\.py'"),
        ("_base_ = 3", r"must write out what it builds on"),
        ("with read_base():\n    from .absent import *", r"'\.absent', which is not there"),
    ],
)
@pytest.mark.usefixtures("package")
def test_a_base_that_is_not_there_is_told(tmp_path: Path, written: str, said: str) -> None:
    (tmp_path / "config.py").write_text(written)
    with pytest.raises(BadInput, match=said):
        ConfigFile.named(str(tmp_path / "config.py"), "mmtheatre")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("a = 1\nmodel = dict(,)", r"config\.py' cannot be read as Python: line 2: invalid syntax"),
        ("a = 'open", r"cannot be read as Python: line 1: unterminated string"),
        ("a = 1\0", r"cannot be read as Python: .*null bytes"),
        ("_base_ = 'other.py'", r"other\.py' cannot be read as Python: line 1"),
    ],
)
def test_a_config_that_is_no_python_is_told_with_its_line(
    tmp_path: Path, written: str, said: str
) -> None:
    (tmp_path / "config.py").write_text(written)
    (tmp_path / "other.py").write_text("a = )")
    with pytest.raises(BadInput, match=said):
        ConfigFile.named(str(tmp_path / "config.py"), "mmtheatre")
