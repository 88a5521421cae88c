"""A course, found, loaded and validated."""

from grader.course.find import Course, find_course
from grader.course.load import load_assignment

__all__ = ["Course", "find_course", "load_assignment"]
