"""What is installed, what can run here, and what to install for the rest."""

from __future__ import annotations

import importlib
import os
import platform
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, distributions, packages_distributions, version

from perception import weights

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


_PARTS = (
    _Part("video", "av", "av"),
    _Part("video", "opencv-python-headless", "cv2"),
    _Part("pose", "ai-edge-litert", "ai_edge_litert.interpreter"),
    _Part("action", "onnxruntime", "onnxruntime"),
    _Part("screen text", "rapidocr", "rapidocr"),
    _Part("screen text with EasyOCR", "easyocr", "easyocr", extra="easyocr"),
    _Part("speech", "faster-whisper", "faster_whisper"),
    _Part("reasoning", "xllamacpp", "xllamacpp"),
    _Part("any OpenAI-compatible server", "openai", "openai", extra="openai"),
    _Part("Gemini", "google-genai", "google.genai", extra="gemini"),
    _Part("weights from Hugging Face", "huggingface-hub", "huggingface_hub", extra="huggingface"),
)

_ROOMS = ("perception", "fusion", "reasoning")
_OPENCVS = (
    "opencv-python",
    "opencv-python-headless",
    "opencv-contrib-python",
    "opencv-contrib-python-headless",
)


def examine() -> Iterator[Finding]:
    """All findings, in the order in which a person wants to read them."""
    yield _machine()
    for part in _PARTS:
        yield _package(part)
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


def _opencv_owners() -> Iterator[Finding]:
    names = {(dist.metadata["Name"] or "").lower() for dist in distributions()}
    owners = sorted(names.intersection(_OPENCVS))
    if len(owners) > 1:
        yield Finding(
            "install",
            Level.PROBLEM,
            f"cv2 has several owners, which overwrite each other: {', '.join(owners)}",
            f"pip uninstall -y {' '.join(owners)} && pip install --no-deps opencv-python-headless",
        )


def _checkpoints() -> Iterator[Finding]:
    for name, checkpoint in weights.checkpoints().items():
        states = {checked.state for checked in weights.verify([name])}
        size = sum(file.size for file in checkpoint.files)
        remedy = f"cuelight checkpoints fetch {name}"
        if states == {weights.State.OK}:
            yield Finding("weights", Level.OK, f"{name} is here")
        elif weights.State.DAMAGED in states:
            yield Finding("weights", Level.PROBLEM, f"{name} is damaged", remedy)
        else:
            text = f"{name} is not here yet ({size / 1e6:.1f} MB), fetched when it is needed"
            yield Finding("weights", Level.OPTIONAL, text, remedy)


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
