"""Which families and presets of models can run on this machine, and what the others need."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from perception import plugins
from perception.errors import MissingExtra
from reasoning.presets import Loader, Preset

__all__ = ["Machine", "Verdict", "of_family", "of_preset", "require", "this_machine"]

_FOLDER = "reasoning.videollms"
_HUGGING_FACE = "huggingface"

_PACKAGES = {
    "gemini": ("gemini", ("google.genai",)),
    _HUGGING_FACE: ("transformers", ("torch", "transformers", "accelerate", "torchvision")),
    "openai_compatible": ("openai", ("openai",)),
}
"""Family -> the extra that brings its packages, and their import names."""

_BYTES_ON_A_CPU = 2
"""float32 takes twice what bfloat16 takes."""

_QUARTER = 4
"""4-bit weights take about a quarter of bfloat16's."""

_GIGA = 1e9


@dataclass(frozen=True, slots=True)
class Machine:
    """What there is to run on; 0 where nothing is, None where that cannot be told."""

    memory_gb: float | None
    gpus: int = 0
    gpu_memory_gb: float = 0.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether something runs here.

    Args:
        can_run: now, as this environment is.
        why: where it runs, or what it needs.
    """

    can_run: bool
    why: str


def this_machine() -> Machine:
    """Memory, and the GPUs that torch sees if it is installed."""
    memory_gb = None
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        memory_gb = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / _GIGA
    if importlib.util.find_spec("torch") is None:
        return Machine(memory_gb)
    cuda = importlib.import_module("torch").cuda
    count = cuda.device_count() if cuda.is_available() else 0
    total = sum(cuda.get_device_properties(index).total_memory for index in range(count))
    return Machine(memory_gb, count, total / _GIGA)


def of_family(name: str) -> Verdict:
    """Whether the family's packages are here."""
    extra, packages = _PACKAGES.get(name, ("", ()))
    missing = _missing(packages)
    if missing:
        line = f"pip install 'cuelight[{extra}]'"
        return Verdict(False, f"needs {', '.join(missing)}: {line}")
    about = " ".join((plugins.load(_FOLDER, name).__doc__ or name).split())
    return Verdict(True, re.split(r"[.:](?:\s|$)", about, maxsplit=1)[0])


def require(family: str) -> None:
    """See that the family's packages are here, before anything long is done for it.

    Raises:
        MissingExtra: one of them is not.
    """
    extra, packages = _PACKAGES.get(family, ("", ()))
    if missing := _missing(packages):
        raise MissingExtra(missing[0], extra, f"The model family {family}")


def of_preset(preset: Preset, machine: Machine) -> Verdict:
    """Whether the preset's packages are here and its weights fit."""
    family = of_family(preset.family)
    if not family.can_run:
        return family
    if preset.loader is Loader.SERVER:
        return Verdict(False, f"needs a server: {preset.serve}")
    needed = preset.memory_gb
    if machine.gpus and needed < machine.gpu_memory_gb:
        where = "the GPU" if machine.gpus == 1 else f"{machine.gpus} GPUs"
        return Verdict(True, f"on {where}, {machine.gpu_memory_gb:.0f} GB")
    if machine.memory_gb is None or needed * _BYTES_ON_A_CPU < machine.memory_gb:
        return Verdict(True, "on the CPU in float32, slowly")
    there = f"here are {machine.gpu_memory_gb:.0f} GB" if machine.gpus else "here is no GPU"
    return Verdict(
        False,
        f"needs {needed:g} GB of GPU memory, or {needed / _QUARTER:.0f} with quantize_bits=4; "
        f"{there}",
    )


def _missing(packages: Sequence[str]) -> list[str]:
    return [name for name in packages if not _is_here(name)]


def _is_here(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False
