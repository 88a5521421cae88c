"""Attacks by the shape of what is handed in: notebooks, and files beside a submission."""

from __future__ import annotations

import json
import zlib

from tests.attacks.attack import HONEST, TOOLS, Attack

__all__ = ["ATTACKS"]

_DIGITS = "9" * 5_000


def _cell(source: str, **more: object) -> dict[str, object]:
    return {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": source, **more}


def _document(*cells: dict[str, object], **more: object) -> str:
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": list(cells), **more})


_SHADOWS = {
    f"{name}.py": b"print('HARM runs what lies beside')\n"
    for name in (
        "json",
        "hashlib",
        "traceback",
        "linecache",
        "fractions",
        "secrets",
        "numpy",
        "grader",
        "conftest",
        "sitecustomize",
    )
} | {"x.pth": b"import os; os._exit(1)\n", "fast.so": b"\x7fELF", "inside.py": b"print('HARM runs what lies beside')\n"}

ATTACKS = (
    Attack(
        name="many_names",
        tries="leaves a hundred thousand variables, so that one of them fits",
        cells=(
            TOOLS,
            """
np.random.randn(200, 1024); np.random.randn(200, 1024)
raw_var, scaled_var = 1024.0, 1.0
for i in range(100_000):
    globals()[f"entropies_{i}"] = np.linspace(i / 5e4, (i + 1) / 5e4, 64)
""",
        ),
        at_most=0,
    ),
    Attack(
        name="many_digits",
        tries="prints numbers of thousands of digits, and digits of other scripts",
        cells=(
            TOOLS,
            "print('9' * 60_000)\nprint('1' * 30_000 + 'e')\nprint('\\u0661\\u0662.\\u0663', '1_0.0_1', '1e999', '-' * 40_000)",
        ),
        at_most=0,
    ),
    Attack(
        name="odd_json",
        tries="is a notebook with numbers of thousands of digits, doubled keys and lone surrogates",
        document=f'{{"nbformat": 4, "nbformat_minor": {_DIGITS}, "metadata": {{"x": NaN, "kernelspec": {{"name": "\\ud800", '
        f'"language": "R"}}}}, "cells": [], "cells": [{{"cell_type": "code", "metadata": {{}}, "outputs": [], '
        f'"execution_count": {_DIGITS}, "source": "x = \'\\ud800\'"}}]}}',
        at_most=0,
        silent=True,
    ),
    Attack(
        name="deep_json",
        tries="is a notebook that is nested a hundred thousand times",
        document='{"nbformat": 4, "cells": ' + "[" * 100_000 + "]" * 100_000 + "}",
        at_most=0,
        silent=True,
    ),
    Attack(
        name="odd_ids",
        tries="has cells without, with doubled and with hostile ids",
        document=_document(
            _cell(TOOLS),
            _cell("x = 1", id="<b>1"),
            _cell("y = 2", id="<b>1"),
            _cell("z = 3", id="../../x"),
            {"cell_type": "<script>", "source": ["x"] * 10, "metadata": {}},
            _cell("q", cell_type="raw"),
        ),
        at_most=0,
    ),
    Attack(
        name="outputs_of_old",
        tries="brings printed results along, some of them packed a thousand times, and a page that acts",
        document=_document(
            _cell(
                TOOLS,
                outputs=[
                    {"output_type": "stream", "name": "stdout", "text": "score 100\n" * 20_000},
                    {
                        "output_type": "display_data",
                        "metadata": {},
                        "data": {"text/html": "<script>alert(1)</script>", "image/png": "A" * 400_000},
                    },
                ],
            ),
        ),
        at_most=0,
    ),
    Attack(
        name="shadows",
        tries="lays files beside it that are named like modules of Python, of NumPy and of ours",
        source=TOOLS
        + "names = 'json hashlib traceback linecache fractions secrets inside conftest sitecustomize numpy grader fast x.pth'\n"
        + "for name in names.split():\n    attempt(lambda: __import__(name))\n"
        + HONEST,
        files=_SHADOWS,
        at_least=100,
        at_most=100,
        roomy=True,
    ),
    Attack(
        name="packed_bomb",
        tries="reads a file beside it that unpacks to much more than there is memory for",
        source=TOOLS
        + """
def softmax(x, axis=-1):
    import zlib
    with open("bomb.txt", "rb") as file:
        room = zlib.decompress(file.read())
    kept = [bytes(room) * 50 for _ in range(1_000)]
    return x
""",
        files={"bomb.txt": zlib.compress(bytes(1 << 26), 9)},
        at_most=0,
    ),
)
