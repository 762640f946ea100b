"""Reasoning: question, video and ``CuePrompt`` become answers, verdicts and reports."""
