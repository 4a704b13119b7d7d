"""A comparison in the terminal: the verdict first, then what changed.

Lines come with the markup that pytest's terminal writer takes, as those of terminal.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

from ..results.case import IDENTICAL, INCONCLUSIVE, base_verdict, is_worse
from ..results.comparison import Flip, GroupChange, RunComparison
from ..trial import Json
from .columns import Lines, fitting
from .escape import one_line, shorten, wrap
from .wording import count, number, p_value, signed, signed_interval

if TYPE_CHECKING:
    from ..results.comparison.aggregate_changes import AggregateChange


INTERVAL = "95% interval"
NAMES = ("aggregate", "model")
FIGURES = ("n", "before", "after", "change", INTERVAL, "p", "verdict")
OF_P_OF_AGGREGATES = "p of an aggregate: one-sided, towards worse, adjusted by Holm over all aggregates"


def aggregate_titles(changes: Sequence[AggregateChange]) -> list[str]:
    """Return the titles of the columns; that of the model where there are several."""
    return [*NAMES[: 1 + _several_models(changes)], *FIGURES]


def aggregate_rows(changes: Sequence[AggregateChange]) -> list[list[str]]:
    """Return a row for each aggregate as texts; the family stands before its name where there are several."""
    families = len({one.family for one in changes}) > 1
    models = _several_models(changes)
    return [_row(one, families, models) for one in changes]


def _row(one: AggregateChange, families: bool, models: bool) -> list[str]:
    return [
        f"{one.family} {one.name}" if families else one.name,
        *([one.model] if models else []),
        f"{one.n:,}",
        number(one.before),
        number(one.after),
        signed(one.change),
        signed_interval(one.ends),
        p_value(one.adjusted_p),
        one.verdict or "-",
    ]


def _several_models(changes: Sequence[AggregateChange]) -> bool:
    return any(one.model for one in changes)


ROWS = 12  # rows of groups that changed
FLIPS = 10  # questions that lost, and as many that won
OF_P = "p: one-sided, towards worse; that of a {} is adjusted by Holm"
IDS = 3  # of those left out
SHARED_START = 40  # characters that a changed line may share with the one that stood there before

_COLOURS: dict[str, dict[str, bool]] = {
    "worse": {"red": True, "bold": True},
    "better": {"green": True, "bold": True},
    "not worse": {"green": True, "bold": True},
    INCONCLUSIVE: {"yellow": True, "bold": True},
    IDENTICAL: {"yellow": True, "bold": True},
}


def lines(comparison: RunComparison, name: str = "", width: int = 80) -> Lines:
    """The comparison, each line of at most `width` columns (width >= 40); `name` is that of the baseline."""
    title = f"compared with {name}: " if name else ""
    verdict = wrap(f"{title}{comparison.verdict}: {comparison.reason}", width, 4)
    return [
        *((line, _COLOURS[base_verdict(comparison.verdict)]) for line in verdict),
        *details(comparison, width),
    ]


def details(comparison: RunComparison, width: int = 80) -> Lines:
    """The comparison without its verdict, for where that is told already."""
    found: Lines = [(line, {}) for line in _runs(comparison, width)]
    notes = [*interrupted(comparison), *comparison.notes]
    found += [(line, {"yellow": True}) for note in notes for line in wrap(note, width, 3)]
    found += _changes(comparison, width)
    found += _aggregates(comparison, width)
    found += _flips(comparison.flips, width)
    found += _differences(comparison, width)
    return found + [(line, {}) for line in _left_out(comparison, width)]


def interrupted(comparison: RunComparison) -> Iterator[str]:
    """A note on each of the runs that was broken off: it did not ask all that it was to ask."""
    for when, run in (("before", comparison.before), ("after", comparison.after)):
        if run.get("interrupted"):
            known = run.get("questions")
            of = f" of its {count(known, 'question')}" if known else ""
            yield f"the run {when} was interrupted: this compares only those{of} that it had asked by then"


def change(value: float) -> str:
    """A difference of rates with its sign and three decimals."""
    return f"{value:+.3f}" if abs(value) >= 0.0005 else "0.000"


def answer(value: Json) -> str:
    """An answer as one text: names with commas between them, JSON for what is no list of names."""
    if value is None:
        return "nothing that can be read"
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(map(str, value)) or "none"
    return json.dumps(value, ensure_ascii=False)


def _runs(comparison: RunComparison, width: int) -> list[str]:
    """Who was asked, before and after, in a line or two."""
    models = [", ".join(map(str, run.get("models") or ())) or "none" for run in (comparison.before, comparison.after)]
    if models[0] == models[1]:
        return [one_line(f"both runs: {models[0]}", width)]
    return [one_line(f"{when}: {of}", width) for when, of in zip(("before", "after"), models, strict=True)]


def _changes(comparison: RunComparison, width: int) -> Lines:
    """A table of the groups that changed, those that lost most first, and all questions below."""
    moved = [one for one in comparison.groups if one.lost or one.won]
    if not moved or comparison.total is None:
        return []
    moved.sort(key=lambda one: (not is_worse(one.verdict), one.change))
    heads, word = heading(comparison), comparison.group_word
    cells = [_cells(one) for one in (*moved[:ROWS], *heads)]
    long = [word, "n", "before", "after", "change", "lost", "won", "p", "verdict"]
    short = [word, "n", "before", "after", "change", "p", "verdict"]
    narrow = [[*row[:5], *row[7:]] for row in cells]
    markup = [_COLOURS["worse"] if is_worse(one.verdict) else {} for one in moved[:ROWS]]
    markup += [{"bold": True}] * len(heads)
    still = len(comparison.groups) - len(moved)
    facts = [f"{count(len(moved) - ROWS, word)} more changed"] if len(moved) > ROWS else []
    facts += [f"{count(still, word)} without a change"] if still else []
    found = [("", dict[str, bool]()), *fitting([(long, cells), (short, narrow)], width, markup)]
    told = [*wrap(OF_P.format(word), width, 2), *([one_line(", ".join(facts), width)] if facts else [])]
    return found + [(line, {}) for line in told]


def _aggregates(comparison: RunComparison, width: int) -> Lines:
    """A table of the aggregates; nothing where no family has any."""
    changes = comparison.aggregates
    if not changes:
        return []
    cells, long = aggregate_rows(changes), aggregate_titles(changes)
    narrow = [at for at, title in enumerate(long) if title != INTERVAL]
    choices = [(long, cells), ([long[at] for at in narrow], [[row[at] for at in narrow] for row in cells])]
    markup = [_COLOURS["worse"] if is_worse(one.verdict) else {} for one in changes]
    told = [(line, dict[str, bool]()) for line in wrap(OF_P_OF_AGGREGATES, width, 2)]
    return [("", {}), *fitting(choices, width, markup), *told]


def heading(comparison: RunComparison) -> list[GroupChange]:
    """What stands below the groups in a table: the sections where there are several, and all questions."""
    several = len({one.name for one in comparison.sections}) > 1
    total = [comparison.total] if comparison.total is not None else []
    return [*(comparison.sections if several else ()), *total]


def rates(one: GroupChange) -> str:
    """Return the pass rates before and after, a dash for graded questions."""
    return "-" if one.graded else f"{number(one.rate_before)} → {number(one.rate_after)}"


def group_p_value(one: GroupChange) -> str:
    """The p-value that decides: of a group the adjusted one, of all questions that of their test; "" for none."""
    value = one.p if one.adjusted_p is None else one.adjusted_p
    return "" if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"


def _cells(one: GroupChange) -> list[str]:
    name = f"{one.title} of {one.model}" if one.model else one.title
    name += " (graded)" if one.graded else ""
    figures = [number(one.before), number(one.after), change(one.change), str(one.lost), str(one.won)]
    return [name, str(one.n), *figures, group_p_value(one), _here(one.verdict)]


def _here(verdict: str) -> str:
    return verdict if verdict == base_verdict(verdict) else f"{base_verdict(verdict)} here"


def _flips(flips: Sequence[Flip], width: int) -> Lines:
    found: Lines = []
    for lost, told in ((True, "lost"), (False, "won")):
        same = [one for one in flips if one.lost == lost]
        if same:
            title = f"{told}: {count(len(same), 'question')}"
            found += [("", {}), (title, {"bold": True})]
            found += [(line, {}) for one in same[:FLIPS] for line in _flip(one, width)]
            more = len(same) - FLIPS
            found += [(f"  and {more} more", {})] if more > 0 else []
    return found


def _flip(one: Flip, width: int) -> Iterator[str]:
    of = f" of {one.model}" if one.model else ""
    graded = one.before_outcome == one.after_outcome == "graded"
    moved = (
        f"{number(one.before_score)} -> {number(one.after_score)}"
        if graded
        else f"{one.before_outcome} -> {one.after_outcome}"
    )
    yield one_line(f"  {one.id}{of}: {moved}", width - 2).join(("  ", ""))
    for name, value in (("expected", one.expected), ("before", one.before_answer), ("after", one.after_answer)):
        if name != "expected" and value == one.expected:
            continue
        yield shorten(f"    {name:8} {one_line(answer(value), width)}", width)


def _differences(comparison: RunComparison, width: int) -> Lines:
    found: Lines = []
    for one in comparison.differences:
        how = "compared all the same" if one.paired else "not compared"
        title = f"{one.what} changed for {count(one.questions, 'question')}, {how}; in {one.id}:"
        found += [("", {}), *((line, {"bold": True}) for line in wrap(title, width, 2))]
        for line in _focused(one.lines) or ["  nothing in the text"]:
            colour = {"-": {"red": True}, "+": {"green": True}}.get(line[0], {})
            found.append((shorten(f"  {line[:2]}{one_line(line[2:], width)}", width), colour))
    return found


def _focused(changed: Sequence[str]) -> list[str]:
    """The lines; of one that only its end tells from the line below, the long start that both share cut away."""
    found = list(changed)
    for at, (line, below) in enumerate(pairwise(changed)):
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(line[2:], below[2:], strict=False)))
        if line[0] == "-" and below[0] == "+" and same > SHARED_START:
            for where, one in ((at, line), (at + 1, below)):
                found[where] = f"{one[:2]}…{one[2 + same - SHARED_START // 2 :].lstrip()}"
    return found


def _left_out(comparison: RunComparison, width: int) -> Iterator[str]:
    """The questions that are not compared, a line a reason."""
    missing = [f"{one.id} ({one.run}: {one.outcome})" for one in comparison.missing]
    for told, ids in (
        ("without an answer", missing),
        ("asked only before", comparison.only_before),
        ("asked only after", comparison.only_after),
    ):
        if ids:
            more = f", and {len(ids) - IDS} more" if len(ids) > IDS else ""
            yield from wrap(f"{told}: {', '.join(ids[:IDS])}{more}", width, 3)
