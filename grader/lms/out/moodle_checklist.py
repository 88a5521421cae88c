"""What must be set in Moodle before grades and feedback can go up, by Moodle's own labels."""

from __future__ import annotations

from collections.abc import Sequence

from grader.lms.out.moodle_worksheet import TICK
from grader.lms.out.people import plain

__all__ = ["checklist"]


def checklist(title: str, zips: Sequence[str], *, worksheet: bool, stale: int = 0) -> str:
    """Return the steps as plain text.

    Args:
        title: The assignment's, as we know it.
        zips: Names of the feedback zips.
        worksheet: Whether there is a filled worksheet.
        stale: Rows that Moodle takes only with a box ticked.
    """
    lines = [
        f"Moodle: {plain(title)}",
        "",
        "Once, in the assignment's settings:",
        '[ ] Feedback types: "Feedback comments", "Feedback files" and "Offline grading worksheet" are ticked.',
        '[ ] Grade: "Type" is "Point" and "Grading method" is "Simple direct grading".',
        "    With a rubric or a marking guide Moodle takes no worksheet.",
        '[ ] Grade: "Use marking workflow" is "Yes", if learners are not to be mailed before you have looked.',
        "    Without it Moodle mails each of them soon after the upload, and shows the grade at once.",
        "",
        "Each time, on the assignment's Submissions page, in the menu of actions:",
    ]
    if worksheet:
        lines += [
            '[ ] "Upload grading worksheet": worksheet.csv as "Grading worksheet (csv format)".',
            f"[ ] There, {TICK}: {stale} rows need it."
            if stale
            else '[ ] There, leave "Allow updating records that have been modified more recently in Moodle than in the '
            'spreadsheet" without a tick.',
            "[ ] Read the list of changes, and confirm.",
        ]
    else:
        lines.append('[ ] "Download grading worksheet", and give it to --worksheet: no grades go up without it.')
    lines += [
        f'[ ] "Upload multiple feedback files in a zip" (or "Upload feedback files in a zip"): {name}' for name in zips
    ]
    lines.append('[ ] With marking workflow: select all learners, and set the marking workflow state to "Released".')
    return "\n".join(lines) + "\n"
