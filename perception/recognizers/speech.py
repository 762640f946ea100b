"""What is said: Whisper on the stretches where Silero VAD hears a voice.

Sound streams through the voice activity detector, is cut in pauses into pieces of up to 30 s, and
each piece is transcribed with word times. Words become utterances by their pauses and sentence
ends. Nothing is transcribed where nobody speaks, and what the model invents is dropped with a
reason (``perception/audio/guards.py``).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from perception import weights
from perception.audio import faster_whisper_transcriber
from perception.audio.guards import GuardRules, doubt, in_order, spoken_words
from perception.audio.languages import check_language, languages_of
from perception.audio.pieces import CutRules, Piece, PieceCutter
from perception.audio.transcription import Segment, Transcriber
from perception.audio.utterances import Utterance, words_to_utterances
from perception.audio.voice_activity import SileroVoiceActivity
from perception.cue import Cue, CueTrack, Source, Span, Status, VideoInfo
from perception.errors import UnknownName
from perception.limits import THREADS, check_limits, usable_threads
from perception.recognizer import AUDIO_RATE_HZ, AudioChunk, Batch, Needs, Recognition
from perception.waveform import WaveformPeaks

__all__ = ["Options", "SpeechRecognizer", "build"]

KIND = "speech"

GAP_S = 0.05
"""Chunks that are further apart are a gap in the sound; nearer ones touch (rounded timestamps)."""

MOST_NOTES = 20
"""Dropped utterances that are told one by one."""

TASK = "speech recognition"
"""Begins the task of every speech model in the manifest of checkpoints."""

_LIMITS = {
    "beam_size": (1, 20),
    "pause_s": (0.01, 60),
    "language_confidence": (0, 1),
    "threads": THREADS,
}


@dataclass(frozen=True, slots=True)
class Options:
    """How speech is recognised."""

    checkpoint: str = "whisper_base"
    """Name in the checkpoints' manifest: ``whisper_base`` reads 99 languages, ``whisper_tiny_en``
    is the fast preset for English (half the time)."""
    language: str = ""
    """Whisper's code, e.g. ``"en"``; empty = detected on the first speech and kept."""
    beam_size: int = 5
    """Width of the beam search (Whisper paper, section 4.5); 1 = greedy, saves 5 % of the time."""
    pause_s: float = 0.8
    """A pause this long, in seconds, begins a new utterance; so does the end of a sentence."""
    language_confidence: float = 0.5
    """A detected language is kept when it is this probable (faster-whisper's default)."""
    cut: CutRules = field(default_factory=CutRules)
    """When speech begins and ends (voice activity), and how the sound is cut."""
    guards: GuardRules = field(default_factory=GuardRules)
    """What is dropped as invented."""
    threads: int = 1
    """CPU threads; 1 is best beside other models. No part of the result."""

    def __post_init__(self) -> None:
        check_language(self.language)
        check_limits(self, _LIMITS, "The speech recognizer's ")


class SpeechRecognizer:
    """The recognizer of the kind ``speech``; the model loads when the first voice is heard."""

    def __init__(self, options: Options) -> None:
        self.options = options
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
        """The checkpoint of the options."""
        return (self.options.checkpoint,)

    @property
    def source(self) -> Source:
        """Versions, checkpoint and settings."""
        settings = asdict(self.options)
        del settings["threads"]
        return Source(
            name=KIND,
            version=faster_whisper_transcriber.package_version(),
            checkpoint_sha256=weights.sha256(self.options.checkpoint),
            settings=settings,
        )

    def start(self, video: VideoInfo) -> SpeechSession:
        """Begin on a video. Where nobody speaks, the checkpoint is neither fetched nor loaded.

        Raises:
            UnsupportedPlatform: faster-whisper cannot be imported here.
        """
        if video.has_audio:
            faster_whisper_transcriber.require_package()
        return SpeechSession(self, video)

    def transcriber(self) -> Transcriber:
        """The loaded model.

        Raises:
            WeightsError: the checkpoint cannot be had.
        """
        if self._transcriber is None:
            self._transcriber = faster_whisper_transcriber.FasterWhisperTranscriber(
                weights.path(self.options.checkpoint),
                self.options.beam_size,
                usable_threads(self.options.threads),
            )
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
        self._dropped: list[str] = []
        self._drops = 0
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
        }
        return Recognition(track, traces)

    def _transcribe(self, pieces: list[Piece]) -> None:
        for piece in pieces:
            self._voiced.extend(piece.voiced)
            transcript = self._recognizer.transcriber().transcribe(piece.samples, self._language)
            kept = self._believed(piece, transcript.segments)
            self._utterances.extend((utterance, transcript.language) for utterance in kept)
            if kept and transcript.language_probability >= self._options.language_confidence:
                self._language = transcript.language

    def _believed(self, piece: Piece, segments: tuple[Segment, ...]) -> list[Utterance]:
        options = self._options
        segments = tuple(_shifted(segment, piece.start_s) for segment in segments)
        spoken, strays = spoken_words(segments, piece.voiced, piece.end_s, options.guards)
        for word, reason in strays:
            self._drop(word.text, word.start_s, reason)
        limit = Span(piece.start_s, piece.end_s)
        kept = []
        for utterance in words_to_utterances(in_order(spoken, limit), options.pause_s):
            if reason := doubt(utterance, options.guards):
                self._drop(utterance.text, utterance.start_s, reason)
            else:
                kept.append(utterance)
        return kept

    def _drop(self, text: str, start_s: float, reason: str) -> None:
        self._drops += 1
        if self._drops <= MOST_NOTES:
            self._dropped.append(f"Dropped {text.strip()[:80]!r} at {start_s:.1f} s: {reason}.")

    def _dropped_notes(self) -> tuple[str, ...]:
        more = self._drops - len(self._dropped)
        return (*self._dropped, *((f"Dropped {more} more.",) if more else ()))

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
        believed = " that can be believed" if self._drops else ""
        return (f"There is sound ({self._heard_s:.1f} s) and no speech in it{believed}.",)


def _shifted(segment: Segment, by_s: float) -> Segment:
    words = tuple(
        replace(word, start_s=word.start_s + by_s, end_s=word.end_s + by_s)
        for word in segment.words
    )
    return replace(segment, words=words)


def _cue(number: int, utterance: Utterance, language: str) -> Cue:
    words: list[dict[str, Any]] = [
        {
            "start_s": round(word.start_s, 3),
            "end_s": round(word.end_s, 3),
            "text": word.text.strip(),
            "probability": round(word.probability, 4),
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
        UnknownName: no speech model has that name, or it does not know the chosen language.
    """
    speech_models = {
        name: each for name, each in weights.checkpoints().items() if each.task.startswith(TASK)
    }
    if options.checkpoint not in speech_models:
        raise UnknownName("speech model", options.checkpoint, speech_models)
    check_language(options.language, languages_of(speech_models[options.checkpoint].task))
    return SpeechRecognizer(options)
