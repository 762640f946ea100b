"""The timeline as one self-contained HTML page, and as lanes in a terminal."""
