"""Learning platforms: one module for each one's files, names and archives in, grades and feedback out."""
