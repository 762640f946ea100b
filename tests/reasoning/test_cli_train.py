"""``cuelight train posec3d`` as a user meets it."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from perception import plugins
from perception.skeleton.posec3d import RUNTIMES, PoseC3D
from tests.perception.acting import ACT_S, acting, write_corpus, write_labels
from tests.reasoning import commands
from tests.reasoning.commands import Ran

TORCH = all(importlib.util.find_spec(name) is not None for name in ("torch", "onnx"))


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> Ran:
    return commands.run(capsys, "train", "posec3d", *arguments)


def test_a_dry_run_tells_what_would_be_trained_and_writes_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    write_corpus(tmp_path, videos=8)
    before = sorted(tmp_path.iterdir())
    code, out, err = run(capsys, str(tmp_path), "--dry-run", "--out", str(tmp_path / "out"))
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines()]
    assert rows[0] == ["label", "train", "calibration", "test"]
    counts = {tuple(row[:-3]): list(map(int, row[-3:])) for row in rows[1:6]}
    assert sum(counts["wave",]) == sum(counts["raise", "arms"]) == 16
    assert counts["groups",] == [5, 1, 2]
    assert "Would train the slim network, which begins with posec3d_mimed" in out
    assert sorted(tmp_path.iterdir()) == before


def test_a_dry_run_as_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    write_corpus(tmp_path, videos=8)
    code, out, _ = run(capsys, str(tmp_path / "labels.csv"), "--dry-run", "--json", "--no-none")
    document = json.loads(out)
    assert code == 0
    assert document["classes"] == ["raise arms", "squat", "wave"]
    assert document["none"] is None
    assert document["split"] == "chosen"


def test_faults_are_told_with_their_lines(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    write_corpus(tmp_path, videos=1)
    write_labels(tmp_path, [["clip0.mp4", 5, 0, 2, "wave"], ["clip0.mp4", 1, 9, 8, "wave"]])
    code, out, err = run(capsys, str(tmp_path), "--dry-run")
    assert (code, out) == (2, "")
    assert "has 1 fault" in err
    assert "line 3: end_s 8 is not after start_s 9" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "There is no 'nowhere'. DATA is a CSV"),
        ([".", "--minutes", "-1"], "--minutes cannot be -1"),
        ([".", "--arch", "slimm"], "Did you mean 'slim'?"),
        ([".", "--arch", "full"], "embedded weights are of the slim network"),
    ],
)
def test_a_mistake_is_one_sentence(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *arguments, "--dry-run")
    assert (code, out) == (2, "")
    assert said in err


@pytest.mark.skipif(TORCH, reason="the extra train is installed")
def test_without_the_extra_the_install_line_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    write_corpus(tmp_path, videos=8)
    code, out, err = run(capsys, str(tmp_path), "--out", str(tmp_path / "out"))
    assert (code, out) == (2, "")
    assert "pip install 'cuelight[train]'" in err
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(not TORCH, reason="needs the extra train")
def test_what_was_trained_is_used_at_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from perception.skeleton.training import evaluation

    monkeypatch.setattr(evaluation, "MADE", 5)
    write_corpus(tmp_path, videos=8)
    out = tmp_path / "mine"
    code, printed, err = run(
        capsys, str(tmp_path), "--out", str(out), "--minutes", "0.25", "--threads", "1", "--json"
    )
    document = json.loads(printed)
    assert code == 0, err
    assert document["held_out"]["spans"] == 12
    assert {path.name for path in out.iterdir()} == {
        "posec3d.onnx",
        "labels.json",
        "README.md",
        "results.json",
        "checkpoint.pth",
        "train.log",
    }
    assert json.loads((out / "results.json").read_text())["held_out"] == document["held_out"]
    for options in ({"checkpoint": str(out)}, {"checkpoint": str(out / "posec3d.onnx")}):
        runtime = plugins.take(RUNTIMES, "onnx")
        classifier = PoseC3D(runtime.build(runtime.Options(**options)))
        assert classifier.labels.names == ("raise arms", "squat", "wave", "none")
        said = []
        for act in ("raise arms", "squat"):
            track, end = acting([act], seed=77), int(ACT_S * 15)
            said.append(classifier.classify(track.keypoints[:end], track.scores[:end]))
            assert said[-1].sum() == pytest.approx(1, abs=1e-5)
        assert abs(said[0] - said[1]).max() > 1e-5
    card = (out / "README.md").read_text()
    assert "Held-out spans: 12" in card
    assert "Expected calibration error" in card
