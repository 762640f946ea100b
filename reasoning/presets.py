"""Presets: a published model with its exact repository, revision, way of loading and the papers'
settings, one YAML each in ``configs/models``.

A preset is chosen by name, ``--model qwen2.5-vl-7b`` or in a config
``videollms: {huggingface: {preset: qwen2.5-vl-7b}}``; keys beside ``preset`` change single
settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from perception.errors import BadInput, UnknownName
from perception.shipped import shipped
from perception.text_file import read_text
from reasoning import plain_yaml

__all__ = ["Loader", "Preset", "load", "names", "resolved"]


class Loader(StrEnum):
    """What runs a published model."""

    NATIVE = "native"
    """transformers itself."""
    REMOTE_CODE = "remote_code"
    """transformers with Python code of the repository, behind ``--trust-remote-code``."""
    SERVER = "server"
    """A server that knows its architecture; transformers does not load it as published."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A published model.

    Args:
        name: of the file.
        about: one line.
        family: of ``reasoning/videollms``.
        loader: what runs it.
        repository: on Hugging Face.
        revision: a commit of it.
        revision_seen: where that commit is known from; empty = it names no commit and may change.
        memory_gb: of the weights in bfloat16, two bytes a parameter; frames and prompt come on top.
        serve: for ``Loader.SERVER``, the command that serves it.
        options: of the family.
    """

    name: str
    about: str
    family: str
    loader: Loader
    repository: str
    revision: str
    revision_seen: str
    memory_gb: float
    options: Mapping[str, Any]
    serve: str = ""


def names() -> list[str]:
    """Names of all presets, sorted."""
    return sorted(path.stem for path in (shipped("configs") / "models").glob("*.yaml"))


def load(name: str) -> Preset:
    """The preset of that name.

    Raises:
        UnknownName: there is none; lists those that exist.
    """
    if name not in names():
        raise UnknownName("model preset", name, names())
    path = shipped("configs") / "models" / f"{name}.yaml"
    raw = plain_yaml.load(read_text(path, "model preset")) or {}
    known = {each.name for each in fields(Preset)}
    if unknown := sorted(set(raw) - known):
        raise UnknownName(f"key in {path.name}", unknown[0], known)
    options = dict(raw.pop("options", None) or {})
    loader = Loader(raw.pop("loader"))
    preset = Preset(name=name, loader=loader, options=options, **raw)
    options.setdefault("model", preset.repository)
    if loader is not Loader.SERVER:
        options.setdefault("revision", preset.revision)
    return preset


def resolved(family: str, section: Any) -> Any:
    """A family's section of a config in which the settings of its ``preset`` stand.

    Raises:
        UnknownName: no such preset.
        BadInput: it is one of another family.
    """
    if not isinstance(section, dict) or "preset" not in section:
        return section
    own = {key: value for key, value in section.items() if key != "preset"}
    preset = load(str(section["preset"]))
    if preset.family != family:
        raise BadInput(
            f"The preset {preset.name!r} is one of {preset.family}, not of {family}; set "
            f"videollm: {preset.family} and videollms.{preset.family}.preset."
        )
    return {**preset.options, **own}
