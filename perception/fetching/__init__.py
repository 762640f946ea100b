"""How weights get here: the manifest, the kinds of source, and a run that fetches what lacks."""
