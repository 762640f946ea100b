"""Pose estimators' models that tests build, and the sample's picture of two people."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from perception import sample, video, weights
from perception.errors import WeightsError
from perception.recognizer import Frame
from perception.skeleton.pose_estimators import blazepose
from tests.perception.pose_models import (
    brightest_rtmo,
    brightest_simcc,
    needs_mmpose,
    needs_rtmlib,
    random_model,
)


def fetched(name: str) -> Path:
    try:
        return weights.path(name)
    except WeightsError as error:
        pytest.skip(f"{name} is neither cached nor to be had: {error}")


@pytest.fixture(scope="session")
def models_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pose_models")


@pytest.fixture(scope="session")
def simcc(models_folder: Path) -> Path:
    needs_rtmlib()
    return brightest_simcc(models_folder / "brightest_simcc.onnx")


@pytest.fixture(scope="session")
def rtmo(models_folder: Path) -> Path:
    needs_rtmlib()
    return brightest_rtmo(models_folder / "brightest_rtmo.onnx")


@pytest.fixture(scope="session")
def checkpoint(models_folder: Path) -> Callable[[str], Path]:
    """The file with a config's random weights."""
    needs_mmpose()

    def save(config: str) -> Path:
        import torch

        path = models_folder / f"{config}.pth"
        if not path.exists():
            torch.save({"state_dict": random_model(config).state_dict()}, path)
        return path

    return save


@pytest.fixture(scope="session")
def two_people() -> Frame:
    """The sample's man stands on the roof, the woman walks on the grass."""
    for name in (*blazepose.CHECKPOINTS, "sports2d_demo"):
        fetched(name)
    (frame,) = video.frames_at(sample.compose(), [2.8])
    return frame
