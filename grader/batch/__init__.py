"""Grades many submissions: the files of a folder, each on its own, in a few processes at a time."""
