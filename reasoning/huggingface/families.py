"""How each family of models takes a video: what it is told of times, and where words may stand
between its frames.

==================  ==========================================================================
qwen2_vl,           Frames are merged in pairs. Positions of the vision tokens run with the
qwen2_5_vl          seconds between pairs, counted from the first frame. No times in the text.
qwen3_vl            Frames are merged in pairs; "<0.2 seconds>" before each pair, the mean of its
                    two times.
video_llama_3       "Time 0.0s:" before each frame. Tokens that do not change from one frame to
                    the next are left out.
smolvlm             "Frame from 00:01:" before each frame, in whole seconds rounded down.
internvl            "Frame1:" before each frame, no times: the prompt lists them.
llava_onevision     Frames without a word between them, no times: the prompt lists them.
==================  ==========================================================================

Read in the processors of transformers 5.24. Any other family that transformers runs is treated like
``llava_onevision``, without words between its frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Family", "family"]


@dataclass(frozen=True, slots=True)
class Family:
    """What one family does with frames.

    Args:
        native_video: the processor tells the model when each frame is shown.
        from_first_frame: it tells only how far apart the frames are, not when the first one is.
        merged: frames that share their tokens.
        closing: tokens that follow a frame's vision tokens and belong to it.
        reopening: tokens that continue the video after words which ``closing`` had to cut in two;
            empty = the family's frames stand apart anyway.
        trailing: vision tokens that follow those of the last frame.
        can_interleave: whether words may stand between frames.
    """

    native_video: bool = False
    from_first_frame: bool = False
    merged: int = 1
    closing: tuple[str, ...] = ()
    reopening: tuple[str, ...] = ()
    trailing: int = 0
    can_interleave: bool = True


_START, _END = "<|vision_start|>", "<|vision_end|>"

_QWEN2 = Family(
    native_video=True, from_first_frame=True, merged=2, closing=(_END,), reopening=(_START,)
)
_QWEN3 = Family(native_video=True, merged=2, closing=(_END,))

_FAMILIES = {
    "qwen2_vl": _QWEN2,
    "qwen2_5_vl": _QWEN2,
    "qwen3_vl": _QWEN3,
    "qwen3_vl_moe": _QWEN3,
    "video_llama_3": Family(native_video=True),
    "smolvlm": Family(native_video=True, closing=("<fake_token_around_image>",)),
    "internvl": Family(closing=("</img>",)),
    "llava_onevision": Family(trailing=1),
}


def family(model_type: str) -> Family:
    """The traits of a config's ``model_type``."""
    return _FAMILIES.get(model_type, Family(can_interleave=False))


def tokens_per_group(traits: Family, inputs: Any, frames: int, vision_tokens: int) -> Sequence[int]:
    """Vision tokens of each group of ``traits.merged`` frames, in order.

    Args:
        inputs: of the processor; VideoLLaMA3's ``video_compression_mask`` says which tokens are
            left.
        frames: how many there are.
        vision_tokens: of the whole video.
    """
    groups = -(-frames // traits.merged)
    mask = inputs.get("video_compression_mask")
    if mask is not None:
        return [int(part.sum()) for part in mask.view(groups, -1)]
    each = (vision_tokens - traits.trailing) // groups
    return [each] * groups
