"""Where workers live: a folder for each, and the first worker, which starts while the grader is still being imported.

Nothing heavy is imported here: the sooner the worker starts, the sooner a learner has an answer.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from grader.errors import OutputError
from grader.model import Submission
from grader.run.backend import Backend, Launch, Worker
from grader.run.removal import remove_tree

__all__ = ["Scratch"]


class Scratch:
    """A folder for workers, and a first worker in it that starts while the grader is still being imported."""

    def __init__(self, backend: Backend, submission: Submission) -> None:
        self.backend, self.submission = backend, submission
        try:
            self.root = Path(tempfile.mkdtemp(prefix="grade-"))
        except OSError as error:
            raise OutputError(
                f"No temporary folder could be made ({error.strerror or error}).",
                hint="Free some space, or name another folder in TMPDIR.",
            ) from error
        self._count = 0
        self.first: Worker | None = None
        self.first_folder = self.new_folder()
        if submission.cells:
            try:
                self.first = backend.start(Launch(folder=self.first_folder))
            except BaseException:
                self.close()
                raise

    def new_folder(self) -> Path:
        """Make the folder of one more worker. Raises OutputError."""
        self._count += 1
        folder = self.root / f"life-{self._count}"
        try:
            _prepare(folder, self.submission)
        except OSError as error:
            self.close()
            raise OutputError(
                f"The submission's working folder can't be written ({error.strerror or error}).",
                hint="Free some space, or name another folder in TMPDIR.",
            ) from error
        return folder

    def close(self) -> None:
        """End a worker that was never used and remove everything."""
        if self.first is not None:
            self.first.close()
            self.first = None
        remove_tree(self.root)


def _prepare(folder: Path, submission: Submission) -> None:
    """Make the worker's private folder and put the companions into it, read-only."""
    folder.mkdir(mode=0o700)
    for companion in submission.companions:
        target = folder / companion.name
        target.write_bytes(companion.content)
        target.chmod(0o444)
