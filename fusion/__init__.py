"""Fusion: a ``CueTimeline`` and a ``Question`` become a ``CuePrompt``."""
