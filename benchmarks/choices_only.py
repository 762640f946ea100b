"""What questions and choices alone give away: a benchmark answered without any video.

    python -m benchmarks.choices_only intentqa --folder FOLDER
    python -m benchmarks.choices_only social_iq2 --folder FOLDER --limit 200

The embedded model scores every choice by its log likelihood per token, behind the question (*with
the question*) and behind the instruction alone (*choices only*); *the question's share* is the
difference of the two (pointwise mutual information per token). *Least likely choice* takes the
choice that is least likely by itself: where that beats chance, wrong choices are smoother than
right ones. Choices are laid out in an order that hangs on ``--seed``, which decides between equal
ones alone. A method that sees the video has to beat these numbers. Answers are kept in
``--records``: the same command goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean

from perception import plugins
from reasoning import statistics
from reasoning.answer import Answer, Failure, OptionScore
from reasoning.ask import request_for
from reasoning.benchmark import Benchmark, Item, Shown
from reasoning.prompt import Words
from reasoning.records import Call, Records, call_key, digest
from reasoning.videollm import Request
from reasoning.videollms.embedded import Embedded, Options, build

Scores = Sequence[OptionScore]
Row = tuple[Item, Scores, Scores]
"""An item, its choices scored with the question and without it."""

PUBLISHED = {
    "intentqa": "Published, on the test set and not on this one: Blind GPT 51.55 %, the paper's "
    "best 57.64 %, people 78.49 %.\n",
}


def main() -> None:
    """Answer all questions in both ways and print the shares of right choices."""
    given = _arguments()
    plugin = plugins.take("reasoning.benchmarks", given.benchmark)
    benchmark = plugin.build(plugin.Options(given.folder, given.split, shuffle_seed=given.seed))
    items = _drawn(benchmark.items(), given.limit, given.seed)
    path = given.records or Path(f"choices-only-{given.benchmark}-{given.split}.sqlite")
    run = _Run(benchmark, build(Options(given.model, context_tokens=1024)), Records(path))
    rows = run.answers(items)
    print(f"{given.benchmark}, {given.split}: {len(rows)} questions, no video, {given.model}\n")
    _tell(rows, benchmark.categories)
    print(f"\n{PUBLISHED.get(given.benchmark, '')}{run.calls} calls in {run.seconds:.0f} s")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("benchmark", choices=["intentqa", "social_iq2"])
    parser.add_argument("--folder", required=True, help="with the published files")
    parser.add_argument("--split", default="val")
    parser.add_argument("--limit", type=int, help="so many questions, drawn by the seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", default="smollm2_135m_instruct")
    parser.add_argument("--records", type=Path, help="SQLite file of the answers")
    return parser.parse_args()


def _drawn(items: Sequence[Item], limit: int | None, seed: int) -> Sequence[Item]:
    """``limit`` of the items; a larger limit keeps what a smaller one of the same seed drew."""
    order = list(items)
    random.Random(seed).shuffle(order)
    return order[:limit]


class _Run:
    """The model at work, with what was answered before."""

    def __init__(self, benchmark: Benchmark, model: Embedded, records: Records) -> None:
        self.benchmark, self.model, self.records = benchmark, model, records
        self.calls, self.left, self.seconds = 0, 0, 0.0

    def answers(self, items: Sequence[Item]) -> list[Row]:
        """Every item's choices, scored in both ways."""
        started, rows, known = time.monotonic(), [], self.records.answered()
        ways = [self._call(item, way) for item in items for way in (True, False)]
        self.left = sum(call_key(call) not in known for call, _ in ways)
        try:
            for done, item in enumerate(items, start=1):
                rows.append((item, self._scores(item, True), self._scores(item, False)))
                self.seconds = time.monotonic() - started
                self._progress(done, len(items))
        finally:
            self.model.close()
            self.records.close()
        return rows

    def _scores(self, item: Item, with_question: bool) -> Scores:
        call, request = self._call(item, with_question)
        reply: Answer | Failure | None = self.records.answer(call_key(call))
        if reply is None:
            begun = time.monotonic()
            reply = self.model.answer(request)
            self.records.keep(call, reply, time.monotonic() - begun)
            self.calls, self.left = self.calls + 1, self.left - 1
        if isinstance(reply, Failure):
            sys.exit(f"{item.question.id}: {reply.reason}")
        return reply.option_scores

    def _call(self, item: Item, with_question: bool) -> tuple[Call, Request]:
        words = self.benchmark.words(item, Shown())
        if not with_question:
            at = words.closing.index(item.question.text) + len(item.question.text)
            words = Words(words.opening, words.closing[at:])
        request = request_for(item.question, None, self.model, wording=words)
        asked = digest(request.prompt(), request.options)
        model = f"{self.model.name} {' '.join(self.model.weights)}".strip()
        settings = asdict(self.model.options)
        return Call(item.question.id, "", "", asked, model, settings), request

    def _progress(self, done: int, total: int) -> None:
        if self.calls and (done % 50 == 0 or done == total):
            left = self.seconds / self.calls * self.left
            print(f"{done} of {total}, about {left:.0f} s left", file=sys.stderr)


def _per_token(with_question: Scores, without: Scores) -> Iterator[tuple[str, list[float]]]:
    """Each way of choosing, and its value for every option."""
    pairs = list(zip(with_question, without, strict=True))
    yield "with the question", [one.log_likelihood / one.tokens for one, _ in pairs]
    alone = [other.log_likelihood / other.tokens for _, other in pairs]
    yield "choices only", alone
    yield "least likely choice", [-value for value in alone]
    yield (
        "the question's share",
        [(one.log_likelihood - other.log_likelihood) / one.tokens for one, other in pairs],
    )


def _tell(rows: Sequence[Row], categories: Sequence[str]) -> None:
    """A table of shares in per cent with 95 % intervals, clustered by video."""
    right: dict[str, list[float]] = {}
    for item, with_question, without in rows:
        for way, values in _per_token(with_question, without):
            chosen = values.index(max(values))
            right.setdefault(way, []).append(float(chosen in item.right))
    print(f"{'':<10}{'n':>6}{'chance':>8}  " + "".join(f"{way:<27}" for way in right))
    parts = [*categories, "all"] if len(categories) > 1 else ["all"]
    for part in parts:
        kept = [at for at, (item, *_) in enumerate(rows) if part in ("all", item.category)]
        if kept:
            _line(
                part, [rows[at][0] for at in kept], [[w[at] for at in kept] for w in right.values()]
            )
    videos = [item.video for item, *_ in rows]
    difference = statistics.paired_difference(
        right["choices only"], right["with the question"], videos
    )
    low, high = 100 * difference.interval.low, 100 * difference.interval.high
    print(
        f"\nWith the question less choices only: {100 * difference.value:+.1f} points "
        f"[{low:+.1f}, {high:+.1f}], exact McNemar p {difference.p_mcnemar:.2g}"
    )


def _line(part: str, items: Sequence[Item], columns: Sequence[Sequence[float]]) -> None:
    chance = fmean(1 / len(item.question.options) for item in items)
    cells = []
    for scores in columns:
        share = statistics.accuracy(scores, [item.video for item in items])
        low, high = 100 * share.interval.low, 100 * share.interval.high
        cells.append(f"{f'{100 * share.value:.1f} [{low:.1f}, {high:.1f}]':<27}")
    print(f"{part:<10}{len(items):>6}{100 * chance:>8.1f}  {''.join(cells)}")


if __name__ == "__main__":
    main()
