"""Speech: the words that were spoken, when they were, and silence where nobody speaks."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from perception.audio.backends import faster_whisper
from perception.audio.belief import read_dropped
from perception.audio.guards import Guard, GuardRules
from perception.audio.pieces import CutRules
from perception.cue import CueTrack, Status, VideoInfo
from perception.errors import BadInput, UnknownName
from perception.recognizer import AUDIO_RATE_HZ, AudioChunk, Recognition
from perception.recognizers.speech import Options, build
from perception.sample import LINE
from perception.waveform import read_waveform
from tests.perception.recordings import voice
from tests.perception.sounds import (
    Samples,
    applause,
    band,
    has_espeak,
    line,
    line_ends,
    mixed,
    pink,
    silence,
    spoken,
    tone,
    tune,
    white,
)

RATE = AUDIO_RATE_HZ
RECOGNIZER = build(Options())


backend = faster_whisper.Options


def tiny(language: str = "") -> Options:
    return Options(backends={"faster_whisper": backend("whisper_tiny_en")}, language=language)


FAST = build(tiny())


def info(duration_s: float, *, has_audio: bool = True) -> VideoInfo:
    return VideoInfo("clip", "0" * 64, 0.0, duration_s, 640, 360, 25.0, True, has_audio)


def listen(
    *parts: tuple[float, Samples], chunk_s: float = 0.5, recognizer: object = RECOGNIZER
) -> Recognition:
    """Feed sounds that begin at the given times."""
    session = recognizer.start(info(600.0))  # type: ignore[attr-defined]
    for start_s, samples in parts:
        step = round(chunk_s * RATE)
        for first in range(0, len(samples), step):
            part = samples[first : first + step].astype(np.float32)
            session.feed(AudioChunk(start_s + first / RATE, part))
    recognition: Recognition = session.finish()
    return recognition


def words_of(text: str) -> list[str]:
    return "".join(
        letter for letter in text.casefold() if letter.isalpha() or letter == " "
    ).split()


def said(track: CueTrack) -> list[str]:
    return [word for cue in track.cues for word in words_of(cue.text)]


# --- sounds without speech -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "sound",
    [
        pytest.param(white, id="white noise"),
        pytest.param(pink, id="pink noise"),
        pytest.param(tone, id="tone of 440 Hz"),
        pytest.param(lambda seconds: tone(seconds, 130), id="low tone"),
        pytest.param(tune, id="a tune", marks=pytest.mark.weights),
        pytest.param(lambda seconds: tune(seconds, 1), id="another", marks=pytest.mark.weights),
        pytest.param(band, id="a band", marks=pytest.mark.weights),
        pytest.param(applause, id="applause", marks=pytest.mark.weights),
    ],
)
def test_a_minute_of_sound_without_speech_gives_no_speech(sound: Any) -> None:
    track = listen((0.0, sound(60.0)), chunk_s=2.0).track
    assert (track.cues, track.status) == ((), Status.NO_SIGNAL)
    assert "There is sound (60.0 s) and no speech in it" in track.notes[0]


def test_the_kinds_of_nothing_are_told_apart() -> None:
    no_stream = RECOGNIZER.start(info(9.0, has_audio=False)).finish().track
    no_sample = RECOGNIZER.start(info(9.0)).finish().track
    silent = listen((0.0, silence(60)), chunk_s=2.0).track
    hissing = listen((0.0, white(5) / 1000)).track
    audible = listen((0.0, white(5))).track
    for track, note in (
        (no_stream, "no audio stream"),
        (no_sample, "No sound could be decoded"),
        (silent, "The audio is silent (60.0 s"),
        (hissing, "The audio is silent (5.0 s"),
        (audible, "There is sound (5.0 s) and no speech"),
    ):
        assert track.status is Status.NO_SIGNAL
        assert note in track.notes[0]


def test_the_outline_of_the_sound_is_a_trace() -> None:
    outline = read_waveform("speech", listen((2.0, tone(1.0))).traces)
    assert outline is not None
    assert (outline.start_s, outline.rate_hz, len(outline.peaks)) == (2.0, 50, 50)
    assert outline.peaks[:, 1] == pytest.approx(0.3, abs=0.02)


# --- speech --------------------------------------------------------------------------------------


@pytest.mark.weights
def test_a_spoken_line_is_heard_word_for_word_at_its_time() -> None:
    recognition = listen((0.0, line()))
    [cue] = recognition.track.cues
    start_s, end_s = line_ends()
    assert recognition.track.status is Status.COMPLETE
    assert words_of(cue.text) == words_of(LINE)
    assert cue.confidence > 0.5
    assert cue.span.start_s == pytest.approx(start_s, abs=0.3)
    assert cue.span.end_s == pytest.approx(end_s, abs=0.3)
    words = cue.attributes["words"]
    assert [words_of(word["text"]) for word in words] == [[word] for word in words_of(LINE)]
    assert all(word["start_s"] <= word["end_s"] for word in words)
    assert all(a["end_s"] <= b["start_s"] for a, b in pairwise(words))
    assert cue.attributes["language"] == "en"
    assert cue.confidence == pytest.approx(math.exp(cue.attributes["avg_logprob"]), abs=1e-3)
    [[voice_s, silence_s]] = recognition.traces["speech/voice_activity"].tolist()
    assert (voice_s, silence_s) == (pytest.approx(start_s, abs=0.2), pytest.approx(end_s, abs=0.3))


@pytest.mark.weights
def test_times_are_true_where_the_sound_starts_late_and_has_a_gap() -> None:
    alone = listen((0.0, line())).track.cues[0].span
    track = listen((5.0, line()), (400.25, line())).track
    assert said(track) == 2 * words_of(LINE)
    for cue, offset_s in zip(track.cues, (5.0, 400.25), strict=True):
        assert cue.span.start_s - offset_s == pytest.approx(alone.start_s, abs=0.05)
        assert cue.span.end_s - offset_s == pytest.approx(alone.end_s, abs=0.05)


@pytest.mark.weights
def test_a_pause_parts_two_utterances_and_silence_belongs_to_neither() -> None:
    sound = np.concatenate([line(), silence(5), line()])
    track = listen((0.0, sound), chunk_s=0.1).track
    assert [words_of(cue.text) for cue in track.cues] == 2 * [words_of(LINE)]
    again_s = len(line()) / RATE + 5
    assert track.cues[0].span.end_s < again_s - 4
    assert track.cues[1].span.start_s == pytest.approx(again_s + line_ends()[0], abs=0.3)


@pytest.mark.weights
def test_faint_speech_and_speech_in_noise_and_over_music_are_heard() -> None:
    assert said(listen((0.0, line() / 50)).track)[-6:] == words_of(LINE)[-6:]
    [noisy] = listen((0.0, mixed(line(), white(4), 10))).track.cues
    assert "warming up before the big" in noisy.text
    [over_music] = listen((0.0, mixed(line(), band(4), 10))).track.cues
    assert "warming up before the big" in over_music.text


def as_it_is(speech: Samples) -> Samples:
    return speech


def over_music(speech: Samples) -> Samples:
    return mixed(speech, band(10), 10)


def in_noise(speech: Samples) -> Samples:
    return mixed(speech, white(10), 10)


@pytest.mark.weights
@pytest.mark.parametrize("changed", [as_it_is, over_music, in_noise])
def test_the_guards_do_not_eat_speech_of_recorded_voices(
    changed: Callable[[Samples], Samples],
) -> None:
    """Words that Whisper makes of the sound after the last spoken one may be dropped: which ones
    it invents hangs on the processor's arithmetic."""
    for name in ("en_quick_brown_fox", "es_pangrama", "pt_pangrama"):
        clean = listen((0.0, voice(name))).track
        recognition = listen((0.0, changed(voice(name))))
        assert len(said(recognition.track)) >= len(said(clean)) - 1
        for dropped in read_dropped("speech", recognition.traces):
            assert dropped.span.start_s >= clean.cues[-1].span.end_s - 0.3
        assert {cue.attributes["language"] for cue in recognition.track.cues} == {name[:2]}


@pytest.mark.weights
@pytest.mark.skipif(not has_espeak(), reason="espeak-ng is not installed")
@pytest.mark.parametrize("changed", [as_it_is, over_music, in_noise])
def test_the_guards_do_not_eat_speech_of_a_synthesiser(
    changed: Callable[[Samples], Samples],
) -> None:
    for text, synthetic in (
        ("The boy was there when the sun rose.", "en-us"),
        ("The source of the huge river is the clear spring.", "en-us+m3"),
        ("The salt breeze came across from the sea.", "en-gb-x-rp"),
    ):
        recognition = listen((0.0, changed(spoken(text, synthetic))))
        assert read_dropped("speech", recognition.traces) == ()
        right = set(words_of(text)) & set(said(recognition.track))
        assert len(right) >= 0.4 * len(set(words_of(text)))


@pytest.mark.weights
def test_the_line_backwards_gives_nothing_and_what_was_dropped_tells_why() -> None:
    recognition = listen((3.0, line()[::-1]))
    dropped = read_dropped("speech", recognition.traces)
    assert recognition.track.status is Status.NO_SIGNAL
    assert "no speech in it that can be believed" in recognition.track.notes[0]
    assert len(recognition.track.notes) == 1 + len(dropped) > 1
    for each, note in zip(dropped, recognition.track.notes[1:], strict=True):
        assert note == f"Dropped {each.text!r} at {each.span.start_s:.1f} s: {each.doubt.why}."
        assert each.doubt.guard in Guard
        assert 3.0 <= each.span.start_s <= each.span.end_s <= 3.0 + len(line()) / RATE


@pytest.mark.weights
def test_the_fast_preset_hears_the_line_too() -> None:
    track = listen((0.0, line()), recognizer=FAST).track
    assert said(track) == words_of(LINE)
    assert track.source.checkpoint_sha256 != RECOGNIZER.source.checkpoint_sha256


def test_a_language_that_no_model_knows_is_told_when_the_options_are_built() -> None:
    with pytest.raises(UnknownName, match=r"'eng'. Did you mean 'en'\? Available: af, .*, zh\."):
        Options(language="eng")


def test_a_language_that_the_chosen_model_does_not_know_is_told_before_anything_is_heard() -> None:
    with pytest.raises(UnknownName, match=r"'de'.* Available: en\."):
        build(tiny(language="de"))
    with pytest.raises(UnknownName, match="'yue'"):
        build(Options(language="yue"))
    assert build(Options(language="de")).options.language == "de"


def test_an_unknown_backend_lists_those_that_exist() -> None:
    with pytest.raises(UnknownName, match=r"Available: faster_whisper, openai_whisper\."):
        build(Options(backend="whisper"))


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (Options, "pause_s", -1),
        (Options, "language_confidence", 2),
        (CutRules, "threshold", math.nan),
        (CutRules, "join_s", math.inf),
        (CutRules, "longest_s", 31),
        (CutRules, "padding_s", -0.1),
        (GuardRules, "repeats", 1),
        (GuardRules, "lowest_logprob", 0.5),
        (GuardRules, "compression_ratio", 0),
        (GuardRules, "unaligned", 1.5),
    ],
)
def test_options_are_checked(kind: Any, name: str, value: float) -> None:
    with pytest.raises(BadInput, match=rf"speech recognizer's .*{name} is {value}; give a number"):
        kind(**{name: value})


@pytest.mark.weights
def test_more_threads_than_the_machine_has_cores_hear_the_same() -> None:
    many = Options(backends={"faster_whisper": backend("whisper_tiny_en", threads=256)})
    assert said(listen((0.0, line()), recognizer=build(many)).track) == words_of(LINE)


def test_threads_are_no_part_of_the_source_and_settings_are() -> None:
    more_threads = Options(backends={"faster_whisper": backend(threads=2)})
    assert build(more_threads).source == RECOGNIZER.source
    assert build(Options(language="en")).source != RECOGNIZER.source
    assert build(tiny()).source != RECOGNIZER.source
    assert "faster-whisper 1." in RECOGNIZER.source.version
