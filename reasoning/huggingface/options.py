"""The settings of VideoLLMs of Hugging Face."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from perception.errors import BadInput, UnknownName
from perception.limits import check_limits

__all__ = ["Options"]

_DTYPES = ("auto", "bfloat16", "float16", "float32")
_BITS = (0, 4, 8)

_LIMITS = {
    "frame_rate_hz": (0, 1000),
    "max_frames": (1, 10_000),
    "max_side_px": (0, 16_384),
    "context_tokens": (0, 10_000_000),
    "prefixes": (0, 64),
}


@dataclass(frozen=True, slots=True)
class Options:
    """Which model, how it runs, and how it gets the video.

    Args:
        model: a repository on Hugging Face, or a folder.
        revision: of the repository: a commit, tag or branch.
        trust_remote_code: run Python code of the repository; asks for a revision that is a commit.
        device: ``auto`` (GPUs if there are any), ``cpu``, ``cuda``, ``cuda:1``, ``mps``.
        dtype: ``auto`` (bfloat16 on a GPU, float32 on a CPU), bfloat16, float16 or float32.
        quantize_bits: 4 or 8 by bitsandbytes; 0 = as published.
        attention: transformers' name of the kernel, e.g. ``flash_attention_2``.
        frame_rate_hz: of the frames; 0 = no pictures.
        max_frames: at most so many.
        uniform_frames: ``max_frames`` spread evenly, whatever the rate.
        max_side_px: frames are scaled down so that no side is longer; 0 = left to the processor.
        video_settings: for the processor's video part, e.g. ``{size: {longest_edge: 602112}}``.
        context_tokens: of prompt and answer; 0 = what the model's config says.
        prefixes: kept at a time, for questions about one video.
    """

    model: str = "Qwen/Qwen2.5-VL-3B-Instruct"
    revision: str = "main"
    trust_remote_code: bool = False
    device: str = "auto"
    dtype: str = "auto"
    quantize_bits: int = 0
    attention: str = "sdpa"
    frame_rate_hz: float = 2.0
    max_frames: int = 768
    uniform_frames: bool = False
    max_side_px: int = 0
    video_settings: Mapping[str, Any] = field(default_factory=dict)
    context_tokens: int = 0
    prefixes: int = 1

    def __post_init__(self) -> None:
        check_limits(self, _LIMITS, "The model's ")
        if not self.model:
            raise BadInput(
                "The model is empty; give a repository, e.g. Qwen/Qwen2.5-VL-3B-Instruct."
            )
        if self.dtype not in _DTYPES:
            raise UnknownName("dtype", self.dtype, _DTYPES)
        if self.quantize_bits not in _BITS:
            raise BadInput(f"quantize_bits is {self.quantize_bits}; give 0 (not), 4 or 8.")
