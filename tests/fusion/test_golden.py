"""What each policy makes of one real timeline: the sample clip's in short windows, as it came from
``cuelight perceive sample --set recognizers.action.window_s=1.3 --set
recognizers.action.stride_s=0.2 --set recognizers.action.least_confidence=0.3``.

``python -m tests.fusion.test_golden`` writes the files anew; read them before you commit them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fusion.calibration import Calibration
from fusion.controls import CONTROLS, Control, fuse_control
from fusion.fuse import POLICIES, FusionOptions, Tools, fuse
from fusion.policies import retrieved
from fusion.question import Question, QuestionType
from fusion.selection import CuePrompt
from perception import plugins
from perception.cue import CueTimeline, CueTrack
from reasoning.similarities import bm25

FOLDER = Path(__file__).parent / "golden"
SAMPLE = CueTimeline.read(FOLDER / "sample.cues.json")
QUESTION = Question("What does the man think of before he jumps?", type=QuestionType.THEORY_OF_MIND)
POLICY_SETS = {
    **{name: (name,) for name in plugins.names(POLICIES)},
    "routed+hedged+budget": ("routed", "hedged", "budget"),
}
SETTINGS: dict[str, FusionOptions] = {
    "budget": FusionOptions(budget_tokens=130),
    "retrieved": FusionOptions(policy_options={"retrieved": retrieved.Options(top=3)}),
}
CONTROL_NAMES = [name for name in CONTROLS if name != "foreign"]


def calibrated(track: CueTrack) -> Calibration | None:
    """As the manifest has it: the action network's scores are probabilities."""
    return Calibration() if track.kind == "action" else None


LABELS = ("waves", "bows", "runs or jogs", "sits down", "claps", "kicks")
TOOLS = Tools(similarity=bm25.build(bm25.Options()), calibration=calibrated)


def shown(prompt: CuePrompt) -> str:
    """The block, what each cue is worth, and what was left out."""
    worth = [
        f"{item.cue.id}: {item.value:.3f} = {item.probability:.3f} × {item.relevance:.3f} × "
        f"{item.novelty:.3f}"
        for item in prompt.selection.kept
    ]
    left = [f"{item.cue.id}: {item.reason}" for item in prompt.selection.dropped]
    parts = [prompt.text, "\n".join(["value:", *worth]), "\n".join(["left out:", *left])]
    return f"{QUESTION.text} ({QUESTION.type})\n\n" + "\n\n".join(parts) + "\n"


def made(name: str) -> str:
    options = replace(SETTINGS.get(name, FusionOptions()), thresholds={"action": 0.34})
    if name in POLICY_SETS:
        options = replace(options, policies=POLICY_SETS[name])
        return shown(fuse(SAMPLE, QUESTION, options, TOOLS))
    control = Control(name.removeprefix("control_"), seed=1)
    return shown(
        fuse_control(control, SAMPLE, QUESTION, options, TOOLS, vocabulary={"action": LABELS})
    )


NAMES = [*POLICY_SETS, *(f"control_{name}" for name in CONTROL_NAMES)]


@pytest.mark.parametrize("name", NAMES)
def test_each_policy_and_control_makes_what_was_read_and_found_good(name: str) -> None:
    assert made(name) == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def test_there_is_a_file_for_each_and_no_other() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(NAMES)


if __name__ == "__main__":
    for each in NAMES:
        (FOLDER / f"{each}.txt").write_text(made(each), encoding="utf-8")
