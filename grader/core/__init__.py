"""Pure functions: what to ask, what the answers show, what they are worth. No file, clock, environment or print."""
