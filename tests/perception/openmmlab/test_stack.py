"""The door to OpenMMLab's packages where they are missing, and where they cannot run."""

from __future__ import annotations

import builtins
import importlib.util
import platform
import sys
from pathlib import Path
from typing import Any

import pytest

from perception.errors import MissingExtra, UnsupportedPlatform, UserError
from perception.recognizers import action
from perception.skeleton.openmmlab import stack
from perception.skeleton.runtimes import mmaction2

FIRST = "pip install 'cuelight[openmmlab]'"


@pytest.fixture
def on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch, on_linux: None) -> Any:
    """Makes a package one that is not installed; the others are."""

    def hide(missing: str) -> None:
        real = importlib.util.find_spec

        def find(name: str, package: str | None = None) -> Any:
            if name == missing:
                return None
            return True if name in stack._MODULES else real(name, package)

        monkeypatch.delitem(sys.modules, missing, raising=False)
        monkeypatch.setattr(importlib.util, "find_spec", find)

    return hide


@pytest.mark.parametrize("missing", ["torch", "mmaction", "mmpose", "pkg_resources"])
def test_what_is_missing_is_told_with_both_commands(without: Any, missing: str) -> None:
    without(missing)
    with pytest.raises(MissingExtra) as caught:
        action.build(action.Options(runtime="mmaction2"))
    said = str(caught.value)
    assert f"The action runtime mmaction2 needs the package {missing}" in said
    assert f"{FIRST} && {stack.SECOND_COMMAND}" in said
    assert "\n" not in said


def test_the_second_command_leaves_one_opencv_and_no_dependencies() -> None:
    uninstall, install = stack.SECOND_COMMAND.split(" && ")
    assert set(uninstall.split()) >= {
        "opencv-python",
        "opencv-python-headless",
        "opencv-contrib-python",
        "opencv-contrib-python-headless",
    }
    assert "--no-deps" in install
    assert [each.partition("==")[0] for each in install.split() if "==" in each] == [
        "mmpose",
        "rtmlib",
        "opencv-contrib-python-headless",
    ]


@pytest.mark.parametrize(
    ("system", "machine"), [("Darwin", "arm64"), ("Windows", "AMD64"), ("Linux", "aarch64")]
)
def test_elsewhere_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, system: str, machine: str
) -> None:
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    with pytest.raises(UnsupportedPlatform) as caught:
        mmaction2.build(mmaction2.Options())
    assert f"run on Linux on x86-64 only, not on {system} {machine}" in str(caught.value)


def test_an_opencv_that_does_not_import_is_told_with_the_remedy(
    without: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    without("nothing")
    real = builtins.__import__

    def broken(name: str, *rest: Any) -> Any:
        if name == "cv2":
            raise ImportError("libGL.so.1: cannot open shared object file")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", broken)
    with pytest.raises(UserError, match=r"does not import \(libGL") as caught:
        stack.check("A test")
    assert stack.SECOND_COMMAND in str(caught.value)


def test_a_package_that_does_not_import_is_one_sentence(
    without: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    without("nothing")
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "of_a_test.py").write_text("raise ImportError('No module named six')")
    monkeypatch.setattr(stack.compat, "install", lambda: ())
    with pytest.raises(UserError, match=r"of_a_test, which does not import \(No module named six"):
        stack.load("of_a_test", "A test")
