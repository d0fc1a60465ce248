"""``python -m trickless.cli`` is the command ``trickless``."""

import sys

from trickless.cli import main

sys.exit(main())
