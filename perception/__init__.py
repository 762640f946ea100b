"""Perception: a video becomes a ``CueTimeline``."""
