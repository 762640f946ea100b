"""One file per library that turns speech into text: Whisper in its implementations."""
