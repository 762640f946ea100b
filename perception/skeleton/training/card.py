"""The model card of a network that a user trained: what on, how, and how good it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from perception.skeleton.training.plan import Plan
from perception.skeleton.training.spans import PARTS

__all__ = ["card", "interval", "use"]

RECOGNIZER_WINDOW_S = 2.0
"""The action recognizer's default."""


def use(plan: Plan, folder: str = "") -> str:
    """The command that perceives a video with the trained network, which lies in ``folder``."""
    chosen = [f"recognizers.action.runtimes.onnx.checkpoint={folder}posec3d.onnx"]
    if plan.settings.window_s != RECOGNIZER_WINDOW_S:
        chosen.append(f"recognizers.action.window_s={plan.settings.window_s:g}")
    return "cuelight perceive clip.mp4 --only action " + " ".join(f"--set {c}" for c in chosen)


def card(plan: Plan, results: dict[str, Any], trained: dict[str, Any]) -> str:
    """The card as Markdown.

    Args:
        plan: what was trained on.
        results: of ``evaluation.measure``; empty = nothing was held out.
        trained: ``steps``, ``batch``, ``learning_rate``, ``seed``, ``backend``, ``device``,
            ``parameters``, ``sha256``, ``bytes``, ``torch``, ``version``.
    """
    lines = [*_head(plan, trained), *_data(plan)]
    if results:
        lines += [*_accuracy(results), *_confidence(plan, results), *_false_actions(results)]
    else:
        lines += ["\n## Accuracy\n", "Not measured: nothing was held out."]
    return "\n".join(lines) + "\n"


def _head(plan: Plan, trained: dict[str, Any]) -> Iterator[str]:
    shape, settings = plan.architecture.shape, plan.settings
    runner = "mmaction2's Runner" if trained["backend"] == "mmaction2" else "plain torch"
    yield "# PoseC3D, trained on labels of one's own\n"
    yield (
        f"Names what one person does from {settings.window_s:g} seconds of COCO-17 keypoints: "
        f"{', '.join(plan.classes)}.\n"
    )
    yield "Written by `cuelight train posec3d`. To use it, from within this folder:\n"
    yield f"```bash\n{use(plan)}\n```\n"
    rows = [
        ("network", f"PoseC3D, {plan.architecture.name}, {trained['parameters']:,} parameters"),
        ("input", f"17 joints, {shape.frames} frames, {shape.size}×{shape.size}"),
        ("file", f"`posec3d.onnx`, {trained['bytes']:,} bytes, sha256 `{trained['sha256']}`"),
        ("begun with", settings.init),
        (
            "trained",
            f"{trained['steps']:,} steps in {settings.minutes:g} minutes, batch "
            f"{trained['batch']}, learning rate {trained['learning_rate']:g} at its peak, seed "
            f"{trained['seed']}",
        ),
        (
            "by",
            f"the backend {trained['backend']} ({runner}), torch {trained['torch']}, on "
            f"{trained['device']}",
        ),
        ("written by", f"cuelight {trained['version']}"),
    ]
    yield from _table(("", ""), rows)


def _data(plan: Plan) -> Iterator[str]:
    yield "\n## Trained on\n"
    how = "chosen: subjects and videos are never in two parts"
    how = how if plan.split.chosen else "as the labels give it"
    yield (
        f"`{plan.file.path.name}`, {len(plan.clips)} labelled spans (sha256 of labels and poses "
        f"`{plan.digest}`). Split {how}.\n"
    )
    counts = plan.counts()
    rows: list[Sequence[Any]] = [(n, *(c[part] for part in PARTS)) for n, c in counts.items()]
    rows.append(("groups of subjects and videos", *(plan.split.count(part) for part in PARTS)))
    yield from _table(("label", *PARTS), rows)
    if plan.notices:
        yield ""
        yield from (f"- {notice}" for notice in plan.notices)


def _accuracy(results: dict[str, Any]) -> Iterator[str]:
    accuracy = results["accuracy"]
    yield "\n## Accuracy\n"
    yield (
        f"Held-out spans: {results['spans']}, in {results['windows']} windows. Right first: "
        f"**{accuracy['top1']:.1%}** ({interval(accuracy)}); mean of the labels "
        f"{accuracy['mean_class']:.1%}; by window {accuracy['by_window']:.1%}.\n"
    )
    rows = [
        (
            name,
            row["spans"],
            _share(row["recall"]),
            _share(row["precision"]),
            ", ".join(f"{other} {n}" for other, n in row["taken_for"].items()),
        )
        for name, row in results["per_label"].items()
    ]
    yield from _table(("label", "spans", "recall", "precision", "taken for"), rows)
    yield "\nConfusion, rows are the truth:\n"
    names = list(results["per_label"])
    table = zip(names, results["confusion"], strict=True)
    yield from _table(("", *names), [(name, *row) for name, row in table])


def interval(accuracy: Mapping[str, Any]) -> str:
    """The interval of the accuracy that ``evaluation.measure`` gives, in words."""
    if accuracy["interval"] is None:
        return "no interval: one group of subjects and videos was held out"
    low, high = accuracy["interval"]
    return f"95 % interval {low:.1%} to {high:.1%}, bootstrap over subjects and videos"


def _confidence(plan: Plan, results: dict[str, Any]) -> Iterator[str]:
    fitted = results["calibration"]
    how = "both were fitted on the calibration part"
    if not plan.part("calibration"):
        how = "there was no calibration part to fit them on, so both do nothing"
    yield "\n## Confidence\n"
    yield (
        f'{fitted["none_bias"]:g} is added to the logit of "none", and logits are divided by '
        f"{fitted['temperature']:g}; {how}. Expected "
        f"calibration error (15 bins): {fitted['error_before']:.4f} before, "
        f"**{fitted['error']:.4f}** after.\n"
    )
    rows = [(b["n"], b["confidence"], b["accuracy"]) for b in fitted["reliability"]]
    yield from _table(("windows", "confidence", "accuracy"), rows)
    yield "\nWindows with an action: how many become a cue, and how many of those are right:\n"
    kept = results["at_threshold"].items()
    rows = [(t, _share(row["kept"]), _share(row["right"])) for t, row in kept]
    yield from _table(("threshold", "kept", "right"), rows)


def _false_actions(results: dict[str, Any]) -> Iterator[str]:
    if not results["false_actions"]:
        return
    yield "\n## False actions\n"
    yield (
        "Windows without an action, made from held-out clips, that are named one at 0.6: the "
        "network alone, and behind the recognizer's motion gate.\n"
    )
    rows = [
        (kind, row["n"], _share(row["network"]["0.6"]), _share(row["with_gate"]["0.6"]))
        for kind, row in results["false_actions"].items()
    ]
    yield from _table(("kind", "windows", "network", "with gate"), rows)


def _share(value: float | None) -> str:
    return "" if value is None or value != value else f"{value:.1%}"


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    yield f"| {' | '.join(map(_cell, head))} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(map(_cell, row))} |"


def _cell(value: Any) -> str:
    return str(value).replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")
