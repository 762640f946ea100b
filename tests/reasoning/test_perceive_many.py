"""Many videos in one run: models load once, and what leaks does not add up over a corpus."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from perception.cue import VideoInfo
from perception.perceive import build_recognizers
from perception.recognizer import Recognizer
from perception.recognizers.speech import SpeechRecognizer, SpeechSession
from reasoning.cli import _perceiving, main
from tests.perception.clips import tone, write_clip


def test_recognizers_are_kept_for_some_videos_and_then_built_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUELIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(_perceiving, "RECYCLE_AFTER", 2)
    alive: list[int] = []

    class Watched(SpeechRecognizer):
        def start(self, video: VideoInfo) -> SpeechSession:
            gc.collect()
            alive.append(sum(isinstance(each, Watched) for each in gc.get_objects()))
            return super().start(video)

    monkeypatch.setattr("perception.recognizers.speech.SpeechRecognizer", Watched)
    started: list[Mapping[str, Any] | None] = []

    def counted(options: Mapping[str, Any] | None = None) -> tuple[Recognizer, ...]:
        started.append(options)
        return build_recognizers(options)

    monkeypatch.setattr(_perceiving, "build_recognizers", counted)
    names = [
        str(write_clip(tmp_path / f"{hz}.wav", sound=tone(1.0, hz), sound_codec="pcm_s16le"))
        for hz in (200, 300, 400, 500, 600)
    ]
    out = ["--out", str(tmp_path / "out"), "--quiet"]
    with pytest.raises(SystemExit) as done:
        main(["perceive", *names, "--only", "speech", *out])
    assert done.value.code == 0
    assert alive == [1] * 5, "recognizers of the videos before are gone"
    assert len(started) == 3
