"""What would be trained: classes, clips, parts; everything that can be known before training."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from perception.errors import BadInput, UnknownName
from perception.shipped import shipped
from perception.skeleton.action_labels import ActionLabels
from perception.skeleton.training.architecture import ARCHITECTURES, Architecture
from perception.skeleton.training.clips import Clip, load_clips
from perception.skeleton.training.examples import ClipExamples, sides
from perception.skeleton.training.spans import PARTS, SpanFile, read_spans
from perception.skeleton.training.split import Split, split

__all__ = ["BACKENDS", "EMBEDDED", "NOTHING", "Plan", "Settings", "prepare"]

EMBEDDED = "posec3d_mimed"
NOTHING = "none"
"""As ``init``: random weights. As a label: the class of what is no action."""

BACKENDS = ("torch", "mmaction2")

LABELS_FILE = "labels.csv"

LEAST_WINDOW_S = 0.3

FEW_GROUPS = 5
"""A bootstrap over fewer groups tells too little of what other people would do."""


@dataclass(frozen=True)
class Settings:
    """How to train.

    Args:
        init: ``posec3d_mimed``, ``none``, or the path of an ``.onnx`` of ours or of a ``.pth`` of
            ours or of mmaction2.
        arch: a key of ``ARCHITECTURES``; empty = as ``init`` has it.
        traces: folder with the poses; None = beside the labels.
        window_s: length of the windows that the network will be shown in service.
        with_none: whether it gets a class "none".
        none_share: of "none" among the examples.
        minutes, batch, learning_rate: see ``fit.Recipe``; a rate of 0 = 0.003 from random weights,
            0.001 from others.
        least_clips: a label with fewer in the training part is an error.
        allow_leaks: train although subjects or videos are in several parts.
        seed: of weights, split and examples.
        threads, device: of torch; 0 threads = one a core.
        backend: one of ``BACKENDS``: ``mmaction2`` is its Runner.

    Raises:
        BadInput: a number lies outside its limits, or ``arch`` is not that of ``init``.
        UnknownName: there is no such backend or network.
    """

    init: str = EMBEDDED
    arch: str = ""
    traces: Path | None = None
    window_s: float = 2.0
    with_none: bool = True
    none_share: float = 0.15
    minutes: float = 15.0
    batch: int = 32
    learning_rate: float = 0.0
    least_clips: int = 5
    allow_leaks: bool = False
    seed: int = 0
    threads: int = 0
    device: str = "cpu"
    backend: str = "torch"

    def __post_init__(self) -> None:
        for name, least in (("window_s", LEAST_WINDOW_S), ("minutes", 0), ("learning_rate", 0)):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= least) or (name == "minutes" and not value):
                raise BadInput(f"--{_option(name)} cannot be {value:g}.")
        for name, least in (("batch", 2), ("least_clips", 1), ("threads", 0), ("seed", 0)):
            if getattr(self, name) < least:
                raise BadInput(
                    f"--{_option(name)} must be {least} or more, not {getattr(self, name)}."
                )
        if not 0 < self.none_share < 1:
            raise BadInput(f"--none-share must lie between 0 and 1, not {self.none_share:g}.")
        if self.backend not in BACKENDS:
            raise UnknownName("backend", self.backend, BACKENDS)
        if self.arch and self.arch not in ARCHITECTURES:
            raise UnknownName("architecture", self.arch, ARCHITECTURES)
        if self.init == EMBEDDED and self.arch == "full":
            raise BadInput(
                "The embedded weights are of the slim network. For --arch full begin with "
                "--init none or with a checkpoint of mmaction2 (--init posec3d.pth)."
            )


def _option(name: str) -> str:
    return name.removesuffix("_s").replace("_", "-")


@dataclass(frozen=True, eq=False)
class Plan:
    """What is trained, and on what.

    Args:
        file: the labels.
        settings: how.
        architecture: the network.
        clips: all, in the order of the file's lines.
        split: their parts.
        classes: outputs of the network in order; "none" is the last.
        none: "none", or None without that class.
        phrases: what a person does, for each class.
        digest: of everything that the clips are made of.
        notices: what a user should know before he starts, one sentence each.
    """

    file: SpanFile
    settings: Settings
    architecture: Architecture
    clips: tuple[Clip, ...]
    split: Split
    classes: tuple[str, ...]
    none: str | None
    phrases: tuple[str, ...]
    digest: str
    notices: tuple[str, ...]

    def part(self, name: str) -> tuple[Clip, ...]:
        """The clips of a part."""
        return tuple(c for c, p in zip(self.clips, self.split.parts, strict=True) if p == name)

    def examples(self) -> ClipExamples:
        """The training part's examples."""
        return ClipExamples(
            self.part("train"),
            self.classes,
            self.none,
            self.architecture.shape,
            self.settings.window_s,
            self.settings.none_share,
        )

    def counts(self) -> dict[str, dict[str, int]]:
        """Clips of each class in each part."""
        found = {part: Counter(clip.label for clip in self.part(part)) for part in PARTS}
        return {name: {part: found[part][name] for part in PARTS} for name in self.classes}

    def table(self) -> list[str]:
        """Clips of each class in each part, and groups, in lines with a head."""
        rows: list[tuple[str, ...]] = [("label", *PARTS)]
        rows += [(name, *(str(count[p]) for p in PARTS)) for name, count in self.counts().items()]
        rows.append(("groups", *(str(self.split.count(part)) for part in PARTS)))
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        return [
            "  ".join([row[0].ljust(widths[0]), *(row[i].rjust(widths[i]) for i in (1, 2, 3))])
            for row in rows
        ]

    def document(self) -> dict[str, Any]:
        """All of it but the poses, as plain values."""
        return {
            "labels": str(self.file.path),
            "init": self.settings.init,
            "arch": self.architecture.name,
            "window_s": self.settings.window_s,
            "minutes": self.settings.minutes,
            "classes": list(self.classes),
            "none": self.none,
            "clips": self.counts(),
            "groups": {part: self.split.count(part) for part in PARTS},
            "split": "chosen" if self.split.chosen else "given",
            "leaks": list(self.split.leaks),
            "notices": list(self.notices),
            "data_sha256": self.digest,
        }


def prepare(data: Path, settings: Settings, architecture: Architecture) -> Plan:
    """Read labels and poses, choose the parts, and see that they can be trained on.

    Args:
        data: the CSV, or a folder with ``labels.csv``.

    Raises:
        BadInput: a fault in the labels or the poses, a label with too few clips, a leak.
    """
    path = data / LABELS_FILE if data.is_dir() else data
    if not path.exists():
        raise BadInput(
            f"There is no {str(path)!r}. DATA is a CSV with the columns "
            f"video,person,start_s,end_s,label, or a folder with such a {LABELS_FILE}."
        )
    file = read_spans(path, settings.traces)
    parts = split(file.spans, settings.seed)
    clips, digest = load_clips(file, parts.groups, architecture.joints)
    actions = sorted({clip.label for clip in clips} - {NOTHING})
    none = NOTHING if settings.with_none else None
    if none is None and any(clip.label == NOTHING for clip in clips):
        raise BadInput(
            f"{str(path)!r} labels spans {NOTHING!r}, and the network is to have no such class. "
            "Leave them out, or train with it."
        )
    if len(actions) + (none is not None) < 2:
        what = f"only the label {actions[0]!r}" if actions else f"no label but {NOTHING!r}"
        raise BadInput(f"{str(path)!r} has {what}: there is nothing to tell apart.")
    classes = (*actions, *([none] if none else []))
    plan = Plan(
        file,
        settings,
        architecture,
        clips,
        parts,
        classes,
        none,
        tuple(_phrases(file, classes)),
        digest,
        (),
    )
    _check(plan)
    return replace(plan, notices=tuple(_notices(plan)))


def _phrases(file: SpanFile, classes: Sequence[str]) -> Iterator[str]:
    embedded = ActionLabels.read(shipped("checkpoints") / EMBEDDED / "labels.json")
    known = dict(zip(embedded.names, embedded.phrases, strict=True))
    known |= {each.label: each.phrase for each in file.spans if each.phrase}
    for name in classes:
        yield "" if name == NOTHING else known.get(name, f"does: {name}")


def _check(plan: Plan) -> None:
    least, path = plan.settings.least_clips, str(plan.file.path)
    few = {n: c for n, c in plan.counts().items() if n != NOTHING and c["train"] < least}
    if few:
        listed = ", ".join(
            f"{name!r} {count['train']} of {sum(count.values())} labelled"
            for name, count in few.items()
        )
        parts = (
            "The parts were chosen, by whole subjects and videos; a column split decides them"
            if plan.split.chosen
            else "The column split decides the parts"
        )
        table = "\n".join(f"  {line}" for line in plan.table())
        raise BadInput(
            f"{path!r} has labels with fewer than {least} spans to train on: {listed}. Label more "
            f"of them, merge or leave out labels, or set --least-clips lower. {parts}.\n{table}"
        )
    if plan.split.leaks and not plan.settings.allow_leaks:
        listed = "; ".join(plan.split.leaks[:5])
        more = len(plan.split.leaks) - 5
        listed += f"; and {more} more" if more > 0 else ""
        raise BadInput(
            f"The column split of {path!r} leaks: {listed}. Held-out accuracy would be too good. "
            "Mend the column, leave it out to have the parts chosen, or give --allow-leaks."
        )


def _notices(plan: Plan) -> Iterator[str]:
    if plan.file.unused:
        yield f"Columns that are not used: {', '.join(plan.file.unused)}."
    if plan.split.leaks:
        yield f"Held-out figures will be too good: {'; '.join(plan.split.leaks[:5])}."
    counts = plan.counts()
    if not plan.part("test"):
        yield (
            "There is no test part: training needs every group of subjects and videos."
            if plan.split.chosen and plan.split.count("train") > 1
            else "There is no test part: all spans hang together through videos and subjects."
        )
    elif absent := [n for n, c in counts.items() if n != NOTHING and not c["test"]]:
        yield f"Not in the test part, so not measured: {', '.join(absent)}."
    groups = plan.split.count("test")
    if groups == 1:
        yield "Only 1 group of subjects and videos tests: the accuracy has no interval."
    elif 1 < groups < FEW_GROUPS:
        yield (
            f"Only {groups} groups of subjects and videos test: the interval of the accuracy is "
            "too narrow."
        )
    if not plan.part("calibration"):
        yield "There is no calibration part: confidence stays as the network gives it."
    if plan.none and not counts[plan.none]["train"]:
        yield f"No span is labelled {NOTHING!r}: it is learnt from made windows alone."
    never = [plan.classes[i] for i in sides(plan.classes).never]
    if never:
        yield f"Never mirrored, for lack of the other side: {', '.join(never)}."
