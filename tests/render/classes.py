"""Classes built by hand, of any size: what the class page has to show well."""

from __future__ import annotations

from grader.core.standing import Look, Part, Standing
from grader.model import Status
from tests.render.course import TASKS
from tests.render.samples import HOSTILE

__all__ = ["GROUP", "a_class", "many"]

GROUP = "k7x2qa"


def standing(number: int, shares: tuple[int, ...], **more: object) -> Standing:
    """An attempt whose n-th task has this many percent of its points."""
    tasks, criteria = [], []
    for task, share in zip(TASKS, shares, strict=True):
        status = Status.PASSED if share == 100 else Status.MISSING if share == 0 else Status.FAILED
        got = 0
        for at, criterion in enumerate(task.criteria):
            # The first criteria are earned first, so that they differ in how hard they are.
            right = share == 100 or 100 * (at + 1) <= share * len(task.criteria)
            cents = 100 * criterion.points if right else 0
            inner = Status.PASSED if right else Status.MISSING if share == 0 else Status.FAILED
            name = f"{task.id}/{criterion.id}"
            criteria.append(Part(id=name, status=inner, cents=cents, max_cents=100 * criterion.points))
            got += cents
        tasks.append(Part(id=task.id, status=status, cents=got, max_cents=100 * task.points))
    fields: dict[str, object] = {
        "key": str(number),
        "name": f"Student {number}",
        "folder": f"student-{number}-{number * 7919 % 0xFFFFFF:06x}",
        "cents": sum(part.cents for part in tasks),
        "max_cents": 10_000,
        "tasks": tuple(tasks),
        "criteria": tuple(criteria),
    }
    return Standing(**{**fields, **more})  # type: ignore[arg-type]  # fields of any type


NO_SCALE = (("attention/weights", "no-scale"),)


def a_class() -> list[Standing]:
    """Nine attempts: each state that a row can have, and a hostile name."""
    lost = standing(3, (0, 0, 0, 0, 0), status="not_graded", reason=f"the grader ran out of memory {HOSTILE}")
    return [
        standing(1, (100, 100, 100, 100, 100), name="Zoë Ångström", submitted="2 December 2026, 21:40", late=False),
        standing(2, (100, 60, 100, 100, 100), name="Ben Adams", misconceptions=NO_SCALE, late=True, submitted="late"),
        lost,
        standing(4, (100, 100, 34, 100, 100), unexplained=(("variance/raw", GROUP),)),
        standing(5, (50, 60, 34, 0, 67), name=f"{HOSTILE}", misconceptions=NO_SCALE, folder="../outside"),
        standing(6, (100, 100, 67, 100, 100), unexplained=(("variance/raw", GROUP),), adjusted=True),
        standing(7, (0, 0, 0, 0, 0), folder=""),
        standing(8, (100, 100, 100, 50, 100), look=(("review", "The draws of this call could not be followed."),)),
        standing(
            9,
            (100, 100, 100, 100, 100),
            name="\u202eevil\u202c, סטודנט",
            look=(("integrity", f"The code went to files outside its own folder (1: {HOSTILE})."), ("note", "A note.")),
            duplicate_of="Zoë Ångström",
        ),
    ]


def many(count: int) -> list[Standing]:
    """A class of this size, always the same."""
    shares = (0, 25, 50, 60, 75, 100, 100, 100, 100)
    made = []
    for number in range(count):
        mixed = number * 2_654_435_761 % 2**32
        picked = tuple(shares[(mixed >> (5 * at)) % len(shares)] for at in range(len(TASKS)))
        look: tuple[Look, ...] = (
            (("review", "The draws of this call could not be followed."),) if mixed % 40 == 0 else ()
        )
        more: dict[str, object] = {"look": look, "submitted": f"2026-12-02 {mixed % 24:02d}:{mixed % 60:02d}"}
        if mixed % 97 == 1:
            more |= {"status": "not_graded", "reason": "the grader ran out of memory"}
        elif picked[1] not in (0, 100):
            more |= {"misconceptions": NO_SCALE}
        elif picked[2] not in (0, 100):
            more |= {"unexplained": (("variance/raw", f"group{'abcdefgh'[mixed % 8]}"),)}
        made.append(standing(number, picked, name=f"Family{mixed % 9973}, Given {number}", late=mixed % 9 == 0, **more))
    return made
