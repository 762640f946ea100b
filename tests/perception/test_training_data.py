"""A user's labelled spans: read, checked, split and cut into examples. No torch is needed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from perception import traces
from perception.cue import Span
from perception.errors import BadInput, UnknownName
from perception.skeleton.training import evaluation, measures
from perception.skeleton.training.architecture import FULL, LIVE_JOINTS, SLIM
from perception.skeleton.training.calibration import AT, MOST_FALSE, Calibration, calibrated
from perception.skeleton.training.card import card, interval
from perception.skeleton.training.clips import LEAST_SCORE, load_clips, service_windows, view
from perception.skeleton.training.examples import SHARES, ClipExamples, MadeNothing, sides
from perception.skeleton.training.plan import Plan, Settings, prepare
from perception.skeleton.training.spans import LabelledSpan, read_spans
from perception.skeleton.training.split import split
from tests.perception.acting import ACT_S, acting, write_corpus, write_labels

COLUMNS = ("video", "person", "start_s", "end_s", "label")
GOOD = ["clip0.mp4", 1, 0, 2, "wave"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_corpus(tmp_path, videos=2)
    return tmp_path


def fault(path: Path) -> str:
    with pytest.raises(BadInput) as raised:
        file = read_spans(path)
        load_clips(file, ["g"] * len(file.spans), LIVE_JOINTS)
    return str(raised.value)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (["clip0.mp4", 1, "soon", 2, "wave"], "start_s 'soon' is no number of seconds"),
        (["clip0.mp4", 1, "nan", 2, "wave"], "start_s nan is no time in a video"),
        (["clip0.mp4", 1, -1, 2, "wave"], "start_s -1 is no time in a video"),
        (["clip0.mp4", 1, 2, 2, "wave"], "end_s 2 is not after start_s 2"),
        (["clip0.mp4", 1, 2, 2.1, "wave"], "shorter than 0.2 s"),
        (["clip0.mp4", 1, 0, 2, " "], "the label is empty"),
        (["clip0.mp4", "he", 0, 2, "wave"], "person 'he' is no number"),
        (["clip0.mp4", 7, 0, 2, "wave"], "person 7 is not in clip0.traces.npz; it has 1"),
        (["clip9.mp4", 1, 0, 2, "wave"], "cuelight perceive clip9.mp4 --only action"),
        (["", 1, 0, 2, "wave"], "neither video nor traces is given"),
        (["clip0.mp4", 1, 400, 402, "wave"], "lies outside of the track of person 1"),
        (["clip1.mp4", 1, 0, 60, "wave"], "is seen in 30% of 0-60 s"),
        (["clip1.mp4", 1, 0, 1e12, "wave"], "not at 1e+12 s; times are seconds"),
        (["clip0.mp4", 1, 0, 2, "wave", "and more"], "6 cells under 5 columns"),
    ],
)
def test_every_fault_is_told_with_its_line(folder: Path, row: list[object], said: str) -> None:
    message = fault(write_labels(folder, [GOOD, row]))
    assert "labels.csv' has 1 fault:" in message
    assert "line 3: " in message
    assert said in message


def test_all_faults_are_told_at_once(folder: Path) -> None:
    rows = [["clip0.mp4", 1, i, i, "wave"] for i in range(30)]
    message = fault(write_labels(folder, rows))
    assert "has 30 faults" in message
    assert message.count("line ") == 20
    assert message.endswith("and 10 more")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (["clip1.mp4", 1, 0, 2, "Wave"], "label 'Wave' is spelt 'wave' in line 2"),
        (["clip0.mp4", 1, 0.1, 2, "squat"], "'squat' clashes with 'wave' in line 2"),
        (["clip0.mp4", 1, 0, 2, "wave"], "'wave' repeats line 2"),
    ],
)
def test_labels_that_clash_are_told(folder: Path, row: list[object], said: str) -> None:
    assert said in fault(write_labels(folder, [GOOD, row]))


def test_phrases_that_clash_are_told(folder: Path) -> None:
    rows = [[*GOOD, "waves"], ["clip1.mp4", 1, 0, 2, "wave", "says hello"]]
    path = write_labels(folder, rows, (*COLUMNS, "phrase"))
    assert "'wave' has another phrase in line 2" in fault(path)


@pytest.mark.parametrize("column", ["split", "subject"])
def test_a_column_that_is_filled_in_part_is_told(folder: Path, column: str) -> None:
    rows = [[*GOOD, "train"], ["clip1.mp4", 1, 0, 2, "wave", ""]]
    path = write_labels(folder, rows, (*COLUMNS, column))
    assert f"line 3: {column} is empty, and line 2 has one" in fault(path)


def test_a_split_that_is_none_is_told(folder: Path) -> None:
    path = write_labels(folder, [[*GOOD, "maybe"]], (*COLUMNS, "split"))
    assert "split 'maybe' is none of train, calibration, test" in fault(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        ("video,start_s,end_s,label\n", "no spans"),
        ("video,start,end_s,label\n", "lacks the column 'start_s'"),
        ("video,start,end_s,label\n", "Is 'start' meant?"),
        ("clip,start_s,end_s,label\n", "lacks the column 'video'"),
        ("video,label,label,start_s,end_s\n", "has the column 'label' twice"),
        (
            'video,start_s,end_s,label\n"clip0.mp4,0,2,wave\n',
            "line 2: it is no CSV: unexpected end of data; a quote opens in the row that begins",
        ),
        (
            'video,start_s,end_s,label\n"clip0.mp4,0,2,wave\n' + "a.mp4,0,2,b\n" * 50,
            "line 2: it is no CSV: unexpected end of data; a quote opens in the row that begins",
        ),
        (
            'video,start_s,end_s,label\na.mp4,0,2,b\na.mp4,0,2,"b\na.mp4,0,2,b\n"a.mp4",0,2,b\n',
            "line 3: it is no CSV: ',' expected after '\"'; a quote opens in the row that begins",
        ),
        (
            "video,start_s,end_s,label,subjekt\n",
            "the column 'subjekt', which is not known. Is 'sub",
        ),
        ("video,start_s,end_s,label,splits\n", "Is 'split' meant?"),
    ],
)
def test_a_file_that_is_no_such_csv_is_told(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(content)
    assert said in fault(path)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_delimiters_byte_order_mark_spaces_and_blank_lines_do_not_matter(
    folder: Path, delimiter: str
) -> None:
    lines = [["Video", "person", "start_s", "end_s", "label "], ["clip0.mp4", "", "0", "2", "a  b"]]
    text = "\r\n".join(delimiter.join(line) for line in lines) + "\r\n\r\n"
    (folder / "labels.csv").write_text(text, encoding="utf-8-sig")
    (span,) = read_spans(folder / "labels.csv").spans
    assert (span.line, span.person, span.span, span.label) == (2, None, Span(0, 2), "a b")


def test_poses_lie_beside_the_labels_or_in_a_folder_of_their_own(folder: Path) -> None:
    elsewhere = folder / "labels"
    elsewhere.mkdir()
    path = write_labels(elsewhere, [["videos/clip0.mp4", 1, 0, 2, "wave"]])
    assert read_spans(path, folder).spans[0].traces.name == "clip0.traces.npz"
    assert "there is no clip0.traces.npz" in fault(path)


def test_a_person_must_be_given_where_there_are_two(folder: Path) -> None:
    people = [acting(["wave"], person=1), acting(["squat"], seed=1, person=2)]
    traces.save(folder / "two.traces.npz", traces.pose_traces("action", people))
    message = fault(write_labels(folder, [["two.mp4", "", 0, 2, "wave"]]))
    assert "person is empty, and two.traces.npz has persons 1, 2" in message


def test_a_video_in_which_nobody_was_seen_is_told(folder: Path) -> None:
    traces.save(folder / "empty.traces.npz", traces.pose_traces("action", []))
    (folder / "damaged.traces.npz").write_bytes(b"PK")
    rows = [["empty.mp4", 1, 0, 2, "wave"], ["damaged.mp4", 1, 0, 2, "wave"]]
    message = fault(write_labels(folder, rows))
    assert "line 2: empty.traces.npz holds no poses" in message
    assert "line 3: " in message
    assert "damaged.traces.npz' is not an intact traces file" in message


def spans_of(subjects: list[str], labels: list[str], part: str = "") -> list[LabelledSpan]:
    return [
        LabelledSpan(i, Path(f"/v{i}"), 1, Span(0, 2), label, part, subject)
        for i, (subject, label) in enumerate(zip(subjects, labels, strict=True))
    ]


@pytest.mark.parametrize("seed", range(20))
def test_no_subject_and_no_video_is_in_two_parts(seed: int) -> None:
    """A third of the neighbouring subjects share a video."""
    rng = np.random.default_rng(seed)
    spans = [
        LabelledSpan(
            i,
            Path(f"/v{3 * subject + rng.integers(4)}"),
            1,
            Span(0, 2),
            str(rng.choice(["a", "b", "c"])),
            subject=f"s{subject}",
        )
        for i, subject in enumerate(rng.integers(20, size=60).tolist())
    ]
    parts = split(spans, seed).parts
    assert set(parts) == {"train", "calibration", "test"}
    for name in ("subject", "traces"):
        where: dict[object, set[str]] = {}
        for each, part in zip(spans, parts, strict=True):
            where.setdefault(getattr(each, name), set()).add(part)
        assert all(len(found) == 1 for found in where.values())


def test_labels_are_spread_over_the_parts() -> None:
    spans = spans_of([f"s{i % 20}" for i in range(200)], ["a", "b"] * 100)
    found = split(spans)
    for label in ("a", "b"):
        mine = [p for s, p in zip(spans, found.parts, strict=True) if s.label == label]
        assert mine.count("train") == pytest.approx(60, abs=10)
        assert mine.count("calibration") == pytest.approx(15, abs=10)
        assert mine.count("test") == pytest.approx(25, abs=10)


@pytest.mark.parametrize(
    ("groups", "parts"),
    [(1, {"train"}), (2, {"train", "test"}), (3, {"train", "calibration", "test"})],
)
def test_few_groups_make_few_parts(groups: int, parts: set[str]) -> None:
    spans = spans_of([f"s{i % groups}" for i in range(12)], ["a"] * 6 + ["b"] * 6)
    assert set(split(spans).parts) == parts


@pytest.mark.parametrize("seed", range(10))
def test_every_label_has_spans_to_train_on(seed: int) -> None:
    """Labels of one, two and many subjects, in corpora of three subjects and more."""
    rng = np.random.default_rng(seed)
    for subjects in (3, 4, 5, 8, 12):
        pairs = [(s, label) for s in range(subjects) for label in "ab" for _ in range(3)]
        pairs += [(int(rng.integers(subjects)), "rare") for _ in range(2)]
        pairs += [(s, "two") for s in rng.choice(subjects, 2, replace=False).tolist()]
        spans = spans_of([f"s{s}" for s, _ in pairs], [label for _, label in pairs])
        found = split(spans, seed)
        trained = {s.label for s, p in zip(spans, found.parts, strict=True) if p == "train"}
        assert trained == {"a", "b", "rare", "two"}
        assert "test" in found.parts


def test_a_label_that_one_subject_has_trains_and_calibration_stays_empty() -> None:
    """Ann alone sneezes and Bob alone yawns: both train, and Cem tests."""
    subjects, labels = ["ann"] * 2 + ["bob"] * 2 + ["cem"] * 9, ["sneeze", "a", "yawn", "a"]
    for seed in range(10):
        found = split(spans_of(subjects, labels + ["a"] * 9), seed)
        assert found.parts == ("train",) * 4 + ("test",) * 9


def test_where_every_subject_has_a_label_of_his_own_all_train() -> None:
    for seed in range(10):
        assert set(split(spans_of(["ann", "bob", "cem"], ["a", "b", "c"]), seed).parts) == {"train"}


def test_a_given_split_is_kept_and_its_leaks_are_told() -> None:
    spans = spans_of(["ann"], ["a"], "train") + spans_of(["ann"], ["a"], "test")
    found = split(spans)
    assert found.parts == ("train", "test")
    assert not found.chosen
    assert "subject ann is in train and test" in found.leaks
    assert "video /v0 is in train and test" in found.leaks


def planned(folder: Path, **settings: object) -> Plan:
    return prepare(folder, Settings(**settings), SLIM)  # type: ignore[arg-type]


def test_what_is_planned_counts_clips_by_label_and_part(tmp_path: Path) -> None:
    write_corpus(tmp_path, videos=8)
    plan = planned(tmp_path)
    assert plan.classes == ("raise arms", "squat", "wave", "none")
    assert [sum(counts.values()) for counts in plan.counts().values()] == [16, 16, 16, 0]
    assert plan.phrases == ("does: raise arms", "squats", "waves a hand", "")
    assert any("made windows alone" in notice for notice in plan.notices)
    assert plan.digest == planned(tmp_path).digest


@pytest.mark.parametrize(
    ("videos", "said", "noticed"),
    [
        (2, "no interval: one group", "Only 1 group of subjects and videos tests: the accuracy"),
        (8, "95 % interval 33.3% to 33.3%", "Only 2 groups of subjects and videos test: the"),
    ],
)
def test_an_accuracy_has_an_interval_where_several_groups_are_held_out(
    tmp_path: Path, videos: int, said: str, noticed: str
) -> None:
    """A network that calls everything the first of three equally frequent labels."""
    write_corpus(tmp_path, videos=videos)
    plan = planned(tmp_path, with_none=False, least_clips=1)

    def first(points: np.ndarray, scores: np.ndarray) -> np.ndarray:
        return np.tile(np.float32([1, 0, 0]), (len(points), 1))

    accuracy = evaluation.measure(plan, Calibration(None), first)["accuracy"]
    assert accuracy["top1"] == pytest.approx(1 / 3, abs=1e-4)
    assert interval(accuracy).startswith(said)
    assert any(notice.startswith(noticed) for notice in plan.notices)


TRAINED = {
    "steps": 1234,
    "batch": 16,
    "learning_rate": 0.001,
    "seed": 7,
    "backend": "mmaction2",
    "device": "cpu",
    "parameters": 300_000,
    "bytes": 1,
    "sha256": "a",
    "torch": "2.13.0",
    "version": "1",
}


@pytest.mark.parametrize(
    ("videos", "said"),
    [
        (2, "there was no calibration part to fit them on, so both do nothing"),
        (8, "both were fitted on the calibration part"),
    ],
)
def test_the_card_tells_how_it_was_trained_and_what_confidence_rests_on(
    tmp_path: Path, videos: int, said: str
) -> None:
    write_corpus(tmp_path, videos=videos)
    plan = planned(tmp_path, with_none=False, least_clips=1)

    def first(points: np.ndarray, scores: np.ndarray) -> np.ndarray:
        return np.tile(np.float32([1, 0, 0]), (len(points), 1))

    text = card(plan, evaluation.measure(plan, Calibration(None), first), TRAINED)
    assert said in text
    assert "batch 16, learning rate 0.001 at its peak, seed 7" in text
    assert "the backend mmaction2 (mmaction2's Runner), torch 2.13.0, on cpu" in text


def test_the_digest_follows_labels_and_poses(tmp_path: Path) -> None:
    write_corpus(tmp_path, videos=4)
    before = planned(tmp_path, least_clips=1).digest
    path = tmp_path / "labels.csv"
    path.write_text(path.read_text().replace("wave", "hail"))
    renamed = planned(tmp_path, least_clips=1).digest
    poses = traces.pose_traces("action", [acting(["wave"] * 6, seed=99)])
    traces.save(tmp_path / "clip0.traces.npz", poses)
    assert len({before, renamed, planned(tmp_path, least_clips=1).digest}) == 3


def test_labels_with_too_few_spans_are_told(tmp_path: Path) -> None:
    path = write_corpus(tmp_path, videos=8)
    with path.open("a") as file:
        file.write("clip0.mp4,1,2.2,2.9,sneeze\n")
    with pytest.raises(BadInput) as raised:
        planned(tmp_path)
    said, *table = str(raised.value).splitlines()
    assert "fewer than 5 spans to train on: 'sneeze' 1 of 1 labelled. Label more" in said
    assert "The parts were chosen, by whole subjects and videos; a column split decides" in said
    rows = {line.split()[0]: line.split()[-3:] for line in table}
    assert rows["label"] == ["train", "calibration", "test"]
    assert rows["sneeze"] == ["1", "0", "0"]


def test_a_leak_is_refused_unless_it_is_allowed(tmp_path: Path) -> None:
    write_corpus(tmp_path, videos=4)
    path = tmp_path / "labels.csv"
    lines = path.read_text().splitlines()
    parts = ["train", "train", "test"] * len(lines)
    text = "\n".join(
        [f"{lines[0]},split", *(f"{a},{b}" for a, b in zip(lines[1:], parts, strict=False))]
    )
    path.write_text(text)
    with pytest.raises(BadInput, match=r"leaks: video .* is in train and test"):
        planned(tmp_path, least_clips=1)
    plan = planned(tmp_path, least_clips=1, allow_leaks=True)
    assert any("too good" in notice for notice in plan.notices)


def test_nothing_to_tell_apart_is_told(tmp_path: Path) -> None:
    write_corpus(tmp_path, videos=3, acts=("wave",), times=6)
    assert planned(tmp_path).classes == ("wave", "none")
    with pytest.raises(BadInput, match="only the label 'wave'"):
        planned(tmp_path, with_none=False)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"minutes": 0}, "--minutes cannot be 0"),
        ({"minutes": float("nan")}, "--minutes cannot be nan"),
        ({"window_s": 0.1}, "--window cannot be 0.1"),
        ({"batch": 1}, "--batch must be 2 or more"),
        ({"none_share": 1.0}, "--none-share must lie between 0 and 1"),
        ({"arch": "full"}, "embedded weights are of the slim network"),
    ],
)
def test_settings_that_cannot_be_are_told(settings: dict[str, object], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        Settings(**settings)  # type: ignore[arg-type]


def test_an_unknown_network_is_told() -> None:
    with pytest.raises(UnknownName, match=r"slim"):
        Settings(init="none", arch="slimm")


def test_a_clip_may_look_around_as_far_as_the_next_label(tmp_path: Path) -> None:
    traces.save(
        tmp_path / "a.traces.npz", traces.pose_traces("action", [acting(["wave", "squat", "wave"])])
    )
    rows = [["a.mp4", 1, 0, 2, "wave"], ["a.mp4", 1, 3, 5, "squat"], ["a.mp4", 1, 7, 8, "wave"]]
    file = read_spans(write_labels(tmp_path, rows))
    first, second, third = load_clips(file, ["g"] * 3, LIVE_JOINTS)[0]
    assert (first.room.start_s, first.room.end_s) == (0, 3)
    assert (second.room.start_s, second.room.end_s) == (2, 7)
    assert third.room.start_s == 5
    # shorter than a window: one around its middle, as far as there is room
    (window,) = service_windows(third, 2.0, 0.5)
    assert len(window[0]) == 30
    assert len(service_windows(first, 1.0, 0.5)) == 3


@pytest.mark.parametrize("architecture", [SLIM, FULL], ids=["slim", "full"])
def test_only_what_the_network_draws_is_seen(tmp_path: Path, architecture: object) -> None:
    write_corpus(tmp_path, videos=2)
    plan = prepare(tmp_path, Settings(init="none", least_clips=1), architecture)  # type: ignore[arg-type]
    points, scores = view(service_windows(plan.clips[0], 2.0, 0.5)[0], plan.architecture.shape)
    shape = plan.architecture.shape
    assert points.shape == (shape.frames, 17, 2)
    face = scores[:, 1:5]
    assert (face > 0).all() if architecture is FULL else not face.any()
    assert scores[scores > 0].min() >= LEAST_SCORE


def test_every_kind_of_none_is_finite_and_looks_like_somebody(tmp_path: Path) -> None:
    write_corpus(tmp_path, videos=3)
    plan = planned(tmp_path, least_clips=1)
    made = MadeNothing(plan.clips, ACT_S)
    assert made.kinds == SHARES
    rng = np.random.default_rng(0)
    for kind in made.kinds:
        for _ in range(20):
            points, scores = made.draw(rng, kind)
            assert points.shape == (len(scores), 17, 2)
            assert np.isfinite(points).all()
            assert (scores > 0).any()


def test_long_clips_are_not_cut_into_none(tmp_path: Path) -> None:
    write_corpus(tmp_path, videos=3)
    plan = planned(tmp_path, least_clips=1)
    assert "cut" not in MadeNothing(plan.clips, ACT_S / 2).kinds
    waves = [clip for clip in plan.clips if clip.label == "wave"]
    assert not {"straddle", "glitch", "flicker"} & MadeNothing(waves, ACT_S).kinds.keys()


def test_examples_have_every_class_as_often_as_wanted(tmp_path: Path) -> None:
    write_corpus(tmp_path, videos=8)
    plan = planned(tmp_path, none_share=0.3)
    examples, rng = plan.examples(), np.random.default_rng(0)
    drawn = [examples.draw(rng) for _ in range(600)]
    assert all(np.isfinite(e.points).all() and np.isfinite(e.scores).all() for e in drawn)
    assert all(e.points.shape == (SLIM.shape.frames, 17, 2) for e in drawn)
    shares = np.bincount([e.label for e in drawn], minlength=4) / 600
    assert shares[3] == pytest.approx(0.3, abs=0.06)
    assert shares[:3] == pytest.approx([0.7 / 3] * 3, abs=0.06)


def test_spans_that_are_labelled_none_are_half_of_it(tmp_path: Path) -> None:
    write_corpus(tmp_path, videos=8, acts=("wave", "squat", "none"))
    plan = planned(tmp_path)
    assert plan.classes == ("squat", "wave", "none")
    assert not any("made windows alone" in notice for notice in plan.notices)
    clips = [clip for clip in plan.part("train") if clip.label != "none"]
    with pytest.raises(BadInput, match="no such class"):
        planned(tmp_path, with_none=False)
    bare = ClipExamples(clips, ("squat", "wave"), None, SLIM.shape, 2.0, 0.5)
    rng = np.random.default_rng(0)
    assert {bare.draw(rng).label for _ in range(100)} == {0, 1}


def test_a_mirror_exchanges_the_sides_that_labels_name() -> None:
    mirror = sides(["raise left arm", "Raise Right arm", "left kick", "leftover", "clap"])
    assert mirror.becomes == {0: 1, 1: 0}
    assert mirror.never == (2,)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("wave_left", "wave_right"),
        ("left_hand_up", "right_hand_up"),
        ("wave-left", "wave-right"),
        ("waveLeft", "waveRight"),
        ("leftHandUp", "rightHandUp"),
        ("HAND_LEFT", "HAND_RIGHT"),
        ("kick2left", "kick2right"),
    ],
)
def test_a_side_is_a_word_however_words_are_joined(left: str, right: str) -> None:
    assert sides([left, right, "clap"]).becomes == {0: 1, 1: 0}
    assert sides([left, "clap"]).never == (0,)


@pytest.mark.parametrize(
    "name", ["leftover", "brighten", "copyRighted", "LEFTOVER", "cleft_palate"]
)
def test_letters_within_a_word_are_no_side(name: str) -> None:
    mirror = sides([name, "clap"])
    assert (mirror.becomes, mirror.never) == ({}, ())


def test_calibration_finds_the_temperature_and_the_least_bias_that_is_enough() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 4000)
    logits = rng.normal(0, 1, (4000, 3)) + 2 * np.eye(3)[truth]
    # exact posteriors of this mixture are softmax(2 x); tripled logits need three times less
    sharp = calibrated(6 * logits, truth, None)
    assert sharp.temperature == pytest.approx(3.0, rel=0.1)
    assert sharp.none_bias == 0
    still = rng.normal(0, 1, (500, 3)) + np.array([1.5, 0, 1.5])
    fitted = calibrated(2 * logits, truth, 2, [2 * still])
    chances = fitted.probabilities(2 * still)
    false = (chances.argmax(axis=1) != 2) & (chances.max(axis=1) >= AT)
    assert 0 < fitted.none_bias <= 4
    assert false.mean() <= MOST_FALSE
    less = Calibration(2, fitted.temperature, fitted.none_bias - 0.5).probabilities(2 * still)
    assert ((less.argmax(axis=1) != 2) & (less.max(axis=1) >= AT)).mean() > MOST_FALSE


def test_measures_agree_with_values_worked_out_by_hand() -> None:
    chances = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.45, 0.55]])
    truth = np.array([0, 1, 1, 1])
    assert measures.accuracy(chances, truth)["top1"] == 0.75
    assert measures.accuracy(chances, truth)["mean_class"] == pytest.approx(
        (1 + 2 / 3) / 2, abs=1e-4
    )
    assert measures.confusion(chances.argmax(axis=1), truth, 2).tolist() == [[1, 0], [1, 2]]
    # bins of 1/15: 0.9, 0.6, 0.8 and 0.55 each alone: (0.1 + 0.6 + 0.2 + 0.45) / 4
    assert measures.expected_calibration_error(chances, truth) == pytest.approx(0.3375)
    at = measures.at_thresholds(chances, truth, none=-1)["0.6"]
    assert at == {"kept": 0.75, "right": pytest.approx(2 / 3, abs=1e-4)}
