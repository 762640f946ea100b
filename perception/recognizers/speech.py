"""What is said: Whisper on the stretches where Silero VAD hears a voice.

Sound streams through the voice activity detector, is cut in pauses into pieces of up to 30 s, and
each piece is transcribed with word times. Words become utterances by their pauses and sentence
ends. Nothing is transcribed where nobody speaks, and what the model invents is dropped with a
reason (``perception/audio/guards.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from perception import plugins
from perception.audio.backend import BACKENDS, SpeechBackend
from perception.audio.belief import Dropped, believe, dropped_traces, shifted
from perception.audio.guards import GuardRules
from perception.audio.languages import check_language
from perception.audio.pieces import CutRules, Piece, PieceCutter
from perception.audio.transcription import Segment, Transcriber
from perception.audio.utterances import Utterance
from perception.audio.voice_activity import SileroVoiceActivity
from perception.cue import Cue, CueTrack, Source, Span, Status, VideoInfo
from perception.limits import check_limits
from perception.recognizer import AUDIO_RATE_HZ, AudioChunk, Batch, Needs, Recognition
from perception.waveform import WaveformPeaks

__all__ = ["Options", "SpeechRecognizer", "build"]

KIND = "speech"
VERSION = "2"

GAP_S = 0.05
"""Chunks that are further apart are a gap in the sound; nearer ones touch (rounded timestamps)."""

MOST_NOTES = 20
"""Dropped utterances that are told one by one."""

LATER_S = 0.2
"""How much later in the model's window a second look puts the sound; its frames are 20 ms."""

_LIMITS = {"pause_s": (0.01, 60), "language_confidence": (0, 1)}


@dataclass(frozen=True, slots=True)
class Options:
    """How speech is recognised."""

    backend: str = "faster_whisper"
    """A name in ``perception.audio.backends``: ``faster_whisper`` (embedded) or ``openai_whisper``
    (OpenAI's own, an extra)."""
    backends: Mapping[str, Any] = plugins.options_of(BACKENDS)
    """Name -> its ``Options``; the defaults of one that is not named."""
    language: str = ""
    """Whisper's code, e.g. ``"en"``; empty = detected on the first speech and kept."""
    pause_s: float = 0.8
    """A pause this long, in seconds, begins a new utterance; so does the end of a sentence."""
    language_confidence: float = 0.5
    """A detected language is kept when it is this probable (faster-whisper's default)."""
    cut: CutRules = field(default_factory=CutRules)
    """When speech begins and ends (voice activity), and how the sound is cut."""
    guards: GuardRules = field(default_factory=GuardRules)
    """What is dropped as invented."""

    def __post_init__(self) -> None:
        check_language(self.language)
        check_limits(self, _LIMITS, "The speech recognizer's ")


class SpeechRecognizer:
    """The recognizer of the kind ``speech``; the model loads when the first voice is heard."""

    def __init__(self, options: Options, backend: SpeechBackend) -> None:
        self.options, self.backend = options, backend
        self._transcriber: Transcriber | None = None

    @property
    def kind(self) -> str:
        """``"speech"``."""
        return KIND

    @property
    def needs(self) -> Needs:
        """Sound only."""
        return Needs(audio=True)

    @property
    def weights(self) -> tuple[str, ...]:
        """The backend's checkpoint."""
        return self.backend.checkpoints

    @property
    def source(self) -> Source:
        """Versions, checkpoint and settings."""
        settings = asdict(self.options)
        settings["backends"] = {self.options.backend: dict(self.backend.settings)}
        return Source(
            name=KIND,
            version=f"{VERSION}, {self.backend.version}",
            checkpoint_sha256=self.backend.checkpoint_sha256,
            settings=settings,
        )

    def start(self, video: VideoInfo) -> SpeechSession:
        """Begin on a video. Where nobody speaks, the checkpoint is neither fetched nor loaded.

        Raises:
            MissingExtra: the backend's package is not installed.
            UnsupportedPlatform: it cannot be imported here.
        """
        if video.has_audio:
            self.backend.require()
        return SpeechSession(self, video)

    def transcriber(self) -> Transcriber:
        """The loaded model.

        Raises:
            WeightsError: the checkpoint cannot be had.
            BadInput: the backend's device or the user's own weights cannot be used.
        """
        if self._transcriber is None:
            self._transcriber = self.backend.load()
        return self._transcriber


class SpeechSession:
    """One video's sound, chunk by chunk; at most one piece of 30 s is in memory."""

    def __init__(self, recognizer: SpeechRecognizer, video: VideoInfo) -> None:
        self._recognizer, self._options = recognizer, recognizer.options
        self._video = video
        self._cutter: PieceCutter | None = None
        self._peaks = WaveformPeaks()
        self._language = self._options.language or None
        self._utterances: list[tuple[Utterance, str]] = []
        self._dropped: list[Dropped] = []
        self._voiced: list[Span] = []
        self._heard_s = 0.0
        self._loudest = 0.0
        self._end_s = 0.0

    def feed(self, batch: Batch) -> None:
        """Take the next chunk of sound; pictures are ignored.

        Raises:
            WeightsError: somebody speaks and the checkpoint cannot be had.
        """
        if not isinstance(batch, AudioChunk) or len(batch.samples) == 0:
            return
        samples = np.nan_to_num(np.asarray(batch.samples, np.float32), posinf=0.0, neginf=0.0)
        cutter = self._cutter
        if cutter is not None:
            late_s = batch.start_s - cutter.end_s
            if late_s > GAP_S:
                self._transcribe(cutter.flush())
                cutter = None
            elif late_s < -GAP_S:
                samples = samples[round(-late_s * AUDIO_RATE_HZ) :]
        if cutter is None:
            start_s = max(0.0, batch.start_s)
            samples = samples[round((start_s - batch.start_s) * AUDIO_RATE_HZ) :]
            cutter = PieceCutter(SileroVoiceActivity(), start_s, self._options.cut)
            self._cutter = cutter
        if len(samples) == 0:
            return
        self._peaks.feed(AudioChunk(cutter.end_s, samples))
        self._heard_s += len(samples) / AUDIO_RATE_HZ
        self._loudest = max(self._loudest, float(np.sqrt(np.mean(np.square(samples)))))
        pieces = cutter.feed(samples)
        self._end_s = cutter.end_s
        self._transcribe(pieces)

    def finish(self) -> Recognition:
        """Transcribe what is left and hand out the track."""
        if self._cutter is not None:
            self._transcribe(self._cutter.flush())
        cues = tuple(
            _cue(number, utterance, language)
            for number, (utterance, language) in enumerate(self._utterances, start=1)
        )
        track = CueTrack(
            id=KIND,
            kind=KIND,
            source=self._recognizer.source,
            cues=cues,
            status=Status.COMPLETE if cues else Status.NO_SIGNAL,
            notes=(*self._nothing(cues), *self._dropped_notes()),
        )
        voiced = np.array([(span.start_s, span.end_s) for span in self._voiced], np.float64)
        traces = {
            **self._peaks.traces(KIND),
            f"{KIND}/voice_activity": voiced.reshape(-1, 2),
            **dropped_traces(KIND, self._dropped),
        }
        return Recognition(track, traces)

    def _transcribe(self, pieces: list[Piece]) -> None:
        options = self._options
        for piece in pieces:
            self._voiced.extend(piece.voiced)
            transcript = self._recognizer.transcriber().transcribe(piece.samples, self._language)
            language = transcript.language

            belief = believe(
                piece,
                transcript.segments,
                partial(self._later, piece.samples, language),
                partial(self._backwards, piece.samples),
                options.guards,
                options.pause_s,
            )
            self._dropped.extend(belief.dropped)
            self._utterances.extend((utterance, language) for utterance in belief.kept)
            if belief.kept and transcript.language_probability >= options.language_confidence:
                self._language = language

    def _later(self, samples: npt.NDArray[np.float32], language: str) -> list[Segment]:
        """What is heard when the sound comes ``LATER_S`` later in the model's window."""
        later = np.concatenate([np.zeros(round(LATER_S * AUDIO_RATE_HZ), np.float32), samples])
        transcript = self._recognizer.transcriber().transcribe(later, language)
        return shifted(transcript.segments, -LATER_S)

    def _backwards(self, samples: npt.NDArray[np.float32]) -> tuple[Segment, ...]:
        """What is heard when the sound is played backwards."""
        backwards = np.ascontiguousarray(samples[::-1])
        language = self._options.language or None
        return self._recognizer.transcriber().transcribe(backwards, language).segments

    def _dropped_notes(self) -> tuple[str, ...]:
        told = self._dropped[:MOST_NOTES]
        notes = [
            f"Dropped {each.text[:80]!r} at {each.span.start_s:.1f} s: {each.doubt.why}."
            for each in told
        ]
        more = len(self._dropped) - len(told)
        return (*notes, *((f"Dropped {more} more.",) if more else ()))

    def _nothing(self, cues: tuple[Cue, ...]) -> tuple[str, ...]:
        """The note that tells the kinds of nothing apart; none when something was said."""
        if cues:
            return ()
        if not self._video.has_audio:
            return ("The video has no audio stream.",)
        if self._heard_s == 0:
            return ("No sound could be decoded from the audio stream.",)
        if self._loudest < self._options.cut.floor:
            return (f"The audio is silent ({self._heard_s:.1f} s, nothing above -60 dB).",)
        believed = " that can be believed" if self._dropped else ""
        return (f"There is sound ({self._heard_s:.1f} s) and no speech in it{believed}.",)


def _cue(number: int, utterance: Utterance, language: str) -> Cue:
    words: list[dict[str, Any]] = [
        {
            "start_s": round(word.start_s, 3),
            "end_s": round(word.end_s, 3),
            "text": word.text.strip(),
            "probability": round(word.probability, 4),
            **({"interpolated": True} if word.interpolated else {}),
        }
        for word in utterance.words
    ]
    return Cue(
        id=f"{KIND}-{number}",
        span=Span(words[0]["start_s"], words[-1]["end_s"]),
        text=utterance.text,
        confidence=round(utterance.confidence, 4),
        attributes={
            "language": language,
            "avg_logprob": round(utterance.avg_logprob, 4),
            "no_speech_prob": round(utterance.no_speech_prob, 4),
            "words": words,
        },
    )


def build(options: Options) -> SpeechRecognizer:
    """The recognizer; nothing is loaded yet.

    Raises:
        UnknownName: there is no such backend or speech model, or it does not know the chosen
            language.
        UserError: what the backend says of its options.
    """
    backend: SpeechBackend = plugins.build(BACKENDS, options.backend, options.backends)
    check_language(options.language, backend.languages)
    return SpeechRecognizer(options, backend)
