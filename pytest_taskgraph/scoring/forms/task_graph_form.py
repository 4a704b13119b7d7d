"""The answer forms of task graphs: steps, one per line, and which of them must be done before which.

`task-graph` reads any list of steps. `composed-task-graph` reads only what an episode composed of replies about given
steps, a text that states its unread pairs, if only that there are none; any other text is a reply without dependencies.

An answer is `{"steps": [text, ...], "dependencies": [[before, after], ...]}`, with indices of steps from 0. It may hold
`unread`, pairs about which a model gave no parseable answer, and `similarity`, a matrix that a model measured: rows are
its steps, columns those of the reference.

What is wrong with the steps of an answer and the dependencies between them.

Steps are matched as for `graph_f1`: one-to-one, pairs of at least ALIKE. The similarity is that which the answer
carries, if an embedder measured it; else that of words, so that no model is loaded to explain a score.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Final

from ...errors import UnparseableError
from ...trial import Json, Parsing
from ..explanations.value_differences import cut, write_name
from ..name_lists import quote_start, unknown_name
from ..task_graphs.shared_parts import alike_pairs
from ..task_graphs.step_graphs import (
    Edge,
    StepGraph,
    answered_graph,
    gold_graph,
    transitive_closure,
    transitive_reduction,
    unread_pairs,
)
from ..task_graphs.step_matching import similarity_matrix
from .form import Form, collapse_spaces, show_value

MOST_EXPLAINED: Final = 200
"""Largest number of steps of one side, because all pairs are compared."""
_EMBEDDINGS: Final = "embeddings"
MOST_STEPS: Final = 200  # of an answer; a longer list is cut, because the time of matching grows with its cube
LONGEST_STEP: Final = 1_000  # characters; also the limit of gold steps, whose texts are compared
MOST_PAIRS: Final = 20_000
_NUMBERED = re.compile(r"\W{0,8}(?:step[ \t]{1,4})?(\d{1,4})\W{0,3}[.):][*_]{0,3}(?:[ \t]++(.*))?", re.IGNORECASE)
_BULLETED = re.compile(r"\s{0,12}[-*+•–—]\s++(.*)")
_HEADING = re.compile(r"[\W_]{0,8}(?:dependencies|dependency|edges)\b(.*)", re.IGNORECASE)
_ARROW = r"(?:[-=]{1,3}>|→|⟶|⇒|➔|before\b)"
_ENDS = r"\W{0,2}(?:step[ \t]{1,4})?(\d{1,4})\b"
_PAIR = re.compile(
    rf"\b(\d{{1,4}})\b\W{{0,2}}?[ \t]{{0,4}}(?:must be done |comes )?{_ARROW}[ \t]{{0,4}}(?={_ENDS})", re.IGNORECASE
)
_SIMILARITY = re.compile(r"Similarity:[ \t]*(\[.*\])")
_UNREAD = re.compile(r"Unread:[ \t]*(.*)")
_FENCE = re.compile(r"\s*`{3,}\w*\s*")
_CHAT = re.compile(r"\b(?:i|i'm|i'll|you|you've|you're|your|me)\b|\?\s*$", re.IGNORECASE)  # in no step
_ANNOUNCED = re.compile(r"[^\n{\[]{0,200}:[ \t]*\n\s*(?=[\[{])")
_DECORATION = ' \t*_`"“”'


def explain_steps(reference: Json, given: Json) -> list[str]:
    """Name the dependencies that are reversed, missing or extra, and the steps without a counterpart.

    Raises:
        UnmeasuredError: if an embedder was to measure the similarity of the steps, and has not.
        UsageError: if the reference is malformed.
    """
    gold, answer = gold_graph(reference), answered_graph(given)
    if not answer.steps or max(len(gold.steps), len(answer.steps)) > MOST_EXPLAINED:
        return []
    counterparts = _counterparts(reference, given, gold, answer)
    unread = len({*unread_pairs(given)})
    return [
        *_dependency_sentences(gold, answer, counterparts),
        *_step_sentences(gold, answer, counterparts),
        *([f"{unread:,} {'pair has' if unread == 1 else 'pairs have'} no parseable answer"] if unread else []),
    ]


def _counterparts(reference: Json, given: Json, gold: StepGraph, answer: StepGraph) -> dict[int, int]:
    """Return the index of the gold step that each given step stands for, if any."""
    if gold.steps == answer.steps:
        return {at: at for at in range(len(gold.steps))}
    has_embeddings = isinstance(reference, dict) and reference.get("similarity") == _EMBEDDINGS
    stated: Json = {
        "steps": [*gold.steps],
        "dependencies": [],
        "similarity": _EMBEDDINGS if has_embeddings else "lexical",
    }
    return dict(alike_pairs(similarity_matrix(given, stated)))


def _dependency_sentences(gold: StepGraph, answer: StepGraph, counterparts: Mapping[int, int]) -> list[str]:
    """Return sentences about the dependencies between steps that both graphs have, in the words of the gold steps."""
    size = len(gold.steps)
    right = transitive_closure(size, gold.dependencies)
    stated = [
        (counterparts[a], counterparts[b]) for a, b in answer.dependencies if a in counterparts and b in counterparts
    ]
    implied = {
        (counterparts[a], counterparts[b])
        for a, b in transitive_closure(len(answer.steps), answer.dependencies)
        if a in counterparts and b in counterparts
    }
    needed = transitive_reduction(size, gold.dependencies)
    steps_of_both = {*counterparts.values()}
    reversed_pairs = _essential([(b, a) for a, b in stated if (b, a) in right and (a, b) not in right], right)
    missing = [
        pair for pair in needed if steps_of_both.issuperset(pair) and pair not in implied and pair not in reversed_pairs
    ]
    extra = [(a, b) for a, b in stated if (a, b) not in right and (b, a) not in right]
    return [
        *_pair_sentences(gold, reversed_pairs, "has to come before {}, and not after it"),
        *_pair_sentences(gold, missing, "has to come before {}, and the answer does not say so"),
        *_pair_sentences(gold, extra, "need not come before {}"),
    ]


def _essential(pairs: Sequence[Edge], right: Set[Edge]) -> list[Edge]:
    """Return the pairs between whose steps no other pair lies, which implies them."""
    after: dict[int, set[int]] = {}
    before: dict[int, set[int]] = {}
    for a, b in pairs:
        after.setdefault(a, set()).add(b)
        before.setdefault(b, set()).add(a)
    essential = [
        (a, b)
        for a, b in pairs
        if not any((between, b) in right for between in after[a] if between != b)
        and not any((a, between) in right for between in before[b] if between != a)
    ]
    return essential or [*pairs]  # none is, where steps of the gold graph depend on each other in a circle


def _pair_sentences(gold: StepGraph, pairs: Sequence[Edge], text: str) -> list[str]:
    return cut(
        [f"{write_name(gold.steps[a])} {text.format(write_name(gold.steps[b]))}" for a, b in dict.fromkeys(pairs)],
        "pair",
    )


def _step_sentences(gold: StepGraph, answer: StepGraph, counterparts: Mapping[int, int]) -> list[str]:
    steps_of_both = {*counterparts.values()}
    missing = [step for at, step in enumerate(gold.steps) if at not in steps_of_both]
    extra = [step for at, step in enumerate(answer.steps) if at not in counterparts]
    return [
        *cut([f"no step of the answer stands for {write_name(step)}" for step in missing], "step"),
        *cut([f"{write_name(step)} stands for no expected step" for step in extra], "step"),
    ]


def read_steps(text: str) -> list[str]:
    """Return the steps of a reply.

    These are the numbered lines, else the lines with bullets, else all lines that do not end in a colon; or the texts
    of a JSON list, or of `steps` in a JSON object. Dependencies below them are left out.

    Raises:
        UnparseableError: if there is no step.
    """
    return [str(step) for step in read_graph(text)["steps"]]  # type: ignore[union-attr]


def read_dependencies(text: str, numbers: Mapping[int, int]) -> list[tuple[int, int]]:
    """Return the dependencies that a text lists, such as "1 -> 3, 2 -> 3", each once, in their order.

    Args:
        text: The text.
        numbers: From the number of a step in the text to its index; pairs of other numbers are left out.
    """
    pairs: dict[tuple[int, int], None] = {}
    for match in _PAIR.finditer(text):
        before, after = (numbers.get(int(number)) for number in match.groups())
        if before is not None and after is not None and before != after and len(pairs) < MOST_PAIRS:
            pairs[before, after] = None
    return list(pairs)


def read_graph(text: str) -> dict[str, Json]:
    """Return the answer that a text holds: its steps, and the dependencies that are listed below them.

    Raises:
        UnparseableError: if there is no step.
    """
    stated = _parse_json(text)
    if isinstance(stated, dict):
        return _answer_from_json(stated, text)
    steps = _parse_steps([step for step in stated if isinstance(step, str)] if isinstance(stated, list) else None, text)
    numbers = {number: at for at, number in enumerate(steps)}
    dependency_lines = "\n".join(line for line, of_dependencies in _classified_lines(text) if of_dependencies)
    pairs = read_dependencies(dependency_lines, numbers)
    return {"steps": [*steps.values()], "dependencies": [[*pair] for pair in pairs]}


def write_graph(answer: Json) -> str:
    """Return the text of an answer for `read_graph`, with stated unread pairs and a similarity as its last lines."""
    given = answer if isinstance(answer, dict) else {}
    steps, pairs = given.get("steps"), given.get("dependencies")
    lines = [f"{at}. {collapse_spaces(step)}" for at, step in enumerate(steps if isinstance(steps, list) else [], 1)]
    count = len(lines)
    dependencies = [f"{before + 1} -> {after + 1}" for before, after in _valid_pairs(pairs, count)]
    if dependencies:
        lines.append(f"Dependencies: {', '.join(dependencies)}")
    if "unread" in given:
        unread = [f"{before + 1} -> {after + 1}" for before, after in _valid_pairs(given["unread"], count)]
        lines.append(f"Unread: {', '.join(unread) or 'none'}")
    if "similarity" in given:
        lines.append(f"Similarity: {json.dumps(given['similarity'])}")
    return "\n".join(lines)


def _parse_steps(listed_steps: Sequence[str] | None, text: str) -> dict[int, str]:
    """Return the steps by their number in the text, in its order; from 1 where they have none."""
    lines = [line for line, of_dependencies in _classified_lines(text) if not of_dependencies]
    bulleted = [match[1] for line in lines if (match := _BULLETED.fullmatch(line))]
    plain = [line for line in lines if not line.rstrip(_DECORATION).endswith(":") and not _CHAT.search(line)]
    steps_by_number = (
        (_numbered_steps(lines) or dict(enumerate(bulleted or plain, 1)))
        if listed_steps is None
        else dict(enumerate(listed_steps, 1))
    )
    cleaned = {
        number: collapse_spaces(step)[:LONGEST_STEP].strip(_DECORATION) for number, step in steps_by_number.items()
    }
    steps = {number: step for number, step in cleaned.items() if re.search(r"\w", step)}
    if not steps:
        raise UnparseableError(f"expected steps, a line each, found {quote_start(text)}")
    return dict(list(steps.items())[:MOST_STEPS])


def _numbered_steps(lines: Sequence[str]) -> dict[int, str]:
    """Return the numbered lines by number; where numbering starts anew, it goes on instead."""
    steps: dict[int, str] = {}
    for line in lines:
        if (match := _NUMBERED.fullmatch(line)) and (match[2] or "").strip():
            number = int(match[1])
            steps[number if number not in steps else max(steps) + 1] = match[2]
    return steps


def _classified_lines(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the lines that are not empty, with True for those that list dependencies, by their heading or form."""
    below = False
    for line in text.splitlines():
        if not line.strip() or _FENCE.fullmatch(line) or _UNREAD.fullmatch(line):
            continue
        heading = _HEADING.fullmatch(line)
        below = below or heading is not None
        rest, pairs = _PAIR.subn("", line)
        yield line, below or (pairs > 0 and not re.search(r"[^\W\d]", rest.replace("step", "")))


def _answer_from_json(stated: Mapping[str, Json], text: str) -> dict[str, Json]:
    """Return the answer that a JSON object states: its steps and dependencies; other members are ignored."""
    steps = stated.get("steps")
    if not isinstance(steps, list) or not steps or not all(isinstance(step, str) and step.strip() for step in steps):
        raise UnparseableError(f"expected a JSON object with a list of texts under steps, found {quote_start(text)}")
    texts = [collapse_spaces(step)[:LONGEST_STEP] for step in steps[:MOST_STEPS]]
    pairs = dict.fromkeys(_valid_pairs(stated.get("dependencies"), len(texts)))
    return {"steps": [*texts], "dependencies": [[*pair] for pair in list(pairs)[:MOST_PAIRS]]}


def _valid_pairs(candidates: object, steps: int) -> list[tuple[int, int]]:
    """Return the entries of a list that are pairs of different indices of steps."""
    pairs = [tuple(pair) for pair in candidates if isinstance(pair, list)] if isinstance(candidates, list) else []
    return [
        (pair[0], pair[1])
        for pair in pairs
        if len(pair) == 2 and all(type(end) is int and 0 <= end < steps for end in pair) and pair[0] != pair[1]
    ]


def _parse_json(text: str) -> Json:
    """Return the value of a text that is JSON, in a fence or behind a line that announces it; None for any other."""
    bare = _without_fences(text).strip()
    announced = _ANNOUNCED.match(bare)
    try:
        value: Json = json.loads(bare[announced.end() :] if announced else bare)
    except (ValueError, RecursionError):
        return None
    return value


def _without_fences(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not _FENCE.fullmatch(line))


def _read(text: str, names: Sequence[str], parsing: Parsing) -> dict[str, Json]:
    """Return the answer with the content of its last lines; strictly, all other lines are numbered."""
    lines = text.rstrip().splitlines()
    similarity = _SIMILARITY.fullmatch(lines[-1]) if lines else None
    lines = lines[:-1] if similarity else lines
    unread = _UNREAD.fullmatch(lines[-1]) if lines else None
    stated = "\n".join(lines[:-1] if unread else lines) if similarity or unread else text
    answer = read_graph(stated)
    if parsing == "strict":
        other_lines = [
            line
            for line, of_dependencies in _classified_lines(stated)
            if not of_dependencies and not _NUMBERED.fullmatch(line)
        ]
        if other_lines:
            raise UnparseableError(f"expected numbered lines alone, found {quote_start(other_lines[0])}")
    if unread:
        steps = answer["steps"]
        numbers = {at + 1: at for at in range(len(steps) if isinstance(steps, list) else 0)}
        answer["unread"] = [[*pair] for pair in read_dependencies(unread[1], numbers)]
    if similarity:
        try:
            answer["similarity"] = json.loads(similarity[1])
        except (ValueError, RecursionError):
            raise UnparseableError(
                f"expected a matrix behind Similarity:, found {quote_start(similarity[0])}"
            ) from None
    return answer


def _read_composed(text: str, names: Sequence[str], parsing: Parsing) -> Json:
    """Return the answer that an episode composed; any other text is unparseable, also one that lists steps."""
    answer = _read(text, names, parsing)
    unread = answer.pop("unread", None)
    if unread is None:
        raise UnparseableError(
            f"expected the order of steps or the dependencies between them, found {quote_start(text)}"
        )
    return answer | {"unread": unread} if unread else answer


def _write(answer: Json, names: Sequence[str]) -> str:
    return write_graph(answer)


def _write_composed(answer: Json, names: Sequence[str]) -> str:
    return write_graph({"unread": [], **answer} if isinstance(answer, dict) else answer)


def _ask(names: Sequence[str]) -> str:
    return (
        "The answer has one line a step, numbered from 1. "
        'Below them stand "Dependencies:" and pairs of numbers, such as 1 -> 3.'
    )


def _other_step(reference: Json, names: Sequence[str]) -> Json:
    """Return a single step that shares no word with the reference."""
    return {"steps": [unknown_name([show_value(reference)])], "dependencies": []}


def _show(answer: Json) -> str:
    """Return the steps with their numbers, and the dependencies, in one line."""
    match answer:
        case {"steps": list(steps), **rest}:
            numbered = "; ".join(f"{at} {collapse_spaces(step)}" for at, step in enumerate(steps, 1))
            pairs = _valid_pairs(rest.get("dependencies"), len(steps))
            dependencies = ", ".join(f"{before + 1} → {after + 1}" for before, after in pairs)
            return f"{numbered} ({dependencies})" if dependencies else numbered
    return show_value(answer)


def _takes_lines(names: Sequence[str]) -> bool:
    return True


TASK_GRAPH = Form(
    "task-graph", _ask, _read, _write, "hungarian_f1", pass_threshold=0.0, wrong=_other_step, show=_show,
    takes_lines=_takes_lines, self_delimiting=True, open=True, explain=explain_steps,
)  # fmt: skip
COMPOSED_TASK_GRAPH = replace(TASK_GRAPH, name="composed-task-graph", read=_read_composed, write=_write_composed)
