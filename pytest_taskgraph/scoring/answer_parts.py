"""The parts of an answer: each name of the reference or the answer as right, missing, extra or misplaced.

Reports mark them in a drawing. Answers are foreign: of a long one the first MOST_ITEMS names count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from ..errors import UsageError
from ..trial import Json, Question, Score
from .condition_meaning import condition_text
from .forms import CONDITION, find_form
from .forms.letter_form import LETTER
from .grade import LISTS, NAMING, ORDERS, REASONS, SCHEDULES
from .metrics.agreement import match_groups
from .partial_order import PartialOrder, partial_order
from .schedules import schedule, starts_by_task

Verdict = Literal["right", "missing", "extra", "misplaced", "broken"]
MOST_ITEMS: Final = 1_000
MOST_ORDERED: Final = 400  # tasks of an order whose pairs are compared
LONGEST_TAG: Final = 12


@dataclass(frozen=True, slots=True)
class NamedPart:
    """A name of the reference or of the answer.

    Attributes:
        name: The name; an option is named by its letter.
        verdict: `missing` if only the reference has it, `extra` if only the answer has it, `misplaced` if the answer
            has it at a wrong place of an order, `broken` if its start breaks a constraint of a schedule, else `right`.
        tag: Its places in the order of the answer, from 1; its starts in a schedule; or the number of its group, where
            there are several.
        spellings: Further names for the same, such as the text of an option.
    """

    name: str
    verdict: Verdict
    tag: str = ""
    spellings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerParts:
    """What an answer names, beside what the reference names."""

    names: Sequence[NamedPart] = ()
    conditions: Sequence[NamedPart] = ()
    reversed_pairs: Sequence[tuple[str, str]] = field(default=())
    """Names that the answer orders the other way: the second stands before the first."""
    tags: str = ""  # what the tags are: empty if there are none
    complete: bool = False  # True if answers of the form are made of names, so that each name means a thing


NO_PARTS: Final = AnswerParts()


def answer_parts(question: Question, score: Score | None) -> AnswerParts:
    """Return the parts of the answer to a question; none without a score, or for an answer in free words.

    Where no answer could be parsed, all of the reference is missing. A damaged reference or answer has no parts.
    """
    if score is None:
        return NO_PARTS
    given, perfect = (score.given, score.value >= 1) if score.status == "read" else (None, False)
    try:
        return _parts_of(question, given, perfect)
    except (AttributeError, LookupError, TypeError, ValueError, UsageError):  # of a damaged record
        return NO_PARTS


def _parts_of(question: Question, given: Json, perfect: bool) -> AnswerParts:
    name, reference = question.form, question.reference
    if name == CONDITION.name:
        return AnswerParts(conditions=_condition_parts(reference, given, perfect), complete=True)
    if name == LETTER.name:
        return AnswerParts([_option(part, question.spellings) for part in _set_parts([reference], _single(given, []))])
    if name in REASONS:
        return AnswerParts(_set_parts(_tasks(reference), _tasks(given)), complete=True)
    if name in ORDERS:
        return _order_parts(reference, _strings(given), perfect)
    if name in SCHEDULES:
        return _schedule_parts(reference, given)
    if name == "groups":
        parts = _group_parts(_groups(reference), _groups(given))
        return AnswerParts(parts, tags="number of the group" if any(part.tag for part in parts) else "", complete=True)
    if name in LISTS:
        return AnswerParts(_set_parts(_strings(reference), _strings(given)), complete=True)
    form = find_form(name)
    if name not in NAMING and form is not None and (form.open or form.classes):
        return NO_PARTS
    return AnswerParts(
        _set_parts(_single(reference, question.names), _single(given, question.names)), complete=name in NAMING
    )


def _strings(answer: Json) -> list[str]:
    items = answer if isinstance(answer, list) else []
    return [item for item in items[:MOST_ITEMS] if isinstance(item, str)]


def _tasks(answer: Json) -> list[str]:
    return _strings(answer.get("tasks")) if isinstance(answer, dict) else []


def _groups(answer: Json) -> list[list[str]]:
    groups = answer if isinstance(answer, list) else []
    return [_strings(group) for group in groups[: MOST_ITEMS // 10] if isinstance(group, list)]


def _single(answer: Json, names: Sequence[str]) -> list[str]:
    """Return the name that an answer is, the names that it joins by commas, or those that it lists."""
    if not isinstance(answer, str):
        return _strings(answer)
    return [answer] if answer in names or ", " not in answer else answer.split(", ")[:MOST_ITEMS]


def _set_parts(expected: Sequence[Json], given: Sequence[str], tag: str = "") -> list[NamedPart]:
    ours, theirs = dict.fromkeys(name for name in expected if isinstance(name, str)), dict.fromkeys(given)
    return [
        *(NamedPart(name, "right" if name in theirs else "missing", tag) for name in ours),
        *(NamedPart(name, "extra", tag) for name in theirs if name not in ours),
    ]


def _option(part: NamedPart, spellings: Mapping[str, str]) -> NamedPart:
    texts = tuple(text for text, letter in spellings.items() if letter == part.name)
    return NamedPart(part.name, part.verdict, spellings=texts)


def _condition_parts(reference: Json, given: Json, perfect: bool) -> list[NamedPart]:
    expected = condition_text(reference)
    if perfect or not isinstance(given, str):
        return [NamedPart(expected, "right" if perfect else "missing")]
    return [NamedPart(expected, "missing"), NamedPart(given, "extra")]


def _group_parts(expected: list[list[str]], given: list[list[str]]) -> list[NamedPart]:
    """Return the names of all groups, each given group beside the expected one that it is matched with for the score.

    The tag is the number of the group: pairs and expected groups in the order of the reference, then given ones.
    """
    # The direction is that of score and sentences: among equally good matchings it decides.
    partners = {at: own for own, at in match_groups([*map(frozenset, given)], [*map(frozenset, expected)]).items()}
    pairs = [(group, given[partners[at]] if at in partners else []) for at, group in enumerate(expected)]
    taken = set(partners.values())
    pairs += [([], group) for at, group in enumerate(given) if at not in taken]
    numbers = [str(at) if len(pairs) > 1 else "" for at in range(1, len(pairs) + 1)]
    return [part for (ours, theirs), tag in zip(pairs, numbers, strict=True) for part in _set_parts(ours, theirs, tag)]


def _order_parts(reference: Json, given: list[str], perfect: bool) -> AnswerParts:
    """Return the parts of an order: a task is misplaced if the order is allowed without it and other such tasks."""
    order = partial_order(reference)
    places: dict[str, list[int]] = {}
    for place, name in enumerate(given, 1):
        places.setdefault(name, []).append(place)
    nodes = _nodes_by_label(order)
    placed = {
        node: place for label, own in nodes.items() for node, place in zip(own, places.get(label, []), strict=False)
    }
    pairs = [] if perfect else list(_reversed_pairs(order, placed))
    misplaced = _cover(pairs)
    parts: list[NamedPart] = []
    for label, own in nodes.items():
        right = [placed[node] for node in own if node in placed and node not in misplaced]
        wrong = [placed[node] for node in own if node in misplaced]
        parts += _placed_parts(label, right, wrong, places.pop(label, [])[len(own) :])
        lacking = sum(node not in placed for node in own)
        parts += [NamedPart(label, "missing", f"{lacking}×" if len(own) > 1 else "")] * bool(lacking)
    parts += [NamedPart(name, "extra", _tag(of)) for name, of in places.items()]
    reversed_pairs = dict.fromkeys((order.labels[first], order.labels[second]) for first, second in pairs)
    return AnswerParts(parts, (), list(reversed_pairs), "place in the given order" if given else "", complete=True)


def _schedule_parts(reference: Json, given: Json) -> AnswerParts:
    expected, stated = schedule(reference), starts_by_task(given)
    broken = {fault.tasks[0] for fault in expected.faults(given) if fault.times}
    parts = [
        NamedPart(task, "missing" if task not in stated else "broken" if task in broken else "right",
                  _tag(stated.get(task, ())))
        for task in expected.tasks
    ]  # fmt: skip
    parts += [NamedPart(name, "extra", _tag(starts)) for name, starts in stated.items() if name not in expected.tasks]
    return AnswerParts(parts, tags=f"start in {expected.unit}" if stated else "", complete=True)


def _nodes_by_label(order: PartialOrder) -> dict[str, list[int]]:
    """Return the nodes of each label in their order: those of a loop follow each other."""
    nodes: dict[str, list[int]] = {}
    for node, label in enumerate(order.labels):
        nodes.setdefault(label, []).append(node)
    return {label: sorted(own, key=lambda node: order.ancestors[node].bit_count()) for label, own in nodes.items()}


def _placed_parts(name: str, right: list[int], wrong: list[int], surplus: list[int]) -> Iterator[NamedPart]:
    verdicts: tuple[tuple[Verdict, list[int]], ...] = (("right", right), ("misplaced", wrong), ("extra", surplus))
    for verdict, places in verdicts:
        if places:
            yield NamedPart(name, verdict, _tag(places))


def _tag(places: Sequence[int]) -> str:
    text = ", ".join(map(str, places))
    return text if len(text) <= LONGEST_TAG else f"{text[: LONGEST_TAG - 1]}…"


def _reversed_pairs(order: PartialOrder, placed: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of nodes of which the answer has the second before the first."""
    nodes = sorted(placed, key=lambda node: placed[node])[:MOST_ORDERED]
    for at, early in enumerate(nodes):
        for late in nodes[at + 1 :]:
            if order.descendants[late] >> early & 1:
                yield late, early


def _cover(pairs: Sequence[tuple[int, int]]) -> set[int]:
    """Return nodes of which each pair has one: those in most pairs first, of equal ones the first to be paired."""
    partners: dict[int, set[int]] = {}
    for first, second in pairs:
        partners.setdefault(first, set()).add(second)
        partners.setdefault(second, set()).add(first)
    cover: set[int] = set()
    while partners:
        worst = max(partners, key=lambda node: len(partners[node]))
        for partner in partners.pop(worst):
            partners[partner].remove(worst)
        cover.add(worst)
        partners = {node: others for node, others in partners.items() if others}
    return cover
