"""Files appear whole or not at all."""

import os
import time
from pathlib import Path

import pytest

from perception.errors import StorageError
from perception.whole import whole_file, write_whole


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_content_arrives_and_nothing_else_stays(tmp_path: Path) -> None:
    write_whole(tmp_path / "new folder" / "a.bin", b"one")
    write_whole(tmp_path / "new folder" / "a.bin", b"two")
    assert (tmp_path / "new folder" / "a.bin").read_bytes() == b"two"
    assert names(tmp_path / "new folder") == ["a.bin"]


def test_a_failure_half_way_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    with pytest.raises(ValueError, match="midway"), whole_file(path) as file:
        file.write(b"half")
        raise ValueError("midway")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a.bin"]


def test_what_a_killed_process_left_goes_an_hour_later_and_nothing_else(
    tmp_path: Path,
) -> None:
    left, fresh, other = (
        tmp_path / name
        for name in (".cuelight-00112233aabbccdd", ".cuelight-ffffffffffffffff", ".cuelight-notes")
    )
    for path, age_s in ((left, 3700), (fresh, 3500), (other, 9999)):
        path.write_bytes(b"x")
        os.utime(path, (time.time() - age_s,) * 2)
    write_whole(tmp_path / "a.bin", b"one")
    assert names(tmp_path) == sorted([fresh.name, other.name, "a.bin"])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_one_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    with (
        pytest.raises(StorageError, match=r"Cannot write .*No space left"),
        whole_file(tmp_path / "a"),
        Path("/dev/full").open("wb", buffering=0) as full,
    ):
        full.write(b"x")
    assert names(tmp_path) == []


def test_a_file_in_the_place_of_a_folder_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageError, match="Cannot write"):
        write_whole(tmp_path / "file" / "a.bin", b"x")


def test_an_error_that_is_none_of_the_disk_passes(tmp_path: Path) -> None:
    with pytest.raises(ConnectionResetError), whole_file(tmp_path / "a"):
        raise ConnectionResetError(104, "Connection reset by peer")


def test_long_names_in_any_script_are_written(tmp_path: Path) -> None:
    path = tmp_path / ("😀" * 60 + ".json")
    write_whole(path, b"x")
    assert path.read_bytes() == b"x"
