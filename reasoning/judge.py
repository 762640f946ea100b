"""A model as a judge of open answers: whichever family it is of, asked in words, held to the
protocol's schema where it can be, its reply read strictly by the benchmark.

An answer that the judge could not be asked about, or whose reply says nothing clear, is unscored:
never right and never wrong. Judging needs the records only, neither videos nor new answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from perception import plugins
from perception.errors import BadInput, CuelightError
from reasoning.answer import Answer, Failure, FailureKind, Unscored, Verdict
from reasoning.ask import Confirm
from reasoning.benchmark import Benchmark, Item, Judging
from reasoning.config import Config, plugin_options
from reasoning.records import Records
from reasoning.results.from_records import current_cells, item_of
from reasoning.studies.places import placed
from reasoning.study import BENCHMARKS
from reasoning.videollm import Request, Text, VideoLLM
from reasoning.videollms.embedded import Options as Embedded

__all__ = ["Judge", "Open", "benchmark_of", "judge_all", "open_answers", "pending", "refuse_small"]

MAX_NEW_TOKENS = 512
"""Room for a rubric's five numbers and a sentence, or a verdict and its explanation."""

MOST_UNAVAILABLE = 5
"""Calls in a row that find no judge end a run; the same command goes on later."""

_NOT_ASKED = "The judge gave no reply: "
"""Opens the reason of a verdict that is worth asking for again."""


class Judge:
    """A model that judges.

    Args:
        llm: at work.
        name: for the records: with the revision of its weights, where it has any.
        confirm: asked before anything leaves this machine; without it nothing does.
    """

    def __init__(self, llm: VideoLLM, name: str = "", confirm: Confirm | None = None) -> None:
        self.llm, self.name, self._confirm = llm, name or llm.name, confirm

    def request(self, judging: Judging) -> Request:
        """What the judge is told."""
        return Request(
            (Text(judging.instruction), Text(judging.question)),
            max_new_tokens=MAX_NEW_TOKENS,
            schema=judging.schema,
        )

    def __call__(self, benchmark: Benchmark, item: Item, asked: Judging) -> Verdict | Unscored:
        """The verdict on an answer to ``item``.

        Args:
            asked: what ``benchmark.score`` wants to know of it.

        Raises:
            BadInput: the call would leave this machine and nobody agreed.
        """
        reply = self._reply(self.request(asked))
        if isinstance(reply, Failure):
            return Unscored(f"{_NOT_ASKED}{reply.kind}: {reply.reason}", self.name, reply.raw)
        if not reply.complete:
            return Unscored("The judge's reply was cut off.", self.name, reply.text)
        return benchmark.judged(item, reply.text, self.name)

    def _reply(self, request: Request) -> Answer | Failure:
        sent = self.llm.egress(request)
        if sent is not None and (self._confirm is None or not self._confirm(sent)):
            raise BadInput(f"{sent.sentence()} Nothing was sent; agree to it first (--yes).")
        return self.llm.answer(request)


@dataclass(frozen=True, slots=True)
class Open:
    """A recorded answer to an open question.

    Args:
        condition, repeat: of the study.
        model: that answered.
        key: of the answer in the records.
        truth: digest of what it is held against.
        asked: what a judge is asked about it.
    """

    condition: str
    repeat: int
    model: str
    key: str
    truth: str
    item: Item
    answer: Answer
    asked: Judging


def refuse_small(config: Config) -> None:
    """See that the config's model can judge.

    Raises:
        BadInput: it is the embedded default, whose verdicts would say nothing.
    """
    options = config.videollms[config.videollm]
    if isinstance(options, Embedded) and options.model == Embedded().model:
        raise BadInput(
            f"{options.model} has 135 million parameters and reads no answer well enough to judge "
            "it: its own free answers are poor. Name a judge: --model gpt-4o (MimeQA's), a .gguf "
            "file, a preset (cuelight models), or a server's model with --base-url."
        )


def benchmark_of(records: Records) -> Benchmark:
    """The benchmark whose answers are recorded, as the study's file last had it.

    Raises:
        BadInput: no study has been run into these records.
    """
    stamps = records.stamps()
    if not stamps or "benchmark" not in stamps[-1]:
        raise BadInput(
            f"{str(records.path)!r} holds no study; give the records that cuelight ablate made."
        )
    last = stamps[-1]
    name, file = last["benchmark"], last.get("file", {})
    chosen = (file.get("benchmarks") or {}).get(name) or {}
    if "here" in last:
        chosen = placed(chosen, file.get("fetch") or (), last["here"])
    options = plugin_options(BENCHMARKS, {name: chosen}, "benchmarks")
    benchmark: Benchmark = plugins.build(BENCHMARKS, name, options)
    return benchmark


def open_answers(records: Records, benchmark: Benchmark) -> Iterator[Open]:
    """All answers that need a judge, of the conditions that the study's last run still has."""
    for condition, question, repeat, key, facts in current_cells(records):
        if (answer := records.answer(key)) is None:
            continue
        item = item_of(question, facts)
        asked = benchmark.score(item, answer)
        if isinstance(asked, Judging):
            model, truth = str(facts.get("model", "")), str(facts.get("truth", ""))
            yield Open(condition, repeat, model, key, truth, item, answer, asked)


def pending(
    records: Records, benchmark: Benchmark, judge: str, *, again: bool = False
) -> list[Open]:
    """Those without a verdict of ``judge``, each once, however many conditions share it.

    Args:
        again: also those to which its reply was not clear.
    """
    found = {(each.key, each.truth): each for each in open_answers(records, benchmark)}
    return [
        each
        for (key, truth), each in found.items()
        if not _is_settled(records.verdict(key, judge, truth), again)
    ]


def judge_all(
    records: Records,
    benchmark: Benchmark,
    judge: Judge,
    todo: Sequence[Open],
    on_done: Callable[[int], None],
) -> int:
    """Judge ``todo`` and record each verdict at once; the number of those without a clear one.

    Args:
        on_done: told how many are judged, after each.

    Raises:
        CuelightError: the judge was not to be reached ``MOST_UNAVAILABLE`` times in a row.
    """
    unclear = gone = 0
    is_known = judge.name in records.judges()
    for done, each in enumerate(todo, start=1):
        verdict = judge(benchmark, each.item, each.asked)
        records.judge(each.key, judge.name, verdict, each.truth)
        unclear += isinstance(verdict, Unscored)
        kinds = [FailureKind.UNAVAILABLE]
        if unclear == done and not is_known:
            kinds.append(FailureKind.REJECTED)
        lost = isinstance(verdict, Unscored) and verdict.reason.startswith(
            tuple(f"{_NOT_ASKED}{kind}" for kind in kinds)
        )
        gone = gone + 1 if lost else 0
        if gone == MOST_UNAVAILABLE:
            raise CuelightError(
                f"{MOST_UNAVAILABLE} answers in a row could not be judged ({verdict.reason}) What "
                "was judged is recorded; the same command goes on."
            )
        on_done(done)
    return unclear


def _is_settled(verdict: Verdict | Unscored | None, again: bool) -> bool:
    """Whether the judge need not be asked: a reply that came is kept as it is, unless it was
    unclear and is wanted ``again``."""
    if isinstance(verdict, Unscored):
        return not (again or verdict.reason.startswith(_NOT_ASKED))
    return verdict is not None
