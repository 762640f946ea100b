"""Poses, people and skeleton actions: numbers, not cues."""
