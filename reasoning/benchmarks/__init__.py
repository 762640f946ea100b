"""One file or folder for each published protocol; see ``reasoning.benchmark``."""
