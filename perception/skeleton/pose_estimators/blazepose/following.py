"""Following persons from picture to picture: landmarks first, the detector as a witness."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from perception.skeleton.pose_estimators.blazepose import Options
from perception.skeleton.pose_estimators.blazepose.body import is_body, is_same_body, seen_joints
from perception.skeleton.pose_estimators.blazepose.detector import (
    Detection,
    Detector,
    Window,
    merged,
)
from perception.skeleton.pose_estimators.blazepose.landmarks import Landmarker, Landmarks
from perception.skeleton.pose_estimators.blazepose.region import Region
from perception.skeleton.pose_estimators.blazepose.tiles import AROUND, around

__all__ = ["Following"]

MEMORY = 0.8
"""Weight of the past in a person's trust when the detector has looked there again."""

LEAST_TRUST = 0.35
"""Trust under which a person is given up; 0.95 falls below it when the detector has looked five
times in a row and found nobody."""

WITNESS_EVERY = 6
"""Pictures after which the detector looks at a person that its sweep has not come across."""

MAX_LOST = 5
"""Pictures in a row in which somebody may be lost and is looked for where he was expected."""

FORESIGHT = 0.5
"""Share of the last motion by which a region is moved on. With 1 it overshoots people who stop (of
two who hug one is lost), with 0 it falls behind people who leap."""

TILTED = np.pi / 3
"""Rotation from which a newcomer needs ``tilted_score``: heaps of things look like lying people."""

NEWCOMER_JOINTS = 8
"""Joints that must be seen of a newcomer: an upper body has a face, shoulders and an elbow."""


_BESIDE = 2
"""Threads beside the caller's, for the detector and the second person: looking at one after the
other, BlazePose is what everything else waits for (two people: 9 s instead of 8)."""


@dataclass(frozen=True, slots=True, eq=False)
class _Person:
    """Somebody who is followed.

    Args:
        body: the latest landmarks.
        looked: the region in which they were found.
        trust: mean score of the detector's latest looks, in [0, 1].
        motion: of the region, in pixels a picture.
        lost: pictures since the body was last seen.
        alone: pictures since the detector last looked.
    """

    body: Landmarks
    looked: Region
    trust: float
    motion: tuple[float, float] = (0.0, 0.0)
    lost: int = 0
    alone: int = 0

    @property
    def expected(self) -> Region:
        """Where to look next."""
        steps = FORESIGHT * (self.lost + 1)
        moved = self.body.region.moved(self.motion[0] * steps, self.motion[1] * steps)
        return self.looked if moved.about(self.looked) else moved

    def seen(self, body: Landmarks, looked: Region) -> _Person:
        """The same person in the next picture."""
        steps = self.lost + 1
        old, new = self.body.region, body.region
        motion = ((new.x - old.x) / steps, (new.y - old.y) / steps)
        alone = self.alone + 1
        return replace(self, body=body, looked=looked, motion=motion, lost=0, alone=alone)

    def missed(self) -> _Person:
        """Not found in the next picture."""
        return replace(self, lost=self.lost + 1)

    def witnessed(self, score: float) -> _Person:
        """The detector has looked here and found somebody with ``score`` (0 = nobody)."""
        return replace(self, trust=MEMORY * self.trust + (1 - MEMORY) * score, alone=0)


class Following:
    """Everybody who is followed through the pictures of one scene.

    Each picture: the landmark model looks where everybody is expected. Who is lost is looked for by
    the detector around that place. Where the detector looks for somebody and does not find him, his
    trust falls until he is given up. A newcomer must convince both models, twice.
    """

    def __init__(self, detector: Detector, landmarker: Landmarker, options: Options) -> None:
        self._detector = detector
        self._landmarker = landmarker
        self._options = options
        self._people: list[_Person] = []
        self._beside = ThreadPoolExecutor(_BESIDE, "blazepose")

    @property
    def is_busy(self) -> bool:
        """Whether somebody is followed."""
        return bool(self._people)

    def forget(self) -> None:
        """Start with nobody."""
        self._people = []

    def update(
        self, rgb: npt.NDArray[np.uint8], windows: Sequence[Window]
    ) -> list[tuple[Landmarks, float]]:
        """Everybody in the next picture, with a score in [0, 1]; ``windows`` are those that the
        detector is to look at, which it does while the landmark model follows."""
        looking = self._beside.submit(self._detect, rgb, windows)
        self._people = self._followed(rgb)
        detections = looking.result()
        self._people = self._witnessed(rgb, detections)
        self._people += self._welcomed(rgb, detections)
        return [(p.body, min(p.trust, p.body.score)) for p in self._people if not p.lost]

    def _detect(self, rgb: npt.NDArray[np.uint8], windows: Sequence[Window]) -> list[Detection]:
        least = self._options.keep_score
        return merged([d for window in windows for d in self._detector.detect(rgb, window, least)])

    def _detect_near(
        self, rgb: npt.NDArray[np.uint8], region: Region, least: float
    ) -> list[Detection]:
        """Who could be the person in ``region`` and scores ``least``, the nearest first."""
        for share in AROUND:
            found = merged(self._detector.detect(rgb, around(region, share), least))
            near = [each for each in found if each.region.near(region)]
            if near:
                return sorted(near, key=lambda each: _distance(each.region, region))
        return []

    def _look(self, rgb: npt.NDArray[np.uint8], region: Region) -> Landmarks | None:
        """The body in ``region``, or None when there is none."""
        body = self._landmarker.find(rgb, region)
        return body if body.score >= self._options.presence and is_body(body) else None

    def _looks(
        self, rgb: npt.NDArray[np.uint8], people: Sequence[_Person]
    ) -> list[Landmarks | None]:
        """The body of each where he is expected, or None."""
        beside = [self._beside.submit(self._look, rgb, each.expected) for each in people[1:]]
        first = [self._look(rgb, each.expected) for each in people[:1]]
        return first + [future.result() for future in beside]

    def _followed(self, rgb: npt.NDArray[np.uint8]) -> list[_Person]:
        """Everybody in the new picture, or lost; who has gone too far or too long is left out."""
        steps: list[tuple[_Person, _Person]] = []
        missing: list[_Person] = []
        seen = [person for person in self._people if not person.lost]
        bodies = dict(zip(map(id, seen), self._looks(rgb, seen), strict=True))
        for person in self._people:
            body = bodies.get(id(person))
            if body is None:
                missing.append(person)
            else:
                steps.append((person, person.seen(body, person.expected)))
        people, strayed = _apart(steps)
        for person in strayed + missing:
            people.append(self._searched(rgb, person, people))
        return [p for p in people if p.lost <= MAX_LOST and _inside(p.expected, rgb)]

    def _searched(
        self, rgb: npt.NDArray[np.uint8], person: _Person, others: Sequence[_Person]
    ) -> _Person:
        """The person found again where he was last, or by the detector near there, or lost."""
        body = self._look(rgb, person.body.region)
        if body is not None and body.region.near(person.body.region) and not _known(body, others):
            return person.seen(body, person.body.region)
        for found in self._detect_near(rgb, person.expected, self._options.keep_score):
            body = self._look(rgb, found.region)
            if body is not None and not _known(body, others):
                return person.seen(body, found.region).witnessed(found.score)
        return person.missed()

    def _witnessed(
        self, rgb: npt.NDArray[np.uint8], detections: Sequence[Detection]
    ) -> list[_Person]:
        """Those who are left when the detector has been asked about everybody who is due."""
        out = []
        for person in self._people:
            region = person.body.region
            if not person.lost:
                hits = [d.score for d in detections if d.region.near(region)]
                if not hits and person.alone >= WITNESS_EVERY:
                    near = self._detect_near(rgb, region, self._options.keep_score)
                    hits = [d.score for d in near] or [0.0]
                person = person.witnessed(max(hits)) if hits else person
            if person.trust >= LEAST_TRUST:
                out.append(person)
        return out

    def _welcomed(
        self, rgb: npt.NDArray[np.uint8], detections: Sequence[Detection]
    ) -> list[_Person]:
        """Newcomers: the product of both models' scores must convince, in the sweep's window and
        again in one around the person."""
        new: list[_Person] = []
        for detection in _unclaimed(detections, [p for p in self._people if not p.lost]):
            if len(self._people) + len(new) >= self._options.max_people:
                break
            first = self._convincing(rgb, detection)
            if first is None or _known(first, self._people + new):
                continue
            for other in self._detect_near(rgb, first.region, self._options.start_score):
                body = self._convincing(rgb, other)
                body = body and self._look(rgb, body.region)
                if body is not None and not _known(body, self._people + new):
                    score = min(detection.score, other.score)
                    new.append(_Person(body, body.region, score))
                    break
        return new

    def _convincing(self, rgb: npt.NDArray[np.uint8], detection: Detection) -> Landmarks | None:
        tilted = abs(detection.region.rotation) > TILTED
        least = self._options.tilted_score if tilted else self._options.start_score
        if detection.score < least:
            return None
        body = self._look(rgb, detection.region)
        if body is None or body.score * detection.score < least:
            return None
        return body if seen_joints(body) >= NEWCOMER_JOINTS else None


def _apart(
    steps: Sequence[tuple[_Person, _Person]],
) -> tuple[list[_Person], list[_Person]]:
    """From pairs of a person before and now: those who are seen apart, and those (as they were
    before) who have strayed onto another's body; of two the one who has moved more."""
    apart: list[_Person] = []
    strayed: list[_Person] = []
    for before, now in sorted(steps, key=lambda step: _strides(*step)):
        if _known(now.body, apart):
            strayed.append(before)
        else:
            apart.append(now)
    return apart, strayed


def _strides(before: _Person, now: _Person) -> float:
    """How far somebody has moved from where he was expected, in sides of his region."""
    return _distance(before.expected, now.body.region) / max(before.body.region.side, 1e-6)


def _distance(one: Region, other: Region) -> float:
    return float(np.hypot(one.x - other.x, one.y - other.y))


def _unclaimed(detections: Sequence[Detection], people: Sequence[_Person]) -> list[Detection]:
    """Detections that are left when each person has taken the nearest one that could be his."""
    pairs = sorted(
        (_distance(d.region, p.body.region), i, k)
        for i, d in enumerate(detections)
        for k, p in enumerate(people)
        if d.region.near(p.body.region)
    )
    claimed: set[int] = set()
    served: set[int] = set()
    for _, i, k in pairs:
        if i not in claimed and k not in served:
            claimed.add(i)
            served.add(k)
    return [d for i, d in enumerate(detections) if i not in claimed]


def _known(body: Landmarks, people: Sequence[_Person]) -> bool:
    return any(not p.lost and is_same_body(body, p.body) for p in people)


def _inside(region: Region, rgb: npt.NDArray[np.uint8]) -> bool:
    """Whether the middle of the hips lies in the picture or at most half a body outside."""
    margin = 0.4 * region.side
    height, width = rgb.shape[:2]
    beside = max(-region.x, region.x - width)
    beyond = max(-region.y, region.y - height)
    return bool(max(beside, beyond) <= margin)
