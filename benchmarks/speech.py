"""What speech recognition keeps of sounds without speech, of spoken clips and of speech backwards.

    python -m benchmarks.speech                 # about 5 minutes on one core
    python -m benchmarks.speech --keep FOLDER   # again with other limits: seconds
    python -m benchmarks.speech --minutes 30    # memory over a long file

Sounds without speech last a minute each. Thirty clips are spoken by espeak-ng (Debian: ``apt-get
install espeak-ng``) and by recorded voices in eight languages that come out of packages; each is
heard as it is, over music and in noise, both 10 dB fainter than the voice, and backwards. The
limits of the guards were chosen on every other clip; the rest is held out. Errors are counted by
word, in Chinese and Japanese by character.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.kept_transcripts import KeepingRecognizer
from perception.audio.belief import Dropped, read_dropped
from perception.cue import VideoInfo
from perception.plugins import take
from perception.recognizer import AUDIO_RATE_HZ, AudioChunk
from perception.recognizers.speech import Options, SpeechRecognizer, build
from tests.perception import recordings, sounds
from tests.perception.sounds import Samples

MINUTE_S = 60.0
CHUNK = 2 * AUDIO_RATE_HZ
FAINTER_DB = 10.0

NO_SPEECH: dict[str, Callable[[float], Samples]] = {
    "silence": sounds.silence,
    "white noise": sounds.white,
    "pink noise": sounds.pink,
    "tone of 440 Hz": sounds.tone,
    "plucked tune": sounds.tune,
    "band with a lead": sounds.band,
    "applause": sounds.applause,
}

SENTENCES = {
    "en-us": "The boy was there when the sun rose.",
    "en-gb": "A rod is used to catch pink salmon.",
    "en-us+m3": "The source of the huge river is the clear spring.",
    "en-us+f2": "Kick the ball straight and follow through.",
    "en-gb-scotland": "Help the woman get back to her feet.",
    "en-us+m1": "A pot of tea helps to pass the evening.",
    "en-gb+f3": "Smoky fires lack flame and heat.",
    "en-us+m7": "The soft cushion broke the man's fall.",
    "en-gb-x-rp": "The salt breeze came across from the sea.",
    "en-us+f4": "The girl at the booth sold fifty bonds.",
}
"""espeak-ng's voice and what it says: the first of the Harvard sentences (IEEE 1969)."""

CONDITIONS: dict[str, Callable[[Samples], Samples]] = {
    "quiet": lambda speech: speech,
    "music": lambda speech: sounds.mixed(speech, sounds.band(10.0, 3), FAINTER_DB),
    "noise": lambda speech: sounds.mixed(speech, sounds.white(10.0, 4), FAINTER_DB),
}
BACKWARDS = "backwards"
FORWARDS = "quiet, music and noise"

BY_CHARACTER = ("ja", "zh")


@dataclass(frozen=True)
class Clip:
    """Somebody who speaks."""

    voices: str
    text: str
    sound: Samples
    language: str = "en"
    held_out: bool = False


@dataclass(frozen=True)
class Heard:
    """What came of a clip."""

    texts: tuple[str, ...]
    dropped: tuple[Dropped, ...]


def main() -> None:
    """Measure and print tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="faster_whisper")
    parser.add_argument("--checkpoint", default="", help="of the backend; empty = its default")
    parser.add_argument("--minutes", type=int, default=0, help="only: memory over so many minutes")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="of what the model writes")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    given = parser.parse_args()
    recognizer = recognizer_of(given.backend, given.checkpoint)
    if given.minutes:
        rows = {"memory": memory(recognizer, given.minutes)}
    else:
        if given.keep:
            recognizer = KeepingRecognizer(recognizer, given.keep)
        rows = {"no speech": no_speech(recognizer), **speech(recognizer)}
    if given.json:
        print(json.dumps({"source": recognizer.source.version, **rows}, indent=1))
        return
    print(recognizer.source.version, *recognizer.weights)
    for title, table in rows.items():
        print(f"\n{title}")
        for row in table:
            print("  ", *(f"{key} {value}" for key, value in row.items()), sep="  ")


def recognizer_of(backend: str, checkpoint: str) -> SpeechRecognizer:
    """The speech recognizer with that backend."""
    plugin = take("perception.audio.backends", backend)
    options = plugin.Options(checkpoint) if checkpoint else plugin.Options()
    return build(Options(backend=backend, backends={backend: options}))


def listen(recognizer: SpeechRecognizer, sound: Samples) -> Heard:
    """Feed a sound as a video's."""
    length_s = len(sound) / AUDIO_RATE_HZ
    session = recognizer.start(VideoInfo("clip", "0" * 64, 0.0, length_s, 0, 0, 0.0, False, True))
    for first in range(0, len(sound), CHUNK):
        session.feed(AudioChunk(first / AUDIO_RATE_HZ, sound[first : first + CHUNK]))
    found = session.finish()
    texts = tuple(cue.text for cue in found.track.cues)
    return Heard(texts, read_dropped("speech", found.traces))


def no_speech(recognizer: SpeechRecognizer) -> list[dict[str, Any]]:
    """A row for each sound that holds no word."""
    rows = []
    for name, make in NO_SPEECH.items():
        heard = listen(recognizer, make(MINUTE_S))
        guards = Counter(str(each.doubt.guard) for each in heard.dropped)
        rows.append({"sound": name, "kept": len(heard.texts), "dropped": dict(guards)})
        tell(rows[-1])
    return rows


def speech(recognizer: SpeechRecognizer) -> dict[str, list[dict[str, Any]]]:
    """Tables of the spoken clips, by what the limits were chosen on and by kind of voice."""
    heard: list[tuple[str, Clip, Heard]] = []
    for clip in clips():
        for condition, change in {**CONDITIONS, BACKWARDS: lambda sound: sound[::-1]}.items():
            result = listen(recognizer, change(clip.sound))
            heard.append((condition, clip, result))
            tell({"said": clip.text, condition: result.texts, "dropped": len(result.dropped)})
    return {
        "spoken clips": rows_of(heard, lambda clip: "held out" if clip.held_out else "tuned on"),
        "by voice": rows_of(heard, lambda clip: clip.voices),
    }


def rows_of(
    heard: Sequence[tuple[str, Clip, Heard]], part_of: Callable[[Clip], str]
) -> list[dict[str, Any]]:
    """A row for each condition, and for all but backwards, and part of the clips."""
    groups: dict[tuple[str, str], list[tuple[Clip, Heard]]] = {}
    for condition, clip, result in heard:
        for group in (condition, *(() if condition == BACKWARDS else (FORWARDS,))):
            groups.setdefault((group, part_of(clip)), []).append((clip, result))
    return [
        row_of(condition, part, pairs)
        for (condition, part), pairs in sorted(groups.items(), key=lambda item: item[0])
    ]


def row_of(condition: str, part: str, pairs: Sequence[tuple[Clip, Heard]]) -> dict[str, Any]:
    """Clips, utterances kept and dropped, and the rate of errors unless they ran backwards.

    A clip in which nothing was heard at all counts as one utterance that was not kept.
    """
    kept = sum(len(result.texts) for _, result in pairs)
    dropped = Counter(str(each.doubt.guard) for _, result in pairs for each in result.dropped)
    missed = sum(not result.texts and not result.dropped for _, result in pairs)
    row: dict[str, Any] = {
        "condition": condition,
        "part": part,
        "clips": len(pairs),
        "with something kept": sum(bool(result.texts) for _, result in pairs),
        "kept": f"{kept} of {kept + missed + sum(dropped.values())}",
        "dropped": dict(dropped),
    }
    if condition != BACKWARDS:
        counts = [
            errors(clip.text, " ".join(result.texts), clip.language) for clip, result in pairs
        ]
        wrong, words = (sum(column) for column in zip(*counts, strict=True))
        row["errors"] = f"{wrong / words:.1%} of {words} words"
    return row


def clips() -> list[Clip]:
    """All thirty, every second one held out."""
    return [replace(clip, held_out=number % 2 == 1) for number, clip in enumerate(_clips())]


def _clips() -> Iterator[Clip]:
    """Ten sentences by espeak-ng, where it is, and the recordings."""
    if sounds.has_espeak():
        for voice, text in SENTENCES.items():
            yield Clip("espeak-ng", text, sounds.spoken(text, voice))
    else:
        print("espeak-ng is not installed: its ten clips are left out", file=sys.stderr)
    for name, text in recordings.TEXTS.items():
        sound = recordings.voice(name)
        quiet = sounds.silence(0.5)
        padded = np.concatenate([quiet, sound, quiet])
        yield Clip("eight languages", text, padded, name.partition("_")[0])
    yield Clip("read", recordings.BECKETT_TEXT, recordings.beckett())
    for span_s, text in recordings.CITIES.items():
        yield Clip("read", text, recordings.cities(*span_s))
    try:
        yield Clip("read", recordings.JFK_TEXT, recordings.jfk())
    except pytest.skip.Exception as missing:
        print(missing, file=sys.stderr)


def errors(reference: str, heard: str, language: str) -> tuple[int, int]:
    """Insertions, deletions and substitutions (Levenshtein 1966), and the reference's words."""
    said, got = (_tokens(text, language) for text in (reference, heard))
    row = list(range(len(got) + 1))
    for number, word in enumerate(said, start=1):
        previous, row[0] = row[0], number
        for at, other in enumerate(got, start=1):
            change = previous + (word != other)
            previous, row[at] = row[at], min(change, row[at] + 1, row[at - 1] + 1)
    return row[-1], len(said)


def _tokens(text: str, language: str) -> list[str]:
    plain = "".join(
        character if unicodedata.category(character)[0] in "LNM" else " "
        for character in text.casefold().replace("'", "")
    )
    return [*plain.replace(" ", "")] if language in BY_CHARACTER else plain.split()


def memory(recognizer: SpeechRecognizer, minutes: int) -> list[dict[str, Any]]:
    """Resident memory of this process while it perceives a video of so many minutes."""
    from perception.cache import TrackCache
    from perception.perceive import Progress, perceive

    rows: list[dict[str, Any]] = []

    def watch(progress: Progress) -> None:
        if progress.done_s >= 60 * (len(rows) * minutes / 6):
            rows.append({"minute": round(progress.done_s / 60), "MB": round(resident_mb())})
            tell(rows[-1])

    with tempfile.TemporaryDirectory() as folder:
        path = looped(Path(folder) / "long.mp4", minutes)
        begin = time.perf_counter()
        perception = perceive(
            path, [recognizer], cache=TrackCache(Path(folder) / "cache"), on_progress=watch
        )
        took_s = time.perf_counter() - begin
    [track] = perception.timeline.tracks
    rows.append({"utterances": len(track.cues), "seconds": round(took_s)})
    return rows


def looped(path: Path, minutes: int) -> Path:
    """A video whose sound is a recording over and over, with five seconds of silence between."""
    import av

    once = np.concatenate([recordings.jfk(), sounds.silence(5.0)])
    with av.open(str(path), "w") as file:
        stream = file.add_stream("aac", rate=AUDIO_RATE_HZ, layout="mono")
        for number in range(-(-minutes * 60 * AUDIO_RATE_HZ // len(once))):
            frame = av.AudioFrame.from_ndarray(once[None], format="fltp", layout="mono")
            frame.rate, frame.pts = AUDIO_RATE_HZ, number * len(once)
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
    return path


def tell(row: dict[str, Any]) -> None:
    """Progress, on stderr."""
    print(*(f"{key}: {value}" for key, value in row.items()), file=sys.stderr, flush=True)


def resident_mb() -> float:
    """As ``ps`` tells it."""
    told = subprocess.run(
        ["ps", "-o", "rss=", "-p", str(os.getpid())],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(told.stdout) / 1e3


if __name__ == "__main__":
    main()
