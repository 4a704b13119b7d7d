"""Summary of a run in the terminal: the tables of each family, with the notes that explain them.

Lines come with the markup that pytest's terminal writer takes, such as {"bold": True}.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ...family_description import TableSpec
from ...results.overview import overview
from ...results.record import About
from ...results.scoreboard import is_baseline
from ...results.tables import (
    FEW,
    Line,
    Table,
    TableEntry,
    cross_family_tables,
    family_tables,
    specs_of,
    table_of,
)
from ...results.tally import Relation, Tally
from ...trial import Reply
from ..columns import MARK, LabelledEntry, Lines, fit_table, graded_note, name_of, pooled_note, table_lines
from ..escape import one_line, wrap
from ..gate_lines import gate_lines
from ..repetition_lines import model_repetitions, repetition_notes, repetitions_by_model
from ..spending_line import replies_line, spending_line
from ..wording import count, fact_name, interval, model_name, number, plural
from .overview_lines import overview_lines
from .side_by_side import grid, legend, rates_by_group, short_names, side_by_side, title_of_model_row, titles_of

REPORT_ONLY = "taskgraph: report only: no answer, gate or comparison fails the run"
SIMULATED = "taskgraph: simulated: answers are looked up; scores say nothing about a model"
SETTING_LINES = 4
OF_STD = "std: standard deviation of the scores"
RANGES = 5  # of a label with many numbers
NAMES = 500  # columns of all models' names
_MARKED = re.compile(rf"\d{re.escape(MARK)}(?: |$)")


def header(about: About, width: int = 80, verbose: bool = False) -> list[str]:
    """Return the lines that state the models, the seed and the number of questions, and whether anything fails the run.

    Args:
        about: The facts of the run.
        width: The columns of a line.
        verbose: True to state the facts of the families, prompts and parsing as well.
    """
    facts = [
        f"{fact_name('seed', about.seeds)} {about.seeds}",
        *([] if about.questions is None else [count(about.questions, "question")]),
        *(["report only"] if about.report_only and not verbose else []),
    ]
    start, end = f"taskgraph {about.version}: ", "".join(f", {fact}" for fact in facts)
    models = one_line(
        f"{plural('model', len(about.models))} {', '.join(map(model_name, about.models)) or 'none'}", NAMES
    )
    settings = {
        **{fact_name(name, value): value for name, value in about.facts.items()},
        plural("prompt", len(about.prompts)): ", ".join(about.prompts),
        "parsing": about.parsing,
    }
    facts_line = "taskgraph: " + one_line(", ".join(f"{name} {value}" for name, value in settings.items() if value))
    lines = [*([facts_line] if verbose else []), *([SIMULATED] if about.simulated else [])]
    lines += [REPORT_ONLY] if about.report_only and verbose else []
    first = wrap(start + models + end, width, 2 * NAMES // width + 1)
    return [*first, *(part for line in lines for part in wrap(line, width, SETTING_LINES))]


def lines(tally: Tally, about: About, verbosity: int = 0, width: int = 80, with_header: bool = True) -> Lines:
    """Return the summary of a run, each line of at most `width` columns; empty if no question was asked.

    Several models stand side by side. Variations and repetitions of questions have tables of their own. With
    several families, the tables of each stand under its name.

    Args:
        tally: The trials of the run.
        about: The facts of the run.
        verbosity: Below -1: no line. -1: one sentence, and the gates that did not pass. 0: a line for each section or
            method of a family. 1: all tables, also of each model. Above 1: with published numbers, and a table of each
            label with enough answers.
        width: The width of the terminal, at least 40 columns.
        with_header: False if the settings of the run were printed before.
    """
    if not tally or verbosity < -1:
        return []
    if verbosity < 0:
        short = [(line, {"bold": True}) for line in wrap(_brief_summary(tally, about), width, SETTING_LINES)]
        return [*short, *gate_lines(about.gates, width, brief=True)]
    summary: Lines = [(line, {}) for line in header(about, width, verbosity > 0)] if with_header else []
    titles = titles_of(tally, width, "group" if verbosity else "section")
    summary += legend(titles, width)
    summary += (
        _details(tally, about, titles, width, verbosity > 1) if verbosity else _overviews(tally, about, titles, width)
    )
    texts = [*([OF_STD] if verbosity and any(" std " in line for line, _ in summary) else [])]
    marked = any(_MARKED.search(line) for line, _ in summary)
    texts += [*_notes(tally, verbosity > 0, marked), *_lost_note(about)]
    notes = [(line, {"yellow": True}) for note in texts for line in wrap(note, width, 3)]
    summary += [(line, {}) for line in wrap(spending_line(tally, about.usage), width, 3) if line]
    further = [line for text in _further(tally, about) for line in wrap(text, width, 3)] if not verbosity else []
    return summary + notes + [(line, {}) for line in further] + gate_lines(about.gates, width)


def _overviews(tally: Tally, about: About, titles: Mapping[str, str], width: int) -> Lines:
    """Return a line for each section or method of each family, and the tables of what the user varied."""
    lines = Lines()
    for family in tally.families:
        part = tally.of_family(family)
        models = {model: titles[model] for model in part.models}
        colour = _colour(part, None, about)
        lines += [("", {}), *overview_lines(family, overview(part), models, width, colour)]
        varied = [table for table in family_tables(part) if table.rows == "label"]
        for table in varied:
            lines += _table(part, about, table.without_references(), titles, width)
        lines += _repetitions(part, titles, width)
    return lines


def _repetitions(tally: Tally, titles: Mapping[str, str], width: int, groups: bool = False) -> Lines:
    """Return the tables of repetitions and variations, of several models side by side."""
    if len(tally.models) < 2:
        relations = [(relation.name, relation) for relation in tally.relations()]
        return [*model_repetitions(tally, width, groups), *_invariance(relations, width)]
    relations = [(f"{relation.name}, {titles[relation.model]}", relation) for relation in tally.relations()]
    return [*repetitions_by_model(tally, titles, width), *_invariance(relations, width)]


def _details(tally: Tally, about: About, titles: Mapping[str, str], width: int, published: bool) -> Lines:
    """Return all tables of each family, and those over several families."""
    lines = Lines()
    for family in tally.families:
        if len(tally.families) > 1:
            lines += [("", {}), (one_line(f"family {family}", width), {"bold": True})]
        lines += _family_lines(tally.of_family(family), about, titles, width, published)
    for table in cross_family_tables(tally):
        lines += _table(tally, about, table, titles, width)
    return lines


def _family_lines(tally: Tally, about: About, titles: Mapping[str, str], width: int, published: bool) -> Lines:
    """Return all tables of one family, and of each of several models."""
    tables = [table if published else table.without_references() for table in family_tables(tally)]
    if len(tally.models) > 1:
        tables.sort(key=lambda table: table.arrangement != "rates")
    lines = [line for table in tables for line in _table(tally, about, table, titles, width)]
    lines += _by_group(tally, width) if len(tally.models) == 1 else []
    lines += _repetitions(tally, titles, width, groups=True)
    for model in tally.models if len(tally.models) > 1 else ():
        of_model = tally.of_model(model)
        details = _lines_of_model(of_model, about, titles, width)
        details += [(line, {}) for line in wrap(replies_line(of_model), width, 2) if line]
        if details:
            lines += [("", {}), (one_line(f"model {model}", width), {"bold": True}), *details]
    return lines + (_label_tables(tally, about, titles, width) if published else [])


def _lines_of_model(tally: Tally, about: About, titles: Mapping[str, str], width: int) -> Lines:
    """Return the tables of one of several models without those in which it has a row of its own."""
    tables = [table for table in family_tables(tally) if table.has_rates_alone and not table.grid]
    lines = [line for table in tables for line in _table(tally, about, table, titles, width)]
    return lines + _by_group(tally, width) + _repetitions(tally, titles, width, groups=True)


def _by_group(tally: Tally, width: int) -> Lines:
    """Return the pass rates of one model by group and value, for each label of difficulty that has a table."""
    (family,) = tally.families
    difficulty = tally.descriptions[family].difficulty
    labels = [table.spec.label for table in family_tables(tally) if table.rows == "label" and not table.spec.graded]
    return [line for label in labels if label in difficulty for line in rates_by_group(tally, label, width)]


def _label_tables(tally: Tally, about: About, titles: Mapping[str, str], width: int) -> Lines:
    """Return a table for each label with several values, and a line that names the labels with too few answers."""
    lines, small = Lines(), list[str]()
    (family,) = tally.families
    description = tally.descriptions[family]
    spec = next((spec for spec in specs_of(description) if not spec.graded), None)
    tabled = {table.spec.label for table in family_tables(tally) if table.rows == "label"}
    for label in (label for label in tally.labels() if label not in tabled) if spec else ():
        if all(group.questions < FEW for group in tally.groups(label, most=RANGES)):
            small.append(label)
        elif spec:
            table = table_of(tally, description, _label_spec(spec, label), RANGES)
            lines += [] if table.empty else _table(tally, about, table, titles, width)
    if small:
        text = f"no table by {', '.join(small)}: fewer than {FEW} answered of each value"
        lines += [("", {}), *((line, {}) for line in wrap(text, width, 4))]
    return lines


def _label_spec(spec: TableSpec, label: str) -> TableSpec:
    """Return the table by a label, with the columns of another table."""
    name, values = f"by {label}", [column.value for column in spec.columns]
    caption = "pass rate" if "rate" in values else "mean score"
    return replace(
        spec,
        name=name,
        title=name,
        caption=caption,
        rows="label",
        label=label,
        sections=False,
        total=False,
        references=(),
    )


def _table(tally: Tally, about: About, table: Table, titles: Mapping[str, str], width: int) -> Lines:
    """Return a table: its models side by side if it has pass rates alone, else below each other."""
    colour = _colour(tally, None, about) if not table.spec.graded else {}
    caption: Lines = [(one_line(table.spec.caption or table.spec.name, width), {})] if table.titled else []
    notes: Lines = [(line, {}) for note in table.notes for line in wrap(note, width, 2)]
    if table.arrangement == "grid":
        lines = grid(table, titles, width)
        return [*lines[:1], *_caption_of_grid(table, width), *lines[1:], *notes]
    if table.arrangement == "rates":
        beside = side_by_side(table, titles, width, colour)
        return [*beside[:1], *caption, *beside[1:], *notes]
    return [("", {}), *caption, *table_lines(table, _labelled_entries(table, titles, colour), width), *notes]


def _caption_of_grid(table: Table, width: int) -> Lines:
    caption = f"{table.spec.caption or table.spec.name}, 95% interval, n answered"
    return [(line, {}) for line in wrap(caption, width, 2)]


def _labelled_entries(table: Table, titles: Mapping[str, str], colour: Mapping[str, bool]) -> list[LabelledEntry]:
    """Return the rows of a table, one model after the other."""
    markup = {"section": {"bold": True}, "total": {"bold": True, **colour}}
    below = any(line.kind == "section" for line in table.lines)
    rows = []
    for at, model in enumerate(table.models):
        end = f", {titles[model]}" if table.side_by_side else ""
        for line, entry in _entries(table, at):
            name = title_of_model_row(line.name, titles) if line.kind == "model" else name_of(line)
            title = ("  " if below and line.kind == "group" else "") + name + end
            rows.append(LabelledEntry(title, entry, markup.get(line.kind, {})))
    return rows


def _entries(table: Table, at: int) -> Iterator[tuple[Line, TableEntry]]:
    """Yield the rows of one model with their entries."""
    for line in table.lines:
        entry = line.entries[at]
        if entry is not None:
            yield line, entry


def _invariance(relations: Sequence[tuple[str, Relation]], width: int) -> Lines:
    """Return the table of variations: how often the verdict is that on the original question."""
    if not relations:
        return []
    cells = [
        [title, str(relation.pairs), number(relation.share), interval(relation.interval)]
        for title, relation in relations
    ]
    titles = (["relation", "pairs", "same verdict", "95% interval"], ["relation", "pairs", "same", "95%"])
    return [("", {}), *fit_table([(row, cells) for row in titles], width)]


def _colour(tally: Tally, model: str | None, about: About) -> dict[str, bool]:
    """Return green if all answers are right, red if not; none if answers do not fail the run or no question was asked.

    Graded questions count as right if they have an answer.
    """
    total, graded = tally.total(model), tally.total(model, graded=True)
    if "answers" not in about.fail_on or not total.n + total.errors:
        return {}
    faults = total.n + total.errors - total.right + graded.errors + graded.unparseable + graded.refused
    return {"red": True} if faults else {"green": True}


def _brief_summary(tally: Tally, about: About) -> str:
    """Return the run in a sentence."""
    total, prompts = tally.total(), len(tally.pooled_prompts)
    suffix = (f", {prompts} prompts pooled" if prompts else "") + (", report only" if about.report_only else "")
    if len(tally.models) > 1:
        names = short_names(tally.models)
        rates = ", ".join(f"{number(tally.total(model).rate)} {names[model]}" for model in tally.models)
        graded_text = f", {total.graded} graded" if total.graded else ""
        return f"taskgraph: {total.n} answered{graded_text}{suffix}: {rates}"
    both = (total, tally.total(graded=True))
    counts = {name: sum(getattr(row, name) for row in both) for name in ("unparseable", "refused", "skipped")}
    facts = [f"{total.right} of {total.n} right ({number(total.rate)})", f"mean {number(total.mean)}"]
    facts = facts if total.questions or not total.graded else []
    facts += [f"{total.graded} graded"] if total.graded else []
    errors = sum(row.errors for row in both)
    facts += [count(errors, "error")] if errors else []
    end = ", ".join([*facts, *(f"{of} {name}" for name, of in counts.items() if of)]) + suffix
    return f"taskgraph: {one_line(short_names([total.model])[total.model], NAMES)}: {end}"


def _notes(tally: Tally, details: bool, marked: bool) -> Iterator[str]:
    notes_on_repetitions = list(repetition_notes(tally))
    if marked:
        what = " questions" if notes_on_repetitions else ""
        yield f"{MARK} fewer than {FEW}{what} answered: such a rate says little"
    if details and (note_on_graded := graded_note(tally)):
        yield note_on_graded
    if note_on_prompts := pooled_note(tally):
        yield note_on_prompts
    yield from notes_on_repetitions
    others = Counter(
        (trial.reply.source, trial.model)
        for trial in (tally if details or len(tally.models) > 1 else ())
        if trial.reply is not None and _is_stand_in(trial.reply, trial.model)
    )
    for (source, model), times in sorted(others.items()):
        instead = f", in place of {model}" if ":" in model else ""
        yield f"{count(times, 'question')} answered by {model_name(source)}{instead}"
    again = sum(tally.attempts(trial) > 1 for trial in tally)
    if again:
        yield f"{count(again, 'question')} asked more than once (reruns, other suites): the last answer counts"


def _further(tally: Tally, about: About) -> Iterator[str]:
    """Yield what the wrong answers are that do not fail the run, and what to do next."""
    wrong = [trial for trial in tally if trial.outcome in ("wrong", "unparseable", "refused")]
    specs = [spec for family in tally.families for spec in specs_of(tally.descriptions[family])]
    published = ["-vv: published numbers too"] if any(spec.references for spec in specs) else []
    baseline = any(trial.reply is not None and trial.reply.source.startswith("baseline:") for trial in tally)
    if wrong and "answers" not in about.fail_on:
        simple = baseline and all(map(is_baseline, tally.models))
        yield (
            f"w: wrong answers, {len(wrong)}, as is expected of simple baselines"
            if simple
            else f"w: wrong answers, {len(wrong)}; python -m pytest_taskgraph show: the first of them"
        )
    model = ["--model=NAME: a model"] if baseline else []
    yield "; ".join([f"-v: each {tally.word('group')} and metric", *published, *model])


def _lost_note(about: About) -> Iterator[str]:
    if about.lost:
        ids = ", ".join(about.lost[:3]) + (", …" if len(about.lost) > 3 else "")
        yield f"{count(len(about.lost), 'question')} lost because the worker that asked died: {one_line(ids)}"


def _is_stand_in(reply: Reply, model: str) -> bool:
    """Return True if an embedded baseline answered in place of the model under test."""
    return reply.source.startswith("baseline:") and reply.source != model
