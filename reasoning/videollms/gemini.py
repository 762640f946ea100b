"""Google's Gemini: it is handed the video file itself, before the text as Google advises, and told
at which rate to look at it and between which times. Only a cue block that a condition places before
the video stands before it, behind the instruction.

The sound is taken out of the file unless the request allows the model to hear it, without coding
the pictures anew. A file up to ``inline_bytes`` goes inside the request; a longer one is uploaded,
used for the questions about this video, and deleted: when another video is asked about, when a call
fails or is interrupted, when the model is closed. All of the file goes, also where a part of it is
asked about. Nothing is sent before ``egress`` was shown to somebody (``reasoning.ask``).

MimeQA (Appendix C.2) gives Gemini the video with its sound: ``answer.sound=true``.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from perception.container import open_file
from perception.errors import BadInput, UnknownName
from perception.limits import check_limits
from reasoning.answer import Answer, Failure, FailureKind
from reasoning.chat_reply import chosen, schema
from reasoning.egress import Egress
from reasoning.gemini_reply import LIMIT, said, usage
from reasoning.gemini_server import GeminiServer, SharedFile
from reasoning.outgoing import frame_times, is_loopback, record, stands_for
from reasoning.prices import cost_usd
from reasoning.prompt import CHOOSE
from reasoning.rate_limit import RateOptions
from reasoning.retry import NotAnswered, RetryOptions
from reasoning.soundless import mime_type, without_sound
from reasoning.videollm import Frames, FrameSampling, Request, Text, TokenCount, VideoFile

__all__ = ["Gemini", "Options", "build", "build_draft"]

_GOOGLE = "https://generativelanguage.googleapis.com"
_KEY_VARIABLES = ("GEMINI_API_KEY", "GOOGLE_API_KEY")

_TOKENS_PER_FRAME = {"default": 268, "low": 76, "medium": 268, "high": 290}
"""Google's documentation: 258 tokens a frame, 66 at low and 280 at high resolution, about 300 a
second with 32 of sound and the time stamp; ten for that makes them upper bounds."""

_SOUND_TOKENS_PER_S = 32
"""From the same page."""

_BYTES_PER_TOKEN = 3
"""Google's documentation has about four characters a token; three bytes make it an upper bound."""

_MESSAGE_TOKENS = 16
"""For the marks around the message."""

_SMALL_PX = 64
"""Size of the frames that are sampled here: of them only the times are needed."""

_SAME_RATE = 0.01
"""Frames whose mean rate is this near to the wished one, relatively, were sampled at that rate."""

_BAD_REQUEST = 400

_LIMITS = {
    "frame_rate_hz": (0.001, 24),
    "max_frames": (1, 100_000),
    "context_tokens": (1, 1e9),
    "thinking_tokens": (0, 1e6),
    "inline_bytes": (0, 100_000_000),
    "timeout_s": (0.001, 86_400),
    "upload_timeout_s": (0.001, 86_400),
    "poll_s": (0.001, 60),
    "usd_per_million_prompt_tokens": (0, 1e9),
    "usd_per_million_reply_tokens": (0, 1e9),
}
"""24 Hz is the most that Google takes; the rest are mistakes in a digit."""


@dataclass(frozen=True, slots=True)
class Options:
    """Which model, and how it is asked.

    Args:
        model: as Google calls it.
        base_url: without a version.
        api_key_variable: environment variable that holds the key; empty = ``GEMINI_API_KEY``, else
            ``GOOGLE_API_KEY``.
        frame_rate_hz: at which the model looks at the video.
        max_frames: of a longer video it looks at so many, evenly spread.
        resolution: default, low, medium or high.
        context_tokens: of prompt and answer together.
        thinking_tokens: the most that the model may think, on top of the answer's limit; None for
            models that do not.
        structured: ask for JSON of a schema when there are options; where that is refused, without.
        inline_bytes: longer files are uploaded. Google takes requests of up to 20 MB, and files
            grow by a third in them.
        timeout_s: of one try to answer.
        upload_timeout_s: until an uploaded file can be used.
        poll_s: between two looks whether it can.
        retry: how often.
        rate: how many calls and tokens a minute.
        usd_per_million_prompt_tokens, usd_per_million_reply_tokens: for the estimate of the cost;
            None = Google's list price where the model is known.
    """

    model: str = "gemini-2.5-pro"
    base_url: str = _GOOGLE
    api_key_variable: str = ""
    frame_rate_hz: float = 1.0
    max_frames: int = 3600
    resolution: str = "default"
    context_tokens: int = 1_048_576
    thinking_tokens: int | None = 1024
    structured: bool = True
    inline_bytes: int = 14_000_000
    timeout_s: float = 300.0
    upload_timeout_s: float = 600.0
    poll_s: float = 2.0
    retry: RetryOptions = field(default_factory=RetryOptions)
    rate: RateOptions = field(default_factory=RateOptions)
    usd_per_million_prompt_tokens: float | None = None
    usd_per_million_reply_tokens: float | None = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise BadInput(f"base_url is {self.base_url!r}; give an http address, e.g. {_GOOGLE}.")
        if parts.username or parts.password or parts.query:
            raise BadInput(
                "base_url holds a name, a password or a query; put a key into the environment."
            )
        if not self.model:
            raise BadInput("The model's name is empty; give Google's, e.g. gemini-2.5-pro.")
        if self.resolution not in _TOKENS_PER_FRAME:
            raise UnknownName("resolution", self.resolution, _TOKENS_PER_FRAME)
        check_limits(self, _LIMITS, "Gemini's ")


class Gemini:
    """A model at Google."""

    def __init__(self, options: Options, key_variable: str = "", key: str = "") -> None:
        self.options = options
        self._key_variable, self._key = key_variable, key
        self._structured = options.structured
        self._server: GeminiServer | None = None
        self._shared: tuple[tuple[object, ...], SharedFile] | None = None

    @property
    def name(self) -> str:
        """As Google calls it."""
        return self.options.model

    @property
    def weights(self) -> tuple[str, ...]:
        """None: the model is at Google."""
        return ()

    @property
    def sampling(self) -> FrameSampling:
        """The times at which the model is told to look."""
        return FrameSampling(self.options.frame_rate_hz, self.options.max_frames, _SMALL_PX)

    @property
    def native_video(self) -> bool:
        """True: the model reads the times in the file."""
        return True

    @property
    def context_tokens(self) -> int:
        """As in the options."""
        return self.options.context_tokens

    def count_tokens(self, text: str) -> int:
        """Estimated, rather too many: a token for every three bytes."""
        return math.ceil(len(text.encode("utf-8", "replace")) / _BYTES_PER_TOKEN)

    def count(self, request: Request) -> TokenCount:
        """Estimated by the documented counts for a frame and a second of sound: Google's own
        counter would need the video."""
        times_s = frame_times(request)
        tokens = _MESSAGE_TOKENS + sum(map(self.count_tokens, _texts(request)))
        tokens += len(times_s) * _TOKENS_PER_FRAME[self.options.resolution]
        if request.sound and times_s:
            lasts_s = times_s[-1] - times_s[0] + 1 / self._rate_hz(times_s)
            tokens += math.ceil(lasts_s * _SOUND_TOKENS_PER_S)
        return TokenCount(tokens, estimated=True)

    def egress(self, request: Request) -> Egress | None:
        """What ``answer`` would send away; None for a server on this machine."""
        options = self.options
        if is_loopback(options.base_url):
            return None
        frames, tokens = len(frame_times(request)), self.count(request).tokens
        cost = cost_usd(
            options.model if options.base_url == _GOOGLE else "",
            tokens,
            request.max_new_tokens + (options.thinking_tokens or 0),
            options.usd_per_million_prompt_tokens,
            options.usd_per_million_reply_tokens,
        )
        host = urlsplit(options.base_url).hostname or ""
        return Egress(host, frames, tokens, cost, whole_file=frames > 0, sound=request.sound)

    def draft(self, request: Request) -> dict[str, Any]:
        """The request that ``answer`` would make, the video by type, size and sha256."""
        shown: dict[str, Any] = {}
        if (video := _video(request)) is not None:
            file, kind = _opened(video, request.sound)
            with file:
                content = file.read()
            place = "inline" if len(content) <= self.options.inline_bytes else "uploaded"
            about = {"video": f"{place} {stands_for(content, kind)}"}
            shown = {**about, "video_metadata": self._metadata(request, video)}
        return {
            "model": self.name,
            "contents": _contents(request, shown),
            "config": self._config(request, self._structured),
        }

    def answer(self, request: Request) -> Answer | Failure:
        """Hand over the video and the words, and read the reply.

        Raises:
            MissingExtra: the package ``google-genai`` is not installed.
            BadInput: the key is missing or refused, there is no such model, the request has frames
                without the file that they come from, or cues that stand between them.
        """
        server, count, done = self._connected(), self.count(request), False
        video = _video(request)
        try:
            media: dict[str, Any] | NotAnswered | None = None
            if video is not None:
                media = self._media(server, request, video)
            sent = self._record(request, count, media)
            if isinstance(media, NotAnswered):
                return Failure(media.kind, media.sentence(), self.name, request=sent)
            reply = self._generate(server, _contents(request, media or {}), request, count)
            if isinstance(reply, NotAnswered):
                return Failure(reply.kind, reply.sentence(), self.name, request=sent)
            done = True
            return self._read(reply, request, sent)
        finally:
            if not done:
                self._forget()

    def close(self) -> None:
        """Delete what was uploaded and close the connections."""
        if self._server is not None:
            self._server.close()
            self._server = self._shared = None

    def _connected(self) -> GeminiServer:
        if self._server is None:
            options = self.options
            self._server = GeminiServer(
                options.base_url,
                self._key,
                self._key_variable,
                timeout_s=options.timeout_s,
                upload_timeout_s=options.upload_timeout_s,
                poll_s=options.poll_s,
                retry=options.retry,
                rate=options.rate,
            )
        return self._server

    def _generate(
        self, server: GeminiServer, contents: list[Any], request: Request, count: TokenCount
    ) -> Any | NotAnswered:
        tokens = count.tokens + request.max_new_tokens + (self.options.thinking_tokens or 0)
        asked = [{"role": "user", "parts": contents}]
        structured = self._structured and bool(request.options)
        config = self._config(request, structured)
        reply = server.generate(self.name, asked, config, tokens)
        if structured and isinstance(reply, NotAnswered) and reply.status == _BAD_REQUEST:
            reply = server.generate(self.name, asked, self._config(request, False), tokens)
            self._structured = isinstance(reply, NotAnswered)
        return reply

    def _media(
        self, server: GeminiServer, request: Request, video: VideoFile
    ) -> dict[str, Any] | NotAnswered:
        """The part of the prompt that holds the video, or speaks of it where it was uploaded."""
        metadata = self._metadata(request, video)
        state = video.path.stat()
        key = (video.path.resolve(), state.st_size, state.st_mtime_ns, request.sound)
        if self._shared is not None and self._shared[0] == key:
            return _file_part(self._shared[1], metadata)
        self._forget()
        file, kind = _opened(video, request.sound)
        with file:
            if file.seek(0, os.SEEK_END) <= self.options.inline_bytes:
                file.seek(0)
                inline = {"data": file.read(), "mime_type": kind}
                return {"inline_data": inline, "video_metadata": metadata}
            shared = server.share(file, kind)
        if isinstance(shared, NotAnswered):
            return shared
        self._shared = key, shared
        return _file_part(shared, metadata)

    def _forget(self) -> None:
        if self._shared is not None and self._server is not None:
            shared, self._shared = self._shared[1], None
            self._server.forget(shared.name)

    def _metadata(self, request: Request, video: VideoFile) -> dict[str, Any]:
        """At which rate and between which times the model looks."""
        metadata: dict[str, Any] = {"fps": self._rate_hz(frame_times(request))}
        if video.part is not None:
            metadata["start_offset"] = f"{video.part.start_s:.3f}s"
            metadata["end_offset"] = f"{video.part.end_s:.3f}s"
        return metadata

    def _rate_hz(self, times_s: tuple[float, ...]) -> float:
        """The rate that gives the sampled times: lower than wished where they were thinned out."""
        wished = self.options.frame_rate_hz
        if len(times_s) < 2 or times_s[-1] <= times_s[0]:
            return wished
        mean = (len(times_s) - 1) / (times_s[-1] - times_s[0])
        return wished if mean > wished * (1 - _SAME_RATE) else round(mean, 6)

    def _config(self, request: Request, structured: bool) -> dict[str, Any]:
        options = self.options
        config: dict[str, Any] = {
            "temperature": request.temperature,
            "seed": request.seed % (1 << 31),
            "max_output_tokens": request.max_new_tokens + (options.thinking_tokens or 0),
        }
        if options.thinking_tokens is not None:
            config["thinking_config"] = {"thinking_budget": options.thinking_tokens}
        if options.resolution != "default":
            config["media_resolution"] = f"MEDIA_RESOLUTION_{options.resolution.upper()}"
        if request.options and structured:
            config["response_mime_type"] = "application/json"
            choice = schema(request.options)["json_schema"]["schema"]
            config["response_json_schema"] = choice
        return config

    def _record(self, request: Request, count: TokenCount, media: Any) -> dict[str, Any]:
        told = media if isinstance(media, dict) else {}
        return record(
            request,
            count,
            model=self.name,
            base_url=self.options.base_url,
            video_metadata=told.get("video_metadata", {}),
            uploaded="file_data" in told,
            sound=request.sound,
            config=self._config(request, self._structured),
            closing=CHOOSE if request.options else "",
        )

    def _read(self, reply: Any, request: Request, sent: dict[str, Any]) -> Answer | Failure:
        model = str(reply.model_version or self.name)
        words, ending, wrong = said(reply)
        if wrong is not None:
            return Failure(wrong[0], wrong[1], model, words, sent)
        option, text = None, words
        if request.options:
            option = chosen(words, request.options)
            if option is None:
                kind = FailureKind.TRUNCATED if ending == LIMIT else FailureKind.UNPARSED
                reason = "The reply names none of the options, or more than one."
                return Failure(kind, reason, model, words, sent)
            text = request.options[option]
        used = {**usage(reply), "finish_reason": ending}
        return Answer(
            text,
            model,
            bool(frame_times(request)),
            option,
            request=sent,
            usage=used,
            complete=ending != LIMIT,
        )


def _file_part(shared: SharedFile, metadata: dict[str, Any]) -> dict[str, Any]:
    told = {"file_uri": shared.uri, "mime_type": shared.mime_type}
    return {"file_data": told, "video_metadata": metadata}


def _opened(video: VideoFile, sound: bool) -> tuple[BinaryIO, str]:
    """The file as it goes out, and its type."""
    if sound:
        return open_file(video.path), mime_type(video.path)
    return without_sound(video.path)


def _texts(request: Request) -> list[str]:
    return [content["text"] for content in _contents(request, {}) if "text" in content]


def _contents(request: Request, media: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts in their order, with ``media`` in the place of the frames; an instruction that the
    video follows stands behind it."""
    contents = [
        {"text": part.text} if isinstance(part, Text) else media
        for part in request.parts
        if not isinstance(part, Text) or part.text
    ]
    if len(contents) > 1 and isinstance(request.parts[1], Frames):
        contents[:2] = contents[1::-1]
    return [*contents, {"text": CHOOSE}] if request.options else contents


def _video(request: Request) -> VideoFile | None:
    """The file to hand over; None for a request without frames."""
    shown = sum(isinstance(part, Frames) for part in request.parts)
    if not shown:
        return None
    if request.video is None:
        raise BadInput(
            "Gemini is handed the video file and not its frames; ask with video=VideoFile(path)."
        )
    if shown > 1:
        raise BadInput(
            "Gemini is handed the video as one file, so that no cues can stand between its frames; "
            "set answer.cue_placement to before_question or before_video."
        )
    return request.video


def _key(options: Options) -> tuple[str, str]:
    """The variable that was read, and the key in it."""
    variables = (options.api_key_variable,) if options.api_key_variable else _KEY_VARIABLES
    for variable in variables:
        if key := os.environ.get(variable, "").strip():
            return variable, key
    if is_loopback(options.base_url):
        return "no key was set", "no-key-is-needed-here"
    raise BadInput(
        f"Gemini needs a key, and the environment variable {' or '.join(variables)} is not set. "
        "Google's AI Studio gives one."
    )


def build(options: Options) -> Gemini:
    """A model at Google; nothing is sent yet.

    Raises:
        BadInput: the environment holds no key.
    """
    return Gemini(options, *_key(options))


def build_draft(options: Options) -> Gemini:
    """The same without a key: it drafts requests and cannot answer them."""
    return Gemini(options)
