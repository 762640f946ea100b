"""Twelve fixed questions about the sample clip, answered with and without cues.

    python -m benchmarks.sample_questions

The embedded model chooses among four options by likelihood, through the same doors as
``cuelight ask``: perceive, fuse, ask. Columns:

- with: the cues in the prompt;
- without: no cues, chosen by log likelihood per token, as the model does then;
- (whole): no cues, chosen by the log likelihood of the whole option;
- reversed: with cues, the options in reverse; a choice by place instead of cues would change.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from fusion.fuse import fuse
from fusion.question import Question
from perception.cue import CueTimeline, Span
from perception.perceive import perceive
from perception.plugins import take
from perception.sample import compose
from reasoning.answer import Answer
from reasoning.ask import ask
from reasoning.tools.assemble import assemble
from reasoning.videollm import VideoLLM

QUESTIONS = Path(__file__).with_suffix(".yaml")


def main() -> None:
    """Ask and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="smollm2_135m_instruct", help="checkpoint or GGUF file")
    parser.add_argument("--timeline", type=Path, help="a .cues.json instead of looking at the clip")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    arguments = parser.parse_args()
    if arguments.timeline:
        timeline = CueTimeline.read(arguments.timeline)
    else:
        timeline = perceive(compose()).timeline
    family = take("reasoning.videollms", "embedded")
    model = family.build(family.Options(model=arguments.model))
    started = time.monotonic()
    rows = [row(raw, timeline, model) for raw in yaml.safe_load(QUESTIONS.read_text("utf-8"))]
    model.close()
    if arguments.json:
        print(json.dumps({"rows": rows, "seconds": time.monotonic() - started}, indent=1))
        return
    tell(rows)
    print(f"{time.monotonic() - started:.0f} s")


def row(raw: Mapping[str, Any], timeline: CueTimeline, model: VideoLLM) -> dict[str, Any]:
    """What the model chose in each condition."""
    span = Span(raw["from_s"], raw["to_s"]) if "from_s" in raw else None
    question = Question(raw["question"], tuple(raw["options"]), span)
    reverse = replace(question, options=question.options[::-1])
    return {
        "about": raw["about"],
        "question": question.text,
        "truth": question.options[raw["answer"]],
        "with": chosen(question, timeline, model),
        **unaided(question, model),
        "reversed": chosen(reverse, timeline, model),
    }


def chosen(question: Question, timeline: CueTimeline, model: VideoLLM) -> str:
    """The option that the model chose with cues, or the kind of its failure."""
    cues = fuse(timeline, question, tools=assemble(model=model))
    reply = ask(question, cues, model).reply
    return reply.text if isinstance(reply, Answer) else f"({reply.kind})"


def unaided(question: Question, model: VideoLLM) -> dict[str, str]:
    """What is chosen without cues, by two rules."""
    reply = ask(question, None, model).reply
    if not isinstance(reply, Answer):
        return dict.fromkeys(("without", "(whole)"), f"({reply.kind})")
    likeliest = max(reply.option_scores, key=lambda score: score.log_likelihood)
    return {"without": reply.text, "(whole)": likeliest.text}


def tell(rows: Iterable[Mapping[str, Any]]) -> None:
    """One line a question, and the sums."""
    conditions = ("with", "without", "(whole)", "reversed")
    right = dict.fromkeys(conditions, 0)
    print(f"{'about':<14}" + "".join(f"{name:<10}" for name in conditions))
    for each in rows:
        marks = ""
        for condition in conditions:
            is_right = each[condition] == each["truth"]
            right[condition] += is_right
            marks += f"{'right' if is_right else 'wrong':<10}"
        print(f"{each['about']:<14}{marks}{each['question']} -> {each['with']}")
    print(f"{'right of 12':<14}" + "".join(f"{right[condition]:<10}" for condition in conditions))


if __name__ == "__main__":
    main()
