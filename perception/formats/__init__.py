"""One file per interchange format; see ``perception.format``."""
