"""The summary in the terminal: the tables of each family, and what must be known to read them.

Lines come with the markup that pytest's terminal writer takes, such as {"bold": True}.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ...family_description import TableSpec
from ...results.record import About
from ...results.tables import (
    FEW,
    Line,
    Table,
    TableEntry,
    cross_family_tables,
    family_tables,
    specs_of,
    table_of,
    tables_of,
)
from ...results.tally import Relation, Tally
from ...trial import Reply
from ..columns import MARK, Labelled, Lines, fitting, graded_note, name_of, pooled_note, table_lines
from ..escape import one_line, shorten, wrap
from ..gate_lines import gate_lines
from ..repetition_lines import repetition_notes, repetitions, repetitions_by_model
from ..spending_line import spent, took
from ..wording import count, fact_name, interval, number, plural
from .side_by_side import grid, has_rates_alone, legend, side_by_side, titles_of

REPORT_ONLY = "taskgraph: report only: no answer, gate or comparison fails the run"
OF_STD = "std: standard deviation of the scores"
RANGES = 5  # of a label with many numbers
NAMES = 500  # columns of all models' names


def header(about: About, width: int = 80) -> list[str]:
    """What the run is, in two lines of at most `width` columns, more where names are long, and one more for a simulated
    model and for a run that is report only.
    """
    asked = [f"seed {about.seed}", *([] if about.questions is None else [count(about.questions, "question")])]
    start, end = f"taskgraph {about.version}: ", "".join(f", {fact}" for fact in asked)
    models = one_line(f"{plural('model', len(about.models))} {', '.join(about.models) or 'none'}", NAMES)
    how = {
        **{fact_name(name, value): value for name, value in about.facts.items()},
        plural("prompt", len(about.prompts)): ", ".join(about.prompts),
        "parsing": about.parsing,
    }
    lines = [
        "taskgraph: " + one_line(", ".join(f"{name} {value}" for name, value in how.items() if value)),
        *(
            ["taskgraph: simulated: answers are looked up; the scores say nothing about a model"]
            if about.simulated
            else []
        ),
        *([REPORT_ONLY] if about.report_only else []),
    ]
    first = wrap(start + models + end, width, 2 * NAMES // width + 1)
    return [*first, *(shorten(line, width) for line in lines)]


def lines(tally: Tally, about: About, verbosity: int = 0, width: int = 80) -> Lines:
    """The summary, each line of at most `width` columns (width >= 40); none where nothing was asked.

    Where verbosity is -1 one line, and the verdicts that are no plain pass; none below. Where it is > 0 the score above
    chance, and a table more for each label that takes more than one value, if one of them was answered often enough
    to say something. Several models stand side by side; each has tables of its own where verbosity > 0 only.
    Questions asked varied have a table of their own, and so have repetitions. Each of several families has its tables
    under its name.
    """
    if not tally or verbosity < -1:
        return []
    if verbosity < 0:
        return [(_brief(tally, about, width), {"bold": True}), *gate_lines(about.gates, width, brief=True)]
    found: Lines = [(line, {}) for line in header(about, width)]
    families, titles = tally.families, titles_of(tally, width)
    for family in families:
        if len(families) > 1:
            found += [("", {}), (one_line(f"family {family}", width), {"bold": True})]
        found += _of_family(tally.of_family(family), about, titles, width, verbosity > 0)
    for shown in cross_family_tables(tally):
        found += _table(tally, about, shown, titles, width, verbosity > 0)
    told = [*([OF_STD] if verbosity > 0 and any(" std " in line for line, _ in found) else [])]
    told += [*_notes(tally), *_lost(about)]
    notes = [(line, {"yellow": True}) for note in told for line in wrap(note, width, 3)]
    found += [(line, {}) for line in wrap(took(tally, about.usage), width, 3) if line]
    return found + notes + gate_lines(about.gates, width)


def _of_family(tally: Tally, about: About, titles: Mapping[str, str], width: int, verbose: bool) -> Lines:
    """All tables of one family."""
    found, several = Lines(), len(tally.models) > 1
    if several:
        found += _compared(tally, about, titles, width)
    for model in tally.models if verbose or not several else ():
        if several:
            found += [("", {}), (one_line(f"model {model}", width), {"bold": True})]
        found += _of_model(tally.of_model(model), about, titles, width, verbose)
        if several:
            found += [(line, {}) for line in wrap(spent(tally.of_model(model)), width, 2) if line]
    return found


def _compared(tally: Tally, about: About, titles: Mapping[str, str], width: int) -> Lines:
    """The models beside each other, and what each came to in repeated and in varied questions."""
    relations = [(f"{one.name}, {titles[one.model]}", one) for one in tally.relations()]
    tables = family_tables(tally)
    beside = [one for one in tables if has_rates_alone(one) and not one.grid]
    found = [line for one in beside for line in _table(tally, about, one, titles, width, False)]
    found += legend(titles, width)
    found += [line for one in tables if one not in beside for line in _table(tally, about, one, titles, width, False)]
    return [*found, *repetitions_by_model(tally, titles, width), *_invariance(relations, width)]


def _of_model(tally: Tally, about: About, titles: Mapping[str, str], width: int, verbose: bool) -> Lines:
    """The tables of one model."""
    found = Lines()
    for shown in family_tables(tally):
        found += _table(tally, about, shown, titles, width, verbose)
    found += repetitions(tally, width, verbose)
    found += _invariance([(one.name, one) for one in tally.relations()], width)
    return found + (_by_label(tally, width) if verbose else [])


def _by_label(tally: Tally, width: int) -> Lines:
    """A table for each label that takes more than one value; of those with few answers for each value, the names."""
    found, small = Lines(), list[str]()
    (family,) = tally.families
    described = tally.descriptions[family]
    spec = next((one for one in specs_of(described) if not one.graded), None)
    tabled = {one.spec.label for one in family_tables(tally) if one.rows == "label"}
    for label in (one for one in tally.labels() if one not in tabled) if spec else ():
        if all(group.questions < FEW for group in tally.groups(label, most=RANGES)):
            small.append(label)
        elif spec:
            shown = table_of(tally, described, _label_spec(spec, label), RANGES)
            found += [("", {}), *table_lines(shown, _labelled(shown, {}, {}), width, True)]
    if small:
        told = f"no table by {', '.join(small)}: fewer than {FEW} answered of each value"
        found += [("", {}), *((line, {}) for line in wrap(told, width, 4))]
    return found


def _label_spec(spec: TableSpec, label: str) -> TableSpec:
    """The table by a label that has the columns of another."""
    name = f"by {label}"
    return replace(spec, name=name, title=name, rows="label", label=label, sections=False, total=False, references=())


def _table(tally: Tally, about: About, shown: Table, titles: Mapping[str, str], width: int, verbose: bool) -> Lines:
    """A table, its models beside each other where it has pass rates alone, else below each other."""
    colour = _colour(tally, None, about) if not shown.spec.graded else {}
    caption: Lines = [(one_line(shown.spec.caption or shown.spec.name, width), {})] if shown.titled else []
    if shown.grid:
        drawn = grid(shown, titles, width)
        return [*drawn[:1], *_caption_of_grid(shown, width), *drawn[1:]]
    if shown.side_by_side and has_rates_alone(shown):
        beside = side_by_side(shown, titles, width, colour)
        return [*beside[:1], *caption, *beside[1:]] if caption else beside
    return [("", {}), *caption, *table_lines(shown, _labelled(shown, titles, colour), width, verbose)]


def _caption_of_grid(shown: Table, width: int) -> Lines:
    told = f"{shown.spec.caption or shown.spec.name}, 95% interval, n answered"
    return [(line, {}) for line in wrap(told, width, 2)]


def _labelled(shown: Table, titles: Mapping[str, str], colour: Mapping[str, bool]) -> list[Labelled]:
    """The rows of a table; those of several models one model after the other."""
    markup = {"section": {"bold": True}, "total": {"bold": True, **colour}}
    below = any(one.kind == "section" for one in shown.lines)
    found = []
    for at, model in enumerate(shown.models):
        end = f", {titles[model]}" if shown.side_by_side else ""
        for line, entry in _asked(shown, at):
            name = titles.get(line.name, line.name) if line.kind == "model" else name_of(line)
            title = ("  " if below and line.kind == "group" else "") + name + end
            found.append(Labelled(title, entry, markup.get(line.kind, {})))
    return found


def _asked(shown: Table, at: int) -> Iterator[tuple[Line, TableEntry]]:
    """The rows of one model with their entries."""
    for line in shown.lines:
        entry = line.entries[at]
        if entry is not None:
            yield line, entry


def _invariance(relations: Sequence[tuple[str, Relation]], width: int) -> Lines:
    """A table of the questions asked varied: how often the verdict was the same as about the question as it is."""
    if not relations:
        return []
    cells = [[title, str(one.pairs), number(one.share), interval(one.interval)] for title, one in relations]
    titles = (["relation", "pairs", "same verdict", "95% interval"], ["relation", "pairs", "same", "95%"])
    return [("", {}), *fitting([(one, cells) for one in titles], width)]


def _colour(tally: Tally, model: str | None, about: About) -> dict[str, bool]:
    """Green where all that was asked is right, else red; none where answers fail nothing, or nothing was asked.

    Graded questions need an answer for it.
    """
    total, graded = tally.total(model), tally.total(model, graded=True)
    if "answers" not in about.fail_on or not total.n + total.errors:
        return {}
    faults = total.n + total.errors - total.right + graded.errors + graded.unparseable + graded.refused
    return {"red": True} if faults else {"green": True}


def _brief(tally: Tally, about: About, width: int) -> str:
    """The run in one line."""
    total, prompts = tally.total(), len(tally.pooled_prompts)
    told = (f", {prompts} prompts pooled" if prompts else "") + (", report only" if about.report_only else "")
    if len(tally.models) > 1:
        rates = ", ".join(f"{number(tally.total(model).rate)} {model}" for model in tally.models)
        apart = f", {total.graded} graded" if total.graded else ""
        return one_line(f"taskgraph: {total.n} answered{apart}{told}: {rates}", width)
    both = (total, tally.total(graded=True))
    counts = {name: sum(getattr(row, name) for row in both) for name in ("unparseable", "refused", "skipped")}
    facts = [f"{total.right} of {total.n} right ({number(total.rate)})", f"mean {number(total.mean)}"]
    facts = facts if total.questions or not total.graded else []
    facts += [f"{total.graded} graded"] if total.graded else []
    errors = sum(row.errors for row in both)
    facts += [count(errors, "error")] if errors else []
    end = ", ".join([*facts, *(f"{of} {name}" for name, of in counts.items() if of)]) + told
    start = "taskgraph: "
    return shorten(f"{start}{one_line(total.model, max(6, width - len(start + end) - 2))}: {end}", width)


def _notes(tally: Tally) -> Iterator[str]:
    kinds = (tally.groups("group"), tally.groups("section"), tally.groups("group", graded=True))
    groups, told = [group for kind in kinds for group in kind], list(repetition_notes(tally))
    marked = any(entry.few for table in tables_of(tally) for entry in table.entries)
    if marked or any(0 < group.questions < FEW for group in groups):
        what = " questions" if told else ""
        yield f"{MARK} fewer than {FEW}{what} answered: such a rate says little"
    if apart := graded_note(tally):
        yield apart
    if prompts := pooled_note(tally):
        yield prompts
    yield from told
    others = Counter(
        (trial.reply.source, trial.model)
        for trial in tally
        if trial.reply is not None and _stood_in(trial.reply, trial.model)
    )
    for (source, model), times in sorted(others.items()):
        instead = f", in place of {model}" if ":" in model else ""
        yield f"{count(times, 'question')} answered by {source}{instead}"
    again = sum(tally.attempts(trial) > 1 for trial in tally)
    if again:
        yield f"{count(again, 'question')} asked more than once (reruns, other suites): the last answer counts"


def _lost(about: About) -> Iterator[str]:
    if about.lost:
        shown = ", ".join(about.lost[:3]) + (", …" if len(about.lost) > 3 else "")
        yield f"{count(len(about.lost), 'question')} lost, for the worker that asked died: {one_line(shown)}"


def _stood_in(reply: Reply, model: str) -> bool:
    """Return True if an embedded baseline answered that has another name than the one that was asked."""
    return reply.source.startswith("baseline:") and reply.source != model
