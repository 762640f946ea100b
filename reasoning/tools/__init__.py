"""What fusion cannot be pure about: the callables of ``fusion.policy.Tools``."""
