"""What a shared prefix saves: 8 questions × 4 cue conditions about one video.

    python -m benchmarks.videollm_prefix [--model FOLDER_OR_REPOSITORY] [--frames 64]

Without ``--model`` a tiny Qwen2.5-VL with random weights, built here, whose time goes mostly into
reading the prompt, as a real one's does. Conditions: no cues, cues, shuffled cues, cues moved in
time; each question has three options, chosen by likelihood. Pixels are prepared once in both runs,
so that the ratio is that of reading the prefix once (``prefixes: 1``) or for every question
(``prefixes: 0``). Both must give the same log likelihoods, to the last bit.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
import time
from pathlib import Path

import numpy as np

from fusion.controls import Control, fuse_control
from fusion.fuse import fuse
from fusion.question import Question
from fusion.selection import CuePrompt
from perception.cue import Cue, CueTimeline, CueTrack, Source, Span, VideoInfo
from perception.recognizer import Frame
from reasoning.answer import Answer
from reasoning.ask import request_for
from reasoning.videollm import Request
from reasoning.videollms.huggingface import HuggingFace, Options, build

ASKED = ("pulling", "lifting", "opening", "throwing", "climbing", "holding", "pushing", "drinking")
THINGS = ("a rope", "a box", "a door")
ACTIONS = ("waves both hands", "walks", "pulls something", "sits down", "jumps", "claps")
SIDE_PX, RATE_HZ = 280, 2.0
LARGEST = {"size": {"shortest_edge": 28 * 28, "longest_edge": SIDE_PX * SIDE_PX}}
"""So that the tiny model, too, takes the frames as they are: 100 tokens for two of them."""


def main() -> None:
    """Answer all in both ways and print times and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", help="default: a tiny one with random weights")
    parser.add_argument("--frames", type=int, default=64)
    arguments = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = arguments.model or tiny(Path(stack.enter_context(tempfile.TemporaryDirectory())))
        settings = {} if arguments.model else LARGEST
        shared, single = (
            build(Options(folder, prefixes=prefixes, video_settings=settings))
            for prefixes in (1, 0)
        )
        requests = list(asked(shared, arguments.frames))
        seconds, told = zip(*(timed(model, requests) for model in (shared, single)), strict=True)
        print(f"model: {arguments.model or 'tiny Qwen2.5-VL, random weights'}")
        print(f"questions × conditions: {len(ASKED)} × {len(requests) // len(ASKED)}")
        lengths = [shared.prepare(request) for request in requests]
        prompt = np.mean([each.ids.shape[1] for each in lengths])
        print(f"tokens: {prompt:.0f} a prompt in the mean, {lengths[0].cut} of them the prefix")
        print(f"one prefix: {seconds[0]:.2f} s; a prefix a question: {seconds[1]:.2f} s")
        print(f"ratio: {seconds[1] / seconds[0]:.1f}")
        print(f"same log likelihoods: {'yes' if told[0] == told[1] else 'NO'}")


def tiny(folder: Path) -> str:
    """A model of random weights, as the tests build it."""
    from tests.reasoning import tiny_videollms

    return str(tiny_videollms.save("qwen2_5_vl", folder))


def asked(model: HuggingFace, count: int) -> list[Request]:
    """All questions in all conditions, question by question."""
    random = np.random.default_rng(0)
    pixels = random.integers(0, 255, (count, SIDE_PX, SIDE_PX, 3), dtype=np.uint8)
    frames = tuple(Frame(at / RATE_HZ, rgb) for at, rgb in enumerate(pixels))
    timeline = timeline_of(count / RATE_HZ)
    questions = [Question(f"What is the mime {doing}?", THINGS) for doing in ASKED]
    return [
        request_for(question, cues, model, frames, timeline.video.duration_s)
        for question in questions
        for cues in conditions(timeline, question)
    ]


def conditions(timeline: CueTimeline, question: Question) -> list[CuePrompt | None]:
    """No cues, cues, and two controls."""
    controls = [Control("shuffled", seed=1), Control("shifted", seed=1)]
    wrong = [fuse_control(control, timeline, question) for control in controls]
    return [None, fuse(timeline, question), *wrong]


def timeline_of(duration_s: float) -> CueTimeline:
    """An action every two seconds."""
    cues = tuple(
        Cue(f"a{at}", Span(2.0 * at, 2.0 * at + 2), f"person 1, left, {ACTIONS[at % 6]}", 0.9)
        for at in range(int(duration_s / 2))
    )
    track = CueTrack("action", "action", Source("action"), cues)
    return CueTimeline(VideoInfo("mime", "", 0.0, duration_s, 640, 360, 25.0), (track,))


def timed(model: HuggingFace, requests: list[Request]) -> tuple[float, list[list[float]]]:
    """Seconds, and the log likelihoods of every question's options. On a CPU they are its own
    seconds, which a busy neighbour does not change."""
    replies = [model.answer(requests[0])]
    on_cpu = replies[0].request["device"] == "cpu"
    clock = time.process_time if on_cpu else time.perf_counter
    started = clock()
    replies = [model.answer(request) for request in requests]
    seconds = clock() - started
    if not all(isinstance(reply, Answer) for reply in replies):
        raise SystemExit(f"A question was not answered: {replies}")
    scores = [reply.option_scores for reply in replies if isinstance(reply, Answer)]
    return seconds, [[score.log_likelihood for score in each] for each in scores]


if __name__ == "__main__":
    main()
