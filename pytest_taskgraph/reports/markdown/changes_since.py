"""What changed since another run, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...results.case import IDENTICAL, INCONCLUSIVE, base_verdict, is_worse
from ...scoring.forms import show_answer
from ...trial import Json
from ..comparison_lines import (
    OF_P,
    OF_P_OF_AGGREGATES,
    aggregate_rows,
    aggregate_titles,
    group_p_value,
    heading,
    interrupted,
    rates,
)
from ..escape import one_line
from ..wording import count, number
from .elements import NONE, cell, code, fence, folded, table, words

if TYPE_CHECKING:
    from ...results.comparison import Difference, Flip, GroupChange, RunComparison

SIGNS = {"worse": "❌", INCONCLUSIVE: "❔", IDENTICAL: "❔"}
ANSWER = 80  # columns
LINE = 160  # columns of a line of a text that changed
REASON = 300
NAMED = 20  # questions that only one of the runs asked


def verdict_line(comparison: RunComparison) -> str:
    """Return the verdict of the comparison and its reason, in a line."""
    sign = SIGNS.get(base_verdict(comparison.verdict), "✅")
    return f"{sign} compared with the run before: **{comparison.verdict}**: {words(comparison.reason, REASON)}"


def baseline(record: Mapping[str, Any], comparison: RunComparison) -> str:
    """What the run of the record was compared with, as the verdict `compare::NAME` in it says that tells the same as
    the comparison; "" where none does.
    """
    told = f"{comparison.verdict}: {comparison.reason}"
    for one in record.get("gates") or ():
        kind, _, name = str(one.get("name")).partition("::") if isinstance(one, dict) else ("", "", "")
        if kind == "compare" and str(one.get("reason")).startswith(told):
            return name
    return ""


def change(comparison: RunComparison, most: int, name: str = "") -> Iterator[str]:
    """The groups that moved, what was asked in another way, and the questions that flipped, folded.

    Of questions at most `most` are shown, of groups as many, but at least 15. `name` is that of the baseline.
    """
    yield from ("", f"### Compared with {code(name) if name else 'the run before'}", "")
    yield f"- {count(comparison.paired, 'question')} paired"
    yield from (f"- {words(note, REASON)}" for note in (*interrupted(comparison), *comparison.notes[:NAMED]))
    yield from _changes(comparison, max(most, 15))
    yield from _aggregates(comparison, max(most, 15))
    for one in comparison.differences if most else ():
        yield from _difference(one)
    yield from _flips(comparison.flips, most)
    for title, ids in (("before", comparison.only_before), ("now", comparison.only_after)):
        some = min(most, NAMED)
        if ids and some:
            more = [f"and {len(ids) - some} more"] if len(ids) > some else []
            yield from folded(
                f"Asked only {title} ({len(ids):,})", ["- " + one for one in [*map(code, ids[:some]), *more]]
            )


def _changes(comparison: RunComparison, most: int) -> Iterator[str]:
    """The groups of which a question moved, those that are worse first; then the sections, and all of them."""
    moved = [one for one in comparison.groups if one.lost or one.won]
    moved.sort(key=lambda one: (not is_worse(one.verdict), one.won - one.lost))
    several = any(one.model for one in comparison.groups) and len({one.model for one in comparison.groups}) > 1
    heads = heading(comparison)
    rows = [_change(one, several) for one in moved[:most]] + [_change(one, several, "**") for one in heads[:most]]
    titles = [
        comparison.group_word,
        *(["model"] if several else []),
        "verdict",
        "n",
        "pass rate",
        "mean",
        "lost",
        "won",
        "p",
    ]
    yield from table(titles, rows, 3 if several else 2)
    yield from ("", OF_P.format(comparison.group_word)) if rows else ()
    if len(moved) > most:
        yield from ("", f"And {len(moved) - most} more {comparison.group_word}s that moved.")


def _aggregates(comparison: RunComparison, most: int) -> Iterator[str]:
    """The aggregates of the families, at most so many."""
    changes = comparison.aggregates
    titles = aggregate_titles(changes)
    names = titles.index("n")
    rows = [[*map(cell, row[:names]), *row[names:]] for row in aggregate_rows(changes[:most])]
    yield from table(titles, rows, names)
    yield from ("", OF_P_OF_AGGREGATES) if rows else ()
    if len(changes) > most:
        yield from ("", f"And {len(changes) - most} more aggregates.")


def _change(one: GroupChange, several: bool, strong: str = "") -> list[str]:
    return [
        f"{strong}{cell(one.title)}{strong}",
        *([cell(one.model)] if several else []),
        one.verdict or NONE,
        str(one.n),
        rates(one),
        f"{number(one.mean_before)} → {number(one.mean_after)}",
        str(one.lost),
        str(one.won),
        group_p_value(one) or NONE,
    ]


def _difference(one: Difference) -> Iterator[str]:
    """What changed about questions, with the lines of an example."""
    compared = "compared all the same" if one.paired else "not compared"
    yield from (
        "",
        f"The {one.what} changed for {count(one.questions, 'question')}, {compared}; in {code(one.id)}:",
        "",
    )
    yield from fence([one_line(line, LINE) for line in one.lines], "diff")


def _flips(flips: Sequence[Flip], most: int) -> list[str]:
    some = flips[:most]
    several = any(one.model for one in some)
    titles = ["question", *(["model"] if several else []), "expected", "before", "now"]
    rows = [
        [
            cell(one.id, 100),
            *([cell(one.model)] if several else []),
            cell(show_answer(one.form, one.expected), ANSWER),
            _side(one.before_outcome, one.form, one.before_answer),
            _side(one.after_outcome, one.form, one.after_answer),
        ]
        for one in some
    ]
    told = f"{len(some)} of {len(flips):,}" if len(some) < len(flips) else f"{len(flips):,}"
    return folded(f"Questions that flipped ({told})", table(titles, rows, len(titles))[1:])


def _side(outcome: str, form: str, answer: Json) -> str:
    return outcome if answer is None else f"{outcome}: {cell(show_answer(form, answer), ANSWER)}"
