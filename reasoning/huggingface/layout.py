"""A request becomes what a model of transformers takes: token ids and pixel tensors.

All frames of a request are one video for the processor, wherever words stand between them: pixels
are prepared once, and the words are put in at the token where their frame begins. So the same
frames give the same vision tokens in every condition.
"""

from __future__ import annotations

import hashlib
import itertools
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from perception.errors import BadInput
from perception.recognizer import Frame
from reasoning.huggingface.families import Family, family, tokens_per_group
from reasoning.huggingface.loading import Loaded
from reasoning.huggingface.times import apart_s, metadata
from reasoning.prompt import clock
from reasoning.videollm import Part, Text

__all__ = ["Layout", "Prepared"]

_MARK = "\x02words\x03"


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """One prompt for the model.

    Args:
        ids: token ids [1, n].
        vision: the processor's tensors for the frames, by their names; empty without frames.
        pieces: what a model with three-dimensional rotary positions counts them by, by the names
            that its ``get_rope_index`` takes: kinds of tokens, grids of the pieces of the video
            that no word cuts, seconds; empty for others.
        cut: tokens up to and with the last vision token; what follows is the question's own. 0
            without frames.
        video: of the frames that the tensors were made of; equal ones have equal tensors.
        opening: words that the layout itself put before the frames, for the record.
    """

    ids: Any
    vision: Mapping[str, Any]
    pieces: Mapping[str, Any]
    cut: int
    video: str = ""
    opening: str = ""


class Layout:
    """Prepares prompts for one loaded model; keeps the tensors of the last video.

    Args:
        loaded: the model.
        video_settings: for the processor's video part, e.g. ``{"size": {"longest_edge": 602112}}``.
    """

    def __init__(self, loaded: Loaded, video_settings: Mapping[str, Any]) -> None:
        self._loaded, self._settings = loaded, dict(video_settings)
        self.family: Family = family(loaded.family)
        self._tokenizer = loaded.processor.tokenizer
        self._special = _special(loaded.processor)
        self._last: tuple[tuple[Frame, ...], str] = (), ""

    def count_tokens(self, text: str) -> int:
        """Tokens of words."""
        return len(self._ids(_spelled_out(text, self._special)))

    def prepare(self, parts: Sequence[Part], closing: str = "") -> Prepared:
        """The prompt of these parts in a user's turn, ``closing`` at its end.

        Raises:
            BadInput: words stand between frames, and the family takes none there.
        """
        before, seams, after, frames = self._sorted(parts)
        opening = ""
        if frames and self.family.from_first_frame and frames[0].time_s > apart_s(frames):
            opening = f"What is shown of the video starts at {clock(frames[0].time_s)}."
        head = "\n".join([*before, *([opening] if opening else [])])
        tail = "\n".join([*after, *([closing] if closing else [])])
        text = self._chat(head, tail, with_video=bool(frames))
        inputs = self._process(text, frames)
        ids = inputs.pop("input_ids")
        kinds = inputs.pop("mm_token_type_ids", None)
        inputs.pop("attention_mask", None)
        if not frames:
            return Prepared(ids, {}, {}, 0)
        is_vision = self._is_vision(ids)
        if seams:
            ids, grid = self._with_seams(ids, is_vision, seams, len(frames), inputs)
            is_vision = self._is_vision(ids)
            kinds = None if kinds is None else 2 * is_vision.to(kinds.dtype)
        else:
            grid = inputs.get("video_grid_thw")
        pieces = _pieces(kinds, grid, inputs.pop("second_per_grid_ts", None))
        cut = int(is_vision[0].nonzero()[-1]) + 1
        return Prepared(ids, inputs, pieces, cut, self._digest(frames), opening)

    def shown(self, prepared: Prepared) -> str:
        """The prompt as text, a run of vision tokens as one and how often it stands there."""
        ids = prepared.ids[0].tolist()
        kinds = zip(ids, self._is_vision(prepared.ids)[0].tolist(), strict=True)
        text = ""
        for is_vision, run in itertools.groupby(kinds, key=lambda pair: pair[1]):
            tokens = [id for id, _ in run]
            words: str = self._tokenizer.decode(tokens[:1] if is_vision else tokens)
            text += f"{words}×{len(tokens)} " if is_vision else words
        return text

    def _sorted(
        self, parts: Sequence[Part]
    ) -> tuple[list[str], list[tuple[int, str]], list[str], tuple[Frame, ...]]:
        """Words before the frames, words between them with the frame that follows, words after
        them, and the frames."""
        frames: list[Frame] = []
        words: list[tuple[int, str]] = []
        for part in parts:
            if isinstance(part, Text):
                words.append((len(frames), _spelled_out(part.text, self._special)))
            else:
                frames.extend(part.frames)
        count = len(frames)
        if not frames:
            return [], [], [text for _, text in words], ()
        merged = self.family.merged
        before = [text for at, text in words if at < merged and at < count]
        after = [text for at, text in words if at == count]
        seams = [(at, text) for at, text in words if merged <= at < count]
        if seams and not self.family.can_interleave:
            raise BadInput(
                f"Cues cannot be interleaved with the frames of a {self._loaded.family}; set "
                f"answer.cue_placement to before_question or before_video."
            )
        return before, seams, after, tuple(frames)

    def _chat(self, head: str, tail: str, *, with_video: bool) -> str:
        """A user's turn and the opening of the model's, by the model's own template. The words are
        put in afterwards, so that no template moves them to another place."""
        around = self._rendered([{"type": "text", "text": _MARK}])
        start, mark, end = around.partition(_MARK)
        if mark and not with_video:
            return f"{start}{tail}{end}"
        both = self._rendered([{"type": "video"}, {"type": "text", "text": _MARK}])
        opened, _, _ = both.partition(_MARK)
        if not mark or not opened.startswith(start):
            raise BadInput(
                f"The chat template of {self._loaded.family} does not print a video and then words."
            )
        video = opened.removeprefix(start)
        space = "\n" if head else ""
        return f"{start}{head}{space}{video}{tail}{end}"

    def _rendered(self, content: Sequence[Mapping[str, Any]]) -> str:
        message = {"role": "user", "content": list(content)}
        text: str = self._loaded.processor.apply_chat_template(
            [message], tokenize=False, add_generation_prompt=True
        )
        return text

    def _process(self, text: str, frames: tuple[Frame, ...]) -> dict[str, Any]:
        processor = self._loaded.processor
        if not frames:
            return dict(processor(text=[text], return_tensors="pt"))
        while len(frames) < self.family.merged:
            frames = (*frames, frames[-1])
        with processor.video_processor.of(self._digest(frames), self._settings):
            try:
                inputs = processor(
                    text=[text],
                    videos=[np.stack([frame.rgb for frame in frames])],
                    video_metadata=[metadata(frames)],
                    do_sample_frames=False,
                    return_tensors="pt",
                )
            except ValueError as error:
                height, width = frames[0].rgb.shape[:2]
                raise BadInput(
                    f"The processor of {self._loaded.family} refuses {len(frames)} frames of "
                    f"{width}×{height} pixels: {' '.join(str(error).split())}"
                ) from error
        return dict(inputs)

    def _digest(self, frames: tuple[Frame, ...]) -> str:
        """Of times and pixels; the last frames' is kept."""
        last, known = self._last
        if len(last) == len(frames) and all(map(operator.is_, last, frames)):
            return known
        digest = hashlib.blake2b(digest_size=16)
        for frame in frames:
            digest.update(f"{frame.time_s}:{frame.rgb.shape}".encode())
            digest.update(np.ascontiguousarray(frame.rgb).data)
        self._last = frames, digest.hexdigest()
        return self._last[1]

    def _is_vision(self, ids: Any) -> Any:
        """Which tokens stand for pixels: bool [1, n]."""
        torch, processor = self._loaded.torch, self._loaded.processor
        names = ("video_token_id", "image_token_id")
        known = [getattr(processor, name, None) for name in names]
        return torch.isin(ids, torch.tensor([id for id in known if id is not None]))

    def _with_seams(
        self,
        ids: Any,
        is_vision: Any,
        seams: Sequence[tuple[int, str]],
        frames: int,
        inputs: Mapping[str, Any],
    ) -> tuple[Any, Any]:
        """The ids with the words between the frames, and the grid of the pieces they leave."""
        torch = self._loaded.torch
        places = is_vision[0].nonzero()[:, 0].tolist()
        groups = tokens_per_group(self.family, inputs, frames, len(places))
        at_group: dict[int, list[str]] = {}
        for at, text in seams:
            at_group.setdefault(at // self.family.merged, []).append(text)
        rest, made, done = ids[0].tolist(), list[int](), 0
        for group, texts in sorted(at_group.items()):
            place = self._end_of(rest, places[sum(groups[:group]) - 1])
            made += rest[done:place]
            made += self._seam("\n".join(texts))
            done = place
        made += rest[done:]
        grid = inputs.get("video_grid_thw")
        if grid is not None and self.family.reopening:
            edges = [0, *sorted(at_group), len(groups)]
            pieces = [end - start for start, end in itertools.pairwise(edges)]
            grid = torch.tensor([[piece, *grid[0, 1:].tolist()] for piece in pieces])
        return torch.tensor([made]), grid

    def _end_of(self, ids: Sequence[int], last: int) -> int:
        """The place behind a frame whose last vision token is at ``last``."""
        if self.family.reopening:
            return last + 1
        closing = set(self._named(self.family.closing))
        return last + 2 if last + 1 < len(ids) and ids[last + 1] in closing else last + 1

    def _seam(self, text: str) -> list[int]:
        words = self._ids(f"\n{text}\n")
        if not self.family.reopening:
            return words
        return [*self._named(self.family.closing), *words, *self._named(self.family.reopening)]

    def _named(self, tokens: Sequence[str]) -> list[int]:
        return [int(self._tokenizer.convert_tokens_to_ids(token)) for token in tokens]

    def _ids(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])


def _pieces(kinds: Any, grid: Any, seconds: Any) -> dict[str, Any]:
    """``Prepared.pieces``, of the processor's token kinds, grids and seconds between them."""
    if kinds is None or grid is None:
        return {}
    apart = None if seconds is None else [float(seconds[0])] * len(grid)
    return {
        "mm_token_type_ids": kinds,
        "video_grid_thw": grid,
        "second_per_grid_ts": apart,
    }


def _spelled_out(text: str, special: Sequence[str]) -> str:
    """``text`` in which no special token is read: what a video says opens no turn and no picture.

    A space behind the first character keeps them words.
    """
    for token in special:
        while token in text:
            text = text.replace(token, f"{token[0]} {token[1:]}")
    return text


def _special(processor: Any) -> tuple[str, ...]:
    """Strings that the tokenizer or the processor reads as something else than words."""
    own = (getattr(processor, name, None) for name in ("image_token", "video_token"))
    added = map(str, processor.tokenizer.get_added_vocab())
    return tuple(sorted({token for token in (*own, *added) if token and len(token) > 1}))
