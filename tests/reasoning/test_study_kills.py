"""A study that is killed, or whose disk is full, ends with the table of an undisturbed run."""

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from reasoning.records import Records
from reasoning.results.from_records import outcomes
from tests.reasoning.disks import disk

KILLS = 20
ROOT = Path(__file__).parents[2]

STUDY = """
recognizers: {}
benchmark: csv_questions
benchmarks:
  csv_questions: {table: "{here}/questions.csv"}
videollm: scripted
videollms:
  scripted:
    rules:
      - {pattern: "Question: What of question number \\\\d*[05] ", failure: refused}
      - {pattern: "Question: What of question number \\\\d*[1-4] ", reply: "A"}
    default: "B"
repeats: 1
conditions:
  - {name: plain, cues: none}
  - {name: oracle, cues: none, oracle: true}
  - {name: the same as plain, cues: none, notice: short}
"""


def written(folder: Path) -> Path:
    rows = ["video,question,option_a,option_b,answer,category"]
    for number in range(30):
        category = "Grounding the Imagined" if number % 10 == 0 else "Intention"
        video = f"{number // 10}.mp4"
        rows.append(f"{video},What of question number {number} is it?,yes,no,A,{category}")
    (folder / "questions.csv").write_text("\n".join(rows))
    (folder / "study.yaml").write_text(STUDY)
    return folder / "study.yaml"


def started(study: Path, records: Path, log: Path) -> "subprocess.Popen[bytes]":
    arguments = [sys.executable, "-m", "tests.reasoning.study_driver", study, records, log]
    return subprocess.Popen(
        list(map(str, arguments)), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def finished(study: Path, records: Path, log: Path) -> None:
    process = started(study, records, log)
    _, errors = process.communicate(timeout=200)
    assert process.returncode == 0, errors.decode()


def table(records: Path) -> list[object]:
    store = Records(records)
    rows = list(outcomes(store).rows)
    store.close()
    return rows


def test_twenty_kills_change_nothing_and_repeat_no_recorded_call(tmp_path: Path) -> None:
    study = written(tmp_path)
    finished(study, tmp_path / "undisturbed.sqlite", tmp_path / "undisturbed.log")
    records, log = tmp_path / "killed.sqlite", tmp_path / "killed.log"
    dice = random.Random(4)
    for _ in range(KILLS):
        process = started(study, records, log)
        deadline = time.monotonic() + 60
        wanted = len(lines(log)) + dice.randrange(1, 5)
        while len(lines(log)) < wanted and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(dice.uniform(0, 0.01))
        process.send_signal(signal.SIGKILL)
        process.communicate()
    finished(study, records, log)
    assert table(records) == table(tmp_path / "undisturbed.sqlite")
    undisturbed, asked = (
        Counter(line for line in lines(each) if not is_refused(line))
        for each in (tmp_path / "undisturbed.log", log)
    )
    assert set(asked) == set(undisturbed)
    assert sum((asked - undisturbed).values()) <= KILLS, "only calls in flight are repeated"


def lines(log: Path) -> list[str]:
    return log.read_text().splitlines() if log.exists() else []


def is_refused(line: str) -> bool:
    number = line.rpartition("question number ")[2].split()[0]
    return number[-1] in "05"


def test_what_is_recorded_is_not_asked_again(tmp_path: Path) -> None:
    study = written(tmp_path)
    records, log = tmp_path / "r.sqlite", tmp_path / "calls.log"
    finished(study, records, log)
    first = lines(log)
    finished(study, records, log)
    again = lines(log)[len(first) :]
    assert first
    assert all(map(is_refused, again)), "only failures are retried"
    assert again


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    study = written(tmp_path)
    finished(study, tmp_path / "undisturbed.sqlite", tmp_path / "undisturbed.log")
    full = tmp_path / "disk"
    with disk(full, "size=300k") as mounted_again:
        process = started(study, full / "r.sqlite", tmp_path / "calls.log")
        _, errors = process.communicate(timeout=200)
        assert process.returncode != 0
        assert b"StorageError" in errors
        assert b"cannot be written" in errors
        mounted_again("size=64m")
        finished(study, full / "r.sqlite", tmp_path / "calls.log")
        assert table(full / "r.sqlite") == table(tmp_path / "undisturbed.sqlite")
