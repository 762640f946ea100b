"""Files of other tools, as they are and with faults: each fault is one sentence that says where."""

from __future__ import annotations

import json
from typing import Any

import pytest

from perception.cue import Cue, CueTrack, Source, Span
from perception.errors import BadInput
from perception.format import Annotation
from tests.perception.formats.material import HOSTILE, built, needed, timeline, track


def read(name: str, text: str, **options: Any) -> list[tuple[float, float, str]]:
    said = built(name, **options).read(text.encode())
    return [(each.span.start_s, each.span.end_s, each.text) for each in said]


def test_webvtt_with_all_that_the_standard_allows() -> None:
    text = (
        "\ufeffWEBVTT - a title\r\nX-TIMESTAMP-MAP=LOCAL:00:00:00.000\r\n\r\n"
        "STYLE\r\n::cue { color: red }\r\n\r\nREGION\r\nid:fred\r\n\r\n"
        "NOTE a comment\r\nof two lines\r\n\r\n"
        "intro\r\n00:01.000 --> 00:02.000 align:start position:10%\r\n"
        "<v.loud Ann>Hello <00:01.500><i>you</i></v>\r\n&amp; you\r\n\r\n\r\n"
        "100:00:00.000 --> 100:00:00.001\r\n"
    )
    assert read("webvtt", text) == [
        (1.0, 2.0, "Hello you\n& you"),
        (360_000.0, 360_000.001, ""),
    ]


def test_nothing_that_a_caption_says_is_a_tag() -> None:
    cues = track("a", *((n, n + 1, text) for n, text in enumerate(HOSTILE)))
    written = built("webvtt").write(timeline(cues)).decode()
    assert "<" not in written
    assert written.count("-->") == len(HOSTILE)
    assert built("srt").write(timeline(cues)).decode().count("-->") == len(HOSTILE)


def test_srt_as_people_have_it() -> None:
    text = (
        "\ufeff1\r\n00:00:01,5 --> 0:00:02.250 X1:10 X2:20\r\n"
        '<i>one</i>\r\n{\\an8}<font color="red">two</font>\r\n\r\n\r\n'
        "00:00:03,000 --> 00:00:04,000\r\nno number"
    )
    assert read("srt", text) == [(1.5, 2.25, "one\ntwo"), (3.0, 4.0, "no number")]


def test_semicolons_part_times_with_decimal_commas() -> None:
    text = 'start_s;end_s;text;confidence\n1,5;2,5;"eins, zwei";0,25\n3.5;4;drei;1\n'
    said = built("csv_table").read(text.encode())
    assert [(each.span, each.text) for each in said] == [
        (Span(1.5, 2.5), "eins, zwei"),
        (Span(3.5, 4), "drei"),
    ]
    assert [each.confidence for each in said] == [0.25, 1]


def test_praat_short_format_in_utf16() -> None:
    text = (
        'File type = "ooTextFile"\n"TextGrid"\n\n0\n2.5\n<exists>\n1\n"IntervalTier" ! comment "\n'
        '"Wörter"\n0\n2.5\n2\n0\n1\n""\n1\n2.5\n"a ""b"" !c"\n'
    )
    (said,) = built("textgrid").read(b"\xff\xfe" + text.encode("utf-16-le"))
    assert (said.track, said.text, said.span) == ("Wörter", 'a "b" !c', Span(1, 2.5))


def aligned(id: str, start: str, end: str, value: str) -> str:
    return (
        f'<ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="{id}" TIME_SLOT_REF1="{start}" '
        f'TIME_SLOT_REF2="{end}">{value}</ALIGNABLE_ANNOTATION></ANNOTATION>'
    )


EAF = f"""<?xml version="1.0" encoding="UTF-8"?>
<ANNOTATION_DOCUMENT AUTHOR="" DATE="2020-01-01T00:00:00+00:00" FORMAT="3.0" VERSION="3.0">
<HEADER MEDIA_FILE="" TIME_UNITS="milliseconds"/>
<TIME_ORDER>
<TIME_SLOT TIME_SLOT_ID="t1" TIME_VALUE="1000"/>
<TIME_SLOT TIME_SLOT_ID="t2"/>
<TIME_SLOT TIME_SLOT_ID="t3"/>
<TIME_SLOT TIME_SLOT_ID="t4" TIME_VALUE="4000"/>
</TIME_ORDER>
<TIER TIER_ID="parts" LINGUISTIC_TYPE_REF="x">
{aligned("a1", "t1", "t2", "<ANNOTATION_VALUE>one</ANNOTATION_VALUE>")}
{aligned("a2", "t2", "t3", "<ANNOTATION_VALUE>two</ANNOTATION_VALUE>")}
{aligned("a3", "t3", "t4", "<ANNOTATION_VALUE/>")}
</TIER>
<TIER TIER_ID="on it" PARENT_REF="parts" LINGUISTIC_TYPE_REF="y">
<ANNOTATION><REF_ANNOTATION ANNOTATION_ID="a4" ANNOTATION_REF="a2">
<ANNOTATION_VALUE>of two</ANNOTATION_VALUE></REF_ANNOTATION></ANNOTATION>
</TIER>
</ANNOTATION_DOCUMENT>
"""


def test_elan_times_that_lie_between_others() -> None:
    assert read("elan", EAF) == [(1, 2, "one"), (2, 3, "two"), (3, 4, ""), (2, 3, "of two")]


def via(**changes: Any) -> str:
    project: dict[str, Any] = {
        "project": {"pid": "__VIA_PROJECT_ID__", "vid_list": ["1", "2"]},
        "attribute": {
            "1": {
                "aname": "Activity",
                "anchor_id": "FILE1_Z2_XY0",
                "type": 4,
                "options": {"1": "pulls", "2": "falls"},
            },
            "2": {"aname": "Object", "anchor_id": "FILE1_Z1_XY1", "type": 1, "options": {}},
            "3": {"aname": "Note", "anchor_id": "FILE1_Z2_XY0", "type": 1, "options": {}},
        },
        "file": {"1": {"fid": 1, "fname": "a.mp4"}, "2": {"fid": 2, "fname": "b.mp4"}},
        "view": {"1": {"fid_list": [1]}, "2": {"fid_list": ["2"]}},
        "metadata": {
            "x1": {"vid": "1", "flg": 0, "z": [9, 20.5], "xy": [], "av": {"1": "2"}},
            "x2": {"vid": "1", "flg": 0, "z": [2, 6.5], "xy": [], "av": {"1": "1", "3": "a rope"}},
            "x3": {
                "vid": "1",
                "flg": 0,
                "z": [0.917],
                "xy": [2, 263, 184, 17, 13],
                "av": {"2": "Egg"},
            },
            "x5": {"vid": "1", "flg": 0, "z": [3], "xy": [], "av": {"2": "a moment"}},
            "x4": {"vid": "2", "flg": 0, "z": [0, 1], "xy": [], "av": {"1": "other"}},
        },
    }
    return json.dumps({**project, **changes})


def test_via_segments_of_every_video_and_no_boxes() -> None:
    said = built("via").read(via().encode())
    assert [(each.video, each.track, each.text, each.id) for each in said] == [
        ("a.mp4", "pulls", "a rope", "x2"),
        ("a.mp4", "", "falls", "x1"),
        ("b.mp4", "", "other", "x4"),
    ]


def label_studio(*results: dict[str, Any], **task: Any) -> str:
    data = {"data": {"video": "/data/local-files/?d=clips/my%20clip.mp4"}}
    return json.dumps([{**data, "annotations": [{"result": list(results)}], **task}])


SPEECH = {"id": "r", "type": "labels", "value": {"start": 1, "end": 2.5, "labels": ["speech"]}}
FRAMES = {
    "id": "f",
    "type": "timelinelabels",
    "value": {"ranges": [{"start": 1, "end": 25}], "timelinelabels": ["run"]},
}


def test_label_studio_annotations_come_before_predictions() -> None:
    words = {"id": "r", "type": "textarea", "value": {"start": 1, "end": 2.5, "text": ["Hi"]}}
    other = [{"result": [{**SPEECH, "value": {**SPEECH["value"], "end": 9}}]}]
    said = built("labelstudio").read(label_studio(SPEECH, words, predictions=other).encode())
    assert said == (Annotation(Span(1, 2.5), "Hi", track="speech", id="r", video="my clip.mp4"),)
    cancelled = label_studio(annotations=[{"was_cancelled": True, "result": []}], predictions=other)
    (said,) = built("labelstudio").read(cancelled.encode())
    assert (said.span.end_s, said.text) == (9, "speech")


def test_frames_need_their_rate() -> None:
    assert read("labelstudio", label_studio(FRAMES), frame_rate_hz=25.0) == [(0, 1, "run")]
    with pytest.raises(BadInput, match="frame_rate_hz=25"):
        read("labelstudio", label_studio(FRAMES))
    fiftyone = json.dumps(
        {"classes": ["run"], "labels": {"a": [{"label": 0, "support": [26, 50]}]}}
    )
    assert read("fiftyone", fiftyone, frame_rate_hz=25.0) == [(1, 2, "run")]
    with pytest.raises(BadInput, match=r"labels\.a\[0\]: it counts frames"):
        read("fiftyone", fiftyone)


def test_csv_from_a_spreadsheet() -> None:
    text = 'text;end_s;start_s;mine\r\n"say ""a""\r\nand b";2.5;1;x\r\n\'=1+1;4;3;y\r\n'
    assert read("csv_table", text) == [(1, 2.5, 'say "a"\r\nand b'), (3, 4, "=1+1")]


def test_csv_with_empty_lines_and_cells_too_many() -> None:
    assert read("csv_table", CSV + "\n1,2,x,1,,\n\n\n3,4,y,\n") == [(1, 2, "x"), (3, 4, "y")]


def test_a_text_that_is_a_formula_is_none_in_the_file() -> None:
    content = built("csv_table").write(timeline(track("a", (0, 1, "=1+1"), (1, 2, "'@x"))))
    assert b",'=1+1," in content
    assert b",''@x," in content


VTT = "WEBVTT\n\n"
SRT = "1\n00:00:01,000 --> 00:00:02,000\nx\n\n"
GRID = (
    'File type = "ooTextFile"\nObject class = "TextGrid"\n\nxmin = 0\nxmax = 1\ntiers? <exists>\n'
)
CSV = "start_s,end_s,text,confidence\n"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("webvtt", "WEBVTX\n", "line 1: it begins with WEBVTT, not 'WEBVTX'"),
        ("webvtt", VTT + "00:01.000 -> 00:02.000\nx\n", "line 3: a cue has its times here"),
        ("webvtt", VTT + "00:01,000 --> 00:02,000\nx\n", "line 3: a cue has its times here"),
        ("webvtt", VTT + "00:03.000 --> 00:02.000\n", "line 3: A span starts at 0 s or later"),
        ("webvtt", VTT + "00:61.000 --> 00:62.000\n", "line 3: a cue has its times here"),
        (
            "webvtt",
            VTT + "00:01.000 --> 00:02.000\nx\n00:03.000 --> 00:04.000\n",
            "line 5: an empty line stands between two cues",
        ),
        ("webvtt", "WEBVTT\n00:01.000 --> 00:02.000\n", "line 2: an empty line stands between"),
        ("srt", SRT + "2\nx\n", "line 6: a subtitle has its times here"),
        ("srt", SRT + "stray line\n", "line 5: a subtitle has its times here"),
        ("srt", SRT.replace("02,", "00,"), "line 2: A span starts at 0 s or later"),
        ("srt", SRT.rstrip() + "\n" + SRT[2:], "line 4: an empty line stands between two"),
        ("elan", EAF[:900], "line 13: it is not XML ("),
        ("elan", EAF.replace('"4000"', '"4,0"'), "line 8: a time is whole milliseconds, not '4,0'"),
        ("elan", EAF.replace('"4000"', '"400"'), "line 11: A span starts"),
        ("elan", EAF.replace('REF2="t4"', 'REF2="t9"'), "line 13: there is no time slot 't9'"),
        ("elan", EAF.replace(' TIME_SLOT_REF2="t4"', ""), "line 13: ALIGNABLE_ANNOTATION lacks"),
        ("elan", EAF.replace('TIME_VALUE="4000"', ""), "line 11: neither the annotation nor"),
        ("elan", EAF.replace('_REF="a2"', '_REF="a4"'), "line 16: no aligned annotation stands"),
        ("elan", EAF.replace('"t4"', '"t3"', 1), "there are two time slots 't3'"),
        ("elan", EAF.replace('"a3"', '"a2"', 1), "there are two annotations 'a2'"),
        ("elan", EAF.replace('VALUE="4000"', f'VALUE="{"9" * 400}"'), "a time is at most 2e+09 s"),
        (
            "elan",
            EAF.replace("<TIME_ORDER>", '<HEADER TIME_UNITS="PAL-frames"/><TIME_ORDER>'),
            "its times are 'PAL-frames', and only those in milliseconds are read",
        ),
        ("elan", "<a><b/></a>", "line 1: it begins with ANNOTATION_DOCUMENT, not a"),
        ("elan", '<!DOCTYPE a [<!ENTITY b "c">]>\n<a>&b;</a>', "line 1: a document type"),
        ("elan", "<a>" * 60, "line 1: it is nested more than 50 levels deep"),
        ("textgrid", GRID + "size = 1\nitem []:\n", "it ends in the middle"),
        ("textgrid", GRID + 'size = 1\n"PitchTier"', 'line 8: here stands "IntervalTier" or'),
        (
            "textgrid",
            GRID + 'size = 1\n"IntervalTier"\n"a"\n0 1 1\n0 x "t"',
            "line 11: here stands a",
        ),
        (
            "textgrid",
            GRID + 'size = 1\n"IntervalTier"\n"a"\n0 1 1\n1 0 "t"',
            "line 11: A span starts",
        ),
        (
            "textgrid",
            GRID + 'size = 1\n"IntervalTier"\n"a"\n0 1 1\n0 1e308 "t"',
            "line 11: a time is at most 2e+09 s (63 years), not 1e+308",
        ),
        ("textgrid", GRID + 'size = 1\n"IntervalTier"\n"a', "line 9: a text has no closing"),
        ("textgrid", GRID + "size = -1", "line 7: here stands a whole number, not '-1'"),
        (
            "csv_table",
            "start_s,text\n",
            "line 1: it lacks the column 'end_s'; it has start_s, text",
        ),
        (
            "csv_table",
            "start_s,end_s,text,kind,start_s\n1,2,x,a,3\n",
            "line 1: it names the column 'start_s' twice; it has start_s, end_s, text, kind, start",
        ),
        ("csv_table", "start_s;end_s;text\n1.000,5;2;x\n", "line 2: start_s is a number, e.g. 3.5"),
        ("csv_table", CSV + "1,2,x,1\n1,2s,x,1\n", "line 3: end_s is a number, e.g. 3.5, not '2s'"),
        ("csv_table", CSV + '1,2,"a\nb",1\n3,1,x,1\n', "line 4: A span starts at 0 s or later"),
        ("csv_table", CSV + "1,2,x,90\n", "line 2: a confidence of 90.0 is outside [0, 1]"),
        ("csv_table", CSV + "1,nan,x,1\n", "line 2: A span needs finite times"),
        ("csv_table", CSV + "1,1e308,x,1\n", "line 2: A span ends 2e+09 s (63 years) after the"),
        ("webvtt", VTT + f"00:01.000 --> {'9' * 5000}:00:02.000\n", "line 3: a cue has its times"),
        ("srt", SRT.replace("00:00:02", f"{'9' * 5000}:00:02"), "a subtitle has its times here"),
        ("csv_table", CSV + "1,2,x\n", "line 2: it has 3 cells and line 1 has 4"),
        ("csv_table", CSV + '1,2,"a\nb",1\n\n1,2\n', "line 5: it has 2 cells and line 1 has 4"),
        ("csv_table", CSV + "1,2,x, y,1\n", "line 2: it has 5 cells and line 1 has 4"),
        (
            "via",
            via(metadata={"x": {"vid": "1", "z": [2, 1], "xy": [], "av": {}}}),
            "metadata.x.z: A",
        ),
        (
            "via",
            via(metadata={"x": {"vid": "1", "z": ["2", 1], "xy": []}}),
            "metadata.x.z[0] must be",
        ),
        ("via", via(attribute=[]), "attribute must be an object, not an array"),
        (
            "labelstudio",
            label_studio({**SPEECH, "value": {"start": "1", "end": 2}}),
            "tasks[0].annotations[0].result[0].value.start must be a number, not '1'",
        ),
        ("labelstudio", '{"data": 1,}', "it is not JSON: "),
        (
            "fiftyone",
            '{"classes": [], "labels": {"a": [{"label": 3, "timestamps": [0, 1]}]}}',
            "label 3",
        ),
        (
            "fiftyone",
            '{"labels": {"a": [{"label": "x", "timestamps": [0]}]}}',
            "are a start and an",
        ),
    ],
)
def test_a_fault_is_told_with_its_place(name: str, text: str, said: str) -> None:
    with pytest.raises(BadInput) as caught:
        read(name, text)
    assert said in str(caught.value)


def test_bytes_that_are_no_text_are_told_with_their_line() -> None:
    with pytest.raises(BadInput, match="line 3: it is not UTF-8 text"):
        built("webvtt").read(b"WEBVTT\n\n\xff\xfe")


def test_parquet_without_a_needed_column_and_with_a_wrong_one() -> None:
    needed("parquet")
    import io

    from pyarrow import parquet, table

    def content(**columns: list[Any]) -> bytes:
        file = io.BytesIO()
        parquet.write_table(table(columns), file)
        return file.getvalue()

    with pytest.raises(BadInput, match="it lacks the column 'end_s'; it has start_s, text"):
        built("parquet").read(content(start_s=[1.0], text=["x"]))
    with pytest.raises(BadInput, match="row 1: start_s must be a number, not 'x'"):
        built("parquet").read(content(start_s=["0", "x"][1:], end_s=[1.0], text=["x"]))
    with pytest.raises(BadInput, match="row 2: text must be a string, not null"):
        built("parquet").read(content(start_s=[1, 2], end_s=[2, 3], text=["x", None]))
    assert built("parquet").read(content(start_s=[1], end_s=[2], text=["x"], more=[3])) == (
        Annotation(Span(1, 2), "x"),
    )


def test_parquet_keeps_what_made_each_track() -> None:
    needed("parquet")
    import io

    from pyarrow import parquet

    cue = Cue("a", Span(0, 1), "x", 0.5)
    made = CueTrack("speech", "speech", Source("speech", "7", "ab" * 32, {"beam": 5}), (cue,))
    schema = parquet.read_schema(io.BytesIO(built("parquet").write(timeline(made))))
    about = json.loads(schema.metadata[b"cuelight"])
    assert about["video"]["name"] == "clip.mp4"
    assert about["tracks"][0]["source"]["settings"] == {"beam": 5}
    assert schema.field("start_s").type == "double"


def test_a_recording_shows_what_holds_at_a_time() -> None:
    needed("rerun")
    import tempfile
    from pathlib import Path

    from rerun.chunk import RrdReader

    content = built("rerun").write(timeline(track("a b", (0, 2, "one"), (1, 3, "two"))))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.rrd"
        path.write_bytes(content)
        chunks = {c.entity_path: c for c in RrdReader(str(path)).stream().to_chunks()}
    rows = chunks["/now/a\\ b"].to_record_batch().to_pylist()
    shown = [(row["video_time"].total_seconds(), row["TextDocument:text"]) for row in rows]
    assert shown == [(0, ["one"]), (1, ["one\n\ntwo"]), (2, ["two"]), (3, [""])]


def test_a_recording_that_breaks_off_is_refused() -> None:
    needed("rerun")
    content = built("rerun").write(timeline(track("a", *((n, n + 1, "x") for n in range(50)))))
    with pytest.raises(BadInput, match=r"it (has no footer|cannot be read)"):
        built("rerun").read(content[: len(content) - 100])
