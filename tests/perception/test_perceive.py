"""One run for all recognizers, tracks cached by content, failures that stay their own."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from perception.cache import TrackCache
from perception.cue import Cue, CueTrack, Source, Span, Status, VideoInfo
from perception.errors import BadInput, RecognizerFailed, UnknownName, UnreadableVideo
from perception.perceive import Progress, perceive
from perception.recognizer import AudioChunk, Batch, Needs, Recognition
from tests.perception import clips


@dataclass
class Watcher:
    """A recognizer that notes the times of all it was fed and counts how often it was started."""

    kind: str = "watcher"
    needs: Needs = field(default_factory=lambda: Needs(frame_rate_hz=5.0))
    settings: dict[str, object] = field(default_factory=dict)
    fail_in: str = ""
    fail_from_s: float = 0.0
    error: Exception = field(default_factory=lambda: RecognizerFailed("the model tripped"))
    starts: int = 0
    status: Status = Status.COMPLETE
    weights: tuple[str, ...] = ()

    @property
    def source(self) -> Source:
        return Source(self.kind, "1", "", self.settings)

    def start(self, video: VideoInfo) -> Watching:
        self.starts += 1
        if self.fail_in == "start":
            raise self.error
        return Watching(self)


@dataclass
class Watching:
    watcher: Watcher
    times_s: list[float] = field(default_factory=list)
    samples: int = 0

    def feed(self, batch: Batch) -> None:
        time_s = batch.start_s if isinstance(batch, AudioChunk) else batch[0].time_s
        if self.watcher.fail_in == "feed" and time_s >= self.watcher.fail_from_s:
            raise self.watcher.error
        if isinstance(batch, AudioChunk):
            self.samples += len(batch.samples)
        else:
            self.times_s += [frame.time_s for frame in batch]

    def finish(self) -> Recognition:
        if self.watcher.fail_in == "finish":
            raise self.watcher.error
        kind = self.watcher.kind
        cues = tuple(
            Cue(f"{kind}-{i}", Span(time_s, time_s + 0.1), f"frame at {time_s:.2f}", 1.0)
            for i, time_s in enumerate(self.times_s)
        )
        track = CueTrack(
            kind,
            kind,
            self.watcher.source,
            cues,
            status=self.watcher.status,
            notes=(f"{self.samples} samples",),
        )
        return Recognition(track, {f"{kind}/times": np.array(self.times_s)})


@pytest.fixture
def cache(tmp_path: Path) -> TrackCache:
    return TrackCache(tmp_path / "tracks")


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    pictures = clips.moving_square(20)
    return clips.write_clip(tmp_path / "clip.mp4", pictures, sound=clips.tone(2.0))


def test_every_recognizer_gets_what_it_needs_from_one_run(clip: Path, cache: TrackCache) -> None:
    slow, fast = Watcher("slow", Needs(2.0)), Watcher("fast", Needs(10.0))
    ears = Watcher("ears", Needs(audio=True))
    found = perceive(clip, [slow, fast, ears], cache=cache)
    assert [track.id for track in found.timeline.tracks] == ["slow", "fast", "ears"]
    assert found.traces["slow/times"] == pytest.approx([0.0, 0.5, 1.0, 1.5])
    assert found.traces["fast/times"] == pytest.approx(np.arange(20) / 10)
    heard = found.timeline.tracks[2].notes[0]
    assert int(heard.split()[0]) == pytest.approx(32_000, abs=2_048)
    assert not found.is_partial
    assert found.notices == ()


class Waiter(Watcher):
    """Looks at nothing before ``heard`` is set."""

    def __init__(self, heard: threading.Event) -> None:
        super().__init__("waiter", Needs(10.0))
        self.heard = heard

    def start(self, video: VideoInfo) -> Watching:
        waiter = self

        class Session(Watching):
            def feed(self, batch: Batch) -> None:
                if not waiter.heard.wait(10):
                    raise RecognizerFailed("the sound did not come")
                super().feed(batch)

        return Session(self)


class Listener(Watcher):
    """Sets ``heard`` when it has heard everything."""

    def __init__(self, heard: threading.Event) -> None:
        super().__init__("listener", Needs(audio=True))
        self.heard = heard

    def start(self, video: VideoInfo) -> Watching:
        listener = self

        class Session(Watching):
            def finish(self) -> Recognition:
                listener.heard.set()
                return super().finish()

        return Session(self)


def test_who_listens_does_not_wait_for_who_looks(tmp_path: Path, cache: TrackCache) -> None:
    """40 pictures are more than may wait for a recognizer."""
    clip = clips.write_clip(tmp_path / "c.mp4", clips.moving_square(40), sound=clips.tone(4.0))
    heard = threading.Event()
    found = perceive(clip, [Waiter(heard), Listener(heard)], cache=cache)
    assert [track.status for track in found.timeline.tracks] == 2 * [Status.COMPLETE]
    assert len(found.timeline.tracks[0].cues) == 40


def test_a_second_run_starts_no_recognizer_and_gives_the_same(
    clip: Path, cache: TrackCache
) -> None:
    first = perceive(clip, [Watcher()], cache=cache)
    again = Watcher(fail_in="start")
    second = perceive(clip, [again], cache=cache)
    assert again.starts == 0
    assert second.cached == {"watcher"}
    assert second.timeline == first.timeline
    assert second.traces["watcher/times"] == pytest.approx(first.traces["watcher/times"], abs=1e-3)


def test_the_cache_goes_by_content_not_by_name(clip: Path, cache: TrackCache) -> None:
    perceive(clip, [Watcher()], cache=cache)
    renamed = clip.rename(clip.with_name("other name.mp4"))
    assert perceive(renamed, [Watcher()], cache=cache).cached == {"watcher"}
    clips.write_clip(renamed, clips.moving_square(19))
    assert perceive(renamed, [Watcher()], cache=cache).cached == frozenset()


@pytest.mark.parametrize(
    "other",
    [
        {"recognizer": Watcher(settings={"window_s": 3})},
        {"force": True},
    ],
    ids=lambda other: next(iter(other)),
)
def test_other_settings_or_force_run_again(
    clip: Path, cache: TrackCache, other: dict[str, object]
) -> None:
    perceive(clip, [Watcher()], cache=cache)
    recognizer = other.pop("recognizer", Watcher())
    found = perceive(clip, [recognizer], cache=cache, **other)  # type: ignore[list-item,arg-type]
    assert found.cached == frozenset()
    assert recognizer.starts == 1  # type: ignore[attr-defined]


def test_a_part_is_perceived_as_a_part_whatever_is_known_of_the_whole(
    clip: Path, cache: TrackCache, tmp_path: Path
) -> None:
    part = Span(1.35, 1.5)
    cold = perceive(clip, [Watcher()], span=part, cache=TrackCache(tmp_path / "cold"))
    perceive(clip, [Watcher()], cache=cache)
    perceive(clip, [Watcher()], span=Span(1.35, 1.6), cache=cache)
    warm = perceive(clip, [Watcher()], span=part, cache=cache)
    assert warm.cached == frozenset()
    assert warm.timeline == cold.timeline
    again = perceive(clip, [Watcher()], span=part, cache=cache)
    assert again.cached == {"watcher"}
    assert again.timeline == cold.timeline


@pytest.mark.parametrize("where", ["start", "feed", "finish"])
@pytest.mark.parametrize(
    ("error", "note"),
    [
        (RecognizerFailed("the model tripped"), "the model tripped"),
        (ZeroDivisionError("by zero"), "ZeroDivisionError: by zero"),
    ],
)
def test_one_that_fails_leaves_the_others_their_tracks(
    clip: Path, cache: TrackCache, where: str, error: Exception, note: str
) -> None:
    found = perceive(
        clip, [Watcher("broken", fail_in=where, error=error), Watcher("fine")], cache=cache
    )
    broken, fine = found.timeline.tracks
    assert (broken.status, broken.cues) == (Status.FAILED, ())
    assert broken.notes[0].startswith(note)
    assert ("(test_perceive.py, line " in broken.notes[0]) is isinstance(error, ZeroDivisionError)
    assert fine.status is Status.COMPLETE
    assert len(fine.cues) == 10
    assert found.is_partial
    again = perceive(clip, [Watcher("broken"), Watcher("fine")], cache=cache)
    assert again.cached == {"fine"}
    assert not again.is_partial


def test_one_that_fails_on_the_way_keeps_what_it_had_found_and_is_run_again(
    clip: Path, cache: TrackCache
) -> None:
    stopping = Watcher("eyes", fail_in="feed", fail_from_s=0.9)
    found = perceive(clip, [stopping], cache=cache)
    (track,) = found.timeline.tracks
    assert track.status is Status.PARTIAL
    assert [cue.span.start_s for cue in track.cues] == pytest.approx([0.0, 0.2, 0.4, 0.6, 0.8])
    assert track.notes[-1] == "It stopped at 1.0 s: the model tripped"
    assert len(found.traces["eyes/times"]) == 5
    assert found.is_partial
    again = perceive(clip, [Watcher("eyes")], cache=cache)
    assert again.cached == frozenset()
    assert len(again.timeline.tracks[0].cues) == 10


def test_only_runs_what_it_names(clip: Path, cache: TrackCache) -> None:
    found = perceive(clip, [Watcher("a"), Watcher("b")], only=["b"], cache=cache)
    assert [track.id for track in found.timeline.tracks] == ["b"]
    with pytest.raises(UnknownName, match=r"no recognizer 'c'.*Available: a, b"):
        perceive(clip, [Watcher("a"), Watcher("b")], only=["c"], cache=cache)


def test_a_part_keeps_the_times_of_the_whole(clip: Path, cache: TrackCache) -> None:
    found = perceive(clip, [Watcher()], span=Span(0.8, 1.5), cache=cache)
    assert found.traces["watcher/times"] == pytest.approx([0.8, 1.0, 1.2, 1.4])


@pytest.mark.parametrize("span", [Span(2.0, 3.0), Span(50.0, 60.0), Span(1.0, 1.0)])
def test_a_part_outside_of_the_video_is_an_error(clip: Path, cache: TrackCache, span: Span) -> None:
    with pytest.raises(BadInput, match=r"Nothing of 'clip.mp4'.* lasts 2\.\d\d s"):
        perceive(clip, [Watcher()], span=span, cache=cache)


def test_a_file_that_breaks_off_gives_partial_tracks_that_say_so(
    tmp_path: Path, cache: TrackCache
) -> None:
    whole = clips.write_clip(tmp_path / "whole.mkv", clips.moving_square(100))
    content = whole.read_bytes()
    broken = tmp_path / "broken.mkv"
    broken.write_bytes(content[: len(content) // 2])
    found = perceive(broken, [Watcher()], cache=cache)
    track = found.timeline.tracks[0]
    assert track.status is Status.PARTIAL
    assert 0 < len(track.cues) < 50
    assert track.notes[1:] == found.notices
    assert len(found.notices) == 1
    assert found.is_partial


def test_nothing_found_in_a_file_that_breaks_off_is_partial_where_something_may_have_been(
    tmp_path: Path, cache: TrackCache
) -> None:
    whole = clips.write_clip(tmp_path / "whole.mkv", clips.moving_square(100))
    broken = tmp_path / "broken.mkv"
    broken.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    eyes = Watcher("eyes", status=Status.NO_SIGNAL)
    ears = Watcher("ears", Needs(audio=True), status=Status.NO_SIGNAL)
    for found in (perceive(broken, [eyes, ears], cache=cache) for _ in range(2)):
        seen, heard = found.timeline.tracks
        assert (seen.status, heard.status) == (Status.PARTIAL, Status.NO_SIGNAL)
        assert "breaks off" in seen.notes[1]
        assert found.is_partial
    assert found.cached == {"eyes", "ears"}


def test_pruning_takes_what_killed_processes_left(clip: Path, cache: TrackCache) -> None:
    perceive(clip, [Watcher()], cache=cache)
    for name in ("dead.npz", ".cuelight-0123456789abcdef", "fresh.npz"):
        (cache.folder / name).write_bytes(b"half")
        if name != "fresh.npz":
            os.utime(cache.folder / name, (1, 1))
    assert cache.prune(older_than_s=1e6).tracks == 0
    kept = {path.name for path in cache.folder.iterdir()}
    assert len(kept) == 3
    assert "fresh.npz" in kept
    assert cache.prune().tracks == 1
    assert [path.name for path in cache.folder.iterdir()] == ["fresh.npz"]


@pytest.mark.parametrize("action", ["delete", "replace", "cut", "write"])
def test_a_file_that_changes_while_it_is_read_is_partial_and_not_cached(
    clip: Path, tmp_path: Path, cache: TrackCache, action: str
) -> None:
    intact = clip.read_bytes()
    other = clips.write_clip(tmp_path / "other.mp4", clips.moving_square(5))

    def change(progress: Progress) -> None:
        if progress.stage == "starting":
            return
        if action == "delete":
            clip.unlink(missing_ok=True)
        elif action == "replace" and other.exists():
            other.replace(clip)
        elif action == "cut" and clip.stat().st_size == len(intact):
            os.truncate(clip, len(intact) // 2)
        elif action == "write":
            clip.write_bytes(intact)
            os.utime(clip, ns=(1, 1))

    found = perceive(clip, [Watcher()], cache=cache, on_progress=change)
    assert found.timeline.tracks[0].status is Status.PARTIAL
    assert "'clip.mp4' was changed, moved or deleted" in found.notices[-1]
    clip.write_bytes(intact)
    again = perceive(clip, [Watcher()], cache=cache)
    assert again.cached == frozenset()
    assert again.timeline.tracks[0].status is Status.COMPLETE
    assert len(again.timeline.tracks[0].cues) == 10


def test_a_cache_that_cannot_be_written_loses_no_result(clip: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    found = perceive(clip, [Watcher()], cache=TrackCache(tmp_path / "file"))
    assert len(found.timeline.tracks[0].cues) == 10
    assert "not cached" in found.notices[0]
    assert not found.is_partial


def test_a_damaged_cache_entry_counts_as_absent(clip: Path, cache: TrackCache) -> None:
    perceive(clip, [Watcher()], cache=cache)
    for entry in cache.folder.glob("*.json"):
        entry.write_text("{")
    assert perceive(clip, [Watcher()], cache=cache).cached == frozenset()


def test_progress_goes_forward_and_arrives(clip: Path, cache: TrackCache) -> None:
    steps: list[Progress] = []
    perceive(
        clip, [Watcher(), Watcher("ears", Needs(audio=True))], cache=cache, on_progress=steps.append
    )
    assert steps[0].done_s == 0
    assert steps[-1].done_s == steps[-1].total_s == pytest.approx(2.0, abs=0.1)
    assert all(0 <= step.done_s <= step.total_s for step in steps)


def test_an_interrupt_stops_the_run(clip: Path, cache: TrackCache) -> None:
    def interrupt(step: Progress) -> None:
        if step.done_s > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        perceive(clip, [Watcher()], cache=cache, on_progress=interrupt)
    assert cache.usage().tracks == 0
    assert not {"watcher", "decode"} & {thread.name for thread in threading.enumerate()}


def test_no_video_is_one_sentence(tmp_path: Path, cache: TrackCache) -> None:
    with pytest.raises(UnreadableVideo):
        perceive(tmp_path / "missing.mp4", [Watcher()], cache=cache)


def test_the_cache_tells_its_size_and_prunes(clip: Path, cache: TrackCache) -> None:
    assert cache.usage().tracks == 0
    perceive(clip, [Watcher("a"), Watcher("b")], cache=cache)
    usage = cache.usage()
    assert usage.tracks == 2
    assert usage.bytes == sum(file.stat().st_size for file in cache.folder.iterdir())
    assert cache.prune(older_than_s=3600).tracks == 0
    assert cache.prune() == usage
    assert list(cache.folder.iterdir()) == []
