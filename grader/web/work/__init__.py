"""Courses, hand-ins, their reports and what becomes of them: the rows, the queue and the pages."""
