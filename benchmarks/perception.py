"""Wall time over clip time and peak memory of every recognizer, and the start-up times.

    python -m benchmarks.perception [--runs 3]

Each run is a process of its own with an empty track cache; the weights are fetched beforehand. A
line tells the quickest and the slowest of its runs and the highest memory; a ratio under 1 is
faster than real time.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import platform
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

LONG_S = 60
WIDTH, HEIGHT = 640, 360


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--runs", type=int, default=3, help="of each line (default: 3)")
    given = parser.parse_args()
    from perception.perceive import DEFAULT_RECOGNIZERS, build_recognizers
    from perception.sample import compose
    from perception.weights import fetch

    fetch([name for recognizer in build_recognizers() for name in recognizer.weights])
    sample = compose()
    with tempfile.TemporaryDirectory() as folder:
        long = Path(folder) / f"{LONG_S}s_{WIDTH}x{HEIGHT}.mp4"
        repeat(sample, long)
        each = [(name,) for name in DEFAULT_RECOGNIZERS]
        rows = [
            best([measured(clip, only) for _ in range(given.runs)])
            for clip in (sample, long)
            for only in (*each, DEFAULT_RECOGNIZERS)
        ]
    starts = {
        "import perception": started("import perception"),
        "import numpy": started("import numpy"),
        "cuelight --help": started("from reasoning.cli import main; main(['--help'])"),
    }
    if given.json:
        print(json.dumps({"machine": machine(), "rows": rows, "start_s": starts}, indent=1))
        return
    print(machine())
    head = f"{'clip':<18}{'recognizers':<32}{'wall s':>8}{'wall/clip':>11}"
    print(f"{head}{'slowest':>9}{'peak MB':>9}")
    for row in rows:
        names = "+".join(row["recognizers"])
        print(
            f"{row['clip']:<18}{names:<32}{row['wall_s']:>8.2f}"
            f"{row['wall_over_clip']:>11.2f}{row['slowest_over_clip']:>9.2f}{row['peak_mb']:>9.0f}"
        )
    for name, seconds in starts.items():
        print(f"{name}: {seconds:.2f} s (best of 5)")


def machine() -> str:
    """Cores and Python of this machine."""
    return f"{multiprocessing.cpu_count()} cores, Python {platform.python_version()}"


def measured(clip: Path, only: tuple[str, ...]) -> dict[str, Any]:
    """Perceive ``clip`` in a fresh process; seconds, ratio and peak resident memory."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
        return pool.submit(_perceive, clip, only).result()


def best(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The quickest of several runs of one line, with the slowest's ratio and the highest memory."""
    return min(rows, key=lambda row: row["wall_s"]) | {
        "slowest_over_clip": max(row["wall_over_clip"] for row in rows),
        "peak_mb": max(row["peak_mb"] for row in rows),
    }


def _perceive(clip: Path, only: tuple[str, ...]) -> dict[str, Any]:
    from perception.cache import TrackCache
    from perception.perceive import perceive

    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        perception = perceive(clip, only=only, cache=TrackCache(Path(folder)))
        wall_s = time.perf_counter() - begin
    statuses = {track.kind: str(track.status) for track in perception.timeline.tracks}
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return {
        "clip": clip.name,
        "recognizers": list(only),
        "wall_s": wall_s,
        "wall_over_clip": wall_s / perception.timeline.video.duration_s,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit,
        "status": statuses,
    }


def started(code: str) -> float:
    """Best of five seconds of ``python -c code``, less those of an empty program."""

    def run(program: str) -> float:
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", program], check=False, stdout=subprocess.DEVNULL)
        return time.perf_counter() - begin

    return min(run(code) for _ in range(5)) - min(run("") for _ in range(5))


def repeat(source: Path, target: Path) -> None:
    """Write ``source`` over and over, scaled, until ``LONG_S`` seconds are full."""
    import av
    from av.audio.resampler import AudioResampler

    with av.open(str(target), "w") as out:
        picture = out.add_stream("libx264", rate=30, options={"preset": "veryfast"})
        picture.width, picture.height, picture.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        picture.codec_context.time_base = Fraction(1, 30)
        sound = out.add_stream("aac", rate=16_000, layout="mono")
        frames = samples = 0
        while frames < LONG_S * 30:
            with av.open(str(source)) as file:
                resampler = AudioResampler("fltp", "mono", 16_000, sound.codec_context.frame_size)
                for frame in file.decode():
                    if isinstance(frame, av.VideoFrame) and frames < LONG_S * 30:
                        small = frame.reformat(WIDTH, HEIGHT, "yuv420p")
                        small.pts, small.time_base, frames = frames, Fraction(1, 30), frames + 1
                        out.mux(picture.encode(small))
                    elif isinstance(frame, av.AudioFrame) and samples < LONG_S * 16_000:
                        for chunk in resampler.resample(frame):
                            chunk.pts, chunk.time_base = samples, Fraction(1, 16_000)
                            samples += chunk.samples
                            out.mux(sound.encode(chunk))
        out.mux(picture.encode(None))
        out.mux(sound.encode(None))


if __name__ == "__main__":
    main()
