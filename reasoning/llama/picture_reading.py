"""How a model with a projector reads a request: words and pictures in the order of its parts.

Options are listed in the prompt by their letters, which is how vision-language models are trained
to choose; their values are the log probabilities of the letters as the next word.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from reasoning.answer import OptionScore
from reasoning.llama.cue_reading import softmax
from reasoning.llama.server import Completion, LlamaServer, ModelUnavailable
from reasoning.outgoing import frame_times, stands_for
from reasoning.prompt import CHOOSE, letter
from reasoning.transport.jpeg import jpeg
from reasoning.videollm import Request, Text

__all__ = ["PictureReading"]

_JPEG_QUALITY = 95


class PictureReading:
    """A request as a prompt with pictures.

    Attributes:
        tokens: length of the prompt, pictures included.
        told: what the record of the request says of it.
        sees_video: whether there are pictures.
    """

    def __init__(self, server: LlamaServer, request: Request, frame_px: int) -> None:
        self._server, self._request = server, request
        self._parts = tuple(_parts(request, frame_px))
        self._prompt = server.chat_seen(self._parts)
        self.tokens, self.sees_video = self._prompt.tokens, bool(frame_times(request))
        closing = CHOOSE if request.options else ""
        self.told: Mapping[str, Any] = {"frame_px": frame_px, "closing": closing}

    @property
    def reply_tokens(self) -> int:
        """Tokens that may follow the prompt."""
        return 1 if self._request.options else self._request.max_new_tokens

    def draft(self) -> dict[str, Any]:
        """The prompt, special tokens and the marks where pictures stand by their names; and the
        pictures in their order, by type, size and sha256."""
        pictures = [part for part in self._parts if isinstance(part, bytes)]
        shown = [stands_for(picture, "image/jpeg") for picture in pictures]
        return {"prompt": self._prompt.text, "pictures": shown}

    def speak(self) -> Completion:
        """A free answer."""
        request = self._request
        return self._server.complete_seen(
            self._prompt,
            request.max_new_tokens,
            request.temperature,
            request.seed,
            request.schema,
        )

    def choose(self) -> tuple[OptionScore, ...]:
        """A score for each option, in their order.

        Raises:
            ModelUnavailable: the model has no token for an option's letter.
        """
        options, words = self._request.options, self._server.next_words(self._prompt)
        letters = [letter(index) for index in range(len(options))]
        likelihoods = [words.get(each, -math.inf) for each in letters]
        if min(likelihoods) == -math.inf:
            raise ModelUnavailable(
                f"The model has no single token for each of {', '.join(letters)}, so it cannot "
                f"choose among {len(options)} options."
            )
        columns = zip(options, likelihoods, softmax(likelihoods), strict=True)
        return tuple(OptionScore(text, value, 0.0, 1, share) for text, value, share in columns)


def _parts(request: Request, frame_px: int) -> Iterator[str | bytes]:
    for part in request.parts:
        if isinstance(part, Text):
            yield part.text
        else:
            for frame in part.frames:
                yield jpeg(frame, frame_px, _JPEG_QUALITY, keep_aspect=True)
    if request.options:
        yield CHOOSE
