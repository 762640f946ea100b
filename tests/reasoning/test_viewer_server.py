"""The page's server: exactly its own files, exactly the bytes that are asked for, to this machine
only."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from perception.cue import Cue, CueTimeline, CueTrack, Source, Span, VideoInfo
from perception.errors import BadInput
from reasoning.tools.review import parse, read, reviewed
from reasoning.viewer.extras import Extras
from reasoning.viewer.server import PageServer
from reasoning.viewer.serving import page_server
from tests.reasoning.page_data import of_html

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
    threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


def ask(
    server: PageServer,
    path: str,
    method: str = "GET",
    body: str | bytes | None = None,
    **headers: str,
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


@pytest.mark.parametrize(
    ("method", "place", "status", "allowed"),
    [
        *(
            (method, place, 405, allowed)
            for method in ("POST", "DELETE", "PATCH", "OPTIONS", "TRACE")
            for place, allowed in (("page", "GET, HEAD"), ("review", "PUT"))
        ),
        ("PUT", "page", 405, "GET, HEAD"),
        ("GET", "review", 405, "PUT"),
        ("HEAD", "review", 405, "PUT"),
        *((method, "none", 404, None) for method in ("POST", "DELETE", "PUT", "OPTIONS", "GET")),
        ("BREW", "page", 405, "GET, HEAD"),
    ],
)
def test_other_methods_are_refused_in_a_sentence(
    server: PageServer, method: str, place: str, status: int, allowed: str | None, tmp_path: Path
) -> None:
    path = {"page": urlsplit(server.url).path, "review": server.review_url, "none": "/x"}[place]
    found, headers, said = ask(server, path, method, "x" * 100_000 if method != "TRACE" else None)
    assert (found, headers.get("Allow")) == (status, allowed)
    assert headers["Content-Type"] == "text/plain; charset=utf-8"
    assert b"<" not in said
    assert said.endswith(b".") or method == "HEAD"
    assert not (tmp_path / "clip.review.json").exists()


def test_what_is_no_http_is_told_so(server: PageServer) -> None:
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=10) as connection:
        connection.sendall(b"GET / HTTP/9.9.9\r\n\r\n")
        reply = connection.makefile("rb").read()
    assert reply.split(b" ")[1] == b"400"
    assert b"<" not in reply


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


def about(**said: Any) -> str:
    return json.dumps({"schema": "cuelight.review/1", "cues": {"action-1": said}})


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("no JSON", "is not a reviewed timeline"),
        ("[]", "must be an object"),
        ('{"schema": "x", "cues": {}}', "its schema is 'x'"),
        ('{"schema": "cuelight.review/1"}', "the field 'cues' is missing"),
        ('{"schema": "cuelight.review/1", "cues": []}', "cues must be an object"),
        ('{"schema": "cuelight.review/1", "cues": {"action-1": 5}}', "action-1 must be an object"),
        (about(end_s=0.1), "ends no earlier than it starts"),
        (about(start_s=-1), "A span starts at 0 s or later"),
        (about(end_s="2"), "action-1.end_s must be a number, not '2'"),
        (about(text=5), "action-1.text must be a string"),
        (about(text=None), "action-1.text must be a string"),
        (about(watermark="yes"), "action-1.watermark must be true or false"),
        (about(verdict=True), "action-1.verdict must be a string"),
        (about(verdict="maybe"), "action-1.verdict is 'maybe'; available: right, wrong"),
        (about(verdict="Right"), "action-1.verdict is 'Right'; available: right, wrong"),
        (
            '{"schema": "cuelight.review/1", "video": {"sha256": "f00"}, "cues": {}}',
            "is the review of another video",
        ),
    ],
)
def test_what_is_no_review_is_refused_and_the_file_stays(
    server: PageServer, tmp_path: Path, body: str, words: str
) -> None:
    status, headers, said = ask(server, server.review_url, "PUT", body)
    assert (status, headers["Content-Type"]) == (400, "text/plain; charset=utf-8")
    assert words in said.decode()
    assert not (tmp_path / "clip.review.json").exists()
    assert ask(server, server.review_url, "PUT", about(verdict="right"))[0] == 200
    before = (tmp_path / "clip.review.json").read_bytes()
    assert ask(server, server.review_url, "PUT", body)[0] == 400
    assert (tmp_path / "clip.review.json").read_bytes() == before


def test_a_review_made_from_an_older_one_overwrites_nothing(
    server: PageServer, tmp_path: Path
) -> None:
    status, headers, _ = ask(server, server.review_url, "PUT", about(verdict="right"))
    assert status == 200
    first = headers["ETag"]
    again = about(verdict="wrong")
    status, headers, _ = ask(server, server.review_url, "PUT", again, If_Match=first)
    assert status == 200
    assert headers["ETag"] != first
    late = about(text="person 1 claps")
    status, _, said = ask(server, server.review_url, "PUT", late, If_Match=first)
    assert (status, said.split(b" ")[:4]) == (412, [b"The", b"review", b"was", b"changed"])
    found = read(tmp_path / "clip.review.json").cues["action-1"]
    assert found.document() == {"verdict": "wrong"}
    shown = ask(server, urlsplit(server.url).path)[2].decode()
    assert of_html(shown)["review_tag"] == headers["ETag"]


def test_a_page_that_cannot_be_made_and_a_video_that_is_gone_say_why(
    server: PageServer, tmp_path: Path
) -> None:
    (tmp_path / "clip.review.json").write_text('{"schema": "x", "cues": {}}')
    status, _, said = ask(server, urlsplit(server.url).path)
    assert status == 500
    assert "clip.review.json' is not a reviewed timeline: its schema is 'x'" in said.decode()
    (tmp_path / "my clip #1.mp4").unlink()
    status, _, said = ask(server, clip_path(server))
    assert (status, said) == (404, b"It cannot be read: No such file or directory.")


def test_what_somebody_noted_beside_a_verdict_is_kept(server: PageServer, tmp_path: Path) -> None:
    said = {"verdict": "right", "note": {"by": "me", "unsure": [1, 2]}}
    assert ask(server, server.review_url, "PUT", about(**said))[0] == 200
    assert read(tmp_path / "clip.review.json").cues["action-1"].document() == said


def test_half_a_character_is_kept_as_it_was_sent(server: PageServer, tmp_path: Path) -> None:
    cues = {"action-1": {"text": "\ud800"}}
    body = json.dumps({"schema": "cuelight.review/1", "cues": cues})
    assert ask(server, server.review_url, "PUT", body)[0] == 200
    assert read(tmp_path / "clip.review.json").cues["action-1"].text == "\ud800"


def test_a_review_in_another_encoding_is_refused(server: PageServer) -> None:
    body = about(text="é").encode("utf-16")
    status, _, said = ask(server, server.review_url, "PUT", body)
    assert (status, said) == (400, b"A review is UTF-8.")


@pytest.mark.parametrize(
    ("length", "status"),
    [(str(1 << 40), 413), ("9" * 5000, 413), ("-1", 411), ("many", 411), ("", 411)],
)
def test_a_review_that_is_too_long_or_of_no_length_is_refused(
    server: PageServer, length: str, status: int
) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection.putrequest("PUT", server.review_url)
    connection.putheader("Content-Length", length)
    connection.endheaders()
    assert connection.getresponse().status == status
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
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
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
