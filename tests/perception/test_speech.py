"""Speech: the words that were spoken, when they were, and silence where nobody speaks."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import av
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perception.audio.guards import GuardRules, doubt, in_order, spoken_words
from perception.audio.pieces import CutRules, Piece, PieceCutter
from perception.audio.transcription import Segment, Word
from perception.audio.utterances import Utterance, words_to_utterances
from perception.audio.voice_activity import WINDOW, WINDOW_S, SileroVoiceActivity
from perception.cue import CueTrack, Span, Status, VideoInfo
from perception.errors import BadInput, UnknownName
from perception.recognizer import AUDIO_RATE_HZ, AudioChunk, Recognition
from perception.recognizers.speech import Options, build
from perception.sample import LINE
from perception.shipped import shipped
from perception.waveform import read_waveform

RATE = AUDIO_RATE_HZ
RECOGNIZER = build(Options())
FAST = build(Options(checkpoint="whisper_tiny_en"))


def info(duration_s: float, *, has_audio: bool = True) -> VideoInfo:
    return VideoInfo("clip", "0" * 64, 0.0, duration_s, 640, 360, 25.0, True, has_audio)


def listen(
    *parts: tuple[float, np.ndarray], chunk_s: float = 0.5, recognizer: object = RECOGNIZER
) -> Recognition:
    """Feed sounds that begin at the given times."""
    session = recognizer.start(info(600.0))  # type: ignore[attr-defined]
    for start_s, samples in parts:
        step = round(chunk_s * RATE)
        for first in range(0, len(samples), step):
            part = samples[first : first + step].astype(np.float32)
            session.feed(AudioChunk(start_s + first / RATE, part))
    return session.finish()


@functools.cache
def spoken_line() -> np.ndarray:
    """The line that the sample clip speaks, with half a second of silence on either side."""
    with av.open(str(shipped("checkpoints") / "sample" / "line.flac")) as container:
        resampler = av.AudioResampler("fltp", "mono", RATE)
        frames = [*container.decode(audio=0), None]
        parts = [part.to_ndarray()[0] for frame in frames for part in resampler.resample(frame)]
    quiet = np.zeros(RATE // 2, np.float32)
    return np.concatenate([quiet, *parts, quiet])


def line_ends() -> tuple[float, float]:
    """First and last instant of the line over 1 % of full scale."""
    loud = np.flatnonzero(np.abs(spoken_line()) > 0.01)
    return loud[0] / RATE, loud[-1] / RATE


def words_of(text: str) -> list[str]:
    return "".join(
        letter for letter in text.casefold() if letter.isalpha() or letter == " "
    ).split()


def said(track: CueTrack) -> list[str]:
    return [word for cue in track.cues for word in words_of(cue.text)]


# --- sounds without speech -----------------------------------------------------------------------


def white(seconds: float, seed: int = 0) -> np.ndarray:
    return 0.1 * np.random.default_rng(seed).standard_normal(round(seconds * RATE))


def pink(seconds: float) -> np.ndarray:
    """Noise whose power falls with frequency."""
    spectrum = np.fft.rfft(white(seconds))
    spectrum /= np.sqrt(np.maximum(np.arange(len(spectrum)), 1))
    noise = np.fft.irfft(spectrum)
    return 0.3 * noise / np.abs(noise).max()


def tone(seconds: float, hertz: float = 440.0) -> np.ndarray:
    return 0.3 * np.sin(2 * np.pi * hertz * np.arange(round(seconds * RATE)) / RATE)


def tune(seconds: float, seed: int) -> np.ndarray:
    """Plucked notes of a pentatonic scale with four harmonics each."""
    rng = np.random.default_rng(seed)
    notes = []
    while sum(map(len, notes)) < seconds * RATE:
        hertz = 220 * 2 ** (rng.choice([0, 3, 5, 7, 10, 12]) / 12)
        time_s = np.arange(round(rng.choice([0.2, 0.4, 0.6]) * RATE)) / RATE
        waves = sum(np.sin(2 * np.pi * hertz * h * time_s) / h for h in range(1, 5))
        notes.append(waves * np.exp(-3 * time_s) * np.minimum(1, time_s / 0.01))
    return 0.2 * np.concatenate(notes)[: round(seconds * RATE)]


@pytest.mark.parametrize(
    "sound",
    [
        pytest.param(white(20), id="white noise"),
        pytest.param(pink(20), id="pink noise"),
        pytest.param(tone(20), id="high tone"),
        pytest.param(tone(20, 130), id="low tone"),
        pytest.param(tune(20, 0), id="a tune", marks=pytest.mark.weights),
        pytest.param(tune(20, 1), id="another tune", marks=pytest.mark.weights),
    ],
)
def test_sound_without_speech_gives_no_speech(sound: np.ndarray) -> None:
    track = listen((0.0, sound)).track
    assert (track.cues, track.status) == ((), Status.NO_SIGNAL)
    assert "no speech in it" in track.notes[0]


def test_the_kinds_of_nothing_are_told_apart() -> None:
    no_stream = RECOGNIZER.start(info(9.0, has_audio=False)).finish().track
    no_sample = RECOGNIZER.start(info(9.0)).finish().track
    silent = listen((0.0, np.zeros(5 * RATE))).track
    hissing = listen((0.0, white(5) / 1000)).track
    audible = listen((0.0, white(5))).track
    for track, note in (
        (no_stream, "no audio stream"),
        (no_sample, "No sound could be decoded"),
        (silent, "The audio is silent (5.0 s"),
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
    recognition = listen((0.0, spoken_line()))
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
    alone = listen((0.0, spoken_line())).track.cues[0].span
    track = listen((5.0, spoken_line()), (400.25, spoken_line())).track
    assert said(track) == 2 * words_of(LINE)
    for cue, offset_s in zip(track.cues, (5.0, 400.25), strict=True):
        assert cue.span.start_s - offset_s == pytest.approx(alone.start_s, abs=0.05)
        assert cue.span.end_s - offset_s == pytest.approx(alone.end_s, abs=0.05)


@pytest.mark.weights
def test_a_pause_parts_two_utterances_and_silence_belongs_to_neither() -> None:
    line = spoken_line()
    track = listen((0.0, np.concatenate([line, np.zeros(5 * RATE), line])), chunk_s=0.1).track
    assert [words_of(cue.text) for cue in track.cues] == 2 * [words_of(LINE)]
    again_s = len(line) / RATE + 5
    assert track.cues[0].span.end_s < again_s - 4
    assert track.cues[1].span.start_s == pytest.approx(again_s + line_ends()[0], abs=0.3)


@pytest.mark.weights
def test_quiet_speech_and_speech_in_noise_are_heard() -> None:
    line = spoken_line()
    loudness = np.sqrt(np.mean(np.square(line)))
    ten_decibels_less = loudness / math.sqrt(10) / 0.1 * white(len(line) / RATE)[: len(line)]
    assert said(listen((0.0, line / 50)).track) == words_of(LINE)
    [noisy] = listen((0.0, line + ten_decibels_less)).track.cues
    assert "warming up before the big" in noisy.text


@pytest.mark.weights
def test_the_fast_preset_hears_the_line_too() -> None:
    track = listen((0.0, spoken_line()), recognizer=FAST).track
    assert said(track) == words_of(LINE)
    assert track.source.checkpoint_sha256 != RECOGNIZER.source.checkpoint_sha256


@pytest.mark.weights
def test_a_loop_ends_with_as_many_tokens_as_speech_of_that_length_can_have() -> None:
    stutter = np.tile(spoken_line()[8000:12000], 6).astype(np.float32)
    transcript = RECOGNIZER.transcriber().transcribe(stutter, "en")
    characters = sum(len(word.text) for part in transcript.segments for word in part.words)
    assert len(stutter) / RATE == 1.5
    assert characters < 300


def test_a_language_that_no_model_knows_is_told_when_the_options_are_built() -> None:
    with pytest.raises(UnknownName, match=r"'eng'. Did you mean 'en'\? Available: af, .*, zh\."):
        Options(language="eng")


def test_a_language_that_the_chosen_model_does_not_know_is_told_before_anything_is_heard() -> None:
    with pytest.raises(UnknownName, match=r"'de'.* Available: en\."):
        build(Options(checkpoint="whisper_tiny_en", language="de"))
    assert build(Options(language="de")).options.language == "de"


def test_a_checkpoint_that_is_no_speech_model_lists_those_that_are() -> None:
    with pytest.raises(UnknownName, match=r"Available: whisper_base, whisper_tiny_en\."):
        build(Options(checkpoint="blazepose_detector"))


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (Options, "beam_size", 0),
        (Options, "beam_size", 21),
        (Options, "pause_s", -1),
        (Options, "language_confidence", 2),
        (Options, "threads", 100_000),
        (CutRules, "threshold", math.nan),
        (CutRules, "join_s", math.inf),
        (CutRules, "longest_s", 31),
        (CutRules, "padding_s", -0.1),
        (GuardRules, "repeats", 1),
        (GuardRules, "lowest_logprob", 0.5),
        (GuardRules, "compression_ratio", 0),
    ],
)
def test_options_are_checked(kind: type, name: str, value: float) -> None:
    with pytest.raises(BadInput, match=rf"speech recognizer's .*{name} is {value}; give a number"):
        kind(**{name: value})


def test_a_piece_has_room_for_speech_between_its_padding() -> None:
    with pytest.raises(BadInput, match=r"longest_s is 4; give at least twice padding_s \(2\)"):
        CutRules(longest_s=4, padding_s=2)


@pytest.mark.weights
def test_more_threads_than_the_machine_has_cores_hear_the_same() -> None:
    recognizer = build(Options(checkpoint="whisper_tiny_en", threads=256))
    assert said(listen((0.0, spoken_line()), recognizer=recognizer).track) == words_of(LINE)


def test_threads_are_no_part_of_the_source_and_settings_are() -> None:
    assert build(Options(threads=2)).source == RECOGNIZER.source
    assert build(Options(language="en")).source != RECOGNIZER.source
    assert RECOGNIZER.source.version.startswith("faster-whisper 1.")


# --- voice activity and pieces -------------------------------------------------------------------


def test_voice_activity_does_not_depend_on_how_the_sound_comes_in() -> None:
    line = spoken_line()
    windows = line[: len(line) // WINDOW * WINDOW].reshape(-1, WINDOW)
    whole = SileroVoiceActivity()(windows)
    stream = SileroVoiceActivity()
    parts = [stream(windows[first : first + 7]) for first in range(0, len(windows), 7)]
    assert np.concatenate(parts) == pytest.approx(whole, abs=1e-4)
    assert whole.max() > 0.9
    assert whole[:10].max() < 0.1


def loud_is_voice(windows: np.ndarray) -> np.ndarray:
    """Stands for a voice activity model: a window's mean magnitude is its probability."""
    return np.abs(windows).mean(axis=1).astype(np.float32)


def levels(*stretches: tuple[float, int]) -> np.ndarray:
    """(level, number of windows) after one another."""
    return np.concatenate(
        [np.full(count * WINDOW, level, np.float32) for level, count in stretches]
    )


RULES = CutRules(
    pause_s=4 * WINDOW_S,
    shortest_s=2 * WINDOW_S,
    padding_s=2 * WINDOW_S,
    join_s=20 * WINDOW_S,
    longest_s=100 * WINDOW_S,
)


def cut(samples: np.ndarray, start_s: float = 0.0, step: int = 1000) -> list[Piece]:
    cutter = PieceCutter(loud_is_voice, start_s, RULES)
    pieces = []
    for first in range(0, len(samples), step):
        pieces += cutter.feed(samples[first : first + step])
    return pieces + cutter.flush()


def in_windows(pieces: Sequence[Piece], start_s: float = 0.0) -> list[tuple[float, float, list]]:
    def count(time_s: float) -> float:
        return round((time_s - start_s) / WINDOW_S, 2)

    return [
        (
            count(piece.start_s),
            count(piece.end_s),
            [(count(span.start_s), count(span.end_s)) for span in piece.voiced],
        )
        for piece in pieces
    ]


def test_near_stretches_share_a_piece_and_far_ones_do_not() -> None:
    sound = levels((0, 10), (1, 8), (0, 10), (1, 6), (0, 30), (1, 5), (0, 40))
    assert in_windows(cut(sound)) == [
        (8, 36, [(10, 18), (28, 34)]),
        (62, 71, [(64, 69)]),
    ]


def test_a_piece_holds_the_sound_of_its_time() -> None:
    sound = levels((0, 10), (1, 8), (0, 30), (0.8, 6), (0, 9))
    for piece in cut(sound, start_s=3.0):
        first = round((piece.start_s - 3.0) * RATE)
        assert np.array_equal(piece.samples, sound[first : first + len(piece.samples)])


def test_clicks_and_sound_below_the_floor_are_no_speech() -> None:
    assert cut(levels((0, 10), (1, 1), (0, 30))) == []
    cutter = PieceCutter(lambda windows: np.ones(len(windows), np.float32), 0.0, RULES)
    assert cutter.feed(levels((0.0009, 50))) + cutter.flush() == []


def test_speech_at_the_very_end_is_not_lost_nor_longer_than_the_sound() -> None:
    sound = levels((0, 10), (1, 8))[: -WINDOW // 2]
    assert in_windows(cut(sound, 5.0), 5.0) == [(8, 17.5, [(10, 17.5)])]


def test_a_long_talk_is_cut_in_its_pauses() -> None:
    sound = levels(*[(1, 40), (0, 6)] * 5)
    assert in_windows(cut(sound)) == [
        (0, 88, [(0, 40), (46, 86)]),
        (90, 180, [(92, 132), (138, 178)]),
        (182, 226, [(184, 224)]),
    ]


def test_speech_without_a_pause_is_cut_where_it_is_faintest() -> None:
    sound = levels((1, 30), (0.4, 1), (1, 40), (0.6, 1), (1, 60))
    first, second = in_windows(cut(sound))
    assert first == (0, 71, [(0, 71)])
    assert second == (71, 132, [(71, 132)])


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.4, 1.0]), st.integers(1, 60)), max_size=8),
    st.integers(300, 5000),
)
@settings(max_examples=40, deadline=None)
def test_pieces_do_not_overlap_nor_depend_on_the_chunks(
    stretches: list[tuple[float, int]], step: int
) -> None:
    sound = levels((0, 1), *stretches)
    pieces = cut(sound, step=step)
    assert in_windows(pieces) == in_windows(cut(sound, step=len(sound)))
    for piece in pieces:
        assert piece.end_s - piece.start_s <= RULES.longest_s + 1e-9
        for voiced in piece.voiced:
            assert piece.start_s <= voiced.start_s < voiced.end_s <= piece.end_s + 1e-9
    assert all(a.end_s <= b.start_s + 1e-9 for a, b in pairwise(pieces))


# --- utterances and guards -----------------------------------------------------------------------


def segment(
    *words: tuple[str, float, float], logprob: float = -0.3, silence: float = 0.0
) -> Segment:
    return Segment(
        tuple(Word(start, end, text, 0.9) for text, start, end in words), logprob, silence
    )


def test_utterances_end_with_sentences_and_pauses() -> None:
    spoken = segment(
        *((" Mr.", 0.0, 0.3), (" Smith", 0.3, 0.8), (" left.", 0.8, 1.2)),
        *((" Why?", 1.3, 1.6), (" Because", 1.7, 2.0), (" he", 3.0, 3.2), (" did", 3.2, 3.4)),
    )
    later = segment((" it", 3.4, 3.5), ("。", 3.5, 3.6), (" Yes", 3.6, 3.8))
    texts = [u.text for u in words_to_utterances([spoken, later], pause_s=0.8)]
    assert texts == ["Mr. Smith left.", "Why?", "Because", "he did it。", "Yes"]


def test_an_utterance_is_as_sure_as_its_segments() -> None:
    [both] = words_to_utterances(
        [
            segment((" a", 0, 1), logprob=-0.2, silence=0.1),
            segment((" b", 1, 2), (" c", 2, 3), logprob=-0.5, silence=0.6),
        ],
        pause_s=1,
    )
    assert both.avg_logprob == pytest.approx(-0.4)
    assert both.confidence == pytest.approx(math.exp(-0.4))
    assert both.no_speech_prob == 0.6
    assert (both.start_s, both.end_s) == (0, 3)


def utterance(text: str, logprob: float = -0.3, silence: float = 0.0) -> Utterance:
    words = tuple(Word(i, i + 1, f" {word}", 0.9) for i, word in enumerate(text.split()))
    return Utterance(words, logprob, silence)


@pytest.mark.parametrize(
    ("spoken", "reason"),
    [
        (utterance("come down from there"), ""),
        (utterance("Yes.", logprob=-0.73, silence=0.55), ""),
        (utterance("well in the noise", logprob=-0.89, silence=0.03), ""),
        (utterance("no no no"), ""),
        (utterance("1917"), ""),
        (utterance("je bovene kruis", logprob=-0.9, silence=0.23), "probably no speech"),
        (utterance("who knows", logprob=-1.0), "unsure"),
        (utterance("... ♪"), "no letter"),
        (utterance("no no no no"), "a loop"),
        (utterance("gif m'as gif m'as gif m'as gif m'as"), "a loop"),
        (utterance("the very same sentence over and over again " * 8), "compression ratio"),
    ],
)
def test_what_is_believed(spoken: Utterance, reason: str) -> None:
    assert (reason in doubt(spoken, GuardRules())) if reason else not doubt(spoken, GuardRules())


def test_words_without_length_were_not_aligned() -> None:
    spoken = utterance("thanks for watching")
    flat = replace(spoken, words=tuple(replace(word, end_s=word.start_s) for word in spoken.words))
    assert "aligned" in doubt(flat, GuardRules())


def test_words_away_from_the_voice_or_past_the_end_are_dropped() -> None:
    heard = segment((" far", 0.0, 0.4), (" here", 2.0, 3.0), (" late", 9.0, 9.5))
    kept, dropped = spoken_words([heard], [Span(2.0, 4.0)], 9.0, GuardRules(voice_margin_s=0.5))
    assert [word.text for part in kept for word in part.words] == [" here"]
    assert [(word.text, reason) for word, reason in dropped] == [
        (" far", "no voice activity there"),
        (" late", "past the end of the sound"),
    ]


def test_a_word_is_trimmed_to_the_voice_after_a_pause() -> None:
    heard = segment((" And", 0.0, 2.0), (" so", 2.0, 4.5))
    [part], _ = spoken_words([heard], [Span(1.5, 2.2), Span(2.8, 4.0)], 9.0, GuardRules())
    [first, second] = part.words
    assert 1.4 < first.start_s <= 1.5
    assert first.end_s == 2.0
    assert 2.7 < second.start_s <= 2.8
    assert 4.0 <= second.end_s < 4.1


def test_times_are_put_in_order_and_into_the_sound() -> None:
    heard = segment((" a", -0.5, 0.6), (" b", 0.4, 1.0), (" c", 1.2, 0.9), (" d", 2.5, 9.0))
    [part] = in_order([heard], Span(0.0, 3.0))
    assert [(word.start_s, word.end_s) for word in part.words] == [
        (0.0, 0.6),
        (0.6, 1.0),
        (1.2, 1.2),
        (2.5, 3.0),
    ]
