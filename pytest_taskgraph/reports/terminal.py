"""The summary in the terminal: a table by pattern and category, and what must be known to read it.

Lines come with the markup that pytest's terminal writer takes, such as {"bold": True}.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ..results.record import About
from ..results.tally import Group, Relation, Tally
from ..trial import Reply
from .columns import FEW, MARK, Lines, entry, fitting, graded_note, graded_table, rows_table
from .escape import one_line, shorten, wrap
from .gates import gate_lines
from .repetitions import repetition_notes, repetitions, repetitions_by_model
from .side_by_side import legend, side_by_side, titles_of
from .spending import spent, took
from .wording import count, interval, number, plural

OF_STD = "std: standard deviation of the scores"
RANGES = 5  # of a label with many numbers
NAMES = 500  # columns of all models' names


def header(about: About, width: int = 80) -> list[str]:
    """What the run is, in two lines of at most `width` columns, more where names are long, and one more for an oracle
    and for a survey.
    """
    asked = [f"seed {about.seed}", *([] if about.questions is None else [count(about.questions, "question")])]
    start, end = f"taskgraph {about.version}: ", "".join(f", {fact}" for fact in asked)
    models = one_line(f"{plural('model', len(about.models))} {', '.join(about.models) or 'none'}", NAMES)
    how = {
        **{plural(name, 2 if ", " in value else 1): value for name, value in about.facts.items()},
        "frame": about.frame,
        "reading": about.reading,
    }
    lines = [
        "taskgraph: " + one_line(", ".join(f"{name} {value}" for name, value in how.items() if value)),
        *(["taskgraph: oracle: answers are looked up; its marks say nothing about a model"] if about.oracle else []),
        *(["taskgraph: a survey: nothing is judged"] if about.judge == "none" else []),
    ]
    first = wrap(start + models + end, width, 2 * NAMES // width + 1)
    return [*first, *(shorten(line, width) for line in lines)]


def lines(tally: Tally, about: About, verbosity: int = 0, width: int = 80) -> Lines:
    """The summary, each line of at most `width` columns (width >= 40); none where nothing was asked.

    Where verbosity is -1 one line, and the verdicts that are no plain pass; none below. Where it is > 0 the score above
    chance, and a table more for each label that takes more than one value, if one of them was answered often enough
    to say something. Several models stand side by side; each has tables of its own where verbosity > 0 only.
    Questions asked varied have a table of their own, and so have repetitions.
    """
    if not tally or verbosity < -1:
        return []
    if verbosity < 0:
        return [(_brief(tally, about, width), {"bold": True}), *gate_lines(about.gates, width, brief=True)]
    found: Lines = [(line, {}) for line in header(about, width)]
    several = len(tally.models) > 1
    if several:
        found += _compared(tally, about, width)
    for model in tally.models if verbosity > 0 or not several else ():
        if several:
            found += [("", {}), (one_line(f"model {model}", width), {"bold": True})]
        found += _of_model(tally, about, model, width, verbosity > 0)
    told = [*([OF_STD] if verbosity > 0 and any(" std " in line for line, _ in found) else [])]
    told += [*_notes(tally), *_lost(about)]
    notes = [(line, {"yellow": True}) for note in told for line in wrap(note, width, 3)]
    found += [(line, {}) for line in wrap(took(tally, about.usage), width, 3) if line]
    return found + notes + gate_lines(about.gates, width)


def _compared(tally: Tally, about: About, width: int) -> Lines:
    """The models beside each other, and what each came to in repeated and in varied questions."""
    titles = titles_of(tally, width)
    relations = [(f"{one.name}, {titles[one.model]}", one) for one in tally.relations()]
    judged = side_by_side(tally, titles, width, _colour(tally, None, about)) if tally.whole().trials else []
    return [
        *judged,
        *legend(titles, width),
        *_graded([(f"{one.name}, {titles[one.model]}", one) for one in tally.groups(graded=True)], tally, width),
        *repetitions_by_model(tally, titles, width),
        *_invariance(relations, width),
    ]


def _of_model(tally: Tally, about: About, model: str, width: int, verbose: bool) -> Lines:
    """The tables of one model, and where there are several, what it took."""
    found = _summary(tally, about, model, width, verbose)
    found += _graded([(one.name, one) for one in tally.groups(model=model, graded=True)], tally, width)
    found += repetitions(tally, model, width, verbose)
    found += _invariance([(one.name, one) for one in tally.relations(model)], width)
    found += _by_label(tally, model, width) if verbose else []
    if len(tally.models) > 1:
        found += [(line, {}) for line in wrap(spent(one for one in tally if one.model == model), width, 2) if line]
    return found


def _by_label(tally: Tally, model: str, width: int) -> Lines:
    """A table for each label that takes more than one value; of those with few answers for each value, the names."""
    found, small = Lines(), list[str]()
    for label in tally.labels():
        groups = tally.groups(label, model, RANGES)
        if all(group.questions < FEW for group in groups):
            small.append(label)
        else:
            found += [("", {}), *rows_table(f"by {label}", [entry(tally, one) for one in groups], width, True)]
    if small:
        told = f"no table by {', '.join(small)}: fewer than {FEW} answered of each value"
        found += [("", {}), *((line, {}) for line in wrap(told, width, 4))]
    return found


def _summary(tally: Tally, about: About, model: str, width: int, above: bool) -> Lines:
    """The table of one model: each category and its patterns below it, the total last. None where all is graded."""
    if not tally.whole(model).trials and tally.whole(model, graded=True).trials:
        return []
    groups = tally.groups("group", model)
    entries = []
    for section in tally.groups("section", model):
        entries.append(entry(tally, section, markup={"bold": True}))
        entries += [entry(tally, one, "  " + one.name) for one in groups if one.section == section.name]
    colour = _colour(tally, model, about)
    total = entry(tally, tally.whole(model), "", {"bold": True, **colour})
    return [("", {}), *rows_table("pattern", [*entries, total], width, above)]


def _graded(groups: Sequence[tuple[str, Group]], tally: Tally, width: int) -> Lines:
    """Return the table of the patterns whose questions are graded, each group under its title."""
    return [("", {}), *graded_table([entry(tally, one, title) for title, one in groups], width)] if groups else []


def _invariance(relations: Sequence[tuple[str, Relation]], width: int) -> Lines:
    """A table of the questions asked varied: how often the verdict was the same as about the question as it is."""
    if not relations:
        return []
    cells = [[title, str(one.pairs), number(one.share), interval(one.interval)] for title, one in relations]
    titles = (["relation", "pairs", "same verdict", "95% interval"], ["relation", "pairs", "same", "95%"])
    return [("", {}), *fitting([(one, cells) for one in titles], width)]


def _colour(tally: Tally, model: str | None, about: About) -> dict[str, bool]:
    """Green where all that was asked is right, else red; none in a survey, where gates judge, or nothing was asked.

    Graded questions need an answer for it.
    """
    total, graded = tally.total(model), tally.total(model, graded=True)
    if about.judge != "questions" or not total.n + total.errors:
        return {}
    faults = total.n + total.errors - total.right + graded.errors + graded.unreadable + graded.refused
    return {"red": True} if faults else {"green": True}


def _brief(tally: Tally, about: About, width: int) -> str:
    """The run in one line."""
    total, survey = tally.total(), ", a survey" if about.judge == "none" else ""
    if len(tally.models) > 1:
        rates = ", ".join(f"{number(tally.total(model).rate)} {model}" for model in tally.models)
        apart = f", {total.graded} graded" if total.graded else ""
        return one_line(f"taskgraph: {total.n} answered{apart}{survey}: {rates}", width)
    both = (total, tally.total(graded=True))
    counts = {name: sum(getattr(row, name) for row in both) for name in ("unreadable", "refused", "skipped")}
    facts = [f"{total.right} of {total.n} right ({number(total.rate)})", f"mean {number(total.mean)}"]
    facts = facts if total.questions or not total.graded else []
    facts += [f"{total.graded} graded"] if total.graded else []
    errors = sum(row.errors for row in both)
    facts += [count(errors, "error")] if errors else []
    end = ", ".join([*facts, *(f"{of} {name}" for name, of in counts.items() if of)]) + survey
    start = "taskgraph: "
    return shorten(f"{start}{one_line(total.model, max(6, width - len(start + end) - 2))}: {end}", width)


def _notes(tally: Tally) -> Iterator[str]:
    kinds = (tally.groups("group"), tally.groups("section"), tally.groups("group", graded=True))
    groups, told = [group for kind in kinds for group in kind], list(repetition_notes(tally))
    if any(0 < group.questions < FEW for group in groups):
        what = " questions" if told else ""
        yield f"{MARK} fewer than {FEW}{what} answered: such a rate says little"
    if apart := graded_note(tally):
        yield apart
    yield from told
    others = Counter(
        trial.reply.source for trial in tally if trial.reply is not None and _stood_in(trial.reply, trial.model)
    )
    for source, times in sorted(others.items()):
        yield f"{count(times, 'open question')} answered by {source}, by words in common: no graph tells the answer"
    again = sum(tally.attempts(trial) > 1 for trial in tally)
    if again:
        yield f"{count(again, 'question')} asked more than once (reruns, other suites): the last answer counts"


def _lost(about: About) -> Iterator[str]:
    if about.lost:
        shown = ", ".join(about.lost[:3]) + (", …" if len(about.lost) > 3 else "")
        yield f"{count(len(about.lost), 'question')} lost, for the worker that asked died: {one_line(shown)}"


def _stood_in(reply: Reply, model: str) -> bool:
    """Whether another embedded baseline answered than the one that was asked."""
    return reply.source.startswith("baseline:") and reply.source != model
