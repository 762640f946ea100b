"""llama.cpp in process, for the family ``embedded``."""
