"""Makes ``line.flac``, the spoken line of the sample clip: ``python speak.py``.

Needs the speech synthesiser flite 2.2 (Debian: ``apt-get install flite``) and PyAV. The voice is
CMU Arctic's slt, a fifth slower than it speaks by itself: of six voices of flite and ten of
espeak-ng, it is the one whose language and words Whisper base is surest of.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import av
import numpy as np

from perception.sample import LINE

HERE = Path(__file__).parent
STRETCH = "1.15"
PEAK = 0.5
"""Loudest sample of the result, in [0, 1]."""

AUDIBLE = 0.01
"""Share of the loudest sample under which the ends are cut off as silence."""


def main() -> None:
    """Speak, trim, scale and write."""
    with tempfile.TemporaryDirectory() as folder:
        spoken = Path(folder) / "line.wav"
        subprocess.run(
            [
                *("flite", "-voice", "slt", "--setf", f"duration_stretch={STRETCH}"),
                *("-t", LINE, "-o", str(spoken)),
            ],
            check=True,
        )
        with av.open(str(spoken)) as container:
            frames = [frame.to_ndarray() for frame in container.decode(audio=0)]
            rate = container.streams.audio[0].rate
    samples = np.concatenate(frames, axis=1).astype(np.float32)
    loud = np.flatnonzero(np.abs(samples[0]) > AUDIBLE * np.abs(samples).max())
    samples = samples[:, loud[0] : loud[-1] + 1]
    samples = (samples * (PEAK * 32767 / np.abs(samples).max())).astype(np.int16)
    with av.open(str(HERE / "line.flac"), "w") as container:
        stream = container.add_stream("flac", rate=rate, layout="mono")
        frame = av.AudioFrame.from_ndarray(samples, format="s16", layout="mono")
        frame.rate = rate
        container.mux([*stream.encode(frame), *stream.encode(None)])


if __name__ == "__main__":
    main()
