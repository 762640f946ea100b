"""Time to fuse 10,000 cues of a 60-minute file, against one decode of that file.

    python -m benchmarks.fusion

The file is generated: 60 s of the sample clip, again and again, 640×360 at 30 frames a second,
H.264. Its pictures are decoded once, and nothing is done with them. The cues are made up
(seeded): actions of several people with alternatives, signs, sentences. Tokens are counted by the
embedded model's tokenizer. Seconds are of processor time, so that busy neighbours do not matter.
The ratio must stay under 0.1.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.perception import HEIGHT, WIDTH, machine, repeat
from fusion.fuse import FusionOptions, fuse
from fusion.question import Question
from perception.cue import Cue, CueTimeline, CueTrack, Source, Span, VideoInfo
from perception.skeleton import posec3d

MINUTES = 60
CUES = 10_000
LIMIT = 0.1
QUESTION = Question("What does the woman by the door do after she waves at 31:20?")
POLICIES = (
    ("every_cue",),
    ("routed",),
    ("retrieved",),
    ("hedged",),
    ("summarised",),
    ("budget",),
    ("routed", "hedged", "budget"),
)
WORDS = (
    "the door is open come in and wave to everybody who waits for a bus at the corner of that "
    "street where we met last summer before it began to rain on all of us"
)


def main() -> None:
    """Measure and print a table; exit code 1 when a policy takes more than a tenth of a decode."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    wants_json = parser.parse_args().json
    from reasoning.tools.assemble import assemble
    from reasoning.videollms import embedded

    with tempfile.TemporaryDirectory() as folder:
        decode_s = decoded_s(long_file(Path(folder)))
    timeline = made_up(CUES, MINUTES * 60)
    rows = []
    with contextlib.closing(embedded.build(embedded.Options())) as model:
        tools = assemble(model=model)
        tools.count_tokens("load")
        for policies in POLICIES:
            options = FusionOptions(policies=policies)
            seconds, kept = fused_s(timeline, options, tools)
            rows.append({"policies": "+".join(policies), "s": seconds, "kept": kept})
    for row in rows:
        row["over_decode"] = row["s"] / decode_s
    if wants_json:
        print(json.dumps({"machine": machine(), "decode_s": decode_s, "rows": rows}, indent=1))
    else:
        print(f"{machine()}; one decode of {MINUTES} minutes: {decode_s:.1f} s")
        print(f"{'policies':<24}{'fuse s':>8}{'fuse/decode':>13}{'kept':>7}")
        for row in rows:
            cells = f"{row['s']:>8.2f}{row['over_decode']:>13.4f}{row['kept']:>7}"
            print(f"{row['policies']:<24}{cells}")
    raise SystemExit(int(any(row["over_decode"] > LIMIT for row in rows)))


def long_file(folder: Path) -> Path:
    """The minute, encoded once and its packets written sixty times."""
    import av

    from perception.sample import compose

    minute, long = folder / "minute.mp4", folder / "hour.mp4"
    repeat(compose(), minute)
    with av.open(str(long), "w") as out:
        target = None
        for round in range(MINUTES):
            with av.open(str(minute)) as file:
                source = file.streams.video[0]
                target = target or out.add_stream_from_template(source)
                ticks = round * int(60 / source.time_base)
                for packet in file.demux(source):
                    if packet.dts is None:
                        continue
                    packet.pts, packet.dts = packet.pts + ticks, packet.dts + ticks
                    packet.stream = target
                    out.mux(packet)
    return long


def decoded_s(path: Path) -> float:
    """Processor seconds of decoding every picture once."""
    import av

    begin, frames = time.process_time(), 0
    with av.open(str(path)) as file:
        file.streams.video[0].thread_count = 1
        for _ in file.decode(video=0):
            frames += 1
    seconds = time.process_time() - begin
    if frames != MINUTES * 60 * 30:
        raise SystemExit(f"{frames} frames were decoded, not {MINUTES * 60 * 30}.")
    return seconds


def made_up(count: int, duration_s: float) -> CueTimeline:
    """Cues of three kinds, spread evenly; the same every time."""
    dice, words = random.Random(1), WORDS.split()
    labels = posec3d.embedded().labels
    tracks: dict[str, list[Cue]] = {"action": [], "screen_text": [], "speech": []}
    for number in range(count):
        kind = ("action", "action", "screen_text", "speech")[number % 4]
        start_s = duration_s * number / count
        span = Span(start_s, min(duration_s, start_s + dice.uniform(0.5, 4)))
        text, attributes = " ".join(dice.choices(words, k=dice.randint(2, 14))), {}
        confidence = dice.uniform(0.3, 1)
        if kind == "action":
            best, other = dice.sample(range(len(labels.names)), 2)
            person = dice.randint(1, 4)
            text = f"person {person}, left, {labels.phrases[best]}"
            top = [[labels.names[best], confidence], [labels.names[other], (1 - confidence) / 2]]
            attributes = {
                "person": person,
                "where": "left",
                "label": labels.names[best],
                "top": top,
            }
        tracks[kind].append(Cue(f"{kind}-{number}", span, text, confidence, attributes))
    video = VideoInfo("hour.mp4", "0" * 64, 0.0, duration_s, WIDTH, HEIGHT, 30.0)
    made = (CueTrack(kind, kind, Source(kind), tuple(cues)) for kind, cues in tracks.items())
    return CueTimeline(video, tuple(made))


def fused_s(timeline: CueTimeline, options: FusionOptions, tools: Any) -> tuple[float, int]:
    """Seconds, and how many cues were kept."""
    begin = time.process_time()
    prompt = fuse(timeline, QUESTION, options, tools)
    return time.process_time() - begin, len(prompt.selection.kept)


if __name__ == "__main__":
    main()
