"""Comparison of two runs in the terminal: the verdict first, then what changed.

Lines come with the markup that pytest's terminal writer takes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

from ..results.case import IDENTICAL, INCONCLUSIVE, base_verdict, is_worse
from ..results.comparison import Flip, GroupChange, RunComparison
from ..trial import Json
from .columns import Lines, fit_table
from .escape import one_line, shorten, wrap
from .wording import count, number, p_value, signed, signed_interval

if TYPE_CHECKING:
    from ..results.comparison.aggregate_changes import AggregateChange


INTERVAL = "95% interval"
NAMES = ("aggregate", "model")
FIGURES = ("n", "before", "after", "change", INTERVAL, "p", "verdict")
OF_P_OF_AGGREGATES = "p of an aggregate: one-sided, towards worse, adjusted by Holm over all aggregates"


def aggregate_titles(changes: Sequence[AggregateChange]) -> list[str]:
    """Return the titles of the columns, with that of the model if there are several."""
    return [*NAMES[: 1 + _several_models(changes)], *FIGURES]


def aggregate_rows(changes: Sequence[AggregateChange]) -> list[list[str]]:
    """Return a row of texts for each aggregate; the family precedes the name if there are several."""
    families = len({change.family for change in changes}) > 1
    models = _several_models(changes)
    return [_row(change, families, models) for change in changes]


def _row(change: AggregateChange, families: bool, models: bool) -> list[str]:
    return [
        f"{change.family} {change.name}" if families else change.name,
        *([change.model] if models else []),
        f"{change.n:,}",
        number(change.before),
        number(change.after),
        signed(change.change),
        signed_interval(change.ends),
        p_value(change.adjusted_p),
        change.verdict or "-",
    ]


def _several_models(changes: Sequence[AggregateChange]) -> bool:
    return any(change.model for change in changes)


ROWS = 12  # rows of groups that changed
FLIPS = 10  # questions that lost, and as many that won
OF_P = "p: one-sided, towards worse; that of a {} is adjusted by Holm"
IDS = 3  # of those left out
SHARED_START = 40  # characters that a changed line may share with the line that it replaces

_COLOURS: dict[str, dict[str, bool]] = {
    "worse": {"red": True, "bold": True},
    "better": {"green": True, "bold": True},
    "not worse": {"green": True, "bold": True},
    INCONCLUSIVE: {"yellow": True, "bold": True},
    IDENTICAL: {"yellow": True, "bold": True},
}


def lines(comparison: RunComparison, name: str = "", width: int = 80) -> Lines:
    """Return the comparison, each line of at most `width` columns (at least 40).

    Args:
        comparison: The comparison.
        name: The name of the baseline; empty if it has none.
        width: The width of the terminal.
    """
    title = f"compared with {name}: " if name else ""
    verdict = wrap(f"{title}{comparison.verdict}: {comparison.reason}", width, 4)
    return [
        *((line, _COLOURS[base_verdict(comparison.verdict)]) for line in verdict),
        *details(comparison, width),
    ]


def details(comparison: RunComparison, width: int = 80) -> Lines:
    """Return the comparison without its verdict, for a report that has shown the verdict already."""
    lines: Lines = [(line, {}) for line in _model_lines(comparison, width)]
    notes = [*interruption_notes(comparison), *comparison.notes]
    lines += [(line, {"yellow": True}) for note in notes for line in wrap(note, width, 3)]
    lines += _changes(comparison, width)
    lines += _aggregates(comparison, width)
    lines += _flips(comparison.flips, width)
    lines += _differences(comparison, width)
    return lines + [(line, {}) for line in _left_out_lines(comparison, width)]


def interruption_notes(comparison: RunComparison) -> Iterator[str]:
    """Yield a note for each run that was interrupted before all its questions were asked."""
    for when, run in (("before", comparison.before), ("after", comparison.after)):
        if run["interrupted"]:
            questions = run.get("questions")
            of = f" of its {count(questions, 'question')}" if questions else ""
            yield f"the run {when} was interrupted: this compares only those{of} that it had asked by then"


def answer_text(value: Json) -> str:
    """Return an answer as one text: names separated by commas, JSON for what is no list of names."""
    if value is None:
        return "no answer"
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        return ", ".join(map(str, value)) or "none"
    return json.dumps(value, ensure_ascii=False)


def _model_lines(comparison: RunComparison, width: int) -> list[str]:
    """Return a line with the models under test, or two lines if they differ before and after."""
    models = [", ".join(map(str, run.get("models") or ())) or "none" for run in (comparison.before, comparison.after)]
    if models[0] == models[1]:
        return [one_line(f"both runs: {models[0]}", width)]
    return [one_line(f"{when}: {of}", width) for when, of in zip(("before", "after"), models, strict=True)]


def _changes(comparison: RunComparison, width: int) -> Lines:
    """Return the table of the groups that changed, the largest loss first, all questions last."""
    moved = [group for group in comparison.groups if group.lost or group.won]
    if not moved or comparison.total is None:
        return []
    moved.sort(key=lambda group: (not is_worse(group.verdict), group.change))
    summary, word = summary_groups(comparison), comparison.group_word
    cells = [_cells(group) for group in (*moved[:ROWS], *summary)]
    long = [word, "n", "before", "after", "change", "lost", "won", "p", "verdict"]
    short = [word, "n", "before", "after", "change", "p", "verdict"]
    narrow = [[*row[:5], *row[7:]] for row in cells]
    markup = [_COLOURS["worse"] if is_worse(group.verdict) else {} for group in moved[:ROWS]]
    markup += [{"bold": True}] * len(summary)
    still = len(comparison.groups) - len(moved)
    facts = [f"{count(len(moved) - ROWS, word)} more changed"] if len(moved) > ROWS else []
    facts += [f"{count(still, word)} without a change"] if still else []
    lines = [("", dict[str, bool]()), *fit_table([(long, cells), (short, narrow)], width, markup)]
    notes = [*wrap(OF_P.format(word), width, 2), *([one_line(", ".join(facts), width)] if facts else [])]
    return lines + [(line, {}) for line in notes]


def _aggregates(comparison: RunComparison, width: int) -> Lines:
    """Return the table of the aggregates; empty if no family has any."""
    changes = comparison.aggregates
    if not changes:
        return []
    cells, long = aggregate_rows(changes), aggregate_titles(changes)
    narrow = [at for at, title in enumerate(long) if title != INTERVAL]
    choices = [(long, cells), ([long[at] for at in narrow], [[row[at] for at in narrow] for row in cells])]
    markup = [_COLOURS["worse"] if is_worse(change.verdict) else {} for change in changes]
    note = [(line, dict[str, bool]()) for line in wrap(OF_P_OF_AGGREGATES, width, 2)]
    return [("", {}), *fit_table(choices, width, markup), *note]


def summary_groups(comparison: RunComparison) -> list[GroupChange]:
    """Return the rows below the groups of a table: the sections if there are several, and all questions."""
    several = len({section.name for section in comparison.sections}) > 1
    total = [comparison.total] if comparison.total is not None else []
    return [*(comparison.sections if several else ()), *total]


def rates(group: GroupChange) -> str:
    """Return the pass rates before and after, a dash for graded questions."""
    return "-" if group.graded else f"{number(group.rate_before)} → {number(group.rate_after)}"


def group_p_value(group: GroupChange) -> str:
    """Return the p-value that decides: adjusted for a group, that of their test for all questions; empty for none."""
    value = group.p if group.adjusted_p is None else group.adjusted_p
    return "" if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"


def _cells(group: GroupChange) -> list[str]:
    name = f"{group.title} of {group.model}" if group.model else group.title
    name += " (graded)" if group.graded else ""
    figures = [number(group.before), number(group.after), signed(group.change), str(group.lost), str(group.won)]
    return [name, str(group.n), *figures, group_p_value(group), _verdict_text(group.verdict)]


def _verdict_text(verdict: str) -> str:
    return verdict if verdict == base_verdict(verdict) else f"{base_verdict(verdict)} here"


def _flips(flips: Sequence[Flip], width: int) -> Lines:
    lines: Lines = []
    for lost, word in ((True, "lost"), (False, "won")):
        same = [flip for flip in flips if flip.lost == lost]
        if same:
            title = f"{word}: {count(len(same), 'question')}"
            lines += [("", {}), (title, {"bold": True})]
            lines += [(line, {}) for flip in same[:FLIPS] for line in _flip(flip, width)]
            more = len(same) - FLIPS
            lines += [(f"  and {more} more", {})] if more > 0 else []
    return lines


def _flip(flip: Flip, width: int) -> Iterator[str]:
    of = f" of {flip.model}" if flip.model else ""
    graded = flip.before_outcome == flip.after_outcome == "graded"
    moved = (
        f"{number(flip.before_score)} -> {number(flip.after_score)}"
        if graded
        else f"{flip.before_outcome} -> {flip.after_outcome}"
    )
    yield one_line(f"  {flip.id}{of}: {moved}", width - 2).join(("  ", ""))
    for name, value in (("expected", flip.expected), ("before", flip.before_answer), ("after", flip.after_answer)):
        if name != "expected" and value == flip.expected:
            continue
        yield shorten(f"    {name:8} {one_line(answer_text(value), width)}", width)


def _differences(comparison: RunComparison, width: int) -> Lines:
    lines: Lines = []
    for difference in comparison.differences:
        how = "still compared" if difference.paired else "not compared"
        title = f"{difference.what} changed for {count(difference.questions, 'question')}, {how}; in {difference.id}:"
        lines += [("", {}), *((line, {"bold": True}) for line in wrap(title, width, 2))]
        for line in _cut_shared_starts(difference.lines) or ["  nothing in the text"]:
            colour = {"-": {"red": True}, "+": {"green": True}}.get(line[0], {})
            lines.append((shorten(f"  {line[:2]}{one_line(line[2:], width)}", width), colour))
    return lines


def _cut_shared_starts(changed: Sequence[str]) -> list[str]:
    """Return the lines; if two successive lines differ only at their end, the long start that they share is cut off."""
    focused = list(changed)
    for at, (line, below) in enumerate(pairwise(changed)):
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(line[2:], below[2:], strict=False)))
        if line[0] == "-" and below[0] == "+" and same > SHARED_START:
            for where, line_to_cut in ((at, line), (at + 1, below)):
                focused[where] = f"{line_to_cut[:2]}…{line_to_cut[2 + same - SHARED_START // 2 :].lstrip()}"
    return focused


def _left_out_lines(comparison: RunComparison, width: int) -> Iterator[str]:
    """Yield the questions that are not compared, a line for each reason."""
    missing = [f"{trial.id} ({trial.run}: {trial.outcome})" for trial in comparison.missing]
    for reason, ids in (
        ("without an answer", missing),
        ("asked only before", comparison.only_before),
        ("asked only after", comparison.only_after),
    ):
        if ids:
            more = f", and {len(ids) - IDS} more" if len(ids) > IDS else ""
            yield from wrap(f"{reason}: {', '.join(ids[:IDS])}{more}", width, 3)
