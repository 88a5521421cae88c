"""What lives in the process where student code runs: the standard library and NumPy, nothing of ours.

The parent starts it as a package named ``inside``, without making the grader importable. From the moment
student code has run, all that this process says is a claim about what was returned, never a verdict.
"""
