"""A study: a benchmark's questions under several conditions, as one complete file tells it.

::

    name: first_study
    fetch: [first_study_clips]
    benchmark: csv_questions
    benchmarks:
      csv_questions: {table: "{here}/questions.csv", videos: "{first_study_clips}"}
    conditions:
      - {name: no cues, cues: none}
      - {name: all cues}
    repeats: 1

Beside these stand the sections of a config (``recognizers``, ``fusion``, ``tools``, ``strategy``,
``videollm``, ``videollms``, ``answer``), which hold for all conditions. In the benchmark's options
``{here}`` is the folder of the study's file, and a checkpoint's name under ``fetch`` its place.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fusion.question import QuestionType
from perception import plugins
from perception.errors import BadInput, UnknownName
from perception.perceive import DEFAULT_RECOGNIZERS
from perception.shipped import shipped
from perception.text_file import read_text
from reasoning import plain_yaml
from reasoning.benchmark import Benchmark, Item
from reasoning.config import Config, assembled, known_keys, overridden, plugin_options, section
from reasoning.plain import plain
from reasoning.records import digest
from reasoning.studies.conditions import Condition, changed, conditions_of
from reasoning.studies.places import placed

__all__ = ["BENCHMARKS", "Arm", "Study", "is_grounding", "load"]

BENCHMARKS = "reasoning.benchmarks"
"""The folder whose files are the benchmarks."""

_CONFIG = tuple(each.name for each in dataclasses.fields(Config))
_OWN = (
    *("name", "about", "fetch", "benchmark", "benchmarks", "categories", "videos"),
    *("conditions", "grid", "repeats", "baseline"),
)
_MOST_REPEATS = 1000


@dataclass(frozen=True, eq=False)
class Arm:
    """A condition with all that it comes to.

    Args:
        condition: what the study's file says.
        settings: of the run, with what the condition changes.
        benchmark: with the condition's options.
        options: of the benchmark.
        kinds: of cues that the model is given.
        gold: the folder of the condition's gold cues.
    """

    condition: Condition
    settings: Config
    benchmark: Benchmark
    options: Mapping[str, Any]
    kinds: tuple[str, ...]
    gold: Path | None = None

    @property
    def name(self) -> str:
        """The condition's."""
        return self.condition.name

    @property
    def with_cues(self) -> bool:
        """Whether the model can be given any."""
        return bool(self.kinds) or self.condition.oracle or self.gold is not None

    def tells(self, kind: str) -> bool:
        """Whether a person's cues of a kind are told."""
        return self.condition.tells(kind, tuple(self.settings.recognizers))

    @cached_property
    def items(self) -> Mapping[str, Item]:
        """By the question's id."""
        return {item.question.id: item for item in self.benchmark.items()}

    @cached_property
    def digest(self) -> str:
        """Of everything that decides what this condition asks, whichever model it is."""
        condition = dataclasses.replace(self.condition, name="")
        settings = dataclasses.replace(self.settings, videollm="", videollms={})
        return digest(*map(plain, (condition, settings, self.options, self.kinds)))


@dataclass(frozen=True, eq=False)
class Study:
    """Questions × conditions × repeats.

    Args:
        name: for files and reports.
        about: what it asks, in a sentence.
        arms: its conditions, in order; all about the same questions.
        repeats: of every question under every condition.
        baseline: name of the condition that the others are compared with.
        fetch: checkpoints that hold its videos.
        categories, videos: only these are asked; empty = all.
        here: the folder of the study's file.
        raw: the file as it was read, for the stamp.
    """

    name: str
    about: str
    arms: tuple[Arm, ...]
    repeats: int
    baseline: str
    fetch: tuple[str, ...]
    categories: tuple[str, ...]
    videos: tuple[str, ...]
    here: Path
    raw: Mapping[str, Any]

    @property
    def benchmark(self) -> Benchmark:
        """Of the first condition."""
        return self.arms[0].benchmark

    def items(self, limit: int | None = None) -> tuple[Item, ...]:
        """The questions, a video's together, in the order of the benchmark.

        Args:
            limit: only so many of each video, and of those without one; None = all.

        Raises:
            BadInput: the published files are missing or broken, or no question is left.
        """
        by_video: dict[str, list[Item]] = {}
        for item in self.benchmark.items():
            if self._is_asked(item):
                by_video.setdefault(item.video, []).append(item)
        if not by_video:
            named = ", ".join(filter(None, self.benchmark.categories))
            raise BadInput(
                f"No question of {self.benchmark.name} is left by categories "
                f"{list(self.categories) or 'all'} and videos {list(self.videos) or 'all'}; there "
                f"are the categories {named or '(none)'}."
            )
        return tuple(item for items in by_video.values() for item in items[:limit])

    def _is_asked(self, item: Item) -> bool:
        of_video = not self.videos or item.video in self.videos or _stem(item) in self.videos
        wanted = set(map(_kind, self.categories))
        return of_video and (not wanted or _kind(item.category) in wanted)

    def grounding(self, video: str) -> tuple[Item, ...]:
        """The *Grounding* questions about a video, for conditions with an oracle."""
        return tuple(
            item for item in self.benchmark.items() if item.video == video and is_grounding(item)
        )


def is_grounding(item: Item) -> bool:
    """Whether a question asks what is there to be seen (MimeQA's most local level)."""
    return item.level == "Grounding" or item.category == QuestionType.GROUNDING_THE_IMAGINED


def _kind(category: str) -> str:
    """MimeQA's categories by any of their names."""
    try:
        return str(QuestionType(category))
    except ValueError:
        return category


def _stem(item: Item) -> str:
    return Path(item.video).stem


def load(path: Path | str, overrides: Sequence[str] = ()) -> Study:
    """Read a study's file; a bare name is one of ``configs/studies``.

    Args:
        path: a YAML file, or the name of a study that ships with Cuelight.
        overrides: ``key.path=value`` as for a config, laid over the file.

    Raises:
        BadInput: unreadable, no YAML, an ill-typed value, or conditions that contradict themselves.
        UnknownName: a key, benchmark, recognizer, … that does not exist; tells the nearest.
    """
    found = _file(path)
    try:
        raw = section(plain_yaml.load(read_text(found, "study")), str(found))
    except BadInput as error:
        if str(found) in str(error):
            raise
        raise BadInput(f"{found} is not YAML for a study: {error}.") from None
    raw = overridden(raw, overrides)
    known_keys(raw, [*_OWN, *_CONFIG], "key of a study", "")
    raw.setdefault("recognizers", dict.fromkeys(DEFAULT_RECOGNIZERS))
    perceived = tuple(section(raw["recognizers"], "recognizers"))
    conditions = conditions_of(raw.get("conditions"), raw.get("grid"), perceived)
    fetch, here = _words(raw, "fetch"), found.resolve().parent
    arms = tuple(_arm(raw, each, perceived, fetch, here) for each in conditions)
    baseline = raw.get("baseline", conditions[0].name)
    names = [each.name for each in conditions]
    if baseline not in names:
        raise UnknownName("condition for the baseline", str(baseline), names)
    study = Study(
        name=_name(raw.get("name", found.stem)),
        about=str(raw.get("about", "")),
        arms=arms,
        repeats=_repeats(raw.get("repeats", 1)),
        baseline=baseline,
        fetch=fetch,
        categories=_words(raw, "categories"),
        videos=_words(raw, "videos"),
        here=here,
        raw=raw,
    )
    _check_strategies(study)
    return study


def _name(value: Any) -> str:
    """The study's name, which the files of its records and reports bear."""
    name = str(value)
    if not name.strip(". ") or not name.isprintable() or set(name) & set("/\\:"):
        raise BadInput(
            f"The study's name is {name!r}; its files are called so: give it letters, and none of "
            "/, \\ and :, e.g. my_study."
        )
    return name


def _file(path: Path | str) -> Path:
    studies = shipped("configs") / "studies"
    given = Path(path).expanduser()
    if given.is_file() or given.suffix:
        return given
    known = sorted(each.stem for each in studies.glob("*.yaml"))
    if str(path) not in known:
        raise UnknownName("study", str(path), known)
    return studies / f"{path}.yaml"


def _arm(
    raw: Mapping[str, Any],
    condition: Condition,
    perceived: Sequence[str],
    fetch: Sequence[str],
    here: Path,
) -> Arm:
    sections = {key: value for key, value in raw.items() if key in _CONFIG}
    settings = assembled(changed(sections, condition))
    name = raw.get("benchmark")
    known = plugins.names(BENCHMARKS)
    if name not in known:
        raise UnknownName("benchmark", str(name), known)
    options = section(raw.get("benchmarks"), "benchmarks")
    known_keys(options, known, "benchmark", "benchmarks")
    chosen = {**section(options.get(name), f"benchmarks.{name}"), **condition.benchmark}
    chosen = placed(chosen, fetch, here)
    typed = plugin_options(BENCHMARKS, {name: chosen}, "benchmarks")
    benchmark: Benchmark = plugins.build(BENCHMARKS, str(name), typed)
    gold = placed({"gold": condition.gold}, fetch, here)["gold"]
    return Arm(
        condition,
        settings,
        benchmark,
        chosen,
        condition.kinds(perceived),
        Path(gold).expanduser() if gold else None,
    )


def _words(raw: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = raw.get(key) or []
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise BadInput(f"{key} must be a list of words, not {value!r}.")
    return tuple(value)


def _repeats(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST_REPEATS:
        raise BadInput(f"repeats must be a number from 1 to {_MOST_REPEATS}, not {value!r}.")
    return value


def _check_strategies(study: Study) -> None:
    for arm in study.arms:
        if arm.settings.strategy.name == "verified" and not arm.with_cues:
            raise BadInput(
                f"The condition {arm.name!r} gives no cues, and the strategy 'verified' checks "
                "cues; give the condition the strategy direct."
            )
