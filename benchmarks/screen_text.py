"""Words that the backends find on real pictures, readings that a clip costs, memory over length.

    python -m benchmarks.screen_text --images FOLDER     words found, for every backend installed
    python -m benchmarks.screen_text --clip              readings of the sample clip
    python -m benchmarks.screen_text --minutes 30        memory over a clip looped to that length

The words of the pictures are in ``screen_text.yaml``, which says where the pictures are from.
Readings go through the recognizer, with its rules of what counts as text.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import tempfile
import time
import unicodedata
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

WORDS = Path(__file__).with_suffix(".yaml")
LOOP_S = 20
"""Of captions over a moving background, repeated to any length."""

WIDTH, HEIGHT, RATE_HZ = 320, 180, 10
"""Small, so that half an hour takes minutes; what stays in memory does not depend on it."""


def main() -> None:
    """Measure what was asked for and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=Path, help="folder of the pictures in screen_text.yaml")
    parser.add_argument("--clip", action="store_true", help="readings of the sample clip")
    parser.add_argument("--minutes", type=float, help="memory over a clip of this length")
    parser.add_argument("--backend", action="append", help="only this backend; repeatable")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    chosen = parser.parse_args()
    backends = chosen.backend or installed()
    rows: list[dict[str, Any]] = []
    if chosen.images:
        rows += words_found(chosen.images, backends)
    if chosen.clip:
        rows += [readings(backend) for backend in backends]
    if chosen.minutes:
        rows += [memory(backend, chosen.minutes) for backend in backends]
    if not rows:
        parser.error("say what to measure: --images FOLDER, --clip or --minutes N")
    if chosen.json:
        print(json.dumps(rows, indent=1))
        return
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}")
    for row in rows:
        print(", ".join(f"{name} {value}" for name, value in row.items()))


def installed() -> list[str]:
    """The backends whose package is there."""
    from perception import plugins
    from perception.text.backend import BACKENDS

    names = plugins.names(BACKENDS)
    found = (plugins.build(BACKENDS, name, {}) for name in names)
    return [name for name, each in zip(names, found, strict=True) if "not inst" not in each.version]


def recognizer(backend: str) -> Any:
    """A screen text recognizer with its weights fetched."""
    from perception.recognizers.screen_text import Options, build
    from perception.weights import fetch

    made = build(Options(backend=backend))
    fetch(made.weights)
    return made


def words_found(folder: Path, backends: list[str]) -> list[dict[str, Any]]:
    """Recall of the words a person reads, and how many others were read, for every picture."""
    import yaml

    lists = yaml.safe_load(WORDS.read_text(encoding="utf-8"))
    rows = []
    for backend in backends:
        reads = recognizer(backend)
        for name, lines in lists.items():
            begin = time.perf_counter()
            texts = read_picture(folder / name, reads)
            wall_s = time.perf_counter() - begin
            row: dict[str, Any] = {"backend": backend, "picture": name}
            for label, fold in (("words", plain), ("without accents", unaccented)):
                wanted, found = counted(lines, fold), counted(texts, fold)
                row[label] = f"{(wanted & found).total()}/{wanted.total()}"
                row[f"{label}: others"] = (found - wanted).total()
            rows.append(row | {"wall s": round(wall_s, 1)})
    return rows


def read_picture(path: Path, reads: Any) -> list[str]:
    """The cues of one picture that is shown for a second."""
    import cv2
    import numpy as np

    from perception.cue import VideoInfo
    from perception.recognizer import Frame

    pixels = cv2.imread(str(path))
    if pixels is None:
        raise SystemExit(f"There is no picture {str(path)!r}; {WORDS.name} says where it is from.")
    scale = max(1.0, max(pixels.shape) / reads.needs.max_side_px)
    size = tuple(round(side / scale) for side in pixels.shape[1::-1])
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    rgb = np.ascontiguousarray(small[:, :, ::-1], np.uint8)
    video = VideoInfo(path.name, "0" * 64, 0.0, 1.0, *pixels.shape[1::-1], 1.0, True, False)
    session = reads.start(video)
    session.feed([Frame(0.0, rgb, scale, 1.0)])
    return [cue.text for cue in session.finish().track.cues]


def plain(word: str) -> str:
    """Letters and digits, small."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", word).casefold()))


def unaccented(word: str) -> str:
    """The same without accents."""
    return plain("".join(c for c in unicodedata.normalize("NFKD", word) if c.isascii()))


def counted(lines: list[str], fold: Callable[[str], str]) -> Counter[str]:
    """How often each word stands in ``lines``."""
    words = (fold(word) for line in lines for word in re.split(r"[\s,]+", line))
    return Counter(filter(None, words))


def readings(backend: str) -> dict[str, Any]:
    """What reading the sample clip costs."""
    from perception.cache import TrackCache
    from perception.perceive import perceive
    from perception.sample import compose

    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        found = perceive(compose(), [recognizer(backend)], cache=TrackCache(Path(folder)))
        wall_s = time.perf_counter() - begin
    track = found.timeline.tracks[0]
    clip_s = found.timeline.video.duration_s
    return {
        "backend": backend,
        "clip s": round(clip_s, 1),
        "pictures searched": len(found.traces["screen_text/searched/time"]),
        "lines read and believed": sum(cue.attributes["readings"] for cue in track.cues),
        "spans": len(track.cues),
        "wall/clip": round(wall_s / clip_s, 2),
    }


def memory(backend: str, minutes: float) -> dict[str, Any]:
    """Resident memory while a looped clip is read, in MB, after a tenth of it and at its end."""
    from perception.cache import TrackCache
    from perception.perceive import Progress, perceive

    seen: list[tuple[float, float]] = []

    def note(progress: Progress) -> None:
        if not seen or progress.done_s >= seen[-1][0] + 0.6 * minutes:
            seen.append((progress.done_s, resident_mb()))

    with tempfile.TemporaryDirectory() as folder:
        clip = loop(Path(folder) / "loop.mkv", minutes * 60)
        begin = time.perf_counter()
        found = perceive(
            clip, [recognizer(backend)], cache=TrackCache(Path(folder) / "cache"), on_progress=note
        )
        wall_s = time.perf_counter() - begin
    early = [mb for at_s, mb in seen if minutes * 6 <= at_s <= minutes * 12]
    late = [mb for at_s, mb in seen if at_s >= minutes * 54]
    return {
        "backend": backend,
        "minutes": minutes,
        "spans": len(found.timeline.tracks[0].cues),
        "pictures searched": len(found.traces["screen_text/searched/time"]),
        "MB in the second tenth": f"{min(early):.0f}-{max(early):.0f}",
        "MB in the last tenth": f"{min(late):.0f}-{max(late):.0f}",
        "wall/clip": round(wall_s / (minutes * 60), 2),
    }


def resident_mb() -> float:
    """Resident memory of this process now (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def loop(path: Path, seconds: float) -> Path:
    """Captions over a moving background, encoded once for ``LOOP_S``, the packets repeated."""
    import av

    with av.open(str(path), "w") as out:
        stream = out.add_stream("libx264", rate=RATE_HZ, options={"preset": "veryfast", "g": "30"})
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.codec_context.time_base = Fraction(1, RATE_HZ)
        packets = []
        for number in range(LOOP_S * RATE_HZ):
            frame = av.VideoFrame.from_ndarray(captioned(number / RATE_HZ), format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, RATE_HZ)
            packets += stream.encode(frame)
        packets += stream.encode(None)
        stamped = [(p.pts, p.dts, p.time_base, bytes(p), p.is_keyframe) for p in packets]
        for round_number in range(round(seconds / LOOP_S)):
            for pts, dts, time_base, content, is_keyframe in stamped:
                packet, shift = av.Packet(content), round(round_number * LOOP_S / time_base)
                packet.pts, packet.dts, packet.time_base = pts + shift, dts + shift, time_base
                packet.stream, packet.is_keyframe = stream, is_keyframe
                out.mux(packet)
    return path


def captioned(time_s: float) -> Any:
    """One picture: soft blobs that drift, and every four seconds another caption."""
    import cv2
    import numpy as np

    noise = np.random.default_rng(7).integers(40, 160, (9, 16, 3), np.uint8)
    soft = cv2.resize(noise, (WIDTH, HEIGHT), interpolation=cv2.INTER_CUBIC)
    picture = np.roll(soft, round(30 * time_s), axis=1)
    texts = ("THE INVISIBLE WALL", "A ROPE", "MEANWHILE", "WHO IS THERE", "THE END")
    place = (texts[int(time_s / 4) % len(texts)], (20, 150), cv2.FONT_HERSHEY_DUPLEX, 0.7)
    for grey, thick in ((0, 4), (255, 1)):
        cv2.putText(picture, *place, (grey,) * 3, thick, cv2.LINE_AA)
    return np.ascontiguousarray(picture)


if __name__ == "__main__":
    main()
