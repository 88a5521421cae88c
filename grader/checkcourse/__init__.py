"""The checks prove themselves: a course's solution, handout, misconceptions and texts, and small mistakes made in it.

All of it runs code of the course, which is trusted; none of it runs code of a learner.
"""

from grader.checkcourse.check import check_assignment
from grader.checkcourse.report import Problem, Proof

__all__ = ["Problem", "Proof", "check_assignment"]
