"""``grader.check()``: the face for a notebook's kernel. Nothing of a learner's is judged in the kernel's process."""
