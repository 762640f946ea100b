"""What the family ``gemini`` says to Google, and what it makes of the reply."""
