"""One file per cue kind; the file name is the recognizer's name."""
