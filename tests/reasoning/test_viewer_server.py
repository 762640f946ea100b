"""The page's server: exactly its own files, exactly the bytes that are asked for, to this machine
only."""

from __future__ import annotations

import http.client
import json
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from perception.cue import Cue, CueTimeline, CueTrack, Source, Span, VideoInfo
from perception.errors import BadInput
from reasoning.tools.review import parse, read, reviewed
from reasoning.viewer.page import Extras
from reasoning.viewer.server import PageServer
from reasoning.viewer.serving import page_server

BYTES = bytes(range(256)) * 5
CUES = (
    Cue("action-1", Span(0.5, 2.5), "person 1 waves", 0.9),
    Cue("action-2", Span(3, 4), "person 1 walks", 0.9),
)
TIMELINE = CueTimeline(
    VideoInfo("my clip #1.mp4", "ab" * 32, 0.0, 8.0, 640, 360, 25.0),
    (CueTrack("action", "action", Source("action"), CUES),),
)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[PageServer]:
    clip = tmp_path / "my clip #1.mp4"
    clip.write_bytes(BYTES)
    (tmp_path / "secret.txt").write_text("secret")
    made = page_server(TIMELINE, clip, Extras(), tmp_path / "clip.review.json", "clip")
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


def ask(
    server: PageServer, path: str, method: str = "GET", body: str | None = None, **headers: str
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection.request(method, path, body, {key.replace("_", "-"): headers[key] for key in headers})
    reply = connection.getresponse()
    content = reply.read()
    connection.close()
    return reply.status, dict(reply.getheaders()), content


def clip_path(server: PageServer) -> str:
    return f"/{server.token}/my%20clip%20%231.mp4"


def test_the_page_and_the_whole_file(server: PageServer) -> None:
    status, headers, content = ask(server, urlsplit(server.url).path)
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert b'src="./my%20clip%20%231.mp4"' in content
    status, headers, content = ask(server, clip_path(server))
    assert (status, headers["Content-Type"], content) == (200, "video/mp4", BYTES)
    assert headers["Accept-Ranges"] == "bytes"


@pytest.mark.parametrize(
    ("asked", "status", "first", "end"),
    [
        ("bytes=0-0", 206, 0, 1),
        ("bytes=0-", 206, 0, 1280),
        ("bytes=100-199", 206, 100, 200),
        ("bytes=1279-", 206, 1279, 1280),
        ("bytes=1000-99999", 206, 1000, 1280),
        ("bytes=-1", 206, 1279, 1280),
        ("bytes=-99999", 206, 0, 1280),
        ("bytes=9-8", 200, 0, 1280),
        ("bytes=-", 200, 0, 1280),
        ("bytes=0-1,5-6", 200, 0, 1280),
        ("lines=0-1", 200, 0, 1280),
        ("bytes=١-٢", 200, 0, 1280),
    ],
)
def test_ranges_are_right_to_the_byte(
    server: PageServer, asked: str, status: int, first: int, end: int
) -> None:
    found, headers, content = ask(server, clip_path(server), Range=asked.encode().decode("latin-1"))
    assert (found, content) == (status, BYTES[first:end])
    assert headers["Content-Length"] == str(end - first)
    told = f"bytes {first}-{end - 1}/1280" if status == 206 else None
    assert headers.get("Content-Range") == told


@pytest.mark.parametrize("asked", ["bytes=1280-", "bytes=5000-6000", "bytes=-0"])
def test_a_range_outside_is_416(server: PageServer, asked: str) -> None:
    status, headers, content = ask(server, clip_path(server), Range=asked)
    assert (status, headers["Content-Range"], content) == (416, "bytes */1280", b"")


def test_head_has_no_body(server: PageServer) -> None:
    status, headers, content = ask(server, clip_path(server), "HEAD", Range="bytes=5-9")
    assert (status, headers["Content-Length"], content) == (206, "5", b"")


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/clip.html",
        "/TOKEN",
        "/TOKEN/",
        "/TOKEN/secret.txt",
        "/TOKEN/../secret.txt",
        "/TOKEN/..%2fsecret.txt",
        "/TOKEN/%2e%2e/secret.txt",
        "/TOKEN//etc/passwd",
        "/TOKEN/clip.review.json",
        "/TOKEN/clip.html/x",
        "/TOKEN/clip.html?x",
        "/wrong/clip.html",
        "/TOKEN/my clip #1.mp4%00",
    ],
)
def test_everything_else_is_404(server: PageServer, path: str) -> None:
    path = path.replace("TOKEN", server.token).replace(" ", "%20").replace("#", "%23")
    assert ask(server, path)[0] == 404


def test_a_page_elsewhere_that_points_here_gets_nothing(server: PageServer) -> None:
    path = urlsplit(server.url).path
    assert ask(server, path, Host="evil.example")[0] == 404
    body = '{"schema": "cuelight.review/1", "cues": {}}'
    assert ask(server, server.review_url, "PUT", body, Origin="http://evil.example")[0] == 404
    assert ask(server, "/wrong/review", "PUT", body)[0] == 404


def test_a_review_is_written_and_shown_again(server: PageServer, tmp_path: Path) -> None:
    cues = {"action-1": {"verdict": "wrong", "text": "person 1 claps", "end_s": 2.0}}
    body = json.dumps({"schema": "cuelight.review/1", "cues": cues})
    status, _, said = ask(server, server.review_url, "PUT", body)
    assert (status, said) == (200, b"Saved.")
    found = read(tmp_path / "clip.review.json")
    assert found.cues["action-1"].document() == cues["action-1"]
    assert b"person 1 claps" in ask(server, urlsplit(server.url).path)[2]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("no JSON", "is not a reviewed timeline"),
        ('{"schema": "x", "cues": {}}', "its schema is 'x'"),
        (
            '{"schema": "cuelight.review/1", "cues": {"action-1": {"end_s": 0.1}}}',
            "ends no earlier than it starts",
        ),
        ('{"schema": "cuelight.review/1", "cues": {"action-1": {"text": 5}}}', "must be a string"),
        (
            '{"schema": "cuelight.review/1", "video": {"sha256": "f00"}, "cues": {}}',
            "is the review of another video",
        ),
    ],
)
def test_what_is_no_review_is_refused(
    server: PageServer, tmp_path: Path, body: str, words: str
) -> None:
    status, _, said = ask(server, server.review_url, "PUT", body)
    assert status == 400
    assert words in said.decode()
    assert not (tmp_path / "clip.review.json").exists()


def test_half_a_character_is_kept_as_it_was_sent(server: PageServer, tmp_path: Path) -> None:
    cues = {"action-1": {"text": "\ud800"}}
    body = json.dumps({"schema": "cuelight.review/1", "cues": cues})
    assert ask(server, server.review_url, "PUT", body)[0] == 200
    assert read(tmp_path / "clip.review.json").cues["action-1"].text == "\ud800"


@pytest.mark.parametrize("length", [str(1 << 40), "9" * 5000])
def test_a_review_that_is_too_long_is_refused(server: PageServer, length: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection.putrequest("PUT", server.review_url)
    connection.putheader("Content-Length", length)
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "example.org"])
def test_only_loopback_is_served(tmp_path: Path, host: str) -> None:
    with pytest.raises(BadInput, match="other machines reach"):
        page_server(TIMELINE, None, Extras(), tmp_path / "r.json", "clip", host)


@pytest.mark.parametrize("host", ["localhost", "::1", "127.0.0.2"])
def test_every_loopback_address_will_do(tmp_path: Path, host: str) -> None:
    try:
        server = page_server(TIMELINE, None, Extras(), tmp_path / "r.json", "clip", host)
    except BadInput as missing:
        pytest.skip(f"this machine lacks it: {missing}")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with urllib.request.urlopen(server.url, timeout=10) as reply:
        assert reply.status == 200
    server.shutdown()
    server.server_close()


def test_a_port_that_is_taken_is_told(server: PageServer, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="0 is any that is"):
        page_server(TIMELINE, None, Extras(), tmp_path / "r", "clip", port=server.server_port)


def test_a_reviewed_timeline_is_as_the_person_corrected_it() -> None:
    text = """{"schema": "cuelight.review/1", "cues": {
      "action-1": {"verdict": "wrong", "text": "person 1 claps", "end_s": 2.0},
      "action-2": {"verdict": "wrong"}, "gone": {"verdict": "right"}}}"""
    (track,) = reviewed(TIMELINE, parse(text)).tracks
    (cue,) = track.cues
    assert (cue.text, cue.span) == ("person 1 claps", Span(0.5, 2.0))
    assert parse(parse(text).to_json()) == parse(text)
