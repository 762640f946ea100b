"""Ways of scoring options by likelihood, on made-up timelines that no other benchmark uses.

    python -m benchmarks.option_scoring

Columns: which lines of the cue block the model reads. Rows: by what an option is chosen. The
embedded model's docstring takes its figures from here. Rules that end in "/token" divide by
the number of the option's tokens; the last four have no cues.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from fusion.fuse import fuse
from fusion.question import Question
from fusion.selection import CuePrompt, Selection
from perception import weights
from perception.cue import Cue, CueTimeline, CueTrack, Source, Span, VideoInfo
from reasoning import prompt
from reasoning.focus import focused
from reasoning.llama.server import LlamaServer
from reasoning.videollm import Text

TIMELINES = Path(__file__).with_suffix(".yaml")
OPENING = "The answer is:"
EMPTY_LINE = "- N/A"
"""The content-free input of Zhao et al. 2021 ("Calibrate Before Use")."""


def main() -> None:
    """Score all options in all ways and print how many are right."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="smollm2_135m_instruct")
    server = LlamaServer(weights.path(parser.parse_args().model), 2048)
    started, asked = time.monotonic(), 0
    right: Counter[tuple[str, str]] = Counter()
    for timeline, question, answer in questions():
        asked += 1
        block = fuse(timeline, question).text
        heading = block.split("\n")[0]
        plain = likelihoods(server, question, "")
        empty = likelihoods(server, question, f"{heading}\n{EMPTY_LINE}")
        for lines, shown in (("all", block), ("focused", focused(block, question.text))):
            given = likelihoods(server, question, shown)
            for rule, values in rules(given, plain, empty):
                right[lines, rule] += values.index(max(values)) == answer
    server.close()
    tell(right, asked)
    print(f"{time.monotonic() - started:.0f} s")


def questions() -> Iterator[tuple[CueTimeline, Question, int]]:
    """Every question with its timeline and the index of the right option."""
    for each in yaml.safe_load(TIMELINES.read_text("utf-8")):
        timeline = timeline_of(each["name"], each["cues"])
        for text, options, answer in each["questions"]:
            yield timeline, Question(text, tuple(options)), answer


def timeline_of(name: str, cues: Sequence[Sequence[Any]]) -> CueTimeline:
    """The timeline of one entry of the file."""
    tracks = []
    for kind in ("action", "screen_text", "speech"):
        mine = [cue for cue in cues if cue[0] == kind]
        made = (
            Cue(f"{kind}-{number}", Span(start_s, end_s), text, confidence)
            for number, (_, start_s, end_s, text, confidence) in enumerate(mine, 1)
        )
        tracks.append(CueTrack(kind, kind, Source(kind), tuple(made)))
    return CueTimeline(VideoInfo(name, "", 0.0, 20.0, 640, 360, 25.0), tuple(tracks))


def likelihoods(server: LlamaServer, question: Question, block: str) -> list[list[float]]:
    """For each option, ln p of each of its tokens."""
    bare = Question(question.text)
    parts = prompt.build(bare, CuePrompt(block, Selection()))
    words = "\n\n".join(part.text for part in parts if isinstance(part, Text))
    asked = [*server.chat(words), *server.tokenize(OPENING)]
    return server.log_likelihoods(
        asked, [server.tokenize(f" {option}") for option in question.options]
    )


def rules(
    given: list[list[float]], plain: list[list[float]], empty: list[list[float]]
) -> Iterator[tuple[str, list[float]]]:
    """Each rule's name and its value for each option."""
    lengths = [len(each) for each in given]
    zero = [[0.0]] * len(given)
    priors = {"likelihood": zero, "- no cues": plain, "- empty cue": empty}
    for name, prior in priors.items():
        whole = [sum(one) - sum(other) for one, other in zip(given, prior, strict=True)]
        yield name, whole
        yield f"{name} /token", [each / n for each, n in zip(whole, lengths, strict=True)]
    for name, prior in (("no cues", plain), ("no cues, empty", empty)):
        whole = [sum(each) for each in prior]
        yield name, whole
        yield f"{name} /token", [each / n for each, n in zip(whole, lengths, strict=True)]


def tell(right: Counter[tuple[str, str]], asked: int) -> None:
    """A table."""
    names = list(dict.fromkeys(rule for _, rule in right))
    print(f"right of {asked:<18}{'all lines':>12}{'focused':>12}")
    for rule in names:
        print(f"{rule:<27}{right['all', rule]:>12}{right['focused', rule]:>12}")


if __name__ == "__main__":
    main()
