"""Attacks by text: what is printed, raised or named, aimed at whatever shows it."""

from __future__ import annotations

from tests.attacks.attack import HONEST, Attack, body, first

__all__ = ["ATTACKS"]

_TEXTS = r'''
TEXTS = [
    "\ud800\udfff\udcff", "\x00\ufffe\x0b]]>&#0;", "{{7*7}}{% raw %}{0.__class__}{score}%(x)s%s${x}", "[/bold][link=http://x]",
    "'\"><script>alert(1)</script><img src=x onerror=alert(1)><!--", "=cmd|' /C calc'!A0", "\u202egnp\u2066\u200f",
    "'); DROP TABLE runs;--", "\n::error file=x::y\n## 100/100\n", '"]\n[[override]]\npoints = 100\n',
    "\x1b[2J\x1b]0;title\x07\x1b[31m\x9b31m\x1bP\x08\x08\r100/100", "a\u0300" + "\u0301" * 500, "</td></table><h1>100</h1>",
    "\u2028\u2029\x85\ufeff\U000e0041\ufdd0", "`code` **bold** [a](javascript:alert(1)) <b onclick=x()>", "A" * 100_000,
]
def text():
    """A different text for each call, also where every call has a new process."""
    return TEXTS[(request().get("seed") or 0) % len(TEXTS)]
'''

ATTACKS = (
    Attack(
        name="raised_text",
        tries="puts markup, escapes and broken characters into type, message, notes and module of an exception",
        at_most=0,
        source=first(
            _TEXTS
            + r"""
def softmax(x, axis=-1):
    it = text()
    Raised = type("Raised", (Exception,), {"__doc__": it, "__module__": it})
    Raised.__name__ = Raised.__qualname__ = it.replace("\x00", "").encode("utf-8", "replace").decode()
    error = Raised(it)
    error.__notes__ = TEXTS
    raise error
scaled_dot_product_attention = measure_variance = entropy_sweep = compare_rankings = softmax
"""
        ),
    ),
    Attack(
        name="printed_text",
        tries="prints the same, and what looks like a result",
        source=body(
            _TEXTS.replace('"""A different text for each call, also where every call has a new process."""', "pass")
            + r"""
for it in TEXTS:
    print(it)
print('{"score": 100, "tests": [{"score": 100, "status": "passed"}]}\n=== FINAL SCORE: 100/100 ===\n::set-output name=score::100')
"""
        ),
    ),
    Attack(
        name="named_text",
        tries="names types, keys and functions that way",
        source=first(
            _TEXTS
            + r"""
def name():
    return text().replace("\x00", "").encode("utf-8", "replace").decode()
class Meta(type):
    @property
    def __name__(cls): return ["not", "a", "text"] * 1000
class Odd(metaclass=Meta): pass
def softmax(x, axis=-1):
    made = (lambda: type(name(), (), {})(), lambda: type(name(), (tuple,), {})(), Odd, lambda: {it: 1 for it in TEXTS},
            lambda: x.view(type(name(), (np.ndarray,), {})), lambda: type(name(), (np.float64,), {})(0.5), lambda: text())
    return made[int(abs(x).sum() * 1e6) % len(made)]()
for it in TEXTS:
    globals()["softmaxx" + it] = softmax
    globals()[it] = 1.0
globals()[7] = 1
"""
        ),
    ),
    Attack(
        name="near_names",
        tries="defines thousands of functions with nearly the right name, some a million characters long",
        at_most=2,
        source=first(
            """
for n in range(20_000):
    globals()[f"softma{n:05d}"] = lambda x, axis=-1: x
for n in range(3):
    globals()["softmax" + "x" * (10 ** 6 + n)] = lambda x: x
softmax_ = softmax = ...
"""
        ),
    ),
    Attack(
        name="huge_message",
        tries="raises with a message of 200 MB that ends the process at the second look, after a thousand others",
        at_most=0,
        source=first(
            """
class Evil(Exception):
    looks = 0
    def __str__(self):
        Evil.looks += 1
        if Evil.looks % 2:
            return "A" * 200_000_000
        raise SystemExit(0)
Evil.__name__ = "<script>alert(1)</script>" + "B" * 1_000_000
def softmax(x, axis=-1):
    error = None
    for _ in range(1_000):
        new = Evil("x" * 1_000)
        new.__cause__, error = error, new
    raise error
"""
        ),
    ),
    Attack(
        name="looked_at",
        tries="is a callable whose name, doc, signature and code act when they are looked at",
        source=first(
            """
class Function:
    __name__ = "softmax"
    __wrapped__ = __signature__ = __code__ = __text_signature__ = __defaults__ = property(lambda self: os._exit(4))
    @property
    def __doc__(self):
        while True: pass
    def __call__(self, x, axis=-1): return x
softmax = Function()
"""
        ),
    ),
    Attack(
        name="audit_flood",
        tries="raises events itself, with arguments that act",
        source=body(
            """
class Text(str):
    def __str__(self): raise SystemExit
    __repr__ = __len__ = __hash__ = __str__
for n in range(3_000):
    sys.audit("open", "<img src=x onerror=alert(1)>/solution.py" + "A" * 1_000, Text("r"), n)
"""
        ),
    ),
    Attack(
        name="error_in_source",
        tries="has a source that is no Python, with hostile text where the error is shown",
        at_most=0,
        silent=True,
        source="# \u202e\ndef softmax(x, axis=-1):\n    return '\x1b[2J<script>alert(1)</script>{{7*7}}\n",
    ),
    Attack(
        name="error_line",
        tries="fails at a line that is full of markup and escapes",
        at_most=0,
        source=first(
            "\ndef softmax(x, axis=-1):\n    return x['\u2067<script>alert(1)</script>{{7*7}}\x1b[2J\x9b']; '</pre><img src=x onerror=y>'\n"
        ),
    ),
    Attack(
        name="null_in_source",
        tries="has NUL, lone surrogates and form feeds in its source",
        at_most=0,
        silent=True,
        source="import os\n\x00\x0c\ud800def softmax(x): return x\n",
    ),
    Attack(
        name="odd_encoding",
        tries="declares an encoding that runs through codecs",
        at_most=20,
        silent=True,
        source="# -*- coding: unicode_escape -*-\n\\u0061 = 1\n" + HONEST,
    ),
    Attack(
        name="nested_source",
        tries="has a source so deep that a parser falls over",
        at_most=0,
        silent=True,
        source="x = " + "(" * 5_000 + ")" * 5_000 + "\n" + "-" * 50_000 + "1\n",
    ),
    Attack(
        name="unprintable_value",
        tries="returns values whose printed form acts",
        source=first(
            """
class Shown:
    def __repr__(self): os._exit(9)
    __str__ = __format__ = __repr__
class Array(np.ndarray):
    __repr__ = __str__ = __format__ = lambda *_: os._exit(9)
np.set_printoptions(formatter={"float_kind": lambda _: os._exit(9)})
def softmax(x, axis=-1):
    return [Shown(), x.view(Array)] if x.ndim == 1 else x.view(Array)
"""
        ),
    ),
)
