"""Sounds for the tests and the benchmark of speech: noises, music and applause that hold no word,
and sentences that espeak-ng speaks. All are float32 [n] at 16 kHz."""

from __future__ import annotations

import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt

from perception.recognizer import AUDIO_RATE_HZ
from perception.shipped import shipped

Samples = npt.NDArray[np.float32]

RATE = AUDIO_RATE_HZ
HARMONICS = 5


def silence(seconds: float) -> Samples:
    return np.zeros(round(seconds * RATE), np.float32)


def white(seconds: float, seed: int = 0, rms: float = 0.1) -> Samples:
    noise = np.random.default_rng(seed).standard_normal(round(seconds * RATE))
    return (rms * noise).astype(np.float32)


def pink(seconds: float, seed: int = 0, rms: float = 0.1) -> Samples:
    """Noise whose power falls with frequency."""
    spectrum = np.fft.rfft(np.random.default_rng(seed).standard_normal(round(seconds * RATE)))
    spectrum /= np.sqrt(np.maximum(np.arange(len(spectrum)), 1))
    return with_rms(np.fft.irfft(spectrum, round(seconds * RATE)), rms)


def tone(seconds: float, hertz: float = 440.0) -> Samples:
    times_s = np.arange(round(seconds * RATE)) / RATE
    return (0.3 * np.sin(2 * np.pi * hertz * times_s)).astype(np.float32)


def tune(seconds: float, seed: int = 0) -> Samples:
    """Plucked notes of a pentatonic scale with four harmonics each."""
    rng = np.random.default_rng(seed)
    notes: list[npt.NDArray[np.float64]] = []
    while sum(map(len, notes)) < seconds * RATE:
        hertz = 220 * 2 ** (rng.choice([0, 3, 5, 7, 10, 12]) / 12)
        times_s = np.arange(round(rng.choice([0.2, 0.4, 0.6]) * RATE)) / RATE
        waves = sum(np.sin(2 * np.pi * hertz * h * times_s) / h for h in range(1, HARMONICS))
        notes.append(waves * np.exp(-3 * times_s) * np.minimum(1, times_s / 0.01))
    return (0.2 * np.concatenate(notes)[: round(seconds * RATE)]).astype(np.float32)


def band(seconds: float, seed: int = 0) -> Samples:
    """Chords, a drum on every beat, and a lead that slides and trembles as a singer does."""
    rng = np.random.default_rng(seed)
    count, beat = round(seconds * RATE), round(0.5 * RATE)
    times_s = np.arange(count) / RATE
    steps = np.repeat(rng.choice([0, 2, 4, 7, 9, 12], count // beat + 1), beat)[:count]
    glide = np.convolve(steps, np.full(800, 1 / 800), mode="same")
    lead_hz = 330 * 2 ** (glide / 12) * (1 + 0.01 * np.sin(2 * np.pi * 5.5 * times_s))
    phase = 2 * np.pi * np.cumsum(lead_hz) / RATE
    lead = sum(np.sin(h * phase) / h for h in range(1, HARMONICS))
    chords = np.zeros(count)
    for begin in range(0, count, 4 * beat):
        part = times_s[begin : begin + 4 * beat]
        root = 110 * 2 ** (rng.choice([0, 5, 7]) / 12)
        chords[begin : begin + 4 * beat] = sum(
            np.sin(2 * np.pi * root * ratio * part) for ratio in (1, 1.26, 1.5)
        )
    since_beat_s = (np.arange(count) % beat) / RATE
    drum = rng.standard_normal(count) * np.exp(-40 * since_beat_s)
    return with_rms(0.5 * lead + 0.3 * chords + drum, 0.1)


def applause(seconds: float, seed: int = 0, claps_a_second: int = 60) -> Samples:
    """Bursts of noise that fall off within some milliseconds, each hand with its own pitch."""
    rng = np.random.default_rng(seed)
    sound = np.zeros(round((seconds + 0.1) * RATE))
    times_s = np.arange(round(0.05 * RATE)) / RATE
    for begin in rng.integers(0, round(seconds * RATE), round(seconds * claps_a_second)):
        ring = np.sin(2 * np.pi * rng.uniform(700, 2500) * times_s + rng.uniform(0, 6))
        clap = (ring + rng.standard_normal(len(times_s))) * np.exp(
            -times_s / rng.uniform(3e-3, 9e-3)
        )
        sound[begin : begin + len(clap)] += rng.uniform(0.2, 1) * clap
    return with_rms(sound[: round(seconds * RATE)], 0.1)


def with_rms(sound: npt.NDArray[np.floating], rms: float) -> Samples:
    """The sound scaled to a root mean square, clipped to full scale."""
    level = float(np.sqrt(np.mean(np.square(sound))))
    return np.clip(sound * (rms / level), -1, 1).astype(np.float32)


def mixed(speech: Samples, other: Samples, decibels: float) -> Samples:
    """Speech over another sound that is ``decibels`` fainter."""
    level = float(np.sqrt(np.mean(np.square(speech))))
    beside = with_rms(np.resize(other, len(speech)), level / 10 ** (decibels / 20))
    total = speech + beside
    return (total / max(1.0, float(np.abs(total).max()))).astype(np.float32)


def has_espeak() -> bool:
    """Whether the synthesiser is installed (Debian: ``apt-get install espeak-ng``)."""
    return shutil.which("espeak-ng") is not None


@functools.cache
def spoken(text: str, voice: str = "en-us", words_a_minute: int = 150) -> Samples:
    """The text as espeak-ng speaks it, with half a second of silence on either side."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "spoken.wav"
        subprocess.run(
            ["espeak-ng", "-v", voice, "-s", str(words_a_minute), "-w", str(file), text], check=True
        )
        return np.concatenate([silence(0.5), with_rms(decoded(file), 0.08), silence(0.5)])


def decoded(path: Path) -> Samples:
    """All the sound of a file."""
    with av.open(str(path)) as container:
        resampler = av.AudioResampler("fltp", "mono", RATE)
        frames = [*container.decode(audio=0), None]
        parts = [part.to_ndarray()[0] for frame in frames for part in resampler.resample(frame)]
    return np.concatenate(parts).astype(np.float32)


@functools.cache
def line() -> Samples:
    """The line that the sample clip speaks, with half a second of silence on either side."""
    spoken_line = decoded(shipped("checkpoints") / "sample" / "line.flac")
    return np.concatenate([silence(0.5), spoken_line, silence(0.5)])


def line_ends() -> tuple[float, float]:
    """First and last instant of ``line`` over 1 % of full scale."""
    loud = np.flatnonzero(np.abs(line()) > 0.01)
    return loud[0] / RATE, loud[-1] / RATE
