"""``python -m grader`` is ``grade``, also from a bare checkout."""

from __future__ import annotations

import sys

from grader.cli import main

if __name__ == "__main__":
    sys.exit(main())
