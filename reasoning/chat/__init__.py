"""What the family ``openai_compatible`` says to a server, and what it makes of the reply."""
