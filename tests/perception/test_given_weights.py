"""Weights that an option names: checked by their names, pinned by their content."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from perception.errors import BadInput, UnknownName, WeightsError
from perception.skeleton.given_weights import GivenWeights

CONTENT = b"weights"
BEGINS = hashlib.sha256(CONTENT).hexdigest()[:8]
PUBLISHED = "slowonly_r50_u48_240e_ntu60_xsub_keypoint-f3adabf1.pth"


def named(given: str | Path) -> GivenWeights:
    return GivenWeights.named(str(given), ".pth", "The checkpoint of a test")


def written(path: Path) -> Path:
    path.write_bytes(CONTENT)
    return path


def test_a_name_of_the_manifest_is_no_file() -> None:
    weights = named("posec3d_ntu60_keypoint")
    assert weights.checkpoints == ("posec3d_ntu60_keypoint",)
    assert weights.settings == {"weights": "posec3d_ntu60_keypoint"}


@pytest.mark.parametrize("name", ["mine.pth", f"any-{BEGINS}.pth", "run-2.pth", "best-acc.pth"])
def test_a_file_of_ones_own_is_pinned_by_its_content(tmp_path: Path, name: str) -> None:
    weights = named(written(tmp_path / name))
    assert weights.checkpoints == ()
    assert weights.path() == tmp_path / name
    assert weights.settings == {"weights_sha256": hashlib.sha256(CONTENT).hexdigest()}


@pytest.mark.parametrize(
    ("name", "begins"), [("any-0123abcd.pth", "0123abcd"), (PUBLISHED, "f3adabf1")]
)
def test_a_file_that_is_not_what_its_name_says_is_refused(
    tmp_path: Path, name: str, begins: str
) -> None:
    with pytest.raises(WeightsError, match=rf"{BEGINS}.*begins with {begins}"):
        named(written(tmp_path / name))


def test_a_file_of_another_kind_is_told_with_the_ending_that_is_needed(tmp_path: Path) -> None:
    for name in ("text.pth", str(written(tmp_path / "model.pt"))):
        with pytest.raises(BadInput, match=r"it must end in \.onnx, or be a name in the list"):
            GivenWeights.named(name, ".onnx", "The model of a test")
    with pytest.raises(BadInput, match=r"it must end in \.pth"):
        named(tmp_path / "model.onnx")
    assert named(written(tmp_path / "weights.pt")).own == tmp_path / "weights.pt"


def test_what_is_not_there_is_told_with_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match=re.escape(f"no such file in {str(tmp_path)!r}. It is")):
        named("mine/absent.pth")


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'posec3d_ntu60_keypoint'"):
        named("posec3d_ntu60_keypiont")
    with pytest.raises(BadInput, match=r"checkpoint of a test is .*absent\.pth"):
        named(tmp_path / "absent.pth")
