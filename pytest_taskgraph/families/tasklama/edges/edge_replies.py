"""Read dependencies from replies (a verdict on a pair, an order, a list of pairs), and the episodes that compose them.

All readers are lenient: they measure the content of a reply, not its layout. The work is bounded, whatever the text.

A way to ask for dependencies (`Asking`) takes the steps, and returns what it found. On golden steps the episode adds
nothing; on generated ones it first has the steps generated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from ....asking import Episode, Transcript, Turns
from ....benchmarks.episodes import opening
from ....errors import UnparseableError
from ....scoring.forms.form import collapse_spaces
from ....scoring.forms.task_graph_form import MOST_PAIRS, MOST_STEPS, read_dependencies, read_graph, read_steps
from ....scoring.statements import has_marker, marked_part
from ....scoring.task_graphs.step_graphs import (
    Edge,
    StepGraph,
    answered_graph,
    gold_graph,
    transitive_closure,
    transitive_reduction,
    without_cycles,
)
from ....scoring.task_graphs.step_matching import words
from ....scoring.yes_no_verdicts import find_verdict
from ....trial import Json, Question, Reply, Request
from ..sequences import compose_answer, compose_reply, merge_sequences, step_sequences, unparseable_reply

LONGEST_REPLY: Final = 100_000  # characters that are searched: of a longer reply the last ones, where the answer stands
MOST_LINES: Final = 2_000
LEAST_SHARE: Final = 0.5  # of the words of two steps that are in both, for a line to stand for a step
_JOINING: Final = re.compile(r"\b(?:steps?|and|then|first|next|finally|lastly|order)\b", re.IGNORECASE)
_NUMBER: Final = re.compile(r"(?<![\w.])\d{1,4}(?!\w)")
_BULLET: Final = re.compile(r"[ \t]*\(?\d{1,4}[.):][ \t]{1,8}(?=\D{0,8}\d{1,4}\D{0,8}$)")
_LETTER: Final = re.compile(r"[^\W\d_]")
_IN_BRACKETS: Final = re.compile(r"[\[(][ \t]{0,4}(\d{1,4})[ \t]{0,4},[ \t]{0,4}(\d{1,4})[ \t]{0,4}[\])]")
_NO_PAIRS: Final = re.compile(
    r"(?:(?:dependencies|pairs|answer)\W{1,8})?(?:there are )?(?:none|no(?: order| pairs?| dependenc(?:y|ies))?)"
    r"(?: (?:is|are) (?:needed|required|necessary))?",
    re.IGNORECASE,
)
_DECORATION: Final = " \t*_`.\"'“”()-"
T = TypeVar("T")
Requests = Generator[list[Request], list[Reply], T]
NONE: Final = "none"


def read_verdict(text: str, rationale: bool = False) -> bool | None:
    """Return True if a reply says yes, False if it says no, None if it says neither.

    Args:
        text: The reply.
        rationale: Whether reasons stand before the answer: without "Final answer:", the last line then counts first,
            else the first.
    """
    text = text[-LONGEST_REPLY:]
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return None
    ends = [lines[-1], lines[0]] if rationale else [lines[0], lines[-1]]
    places = [_answer_in(text)] if has_marker(text, "lenient") else [ends[0], "\n".join(lines), ends[1]]
    for place in places:
        if word := find_verdict(place):
            return word[1].lower() == "yes"
    return None


def read_order(text: str, steps: Sequence[str]) -> list[int] | None:
    """Return the indices of steps in the order that a reply states; None if it states none of two steps or more.

    Looked for in this order: a line of their numbers, or lines of a number each; lines that hold the texts of steps,
    or at least half of the words; the numbers in running text, if each step is named. Where a step is named twice, the
    first time counts; steps that are not named are left out.

    Args:
        text: The reply.
        steps: The steps, numbered from 1 as they were shown.
    """
    answer = _answer_in(text)
    order = _listed_numbers(answer, len(steps)) or _listed_steps(answer, steps)
    if not order:
        step_numbers = _known_numbers(answer, len(steps))
        order = step_numbers if len(step_numbers) == len(steps) else []
    return order if len(order) >= 2 else None


def read_pairs(text: str, steps: Sequence[str]) -> list[Edge] | None:
    """Return the pairs of indices that a reply lists, as "1 -> 3" or "[1, 3]".

    None stands for a reply that neither lists pairs nor states that there are none.

    Args:
        text: The reply. Where it lists all the steps again, its pairs refer to the numbers of its own list.
        steps: The steps, numbered from 1 as they were shown.
    """
    answer = _answer_in(text)
    if (own := _pairs_of_own_list(answer, steps)) is not None:
        return own
    numbers = {at + 1: at for at in range(len(steps))}
    if dependencies := read_dependencies(answer, numbers):
        return dependencies
    bracketed = [(numbers.get(int(a)), numbers.get(int(b))) for a, b in _IN_BRACKETS.findall(answer)]
    pairs = [(a, b) for a, b in bracketed if a is not None and b is not None and a != b]
    if pairs:
        return list(dict.fromkeys(pairs))[:MOST_PAIRS]
    lines = (line.strip(_DECORATION) for line in answer.splitlines()[:MOST_LINES])
    return [] if any(line == "[]" or _NO_PAIRS.fullmatch(line) for line in lines) else None


def _pairs_of_own_list(text: str, steps: Sequence[str]) -> list[Edge] | None:
    """Return the pairs of a reply that lists each of the steps once more; None for any other reply."""
    try:
        stated = answered_graph(read_graph(text))
    except UnparseableError:
        return None
    place_of = {tuple(words(step)): at for at, step in enumerate(steps)}
    places = [place_of.get(tuple(words(step))) for step in stated.steps]
    if len(place_of) != len(steps) or sorted(-1 if at is None else at for at in places) != [*range(len(steps))]:
        return None
    return [(places[before] or 0, places[after] or 0) for before, after in stated.dependencies]


def _answer_in(text: str) -> str:
    """Return what follows "Final answer:", else the whole reply; without code fences."""
    return marked_part(text[-LONGEST_REPLY:])


def _listed_numbers(text: str, steps: int) -> list[int]:
    """Return the order in the line that names most steps by their numbers alone, else in the lines of one number."""
    rows = [_numbers_alone(line, steps) for line in text.splitlines()[:MOST_LINES]]
    longest = max((len(row) for row in rows), default=0)
    if longest >= 2:
        return next(row for row in reversed(rows) if len(row) == longest)
    single = list(dict.fromkeys(number for row in rows for number in row))
    return single if len(single) >= 2 else []


def _numbers_alone(line: str, steps: int) -> list[int]:
    """Return the steps that a line names if it holds nothing but numbers, behind a heading that ends in a colon."""
    below = line.rpartition(":")[2] if not _BULLET.match(line) else _BULLET.sub("", line, count=1)
    return [] if _LETTER.search(_JOINING.sub("", below)) else _known_numbers(below, steps)


def _known_numbers(text: str, steps: int) -> list[int]:
    numbers = (int(number) - 1 for number in _NUMBER.findall(text))
    return list(dict.fromkeys(at for at in numbers if 0 <= at < steps))


def _listed_steps(text: str, steps: Sequence[str]) -> list[int]:
    """Return the order in which lines hold the texts of steps: the same words, else the most shared ones."""
    try:
        lines = read_steps(text)
    except UnparseableError:
        return []
    words_of_steps = [words(step) for step in steps]
    order: dict[int, None] = {}
    for line in map(words, lines):
        exact = next((at for at, step in enumerate(words_of_steps) if step == line and at not in order), None)
        at = _most_alike(line, words_of_steps) if exact is None else exact
        if at is not None:
            order.setdefault(at)
    return list(order)


def _most_alike(line: Sequence[str], steps: Sequence[Sequence[str]]) -> int | None:
    """Return the step that shares most words with a line, at least half of them; None where two share as many."""
    mine = frozenset(line)
    shares = [len(mine & frozenset(step)) / (len(mine | frozenset(step)) or 1) for step in steps]
    best = max(shares, default=0.0)
    return shares.index(best) if best >= LEAST_SHARE and shares.count(best) == 1 else None


@dataclass(frozen=True, slots=True)
class GivenSteps:
    """The steps between which dependencies are asked for.

    Args:
        steps: Their texts, in the order in which they are shown.
        dependencies: The pairs of their indices that depend on each other in the gold graph, by any path; for replies
            of simulated models alone. A generated step is known where its text is that of a gold step.
    """

    steps: tuple[str, ...]
    dependencies: frozenset[Edge]


@dataclass(frozen=True, slots=True)
class FoundEdges:
    """The dependencies that were read from the replies of a model.

    Args:
        edges: Pairs of indices of the given steps; None where no reply can be read.
        first: The first reply as the model wrote it; None where nothing was asked.
        notes: The notes of the record on each exchange.
        unread: Pairs that were asked about by themselves, without a reply that can be read.
    """

    edges: tuple[Edge, ...] | None
    first: Reply | None = None
    notes: tuple[dict[str, Json], ...] = field(default=())
    unread: tuple[Edge, ...] = ()


Asking = Callable[[Question, GivenSteps], Requests[FoundEdges]]


def golden_episode(ask: Asking, closed: bool) -> Episode:
    """Return the episode that asks for the dependencies between the gold steps, shown in the order of the settings.

    The answer lists the gold steps in their own order, and beside them what counts as "must be done before": the
    metric compares the listed pairs with the closure of the gold graph, and concludes nothing from them.

    Args:
        ask: How to ask.
        closed: False where each ordered pair was asked about: the pairs are then listed as they were answered, cycles
            included. True where a graph or an order was asked for: its closure is listed, freed of cycles.
    """

    def episode(question: Question) -> Turns:
        gold = gold_graph(question.reference)
        order = shown_indices(question)
        dependencies = transitive_closure(len(order), without_cycles(len(order), gold.dependencies))
        place = {at: position for position, at in enumerate(order)}
        given = GivenSteps(
            tuple(collapse_spaces(gold.steps[at]) for at in order),
            frozenset((place[a], place[b]) for a, b in dependencies),
        )
        outcome = yield from ask(question, given)
        if outcome.edges is None:
            return Transcript(unparseable_reply([outcome.first or Reply("")]), notes=outcome.notes)
        edges: Iterable[Edge] = [(order[a], order[b]) for a, b in outcome.edges]
        if closed:
            edges = transitive_closure(len(order), without_cycles(len(order), edges))
        unread = sorted((order[a], order[b]) for a, b in outcome.unread)
        return Transcript(compose_reply(outcome.first, gold.steps, sorted(edges), unread=unread), notes=outcome.notes)

    return episode


def generated_episode(ask: Asking, reduced: bool = True) -> Episode:
    """Return the episode that has the steps generated, then asks for the dependencies between them.

    Several sequences of steps are merged to one. The answer is freed of cycles and reduced to immediate dependencies.

    Args:
        ask: How to ask.
        reduced: False where the edges are those of the produced sequence, and stay as they are.
    """

    def episode(question: Question) -> Turns:
        replies: list[Reply] = []
        sequences = yield from _collect_replies(step_sequences(question), replies)
        steps_notes: list[dict[str, Json]] = [{"asked": "steps"} for _ in replies]
        if isinstance(sequences, Reply):
            return Transcript(sequences, notes=steps_notes)
        merged = sequences[0] if len(sequences) == 1 else merge_sequences(sequences)
        given = generated_steps(question, merged[:MOST_STEPS])
        outcome = yield from ask(question, given)
        notes = [*steps_notes, *outcome.notes]
        if outcome.edges is None:
            return Transcript(unparseable_reply([outcome.first or Reply("")]), notes=notes)
        edges = transitive_reduction(len(given.steps), outcome.edges) if reduced else [*outcome.edges]
        reply = yield from compose_answer(question, replies[0], given.steps, edges, outcome.unread)
        return Transcript(reply, notes=notes)

    return episode


def generated_steps(question: Question, steps: Sequence[str]) -> GivenSteps:
    """Return generated steps, with the dependencies between those whose text is that of a gold step."""
    gold = gold_graph(question.reference)
    dependencies = transitive_closure(len(gold.steps), without_cycles(len(gold.steps), gold.dependencies))
    index = {collapse_spaces(step): at for at, step in reversed([*enumerate(gold.steps)])}
    places = [
        (position, index[collapse_spaces(step)])
        for position, step in enumerate(steps)
        if collapse_spaces(step) in index
    ]
    pairs = frozenset((a, b) for a, at in places for b, to in places if (at, to) in dependencies)
    return GivenSteps(tuple(steps), pairs)


def shown_indices(question: Question) -> list[int]:
    """Return the indices of the gold steps in the order in which the settings of the episode show them."""
    stated = question.episode_settings.get("shown")
    steps = len(gold_graph(question.reference).steps)
    indices = [at for at in stated if isinstance(at, int)] if isinstance(stated, list) else []
    if sorted(indices) != [*range(steps)]:
        raise ValueError(f"the question {question.id} shows the steps {indices} of {steps}; expected each of them once")
    return indices


def user_request(question: Question, prompt: str, right: Json, wrong: Json) -> Request:
    """Return the request that puts a prompt to the model under test."""
    return Request(messages=opening(replace(question, prompt=prompt)), right=right, wrong=wrong)


def numbered_lines(steps: Iterable[str]) -> str:
    """Return steps as prompts and replies list them: a line each, numbered from 1."""
    return "\n".join(f"{at}. {collapse_spaces(step)}" for at, step in enumerate(steps, 1))


def pairs_text(edges: Iterable[Edge]) -> str:
    """Return dependencies as prompts and replies list them: "1 -> 3, 2 -> 3", or "none"."""
    return ", ".join(f"{before + 1} -> {after + 1}" for before, after in edges) or NONE


def linear_extension_of(graph: StepGraph) -> list[int]:
    """Return an order of the steps that respects their dependencies, freed of cycles; else that of the list."""
    edges = without_cycles(len(graph.steps), graph.dependencies)
    order: dict[int, None] = {}
    while len(order) < len(graph.steps):
        blocked = {after for before, after in edges if before not in order}
        order[next(at for at in range(len(graph.steps)) if at not in order and at not in blocked)] = None
    return list(order)


def _collect_replies(turns: Requests[T], collected: list[Reply]) -> Requests[T]:
    """Pass on the requests of a generator, and keep the replies to them."""
    try:
        requests = next(turns)
        while True:
            replies = yield requests
            collected += replies
            requests = turns.send(replies)
    except StopIteration as stop:
        result: T = stop.value
        return result
