"""A course for tests."""
