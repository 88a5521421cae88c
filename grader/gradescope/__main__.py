"""``python -m grader.gradescope ROOT``: what ``run_autograder`` starts."""

from __future__ import annotations

import sys

from grader.gradescope.run import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
