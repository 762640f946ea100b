"""What of a config can run here: its recognizers, its weights, its model."""

from __future__ import annotations

import importlib.util
import os
import socket
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from perception import plugins, weights
from perception.errors import CuelightError, MissingPackage
from reasoning import presets
from reasoning.config import Config, build_videollm
from reasoning.doctor import Finding, Level
from reasoning.outgoing import is_loopback

__all__ = ["examine_config"]

_EXTRAS = {
    "easyocr": ("easyocr", "easyocr"),
    "gemini": ("google.genai", "gemini"),
    "huggingface": ("transformers", "transformers"),
    "openai_compatible": ("openai", "openai"),
    "openai_whisper": ("whisper", "openai-whisper"),
    "sentence_embeddings": ("sentence_transformers", "embeddings"),
}
"""Plug-ins that import their package when they load a model: the package and Cuelight's extra. The
others say themselves what is missing when they are built."""

_CHOOSING = ("backend", "runtime", "pose_estimator")
"""Fields of a recognizer's options that name a plug-in."""

_CONNECT_S = 2.0


def examine_config(config: Config) -> Iterator[Finding]:
    """All findings, recognizers first. Nothing is fetched and nothing leaves this machine."""
    for name, options in config.recognizers.items():
        yield from _recognizer(name, options)
    if missing := _missing(config.tools.similarity):
        yield Finding("closeness of cues to questions", Level.PROBLEM, *missing)
    yield from _model(config)


def _recognizer(name: str, options: Any) -> Iterator[Finding]:
    job = f"recognizer {name}"
    chosen = [value for key in _CHOOSING if (value := getattr(options, key, None))]
    lacking = [missing for each in chosen if (missing := _missing(each))]
    for missing in lacking:
        yield Finding(job, Level.PROBLEM, *missing)
    try:
        recognizer = plugins.take("perception.recognizers", name).build(options)
        needed = recognizer.weights
    except CuelightError as error:
        yield _refused(job, error)
        return
    if not lacking:
        with_what = f" ({', '.join(chosen)})" if chosen else ""
        yield Finding(job, Level.OK, f"can run here{with_what}")
    for checkpoint in needed:
        yield _checkpoint(job, checkpoint)


def _refused(job: str, error: CuelightError) -> Finding:
    """What a part says of itself, its command put where remedies stand."""
    text, _, remedy = str(error).partition(" Install it with: ")
    return Finding(job, Level.PROBLEM, text, remedy or "see the message")


def _missing(plugin: str) -> tuple[str, str] | None:
    """Text and remedy where the package of a plug-in is not installed."""
    if plugin not in _EXTRAS:
        return None
    package, extra = _EXTRAS[plugin]
    try:
        found = package in sys.modules or importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        found = False
    if found:
        return None
    return f"{plugin} needs {package}, which is not installed", f"pip install 'cuelight[{extra}]'"


def _checkpoint(job: str, name: str) -> Finding:
    if weights.has(name):
        return Finding(job, Level.OK, f"its weights {name} are here")
    file = weights.checkpoint(name).files[0]
    text = f"its weights {name} are not here yet; they come from {file.sources[0].where}"
    remedy = f"cuelight checkpoints fetch {name}, or put {file.name} into "
    return Finding(job, Level.OPTIONAL, text, f"{remedy}{weights.location(name).parent}")


def _model(config: Config) -> Iterator[Finding]:
    job, options = f"model {config.videollm}", config.videollms[config.videollm]
    is_missing = (missing := _missing(config.videollm)) is not None
    if missing is not None:
        yield Finding(job, Level.PROBLEM, *missing)
    else:
        try:
            build_videollm(config)
        except CuelightError as error:
            yield _refused(job, error)
            is_missing = isinstance(error, MissingPackage)
            if not is_missing:
                return
    if (address := getattr(options, "base_url", "")) and is_loopback(address):
        yield _server(job, address)
    preset = next((each for each in _presets() if each.repository == _name_of(options)), None)
    if config.videollm == "huggingface" and preset is not None:
        yield _memory(job, preset)
    elif not is_missing:
        yield Finding(job, Level.OK, f"{_name_of(options) or config.videollm} can be asked")


def _name_of(options: Any) -> str:
    return str(getattr(options, "model", ""))


def _presets() -> Iterator[presets.Preset]:
    return map(presets.load, presets.names())


def _server(job: str, address: str) -> Finding:
    parts = urlsplit(address)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        with socket.create_connection((parts.hostname or "", port), _CONNECT_S):
            return Finding(job, Level.OK, f"a server listens at {address}")
    except OSError:
        return Finding(
            job, Level.PROBLEM, f"no server listens at {address}", "start the server, e.g. vllm"
        )


def _memory(job: str, preset: presets.Preset) -> Finding:
    """Whether a model's weights fit into the graphics memory, or without any into main memory."""
    have, where = _graphics_gb(), "graphics memory"
    if not have:
        have, where = _main_gb(), "memory and no graphics card that torch can use"
    text = f"{preset.repository}: {preset.memory_gb:.0f} GB of weights in bfloat16"
    if not have:
        return Finding(job, Level.OPTIONAL, text)
    text = f"{text}; this machine has {have:.0f} GB of {where}"
    if have > preset.memory_gb:
        return Finding(job, Level.OK, text)
    remedy = (
        "a smaller preset (--model), quantize_bits: 4, or a server elsewhere "
        "(videollm: openai_compatible)"
    )
    return Finding(job, Level.PROBLEM, text, remedy)


def _graphics_gb() -> float:
    if importlib.util.find_spec("torch") is None:
        return 0.0
    import torch

    if not torch.cuda.is_available():
        return 0.0
    devices = range(torch.cuda.device_count())
    return float(sum(torch.cuda.get_device_properties(i).total_memory for i in devices)) / 1e9


def _main_gb() -> float:
    names = getattr(os, "sysconf_names", {})
    if not {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= set(names):
        return 0.0
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
