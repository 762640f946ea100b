"""One file for each library that reads text: ``Options`` and ``build``, which gives a
``TextBackend``."""
