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

import os
from typing import Any
from urllib.parse import urlsplit

from reasoning.answer import Answer, Failure, FailureKind
from reasoning.chat.reply import chosen, schema
from reasoning.egress import Egress
from reasoning.gemini import request as gemini_request
from reasoning.gemini.options import GOOGLE, Options, key
from reasoning.gemini.reply import LIMIT, said, usage
from reasoning.gemini.server import GeminiServer, SharedFile
from reasoning.outgoing import frame_times, is_loopback, record, stands_for
from reasoning.prompt import CHOOSE
from reasoning.transport.prices import cost_usd
from reasoning.transport.retry import NotAnswered
from reasoning.videollm import FrameSampling, Request, TokenCount, VideoFile

__all__ = ["Gemini", "Options", "build", "build_draft"]

_SMALL_PX = 64
"""Size of the frames that are sampled here: of them only the times are needed."""


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
        return gemini_request.text_at_most_tokens(text)

    def count(self, request: Request) -> TokenCount:
        """Estimated by the documented counts for a frame and a second of sound: Google's own
        counter would need the video."""
        return TokenCount(gemini_request.at_most_tokens(self.options, request), estimated=True)

    def egress(self, request: Request) -> Egress | None:
        """What ``answer`` would send away; None for a server on this machine."""
        options = self.options
        if is_loopback(options.base_url):
            return None
        frames, tokens = len(frame_times(request)), self.count(request).tokens
        cost = cost_usd(
            options.model if options.base_url == GOOGLE else "",
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
        if (video := gemini_request.video_of(request)) is not None:
            file, kind = gemini_request.opened(video, request.sound)
            with file:
                shows = stands_for(file, kind)
                place = "inline" if file.tell() <= self.options.inline_bytes else "uploaded"
            about = {"video": f"{place} {shows}"}
            shown = {
                **about,
                "video_metadata": gemini_request.metadata(self.options, request, video),
            }
        return {
            "model": self.name,
            "contents": gemini_request.contents(request, shown),
            "config": gemini_request.config(self.options, request, self._structured),
        }

    def answer(self, request: Request) -> Answer | Failure:
        """Hand over the video and the words, and read the reply.

        Raises:
            MissingExtra: the package ``google-genai`` is not installed.
            BadInput: the key is missing or refused, there is no such model, the request has frames
                without the file that they come from, or cues that stand between them.
        """
        server, count, done = self._connected(), self.count(request), False
        video = gemini_request.video_of(request)
        try:
            media: dict[str, Any] | NotAnswered | None = None
            if video is not None:
                media = self._media(server, request, video)
            sent = self._record(request, count, media)
            if isinstance(media, NotAnswered):
                return Failure(media.kind, media.sentence(), self.name, request=sent)
            reply = self._generate(
                server, gemini_request.contents(request, media or {}), request, count
            )
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
        structured = self._structured and schema(request) is not None
        config = gemini_request.config(self.options, request, structured)
        reply = server.generate(self.name, asked, config, tokens)
        if structured and isinstance(reply, NotAnswered) and _is_unknown(reply):
            reply = server.generate(
                self.name, asked, gemini_request.config(self.options, request, False), tokens
            )
            self._structured = isinstance(reply, NotAnswered)
        return reply

    def _media(
        self, server: GeminiServer, request: Request, video: VideoFile
    ) -> dict[str, Any] | NotAnswered:
        """The part of the prompt that holds the video, or speaks of it where it was uploaded."""
        metadata = gemini_request.metadata(self.options, request, video)
        state = video.path.stat()
        key = (video.path.resolve(), state.st_size, state.st_mtime_ns, request.sound)
        if self._shared is not None and self._shared[0] == key:
            return gemini_request.file_part(self._shared[1], metadata)
        self._forget()
        file, kind = gemini_request.opened(video, request.sound)
        with file:
            if file.seek(0, os.SEEK_END) <= self.options.inline_bytes:
                file.seek(0)
                inline = {"data": file.read(), "mime_type": kind}
                return {"inline_data": inline, "video_metadata": metadata}
            shared = server.share(file, kind)
        if isinstance(shared, NotAnswered):
            return shared
        self._shared = key, shared
        return gemini_request.file_part(shared, metadata)

    def _forget(self) -> None:
        if self._shared is not None and self._server is not None:
            shared, self._shared = self._shared[1], None
            self._server.forget(shared.name)

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
            config=gemini_request.config(self.options, request, self._structured),
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


def _is_unknown(reply: NotAnswered) -> bool:
    """Whether Google may not know something that was asked for, as JSON of a schema."""
    return reply.kind is FailureKind.REJECTED


def build(options: Options) -> Gemini:
    """A model at Google; nothing is sent yet.

    Raises:
        BadInput: the environment holds no key.
    """
    return Gemini(options, *key(options))


def build_draft(options: Options) -> Gemini:
    """The same without a key: it drafts requests and cannot answer them."""
    return Gemini(options)
