"""What outlives the process: transcripts."""

from grader.store.transcripts import dump_transcript, load_transcript, read_transcript, write_transcript

__all__ = ["dump_transcript", "load_transcript", "read_transcript", "write_transcript"]
