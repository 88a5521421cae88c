"""LTI 1.3 Advantage: an LMS opens us, tells who came from where, and gets scores back."""
