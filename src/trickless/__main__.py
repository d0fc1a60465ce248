"""``python -m trickless`` is the command ``trickless``."""

from trickless._cli import run

if __name__ == "__main__":
    run()
