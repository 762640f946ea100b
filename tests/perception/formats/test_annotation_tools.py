"""FiftyOne and Label Studio take what is written; they need an environment of their own."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from perception.cue import Cue, CueTrack, Source, Span
from tests.perception.formats.material import built, timeline, track


@pytest.fixture
def fiftyone() -> Any:
    pytest.importorskip("fiftyone", reason="needs fiftyone, in an environment of its own")
    return importlib.import_module("fiftyone")


def test_its_importer_makes_temporal_detections(fiftyone: Any, tmp_path: Path) -> None:
    """60 s at 25 frames a second: 1.5-3 s are frames 38 to 75, counted from 1, the last included
    or not as FiftyOne rounds."""
    from fiftyone.utils.data.importers import FiftyOneTemporalDetectionDatasetImporter

    attributes = {"label": "wave", "support": [1, 2], "top": [["wave", 0.5]]}
    action = CueTrack(
        "action", "action", Source("x"), (Cue("a", Span(1.5, 3), "waves", 0.5, attributes),)
    )
    written = built("fiftyone").write(timeline(action, track("speech", (4, 5, "hé <b>"))))
    (tmp_path / "labels.json").write_bytes(written)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "clip.mp4").write_bytes(b"")
    importer = FiftyOneTemporalDetectionDatasetImporter(dataset_dir=str(tmp_path))
    importer.setup()
    metadata = fiftyone.VideoMetadata(total_frame_count=1500, duration=60.0, frame_rate=25.0)
    (name,) = importer._uuids
    parser = importer._sample_parser
    parser.with_sample((str(tmp_path / "data" / "clip.mp4"), importer._labels_map[name]), metadata)
    waves, speech = parser.get_label().detections
    assert (name, waves.label, waves.confidence, waves.track) == ("clip", "waves", 0.5, "action")
    assert (speech.label, speech.kind, speech.cue_id) == ("hé <b>", "speech", "speech-0")
    first_s, last_s = waves.to_timestamps(metadata=metadata)
    assert (first_s, last_s) == (pytest.approx(1.5, abs=0.04), pytest.approx(3.0, abs=0.04))


def test_what_its_exporter_writes_is_read(fiftyone: Any, tmp_path: Path) -> None:
    from fiftyone.utils.data.exporters import FiftyOneTemporalDetectionDatasetExporter

    metadata = fiftyone.VideoMetadata(total_frame_count=1500, duration=60.0, frame_rate=25.0)
    detections = fiftyone.TemporalDetections(
        detections=[
            fiftyone.TemporalDetection(label="pulls", support=[26, 50], confidence=0.75, who="Ann")
        ]
    )
    exporter = FiftyOneTemporalDetectionDatasetExporter(
        labels_path=str(tmp_path / "labels.json"), export_media=False
    )
    with exporter:
        exporter.export_sample(str(tmp_path / "clip.mp4"), detections, None, metadata=metadata)
    content = (tmp_path / "labels.json").read_bytes()
    (said,) = built("fiftyone", frame_rate_hz=25.0).read(content)
    assert (said.text, said.span, said.confidence) == ("pulls", Span(1, 2), 0.75)
    assert said.attributes == {"who": "Ann"}


def test_label_studio_takes_the_prediction_in_the_documented_configuration() -> None:
    interface = pytest.importorskip(
        "label_studio_sdk.label_interface",
        reason="needs label-studio-sdk, in an environment of its own",
    )
    page = (Path(__file__).parents[3] / "docs" / "formats.md").read_text(encoding="utf-8")
    (configuration,) = re.findall(r"```xml\n(.*?)```", page, re.DOTALL)
    checked = interface.LabelInterface(configuration)
    whole = timeline(track("action", (1, 2, "waves")), track("speech", (1.5, 3, "hé <b>")))
    (task,) = json.loads(built("labelstudio").write(whole))
    assert set(task["data"]) == {checked.get_object("video").value_name}
    assert checked.validate_prediction(task["predictions"][0], return_errors=True) == []
    task["predictions"][0]["result"][0]["value"]["labels"] = ["pose"]
    assert checked.validate_prediction(task["predictions"][0], return_errors=True) != []
