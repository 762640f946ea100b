"""The store of a study: content keys, nothing lost, nothing asked twice."""

from __future__ import annotations

import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perception.errors import BadInput, StorageError
from reasoning.answer import Answer, Failure, FailureKind, OptionScore, Unscored, Verdict
from reasoning.records import Call, Records, call_key, digest
from tests.reasoning.disks import disk

CALL = Call("mimeqa/0001-3", "ab" * 32, "c0", "p0", "scripted", {"temperature": 0.0, "seed": 1})
ANSWER = Answer(
    "a rope",
    "scripted",
    False,
    option=1,
    option_scores=(OptionScore("a rope", -1.5, -2.0, 2, 0.75),),
    request={"parts": [{"text": "…"}], "frame_times_s": [0.5, 1.0]},
    usage={"prompt_tokens": 12},
    complete=False,
)
FAILURE = Failure(FailureKind.REFUSED, "It declined.", "scripted", raw="no", request={"a": 1})


def test_an_answer_comes_back_as_it_was(tmp_path: Path) -> None:
    records = Records(tmp_path / "study.sqlite")
    key = records.keep(CALL, ANSWER, 0.5)
    assert records.answer(key) == ANSWER
    assert records.answered() == {key}
    assert Records(tmp_path / "study.sqlite").answer(key) == ANSWER


@pytest.mark.parametrize(
    "change",
    [
        {"question": "q"},
        {"video": ""},
        {"cues": "c1"},
        {"prompt": "p1"},
        {"model": "m"},
        {"settings": {"temperature": 0.5, "seed": 1}},
        {"repeat": 1},
    ],
)
def test_whatever_decides_an_answer_changes_its_key(change: dict[str, object]) -> None:
    assert call_key(replace(CALL, **change)) != call_key(CALL)  # type: ignore[arg-type]


@given(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=5))
def test_the_order_of_settings_does_not(settings: dict[str, object]) -> None:
    turned = dict(reversed(settings.items()))
    assert digest(settings) == digest(turned)


def test_a_failure_is_logged_and_asked_again(tmp_path: Path) -> None:
    records = Records(tmp_path / "study.sqlite")
    key = records.keep(CALL, FAILURE, 0.1)
    assert records.answer(key) is None
    assert records.answered() == frozenset()
    assert records.failure(key) == FAILURE
    records.keep(CALL, ANSWER, 0.1)
    assert records.failure(key) is None
    records.keep(CALL, FAILURE, 0.1)
    assert records.answer(key) == ANSWER


def test_judges_differ_and_an_unscored_answer_may_be_judged_again(tmp_path: Path) -> None:
    records = Records(tmp_path / "study.sqlite")
    right, unclear = Verdict(1.0, "same", "gpt", {"points": 5}), Unscored("both words", "other")
    records.judge("k", "gpt", right)
    records.judge("k", "other", unclear)
    assert (records.verdict("k", "gpt"), records.verdict("k", "other")) == (right, unclear)
    assert records.verdict("k", "third") is None
    records.judge("k", "other", replace(right, judge="other"))
    assert isinstance(records.verdict("k", "other"), Verdict)
    assert records.judges() == ("gpt", "other")


def test_two_conditions_with_one_request_share_the_answer(tmp_path: Path) -> None:
    records = Records(tmp_path / "study.sqlite")
    keys = {records.plan(name, "q", 0, CALL, {"category": "T"}) for name in ("none", "empty")}
    assert len(keys) == 1
    assert {cell[0] for cell in records.cells()} == {"none", "empty"}
    assert records.cells()[0][4] == {"category": "T"}


def test_what_the_runs_were_made_with_is_kept(tmp_path: Path) -> None:
    records = Records(tmp_path / "study.sqlite")
    records.stamp({"commit": "a"})
    records.stamp({"commit": "b"})
    assert [stamp["commit"] for stamp in records.stamps()] == ["a", "b"]


def test_a_folder_is_no_file_of_records(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"is a folder; the records are one file, e\.g\. .*sqlite"):
        Records(tmp_path)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file of 40 answers with their verdicts."""
    path = tmp_path_factory.mktemp("records") / "study.sqlite"
    records = Records(path)
    for number in range(40):
        call = replace(CALL, question=f"q{number}")
        key = records.keep(call, ANSWER, 0.5)
        records.judge(key, "judge", Verdict(1.0, "The same.", "judge"))
        records.plan("none", call.question, 0, call, {"category": "Intention"})
    records.stamp({"commit": "a"})
    records.close()
    return path.read_bytes()


@pytest.mark.parametrize("seed", range(30))
def test_damaged_records_are_told_whatever_was_hit(
    tmp_path: Path, written: bytes, seed: int
) -> None:
    path = tmp_path / "study.sqlite"
    hit, content = random.Random(seed), bytearray(written)
    for _ in range(400):
        content[hit.randrange(100, len(content))] = hit.randrange(256)
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"damaged|not a file of study records"):
        _read_all(Records(path))


def _read_all(records: Records) -> None:
    records.stamps()
    for key in records.answered() | {key for *_, key, _ in records.cells()}:
        records.answer(key)
        records.failure(key)
        records.verdict(key, "judge")


def test_records_where_nothing_can_be_written_are_read(tmp_path: Path, written: bytes) -> None:
    path = tmp_path / "archive" / "study #1.sqlite"
    with disk(path.parent, "size=4m") as mounted_again:
        path.write_bytes(written)
        path.with_name("empty.sqlite").touch()
        mounted_again("ro")
        records = Records(path)
        assert records.answer(call_key(replace(CALL, question="q7"))) == ANSWER
        with pytest.raises(StorageError, match="cannot be written"):
            records.keep(CALL, ANSWER, 0.5)
        with pytest.raises(BadInput, match="a database with no table"):
            Records(path.with_name("empty.sqlite"))
        with pytest.raises(StorageError, match="cannot be written"):
            Records(path.with_name("new.sqlite"))
        records.close()


def test_a_log_beside_records_where_nothing_can_be_written_is_read(tmp_path: Path) -> None:
    first, path = tmp_path / "study.sqlite", tmp_path / "archive" / "study.sqlite"
    records = Records(first)
    key = records.keep(CALL, ANSWER, 0.5)
    with disk(path.parent, "size=4m") as mounted_again:
        for end in ("", "-wal", "-shm"):
            shutil.copy(f"{first}{end}", f"{path}{end}")
        mounted_again("ro")
        (tmp_path / "link.sqlite").symlink_to(path)
        for place in (path, tmp_path / "link.sqlite"):
            archived = Records(place)
            assert archived.answer(key) == ANSWER
            archived.close()
    records.close()


def test_another_file_is_not_taken_for_records(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Not a database, however long it may be. " * 50)
    with pytest.raises(BadInput, match="notes"):
        Records(tmp_path / "notes.txt")
    db = sqlite3.connect(tmp_path / "later.sqlite")
    db.executescript("CREATE TABLE about (schema INTEGER); INSERT INTO about VALUES (99);")
    db.close()
    with pytest.raises(BadInput, match="version 99"):
        Records(tmp_path / "later.sqlite")
    db = sqlite3.connect(tmp_path / "shop.sqlite")
    db.executescript("CREATE TABLE orders (id INTEGER);")
    db.close()
    db = sqlite3.connect(tmp_path / "club.sqlite")
    db.executescript("CREATE TABLE about (who TEXT); CREATE TABLE orders (id INTEGER);")
    db.close()
    db = sqlite3.connect(tmp_path / "like.sqlite")
    db.executescript("CREATE TABLE about (schema INTEGER); CREATE TABLE orders (id INTEGER);")
    db.execute("INSERT INTO about VALUES (1)")
    db.commit()
    db.close()
    for name in ("shop", "club", "like"):
        path = tmp_path / f"{name}.sqlite"
        before = path.read_bytes()
        with pytest.raises(BadInput, match="a database with orders"):
            Records(path)
        assert path.read_bytes() == before


@pytest.mark.parametrize("what", ["removed", "replaced"])
def test_records_that_vanish_while_they_are_written_are_missed(tmp_path: Path, what: str) -> None:
    path = tmp_path / "study.sqlite"
    records = Records(path)
    records.keep(CALL, ANSWER, 0.5)
    path.rename(tmp_path / "elsewhere.sqlite")
    if what == "replaced":
        Records(path).close()
    with pytest.raises(StorageError, match="moved, removed or replaced"):
        records.keep(replace(CALL, question="q2"), ANSWER, 0.5)


def test_half_a_character_in_a_reply_makes_the_round_trip(tmp_path: Path) -> None:
    records = Records(tmp_path / "study.sqlite")
    answer = replace(ANSWER, text="A \ud800 rope", request={"said": "\udcff"})
    key = records.keep(CALL, answer, 0.5)
    assert records.answer(key) == answer
    records.stamp({"about": "\ud83d"})
    assert records.stamps() == [{"about": "\ud83d"}]
    with pytest.raises(BadInput, match="half a character"):
        records.plan("\ud83d", "q", 0, CALL, {})


@pytest.mark.parametrize(
    ("change", "read"),
    [
        ("UPDATE answers SET answer = '{not json'", lambda records, key: records.answer(key)),
        ("UPDATE answers SET answer = '[1]'", lambda records, key: records.answer(key)),
        ("UPDATE plan SET facts = '[1]'", lambda records, key: records.cells()),
        ("UPDATE runs SET stamp = '3'", lambda records, key: records.stamps()),
        ("UPDATE verdicts SET verdict = '{\"x\": {}}'", lambda r, key: r.verdict(key, "judge")),
        ("UPDATE verdicts SET verdict = '4'", lambda r, key: r.verdict(key, "judge")),
    ],
)
def test_rows_that_are_not_ours_are_told(
    tmp_path: Path, written: bytes, change: str, read: Callable[[Records, str], object]
) -> None:
    path = tmp_path / "study.sqlite"
    path.write_bytes(written)
    db = sqlite3.connect(path)
    db.execute(change)
    db.commit()
    db.close()
    records = Records(path)
    with pytest.raises(BadInput, match="are damaged"):
        read(records, call_key(replace(CALL, question="q7")))


WRITER = """
import sys
from pathlib import Path
from reasoning.records import Records
from tests.reasoning.test_records import ANSWER, CALL
from collections.abc import Callable
from dataclasses import replace
records = Records(Path(sys.argv[1]))
for number in range(100_000):
    call = replace(CALL, repeat=number)
    records.plan("c", f"q{number}", 0, call, {})
    records.keep(call, ANSWER, 0.0)
    print(number, flush=True)
"""


def test_a_kill_loses_nothing_that_was_recorded(tmp_path: Path) -> None:
    path = tmp_path / "study.sqlite"
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    writer.stdout.readline()
    time.sleep(0.3)
    writer.send_signal(signal.SIGKILL)
    told = int(writer.stdout.read().split()[-1])
    writer.wait()
    records = Records(path)
    answered = records.answered()
    assert {call_key(replace(CALL, repeat=n)) for n in range(told + 1)} <= answered
    assert len(answered) <= told + 2
    records.keep(replace(CALL, repeat=-1), ANSWER, 0.0)
    assert len(records.answered()) == len(answered) + 1
