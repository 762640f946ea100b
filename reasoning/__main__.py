"""Where the ``cuelight`` command starts: an interrupt while Python still imports ends quietly."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command; see ``reasoning.cli``."""
    try:
        from reasoning.cli import main as run
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    run()


if __name__ == "__main__":
    main()
