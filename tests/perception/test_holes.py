"""Holes: where a file stores neither pictures nor sound."""

from __future__ import annotations

import random

from perception.holes import Holes

PICTURES_S = [number / 10 for number in range(200) if not 5 <= number / 10 < 9]
SOUND_S = [number / 20 for number in range(400) if not 4.9 <= number / 20 < 9.1]


def holes_of(events: list[tuple[str, float]]) -> list[tuple[float, float]]:
    holes = Holes()
    for kind, time_s in events:
        if kind == "picture":
            holes.see_picture(time_s)
        else:
            holes.see_sound(time_s, time_s + 0.05)
    return [(round(start_s, 2), round(end_s, 2)) for start_s, end_s in holes.found()]


def test_a_stretch_without_either_is_a_hole_however_the_streams_are_interleaved() -> None:
    pictures = [("picture", time_s) for time_s in PICTURES_S]
    sound = [("sound", time_s) for time_s in SOUND_S]
    by_time = sorted(pictures + sound, key=lambda event: event[1])
    shuffled = sorted(by_time, key=lambda event: event[1] + random.Random(event[1]).random() / 50)
    for events in (by_time, pictures + sound, sound + pictures, shuffled):
        assert holes_of(events) == [(4.9, 9.1)]


def test_a_pause_of_one_stream_is_none() -> None:
    every_picture = [("picture", number / 10) for number in range(200)]
    sound = [("sound", time_s) for time_s in SOUND_S]
    assert holes_of(every_picture + sound) == []
    assert holes_of(sound + every_picture) == []
    assert holes_of(sound) == []
    slides = [("picture", 0.0), ("picture", 10.0), ("picture", 20.0)]
    assert holes_of([*slides, *(("sound", number / 20) for number in range(100))]) == []
