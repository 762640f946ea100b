"""``NAME.cues.json`` and ``NAME.traces.npz`` are a pair: foreign traces are told, not drawn."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

from perception import traces
from perception.cue import CueTimeline
from perception.recognizers import speech
from tests.perception import clips
from tests.reasoning import commands
from tests.reasoning.commands import Ran, Run

pytestmark = pytest.mark.weights
FOREIGN = "is not the file that was written with these cues"


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    for name, loud in (("clip", 0.5), ("other", 0.2)):
        sound = clips.tone(2.0, amplitude=loud)
        clips.write_clip(Path(f"{name}.mp4"), clips.moving_square(20), sound=sound)

    def command(*arguments: str) -> Ran:
        return commands.run(capsys, *arguments)

    assert command("perceive", "clip.mp4", "other.mp4", "--only", "speech").code == 0
    return command


def page(run: Run) -> tuple[str, str]:
    """The page of the cues, and what is told of it on stderr."""
    ran = run("inspect", "clip.cues.json", "--no-open", "--no-proxy")
    assert ran.code == 0
    return Path("clip.html").read_text(encoding="utf-8"), ran.err


def test_the_cues_name_the_traces_that_were_written_with_them(run: Run) -> None:
    timeline = CueTimeline.read(Path("clip.cues.json"))
    assert timeline.traces_sha256 == traces.sha256(Path("clip.traces.npz"))
    assert page(run)[1] == ""


def test_foreign_traces_are_told_and_not_drawn(run: Run) -> None:
    drawn, _ = page(run)
    shutil.copy("other.traces.npz", "clip.traces.npz")
    foreign, told = page(run)
    assert f"clip.traces.npz {FOREIGN}" in told
    Path("clip.traces.npz").unlink()
    none, told = page(run)
    assert (foreign == none, foreign == drawn, told) == (True, False, "")


def test_foreign_traces_do_not_stay_beside_tracks_that_are_added(run: Run) -> None:
    shutil.copy("other.traces.npz", "clip.traces.npz")
    ran = run("perceive", "clip.mp4", "--only", "screen_text")
    assert FOREIGN in ran.err
    timeline = CueTimeline.read(Path("clip.cues.json"))
    assert [track.id for track in timeline.tracks] == ["screen_text", "speech"]
    kept = traces.load(Path("clip.traces.npz"))
    assert {name.partition("/")[0] for name in kept} == {"screen_text"}
    assert page(run)[1] == ""


def test_a_track_that_fails_now_leaves_what_was_there(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = [Path(f"clip.{name}").read_bytes() for name in ("cues.json", "traces.npz")]

    def break_down(*_: object) -> None:
        raise RuntimeError("the sound card is on fire")

    with monkeypatch.context() as patch:
        patch.setattr(speech.SpeechSession, "feed", break_down)
        ran = run("perceive", "clip.mp4", "--only", "speech", "--force")
    assert ran.code == 1
    assert "speech: 0 cues (failed)" in ran.out
    assert "speech failed now; what was there in clip.cues.json is kept." in ran.err
    assert [Path(f"clip.{name}").read_bytes() for name in ("cues.json", "traces.npz")] == good
    shutil.copy("other.mp4", "clip.mp4")
    assert run("perceive", "clip.mp4", "--only", "speech", "--force").code == 0
    assert Path("clip.cues.json").read_bytes() != good[0]


def test_cues_that_could_not_be_written_do_not_get_the_new_traces(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = Path.replace

    def full(self: Path, target: Path) -> Path:
        if str(target).endswith(".cues.json"):
            raise OSError(errno.ENOSPC, "No space left on device")
        return replace(self, target)

    shutil.copy("other.mp4", "clip.mp4")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full)
        ran = run("perceive", "clip.mp4", "--only", "speech")
    assert "No space left" in ran.err
    assert FOREIGN in page(run)[1]
