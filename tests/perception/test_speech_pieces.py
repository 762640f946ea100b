"""Voice activity, and how the sound is cut into pieces that hold speech."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perception.audio.pieces import CutRules, Piece, PieceCutter
from perception.audio.voice_activity import WINDOW, WINDOW_S, SileroVoiceActivity
from perception.errors import BadInput
from perception.recognizer import AUDIO_RATE_HZ
from tests.perception.sounds import line

RATE = AUDIO_RATE_HZ


def test_voice_activity_does_not_depend_on_how_the_sound_comes_in() -> None:
    sound = line()
    windows = sound[: len(sound) // WINDOW * WINDOW].reshape(-1, WINDOW)
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


def test_a_piece_has_room_for_speech_between_its_padding() -> None:
    with pytest.raises(BadInput, match=r"longest_s is 4; give at least twice padding_s \(2\)"):
        CutRules(longest_s=4, padding_s=2)
