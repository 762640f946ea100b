"""What every person in the picture does: skeleton actions by PoseC3D.

Poses are estimated, people are followed, every person's track is cut into overlapping windows, each
window is classified, and neighbouring windows with one label become one cue. With ``people:
together`` everybody in a window is one clip, as in mmaction2.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from perception import plugins, weights
from perception.cue import Cue, CueTrack, Source, Span, Status, VideoInfo
from perception.errors import UnknownName
from perception.limits import check_limits
from perception.recognizer import AudioChunk, Batch, Needs, Recognition
from perception.skeleton.people import PeopleTracker, PersonTrack, TrackerOptions
from perception.skeleton.pose import MAX_SIDE_PX, RATE_HZ, PoseEstimator
from perception.skeleton.posec3d import RUNTIMES, ActionClassifier, PoseC3D
from perception.skeleton.scene import Clip, clip_of_all, where_is
from perception.skeleton.windows import (
    each_window,
    segments,
    smoothed,
    window_spans,
)
from perception.traces import pose_traces

__all__ = ["ActionRecognizer", "Options", "build"]

POSE_ESTIMATORS = "perception.skeleton.pose_estimators"

KIND = "action"
VERSION = "1"

PEOPLE = ("each", "together")

_LIMITS = {
    "window_s": (0.001, 86_400),
    "stride_s": (0.001, 86_400),
    "rate_hz": (0.001, 1000),
    "max_side_px": (1, 100_000),
    "least_confidence": (0, 1),
    "least_travel": (0, 1),
    "top": (1, 1000),
    "most_people": (1, 100),
}
"""What makes sense for any video; mistakes in a digit lie beyond."""

MIN_PRESENCE = 0.5
"""Share of a window's steps at which the person must be seen for the window to be classified."""


@dataclass(frozen=True, slots=True)
class Options:
    """How actions are recognised.

    Args:
        window_s: length of the windows that are classified. The paper uses 10.
        stride_s: from the start of one window to the next. The paper uses 10.
        rate_hz: poses a second.
        max_side_px: pictures are scaled down so that no side is longer.
        least_confidence: what the classifier is less sure of becomes no cue, in [0, 1].
        least_travel: windows in which the joints travel less than this share of the body's size
            show no action.
        mirror: also classify the mirror image and average: twice the time for the classifier.
        merge: neighbouring windows with one label become one cue, and windows that share most of
            their time are averaged first. False, as in the paper: a cue for each window.
        top: so many labels with their probabilities are kept in a cue's attributes.
        people: ``each`` is classified by himself, or all that are in a window ``together`` as one
            clip, as mmaction2 does: for networks that know actions of two, as NTU's.
        most_people: so many at most are together, those who are seen best.
        runtime: where the network runs, a name in ``perception.skeleton.runtimes``.
        runtimes: name -> its ``Options``; the defaults of one that is not named.
        pose_estimator: a name in ``perception.skeleton.pose_estimators``.
        pose_estimators: name -> its ``Options``; the defaults of one that is not named.
        tracker: how people are followed.

    Raises:
        BadInput: a number lies outside its limits.
        UnknownName: there is no such way to take people.
    """

    window_s: float = 2.0
    stride_s: float = 0.5
    rate_hz: float = RATE_HZ
    max_side_px: int = MAX_SIDE_PX
    least_confidence: float = 0.5
    least_travel: float = 0.05
    mirror: bool = False
    merge: bool = True
    top: int = 5
    people: str = "each"
    most_people: int = 2
    runtime: str = "onnx"
    runtimes: Mapping[str, Any] = plugins.options_of(RUNTIMES)
    pose_estimator: str = "blazepose"
    pose_estimators: Mapping[str, Any] = plugins.options_of(POSE_ESTIMATORS)
    tracker: TrackerOptions = field(default_factory=TrackerOptions)

    def __post_init__(self) -> None:
        check_limits(self, _LIMITS, "The action recognizer's ")
        if self.people not in PEOPLE:
            raise UnknownName("way to take people", self.people, PEOPLE)


def build(options: Options) -> ActionRecognizer:
    """The recognizer; its models load in ``start``.

    Raises:
        UnknownName: there is no such pose estimator or runtime.
        UserError: what either says of its options.
    """
    runtime = plugins.build(RUNTIMES, options.runtime, options.runtimes)
    estimator = plugins.build(POSE_ESTIMATORS, options.pose_estimator, options.pose_estimators)
    return ActionRecognizer(options, estimator, PoseC3D(runtime, mirror=options.mirror))


class ActionRecognizer:
    """Cue kind ``action``."""

    kind = KIND

    def __init__(
        self, options: Options, estimator: PoseEstimator, classifier: ActionClassifier
    ) -> None:
        self.options, self.estimator, self.classifier = options, estimator, classifier

    @property
    def needs(self) -> Needs:
        """Frames at ``rate_hz``."""
        return Needs(frame_rate_hz=self.options.rate_hz, max_side_px=self.options.max_side_px)

    @property
    def weights(self) -> tuple[str, ...]:
        """The pose estimator's checkpoints, then the classifier's."""
        return (*self.estimator.checkpoints, *self.classifier.checkpoints)

    @property
    def source(self) -> Source:
        """Pins the checkpoints, the labels with their temperature, and the settings."""
        settings = {
            **asdict(self.options),
            "pose_estimators": {self.options.pose_estimator: dict(self.estimator.settings)},
            "runtimes": {self.options.runtime: dict(self.classifier.settings)},
        }
        return Source(
            name=KIND,
            version=VERSION,
            checkpoint_sha256="+".join([*_pins(self.estimator), *_pins(self.classifier)]),
            settings=settings,
        )

    def start(self, video: VideoInfo) -> ActionSession:
        """Begin on a video."""
        return ActionSession(self, video)


class ActionSession:
    """One video. Keeps the poses, never a picture."""

    def __init__(self, recognizer: ActionRecognizer, video: VideoInfo) -> None:
        self._recognizer, self._video = recognizer, video
        self._stream = recognizer.estimator.stream()
        self._people = PeopleTracker(recognizer.options.tracker)

    def feed(self, batch: Batch) -> None:
        """Estimate and follow the people in the next frames."""
        if isinstance(batch, AudioChunk):
            return
        for frame in batch:
            self._people.feed(frame.time_s, self._stream.estimate(frame))

    def finish(self) -> Recognition:
        """Classify every person's windows."""
        people = self._people.finish()
        found: list[Cue] = []
        if self._recognizer.options.people == "together":
            found += self._of_all(people)
        else:
            for person in people:
                found += self._of_one(person, alone=len(people) == 1)
        found.sort(key=lambda cue: (cue.span, cue.attributes.get("person", 0)))
        cues = tuple(_numbered(cue, i) for i, cue in enumerate(found, start=1))
        status, notes = _status(self._video, people, cues)
        track = CueTrack(KIND, KIND, self._recognizer.source, cues, status=status, notes=notes)
        return Recognition(track, pose_traces(KIND, people))

    def _of_one(self, person: PersonTrack, alone: bool) -> list[Cue]:
        """What one person does."""
        options = self._recognizer.options
        end_s = float(person.times_s[-1]) + _period_s(person.times_s, options.rate_hz)
        end_s = min(end_s, max(self._video.duration_s, float(person.times_s[-1])))

        def clip(span: Span) -> Clip:
            return clip_of_all([person], span, options.rate_hz, most=1)

        def subject(span: Span, _: Clip) -> tuple[str, dict[str, Any]]:
            where = where_is(person, span, self._video)
            whose = f"person {person.id}" if alone else f"person {person.id}, {where},"
            return whose, {"person": person.id, "where": where}

        return self._cues(float(person.times_s[0]), end_s, clip, subject)

    def _of_all(self, people: Sequence[PersonTrack]) -> list[Cue]:
        """What happens in the picture, windows counted from the start of the video."""
        options = self._recognizer.options
        end_s = max([self._video.duration_s, *(float(person.times_s[-1]) for person in people)])

        def clip(span: Span) -> Clip:
            return clip_of_all(people, span, options.rate_hz, options.most_people)

        def subject(span: Span, seen: Clip) -> tuple[str, dict[str, Any]]:
            if len(seen.who) > 1:
                who = sorted(seen.who)
                return f"person {' or '.join(map(str, who))}", {"people": who}
            (person,) = (each for each in people if each.id == seen.who[0])
            return f"person {person.id}", {
                "person": person.id,
                "where": where_is(person, span, self._video),
            }

        return self._cues(0.0, end_s, clip, subject) if people else []

    def _cues(
        self,
        start_s: float,
        end_s: float,
        clip: Callable[[Span], Clip],
        subject: Callable[[Span, Clip], tuple[str, dict[str, Any]]],
    ) -> list[Cue]:
        """Cues of the windows from ``start_s`` to ``end_s`` in which somebody is seen."""
        options, labels = self._recognizer.options, self._recognizer.classifier.labels
        looks = [
            (span, seen)
            for span in window_spans(start_s, end_s, options.window_s, options.stride_s)
            if (seen := clip(span)).presence >= MIN_PRESENCE
        ]
        spans = [span for span, _ in looks]
        posteriors = self._posteriors(spans, [seen for _, seen in looks])
        cues = []
        for segment in (segments if options.merge else each_window)(spans, posteriors):
            confidence = min(1.0, float(posteriors[segment.best, segment.label]))
            if segment.label == labels.none or confidence < options.least_confidence:
                continue
            whose, about = subject(segment.span, looks[segment.best][1])
            top = labels.top(posteriors[segment.best], options.top)
            attributes: dict[str, Any] = {
                "label": labels.names[segment.label],
                **about,
                "window_s": [round(t, 3) for t in _ends(spans[segment.best])],
                "top": [[name, round(p, 4)] for name, p in top],
            }
            text = f"{whose} {labels.phrases[segment.label]}"
            cues.append(Cue(KIND, segment.span, text, confidence, attributes))
        return cues

    def _posteriors(self, spans: Sequence[Span], clips: Sequence[Clip]) -> npt.NDArray[np.float32]:
        """The labels' probabilities in each window, averaged where windows are merged."""
        options, classifier = self._recognizer.options, self._recognizer.classifier
        labels, picture = classifier.labels, (self._video.height, self._video.width)
        rows = []
        for clip in clips:
            if labels.none is not None and clip.travel(options.rate_hz) < options.least_travel:
                rows.append(np.eye(len(labels.names), dtype=np.float32)[labels.none])
            else:
                rows.append(classifier.classify(clip.keypoints, clip.scores, picture))
        posteriors = np.array(rows, dtype=np.float32).reshape(len(spans), len(labels.names))
        return smoothed(spans, posteriors) if options.merge else posteriors


def _pins(part: PoseEstimator | ActionClassifier) -> Iterator[str]:
    """The sha256 of the weights of a part: of the manifest's, then of the user's own file."""
    yield from (weights.sha256(name) for name in part.checkpoints)
    if own := part.settings.get("weights_sha256"):
        yield str(own)


def _numbered(cue: Cue, number: int) -> Cue:
    return Cue(f"{KIND}-{number}", cue.span, cue.text, cue.confidence, cue.attributes)


def _ends(span: Span) -> tuple[float, float]:
    return span.start_s, span.end_s


def _period_s(times_s: npt.NDArray[np.float64], rate_hz: float) -> float:
    return statistics.median(np.diff(times_s).tolist()) if len(times_s) > 1 else 1 / rate_hz


def _status(
    video: VideoInfo, people: Sequence[PersonTrack], cues: Sequence[Cue]
) -> tuple[Status, tuple[str, ...]]:
    if not video.has_video:
        return Status.NO_SIGNAL, ("There is no video stream.",)
    if not people:
        return Status.NO_SIGNAL, ("No person was recognised.",)
    acting = {cue.attributes.get("person") for cue in cues}
    acting.update(*(cue.attributes.get("people", ()) for cue in cues))
    idle = [f"person {person.id}" for person in people if person.id not in acting]
    if not idle:
        return Status.COMPLETE, ()
    return Status.COMPLETE, (f"No known action was recognised for {', '.join(idle)}.",)
