"""An autograder for numerical exercises."""

__version__ = "0.1.0"
