"""A course, found, loaded and validated."""

from grader.course.find import Course, find_course
from grader.course.grounds import grounds_of
from grader.course.load import choose_assignment, load_assignment

__all__ = ["Course", "choose_assignment", "find_course", "grounds_of", "load_assignment"]
