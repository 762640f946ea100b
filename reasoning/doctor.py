"""What is installed, what can run here, and what to install for the rest."""

from __future__ import annotations

import importlib
import importlib.util
import os
import platform
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, distributions, packages_distributions, version

from perception import weights
from perception.errors import UserError
from perception.skeleton.openmmlab.stack import SECOND_COMMAND
from perception.skeleton.openmmlab.stack import check as check_openmmlab

__all__ = ["Finding", "Level", "examine"]


class Level(StrEnum):
    """How a finding is to be read."""

    OK = "ok"
    OPTIONAL = "optional"
    """Not there, and not needed unless somebody wants it."""
    PROBLEM = "problem"
    """Something of the base does not work."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report.

    Args:
        job: what it is for, e.g. ``"speech"``.
        level: how to read it.
        text: what was found.
        remedy: what to do, empty when nothing.
    """

    job: str
    level: Level
    text: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class _Part:
    job: str
    distribution: str
    module: str
    extra: str = ""


_OPENCV = "opencv-python-headless"
_OPENCVS = (
    "opencv-python",
    "opencv-python-headless",
    "opencv-contrib-python",
    "opencv-contrib-python-headless",
)
"""The distributions that write the package ``cv2``; any of them will do, two of them will not."""

_PARTS = (
    _Part("video", "av", "av"),
    _Part("video", _OPENCV, "cv2"),
    _Part("pose", "ai-edge-litert", "ai_edge_litert.interpreter"),
    _Part("action", "onnxruntime", "onnxruntime"),
    _Part("screen text", "rapidocr", "rapidocr"),
    _Part("screen text with EasyOCR", "easyocr", "easyocr", extra="easyocr"),
    _Part("speech", "faster-whisper", "faster_whisper"),
    _Part("speech with OpenAI's Whisper", "openai-whisper", "whisper", extra="openai-whisper"),
    _Part("reasoning", "xllamacpp", "xllamacpp"),
    _Part("any OpenAI-compatible server", "openai", "openai", extra="openai"),
    _Part("Gemini", "google-genai", "google.genai", extra="gemini"),
    _Part("VideoLLMs of Hugging Face", "transformers", "transformers", extra="transformers"),
    _Part("VideoLLMs of Hugging Face", "torch", "torch", extra="transformers"),
    _Part("VideoLLMs of Hugging Face", "torchvision", "torchvision", extra="transformers"),
    _Part("VideoLLMs of Hugging Face", "accelerate", "accelerate", extra="transformers"),
    _Part("VideoLLMs of Hugging Face", "num2words", "num2words", extra="transformers"),
    _Part("quantised VideoLLMs", "bitsandbytes", "bitsandbytes", extra="quantized"),
    _Part("training of action networks", "torch", "torch", extra="train"),
    _Part("training of action networks", "onnx", "onnx", extra="train"),
    _Part(
        "closeness in meaning",
        "sentence-transformers",
        "sentence_transformers",
        extra="embeddings",
    ),
    _Part("reports of studies", "scipy", "scipy", extra="studies"),
    _Part("reports of studies", "matplotlib", "matplotlib", extra="studies"),
    _Part("Parquet tables of studies", "pyarrow", "pyarrow", extra="studies"),
    _Part("recordings for Rerun", "rerun-sdk", "rerun", extra="rerun"),
    _Part("weights from Hugging Face", "huggingface-hub", "huggingface_hub", extra="huggingface"),
)

_ROOMS = ("perception", "fusion", "reasoning")


def examine() -> Iterator[Finding]:
    """All findings, in the order in which a person wants to read them."""
    yield _machine()
    for part in _PARTS:
        yield _package(part)
    yield _openmmlab()
    yield from _collisions(packages_distributions())
    yield from _opencv_owners()
    yield from _checkpoints()
    yield _cache()


def _machine() -> Finding:
    text = (
        f"Cuelight {version('cuelight')}, Python {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}"
    )
    return Finding("machine", Level.OK, text)


def _package(part: _Part) -> Finding:
    line = f"pip install 'cuelight[{part.extra}]'" if part.extra else "pip install cuelight"
    if part.distribution == _OPENCV and (owners := _owners_of_cv2()):
        part = replace(part, distribution=owners[0])
    try:
        installed = version(part.distribution)
    except PackageNotFoundError:
        level = Level.OPTIONAL if part.extra else Level.PROBLEM
        return Finding(part.job, level, f"{part.distribution} is not installed", line)
    try:
        importlib.import_module(part.module)
    except Exception as error:
        reason = " ".join(str(error).split())
        return Finding(
            part.job,
            Level.PROBLEM,
            f"{part.distribution} {installed} does not import: {reason}",
            f"pip install --force-reinstall --no-deps {part.distribution}=={installed}",
        )
    return Finding(part.job, Level.OK, f"{part.distribution} {installed}")


def _collisions(owners: Mapping[str, list[str]]) -> Iterator[Finding]:
    for room in _ROOMS:
        others = sorted({name for name in owners.get(room, []) if name != "cuelight"})
        if others:
            yield Finding(
                "install",
                Level.PROBLEM,
                f"the package {room!r} is also written by {', '.join(others)}",
                "Give Cuelight a virtual environment of its own.",
            )


def _owners_of_cv2() -> list[str]:
    return sorted({(d.metadata["Name"] or "").lower() for d in distributions()} & set(_OPENCVS))


def _opencv_owners() -> Iterator[Finding]:
    owners = _owners_of_cv2()
    if len(owners) > 1:
        remedy = f"pip uninstall -y {' '.join(owners)} && pip install --no-deps {_OPENCV}"
        if importlib.util.find_spec("mmcv") is not None:
            remedy = SECOND_COMMAND
        yield Finding(
            "install",
            Level.PROBLEM,
            f"cv2 has several owners, which overwrite each other: {', '.join(owners)}",
            remedy,
        )


def _openmmlab() -> Finding:
    """Of its packages, without importing them."""
    job = "the papers' skeleton stack"
    try:
        check_openmmlab("The extra openmmlab")
    except UserError as error:
        text, _, remedy = str(error).partition(" Install it with: ")
        return Finding(job, Level.OPTIONAL, text, remedy)
    parts = ("mmaction2", "mmpose", "mmengine")
    return Finding(job, Level.OK, ", ".join(f"{part} {version(part)}" for part in parts))


def _checkpoints() -> Iterator[Finding]:
    absent = 0
    for name, checkpoint in weights.checkpoints().items():
        states = {checked.state for checked in weights.verify([name])}
        remedy = f"cuelight checkpoints fetch {name}"
        if states == {weights.State.OK}:
            yield Finding("weights", Level.OK, f"{name} is here")
        elif weights.State.DAMAGED in states:
            yield Finding("weights", Level.PROBLEM, f"{name} is damaged", remedy)
        elif checkpoint.default:
            size = f"{checkpoint.size / 1e6:.1f} MB"
            text = f"{name} is not here yet ({size}), fetched when it is needed"
            yield Finding("weights", Level.OPTIONAL, text, remedy)
        else:
            absent += 1
    if absent:
        text = f"{absent} that are not used by default are not here"
        yield Finding("weights", Level.OPTIONAL, text, "cuelight checkpoints list")


def _cache() -> Finding:
    folder = weights.cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(folder).free
    except OSError as error:
        text = f"the cache {str(folder)!r} cannot be used: {error.strerror or error}"
        return Finding(
            "cache", Level.PROBLEM, text, "Set CUELIGHT_CACHE to a folder that can be written."
        )
    if not os.access(folder, os.W_OK):
        return Finding("cache", Level.OPTIONAL, f"{folder} is read-only: nothing new is kept")
    return Finding("cache", Level.OK, f"{folder}, {free / 1e9:.1f} GB free")
