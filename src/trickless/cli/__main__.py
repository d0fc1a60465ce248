"""``python -m trickless.cli`` is the command ``trickless``."""

from trickless.cli import run

if __name__ == "__main__":
    run()
