"""Numbers about text in pictures that are no cues: lines, readings, what stays the same."""
