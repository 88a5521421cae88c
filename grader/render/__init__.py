"""Results become what people and programs read: a page, a fragment for an LMS, terminal text, JSON."""
