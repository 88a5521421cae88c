"""A real Jupyter kernel, and a frontend that says which cell it runs, as Jupyter and VS Code do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

__all__ = ["Notebook", "notebook"]


class Notebook:
    """Cells are run one by one; each answer is the list of a cell's outputs."""

    def __init__(self, client: NotebookClient) -> None:
        self._client = client

    def run(self, source: str, cell: str = "") -> list[Any]:
        """Run a cell; ``cell`` is what the frontend calls it, if it tells."""
        cells = self._client.nb.cells
        cells.append(nbformat.v4.new_code_cell(source))
        assert self._client.kc is not None
        self._client.kc.session.metadata = {"cellId": cell} if cell else {}
        return list(self._client.execute_cell(cells[-1], len(cells) - 1).outputs)

    def check(self, arguments: str = "seed=3", cell: str = "last") -> dict[str, Any]:
        """Run ``grader.check()``; return what it shows, as a mapping from MIME type to text."""
        outputs = self.run(f"checked = grader.check({arguments})", cell)
        assert [output.output_type for output in outputs] == ["display_data"], outputs
        return dict(outputs[0].data)

    def value(self, expression: str) -> str:
        """Return what a cell shows of a value."""
        (output,) = self.run(expression)
        return str(output.data["text/plain"])


@contextmanager
def notebook(folder: Path) -> Iterator[Notebook]:
    """Start a kernel in ``folder``, and end it."""
    client = NotebookClient(
        nbformat.v4.new_notebook(), kernel_name="python3", allow_errors=True, timeout=100,
        resources={"metadata": {"path": str(folder)}},
    )  # fmt: skip
    with client.setup_kernel():
        yield Notebook(client)
