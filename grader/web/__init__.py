"""The grader as a web server: pages for learners and instructors, and an LTI 1.3 tool inside an LMS."""
