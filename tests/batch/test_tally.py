"""What a batch comes to."""

from __future__ import annotations

from grader.batch.messages import Row, decode, encode
from grader.batch.tally import MAX_NAMED, NOTHING_RAN, Tally


def row(number: int, cents: int, **more: object) -> Row:
    """Return the row of a graded file."""
    made: dict = {"number": number, "name": f"{number}.py", "folder": "", "status": "graded", "cents": cents}
    return Row(**{**made, "max_cents": 1000, **more})


def test_scores() -> None:
    """Quantiles are scores that somebody has; every graded one is in one of the eleven groups."""
    tally = Tally()
    for number, cents in enumerate([0, 99, 100, 550, 999, 1000, 1000]):
        tally.add(row(number, cents), "who")
    tally.add(row(9, 0, status="not_graded", reason="x"), "who")

    assert [tally.quantile(share) for share in (0, 0.25, 0.5, 0.75, 1)] == [0, 99, 550, 1000, 1000]
    assert tally.tenths() == [2, 1, 0, 0, 0, 1, 0, 0, 0, 1, 2]
    assert (tally.count, tally.not_graded) == (8, 1)


def test_attention_is_bounded() -> None:
    """However many need attention, a few are named and all are counted; of whom the same is said hide nobody."""
    tally = Tally()
    for number in range(100):
        tally.add(row(number, 0, unloaded=True), f"{number}", ["the same"])
    tally.add(row(100, 0), "well")
    for number in range(100):
        tally.add(row(number, 0, status="not_graded", reason=f"{number}"), "ada")

    assert (len(tally.attention), tally.wanting) == (MAX_NAMED, 200)
    first, second, *_ = tally.attention.items()
    assert (first[0], first[1].names, first[1].count) == (NOTHING_RAN, ["0", "1", "2"], 100)
    assert (second[0], second[1].names, second[1].count) == ("not graded: 0", ["ada"], 1)
    assert [(text, alike.count) for text, alike in tally.remarks.items()] == [("the same", 100)]


def test_messages_come_back() -> None:
    """A row is the same after its way through a pipe, odd bytes in a name included."""
    sent = row(1, 5, name="\udcff\n\x1b.py", reason='"√"', profile={"judge": [0.5, 0.25]})

    assert decode(encode(sent)) == sent
