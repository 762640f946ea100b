"""``cuelight calibrate``, and what ``cuelight fuse`` makes of what it keeps."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fusion.calibration import Calibration
from perception import weights
from perception.cue import Cue, CueTimeline, CueTrack, Origin, Source, Span
from perception.shipped import shipped
from reasoning.tools.calibration import calibrations
from tests.fusion.timelines import VIDEO
from tests.reasoning import commands
from tests.reasoning.commands import Ran, Run

SPEECH = Source("speech", "test", "5" * 64)
LONG = replace(VIDEO, duration_s=1000.0)


def overconfident(name: str = "clip.mp4") -> CueTimeline:
    """100 utterances: of those that score 0.9 every other one is right, of those of 0.6 none."""
    cues = [
        Cue(f"speech-{n}", Span(10 * n, 10 * n + 4), f"word {n}", 0.9 if n < 50 else 0.6)
        for n in range(100)
    ]
    track = CueTrack("speech", "speech", SPEECH, tuple(cues))
    return CueTimeline(replace(LONG, name=name), (track,))


def labels(head: str = "start_s,end_s,label", cells: str = "{start},{end},word {n}") -> str:
    rows = [cells.format(start=10 * n, end=10 * n + 4, n=n) for n in range(0, 50, 2)]
    return "\n".join([head, *rows, ""])


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUELIGHT_HOME", str(tmp_path / "home"))
    (tmp_path / "clip.cues.json").write_text(overconfident().to_json())
    (tmp_path / "labels.csv").write_text(labels())

    def command(*arguments: str) -> Ran:
        return commands.run(capsys, *arguments)

    return command


def test_a_table_of_what_happens_makes_scores_honest(run: Run) -> None:
    code, out, err = run("calibrate", "clip.cues.json", "--labels", "labels.csv", "--json")
    assert code == 0, err
    (fitted,) = json.loads(out)["fitted"]
    assert fitted["calibration"]["method"] == "isotonic"
    assert fitted["calibration"]["points"] == [[0.6, 0.0], [0.9, 0.5]]
    assert fitted["ece_before"] == pytest.approx(0.5 * 0.4 + 0.5 * 0.6)
    assert fitted["ece"] < 0.05
    assert fitted["n"] == 100


def test_a_table_with_decimal_commas_is_read(run: Run, tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text(
        labels("start_s;end_s;label", "{start},0;{end},0;word {n}")
    )
    code, out, err = run("calibrate", "clip.cues.json", "--labels", "labels.csv", "--json")
    assert code == 0, err
    assert json.loads(out)["fitted"][0]["calibration"]["points"] == [[0.6, 0.0], [0.9, 0.5]]


def test_what_was_fitted_is_used_for_that_checkpoint_and_no_other(run: Run) -> None:
    before = run("fuse", "clip.cues.json", "What is said?", "--to", "15")
    assert '"word 0" (score 0.90)' in before[1]
    assert run("calibrate", "clip.cues.json", "--labels", "labels.csv")[0] == 0
    after = run("fuse", "clip.cues.json", "What is said?", "--to", "15")
    assert '"word 0" (50 %)' in after[1]
    assert "probability" in run("inspect", "clip.cues.json", "--text").out
    (lane,) = json.loads(run("inspect", "clip.cues.json", "--text", "--json").out)["lanes"]
    assert [each["probability"] for each in lane["cues"]] == [0.5] * 50 + [0.0] * 50
    low = run("fuse", "clip.cues.json", "What is said?", "--from", "600", "--to", "605")
    assert "probability 0.00 is under 0.40" in low[2]
    other = CueTrack("speech", "speech", replace(SPEECH, checkpoint_sha256="6" * 64))
    assert calibrations()(other) is None
    raw = run("fuse", "clip.cues.json", "What?", "--to", "15", "--set", "tools.calibrated=false")
    assert '"word 0" (score 0.90)' in raw[1]


def test_a_fit_that_is_no_nearer_to_the_truth_is_not_kept(run: Run, tmp_path: Path) -> None:
    """Honest scores: of those of 0.9 nine in ten are right; a fit can only follow chance."""
    cues = [Cue(f"speech-{n}", Span(10 * n, 10 * n + 4), f"word {n}", 0.9) for n in range(30)]
    track = CueTrack("speech", "speech", SPEECH, tuple(cues))
    (tmp_path / "honest.cues.json").write_text(CueTimeline(LONG, (track,)).to_json())
    rows = [f"{10 * n},{10 * n + 4},word {n}" for n in range(30) if n % 10]
    (tmp_path / "honest.csv").write_text("\n".join(["start_s,end_s,label", *rows]))
    code, out, err = run("calibrate", "honest.cues.json", "--labels", "honest.csv")
    assert code == 0, err
    assert "Not kept, the scores were nearer to the truth" in out
    assert "Wrote" not in out
    assert calibrations()(track) is None


def test_a_calibration_can_be_forgotten(run: Run) -> None:
    track = overconfident().tracks[0]
    assert run("calibrate", "clip.cues.json", "--labels", "labels.csv").code == 0
    assert calibrations()(track) is not None
    said = run("calibrate", "--forget", "speach")
    assert (said.code, "Did you mean 'speech'?" in said.err) == (2, True)
    assert run("calibrate", "--forget", "speech").code == 0
    assert calibrations()(track) is None


def test_a_review_beside_the_timeline_is_read(run: Run, tmp_path: Path) -> None:
    cues = {f"speech-{n}": {"verdict": "right" if n % 2 == 0 else "wrong"} for n in range(50)}
    cues["speech-60"] = {"note": "no verdict"}
    review = {"schema": "cuelight.review/1", "cues": cues}
    (tmp_path / "clip.review.json").write_text(json.dumps(review))
    code, out, err = run("calibrate", "clip.cues.json", "--json")
    assert code == 0, err
    (fitted,) = json.loads(out)["fitted"]
    assert (fitted["n"], fitted["calibration"]["points"]) == (50, [[0.9, 0.5]])


def test_a_review_of_another_video_is_refused_as_inspect_refuses_it(
    run: Run, tmp_path: Path
) -> None:
    cues = {f"speech-{n}": {"verdict": "right"} for n in range(50)}
    other = {"name": "other.mp4", "sha256": "e" * 64}
    review = {"schema": "cuelight.review/1", "video": other, "cues": cues}
    (tmp_path / "clip.review.json").write_text(json.dumps(review))
    code, out, err = run("calibrate", "clip.cues.json")
    assert (code, out) == (2, "")
    assert "'clip.review.json' is the review of another video (other.mp4, sha256 eeee" in err
    assert run("inspect", "clip.cues.json", "--text").err == err
    assert not (tmp_path / "home").exists()


def test_verdicts_on_cues_that_are_no_longer_there_are_not_used(run: Run, tmp_path: Path) -> None:
    """Every fourth verdict is of another text, every fourth of another time, one of no cue."""
    cues = {}
    for n in range(80):
        text, start_s = f"word {n}", 10.0 * n + (0.004 if n % 4 == 1 else 0)
        text, start_s = ("else", start_s) if n % 4 == 2 else (text, start_s)
        start_s += 0.02 if n % 4 == 3 else 0
        of = {"text": text, "start_s": start_s, "end_s": 10.0 * n + 4}
        cues[f"speech-{n}"] = {"verdict": "right", "of": of}
    cues["speech-1000"] = {"verdict": "right"}
    del cues["speech-0"]["of"]
    review = tmp_path / "clip.review.json"
    review.write_text(json.dumps({"schema": "cuelight.review/1", "cues": cues}))
    before = review.read_bytes()
    code, out, err = run("calibrate", "clip.cues.json", "--json")
    assert code == 0, err
    (fitted,) = json.loads(out)["fitted"]
    assert fitted["n"] == 40
    assert json.loads(out)["gone"] == {"clip.review.json": 41}
    assert "clip.review.json: 41 corrections are of cues that are not, or no longer, there" in err
    assert review.read_bytes() == before


def test_a_softmax_gets_a_temperature(run: Run, tmp_path: Path) -> None:
    cues = [
        Cue(
            f"action-{n}",
            Span(10 * n, 10 * n + 4),
            "person 1 waves",
            0.9,
            {"person": 1, "label": "wave", "top": [["wave", 0.9], ["jump", 0.1]]},
        )
        for n in range(40)
    ]
    track = CueTrack("action", "action", Source("action", "t", "7" * 64), tuple(cues))
    (tmp_path / "a.cues.json").write_text(CueTimeline(LONG, (track,)).to_json())
    rows = [f"{10 * n + 2},{10 * n + 9},Waves" for n in range(0, 40, 2)]
    rows += [f"{10 * n + 3.5},{10 * n + 9},wave" for n in range(1, 40, 2)]
    (tmp_path / "a.csv").write_text("\n".join(["start_s,end_s,label", *rows]))
    code, out, err = run("calibrate", "a.cues.json", "--labels", "a.csv", "--json")
    assert code == 0, err
    (fitted,) = json.loads(out)["fitted"]
    assert fitted["calibration"]["method"] == "temperature"
    assert fitted["calibration"]["temperature"] > 5
    assert fitted["reliability"][-1]["accuracy"] == 0.5


def test_a_dry_run_keeps_nothing_and_the_diagram_is_drawn(run: Run, tmp_path: Path) -> None:
    code, out, _ = run("calibrate", "clip.cues.json", "--labels", "labels.csv", "--dry-run")
    assert code == 0
    assert "speech: isotonic (2 points), 100 labelled cues of 1 video" in out
    assert "calibration error 0.500 before" in out
    assert not (tmp_path / "home").exists()


def test_list_shows_what_ships_and_what_is_kept(run: Run) -> None:
    assert "None of your own" in run("calibrate", "--list")[1]
    run("calibrate", "clip.cues.json", "--labels", "labels.csv")
    out = run("calibrate", "--list")[1]
    assert "posec3d_mimed: identity, calibration error 0.029" in out
    assert "speech: isotonic" in out
    listed = json.loads(run("calibrate", "--list", "--json")[1])
    assert listed["own"][0]["checkpoint_sha256"] == "5" * 64


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Give one or more NAME.cues.json"),
        (["clip.cues.json"], "None of the cues is labelled"),
        (["clip.cues.json", "--labels", "short.csv"], "lacks the column 'label'"),
        (["clip.cues.json", "--labels", "twice.csv"], "it names the column 'label' twice"),
        (["clip.cues.json", "--labels", "long.csv"], "line 2: start_s and end_s are seconds"),
        (["clip.cues.json", "--labels", "times.csv"], "line 2: start_s and end_s are seconds"),
        (["clip.cues.json", "--labels", "other.csv"], "None of the cues is labelled"),
        (["clip.cues.json", "--labels", "labels.csv", "--kind", "speach"], "Did you mean 'speech'"),
        (["clip.cues.json", "--labels", "labels.csv", "--method", "platt"], "no method of cal"),
        (["clip.cues.json", "two.cues.json", "--labels", "labels.csv"], "the column 'video'"),
        (["few.cues.json", "--labels", "labels.csv"], "Too few cues of speech are labelled: 5"),
        (["bad.cues.json"], "is not a reviewed timeline: its schema is 'x'"),
    ],
)
def test_a_mistake_is_one_sentence(
    run: Run, tmp_path: Path, arguments: list[str], said: str
) -> None:
    (tmp_path / "short.csv").write_text("start_s,end_s\n1,2\n")
    (tmp_path / "twice.csv").write_text("start_s,end_s,label,label\n1,2,x,y\n")
    (tmp_path / "long.csv").write_text(f"start_s,end_s,label\nearly,late,{'x' * 200_000}\n")
    (tmp_path / "times.csv").write_text("start_s,end_s,label\nearly,late,x\n")
    (tmp_path / "other.csv").write_text("start_s,end_s,label,video\n1,2,x,another.mp4\n")
    (tmp_path / "two.cues.json").write_text(overconfident("two.mp4").to_json())
    (tmp_path / "bad.cues.json").write_text(overconfident().to_json())
    (tmp_path / "bad.review.json").write_text('{"schema": "x", "cues": {}}')
    (track,) = overconfident().tracks
    few = CueTimeline(LONG, (replace(track, cues=track.cues[:5]),))
    (tmp_path / "few.cues.json").write_text(few.to_json())
    code, out, err = run("calibrate", *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert not (tmp_path / "home").exists()


def test_a_damaged_calibration_says_what_to_do(run: Run, tmp_path: Path) -> None:
    run("calibrate", "clip.cues.json", "--labels", "labels.csv")
    (kept,) = (tmp_path / "home" / "calibrations").iterdir()
    kept.write_text("{}")
    code, _, err = run("fuse", "clip.cues.json", "What?")
    assert code == 2
    assert "is not a calibration" in err
    assert "cuelight calibrate" in err


def test_the_manifest_tells_what_was_measured_of_our_own_network() -> None:
    results = json.loads((shipped("checkpoints") / "posec3d_mimed" / "results.json").read_text())
    measured = results["test"]["calibration_error"]
    calibration = weights.checkpoint("posec3d_mimed").calibration
    assert calibration is not None
    assert calibration.ece == measured["all"]
    assert [
        {"n": each.n, "confidence": each.confidence, "accuracy": each.accuracy}
        for each in calibration.reliability
    ] == measured["reliability"]


def test_the_shipped_map_goes_by_the_network_that_gave_the_scores() -> None:
    network = weights.sha256("posec3d_mimed")
    track = CueTrack("action", "action", Source("action", "1", f"{'1' * 64}+{network}"))
    assert calibrations()(track) == Calibration()
    before = replace(track, source=Source("action", "1", f"{network}+{'1' * 64}"))
    assert calibrations()(before) is None
    human = replace(before, origin=Origin.HUMAN)
    assert calibrations()(human) is None
