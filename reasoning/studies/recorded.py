"""A model that asks nothing twice: what is on record comes from there, and what it is asked anew is
recorded as soon as it is answered, each call of a strategy that makes several."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perception import video, weights
from reasoning.answer import Answer, Failure
from reasoning.outgoing import record
from reasoning.plain import plain
from reasoning.records import Call, Records, call_key, digest
from reasoning.videollm import Frames, FrameSampling, Request, Text, VideoLLM

__all__ = ["Bench", "Cell", "Model", "Recorded"]

_TRANSPORT = frozenset(
    {"api_key_variable", "base_url", "device", "inline_bytes", "poll_s", "rate", "retry"}
    | {"threads", "timeout_s", "upload_timeout_s"}
    | {"usd_per_million_prompt_tokens", "usd_per_million_reply_tokens"}
)
"""Settings of how a model is reached and what it costs; the same model answers the same."""


@dataclass(frozen=True, eq=False)
class Model:
    """A model with what is recorded of it.

    Args:
        llm: at work.
        revision: name and, where its weights are files, the first digits of their sha256.
        settings: those of its options that decide what it answers.
    """

    llm: VideoLLM
    revision: str
    settings: Mapping[str, Any]

    @classmethod
    def of(cls, llm: VideoLLM, options: Any) -> Model:
        """``llm`` as built from ``options``."""
        settings = {key: value for key, value in plain(options).items() if key not in _TRANSPORT}
        files = [each for each in settings.values() if isinstance(each, str) and _is_file(each)]
        pins = [weights.sha256(name) for name in llm.weights]
        pins += [video.sha256(Path(each)) for each in files]
        revision = " ".join([llm.name, *(f"sha256 {pin[:12]}" for pin in pins)])
        return cls(llm, revision, settings)


def _is_file(value: str) -> bool:
    try:
        return bool(value) and Path(value).is_file()
    except (OSError, ValueError):
        return False


@dataclass(frozen=True, slots=True)
class Cell:
    """What is the same in all calls for one answer: the question's id, the video's sha256, and the
    repeat from 0."""

    question: str
    video: str
    repeat: int


class Bench:
    """One cell is worked at at a time; while it waits for the model, another one is. A call that is
    under way is not made a second time."""

    def __init__(self) -> None:
        self._turn = threading.Condition()
        self._under_way: set[str] = set()

    def __enter__(self) -> None:
        self._turn.acquire()

    def __exit__(self, *_: object) -> None:
        self._turn.release()

    def wait_for(self, key: str) -> None:
        """Return when nobody is making this call."""
        while key in self._under_way:
            self._turn.wait()

    @contextlib.contextmanager
    def away(self, key: str) -> Iterator[None]:
        """Let others work while the block makes this call."""
        self._under_way.add(key)
        self._turn.release()
        try:
            yield
        finally:
            self._turn.acquire()
            self._under_way.discard(key)
            self._turn.notify_all()


class Recorded:
    """``model`` in front of ``records``, for the calls of one cell.

    Args:
        bench: held by whoever calls.
        sees: False = it is shown no pictures, whatever it can take.

    ``asked`` holds the keys of the calls that the model itself had to answer.
    """

    def __init__(
        self, model: Model, records: Records, cell: Cell, bench: Bench, sees: bool = True
    ) -> None:
        self._model, self._records, self._cell, self._sees = model, records, cell, sees
        self._bench = bench
        self.asked: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model.llm, name)

    @property
    def sampling(self) -> FrameSampling | None:
        """The model's, None when it shall see nothing."""
        return self._model.llm.sampling if self._sees else None

    def call(self, request: Request) -> Call:
        """What is recorded of ``request``."""
        shapes = [
            [list(frame.rgb.shape) for frame in part.frames]
            for part in request.parts
            if isinstance(part, Frames)
        ]
        prior = [part.text for part in request.prior_parts if isinstance(part, Text)]
        part = request.video.part if request.video is not None else None
        sent = digest(record(request), shapes, prior, plain(part), request.sound)
        between = [part.text for part in request.parts[1:-1] if isinstance(part, Text)]
        return Call(
            question=self._cell.question,
            video=self._cell.video,
            cues=digest(between) if between else "",
            prompt=sent,
            model=self._model.revision,
            settings=self._model.settings,
            repeat=self._cell.repeat,
        )

    def answer(self, request: Request) -> Answer | Failure:
        """What is on record, else what the model says."""
        call = self.call(request)
        key = call_key(call)
        self._bench.wait_for(key)
        if (known := self._records.answer(key)) is not None:
            return known
        self.asked.add(key)
        start_s = time.monotonic()
        with self._bench.away(key):
            reply = self._model.llm.answer(request)
        self._records.keep(call, reply, time.monotonic() - start_s)
        return reply

    def close(self) -> None:
        """The model stays open for other cells."""
