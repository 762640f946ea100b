"""One file per family of models; a new model of a known family is a YAML."""
