"""How the steps of a task are asked for: in one sequence (ICL), or in several that are put together (MultSeq).

Merge several sequences of steps without near-duplicates (MultSeq).

Yuan et al. (2024) describe their deduplication in an appendix. This rule is not taken from it, but our own:

1. A step is compared by its content words: in lower case, without punctuation, articles, determiners, possessives and
   frequent prepositions and conjunctions (`FUNCTION_WORDS`), and without a final plural -s. Repeated words count.
2. Two steps are near-duplicates if the F1 of these words is at least `NEAR_DUPLICATE`, or if they have the same words.
3. The sequences are taken in their order, step by step. A step that is a near-duplicate of a kept one is dropped.
4. Any other step is kept. It stands directly behind the latest kept step among those before it in its sequence, or
   their near-duplicates; at the front if it has none. So the steps of the first sequence stay in their order, and every
   step comes after those that its own sequence has before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from ....asking import Transcript, Turns, one_turn
from ....benchmarks.episodes import opening
from ....errors import ProviderError, UsageError
from ....scoring.forms.task_graph_form import MOST_STEPS, TASK_GRAPH, write_graph
from ....scoring.grade import read_answer
from ....scoring.task_graphs.step_matching import words
from ....trial import Json, Question, Reply, Request
from ..embedded_similarity import measure_similarity

NEAR_DUPLICATE: Final = 0.8
"""The F1 of content words from which on two steps count as one: `chop onions` and `chop the onions finely` have 0.8."""
FUNCTION_WORDS: Final = frozenset(
    {
        *("a", "an", "the", "this", "that", "these", "those", "some", "any"),
        *("your", "my", "our", "their", "his", "her", "its"),
        *("of", "and", "or", "to", "in", "into", "on", "onto", "at", "for", "with", "by", "from"),
    }
)
Words = frozenset[tuple[str, int]]
TEMPERATURE: Final = 0.5
"""Of requests for one of several sequences (Yuan et al. 2024)."""


def merge_sequences(sequences: Iterable[Sequence[str]]) -> list[str]:
    """Return the steps of all sequences without near-duplicates, by the rule of this module; at most MOST_STEPS.

    Args:
        sequences: The steps of each sequence; those of earlier ones are kept first. Steps without text are left out.
    """
    merged: list[str] = []
    words_of_merged: list[Words] = []  # of the kept steps
    for sequence in sequences:
        place = 0  # behind the latest kept step among those that the sequence has had so far
        for step in sequence:
            own = content_words(step)
            if not own:
                continue
            same = next((at for at, other in enumerate(words_of_merged) if near_duplicates(own, other)), None)
            if same is not None:
                place = max(place, same + 1)
            elif len(merged) < MOST_STEPS:
                merged.insert(place, step)
                words_of_merged.insert(place, own)
                place += 1
    return merged


def near_duplicates(first: Words, second: Words) -> bool:
    """Return True if the F1 of the words of two steps, neither empty, is at least NEAR_DUPLICATE."""
    return 2 * len(first & second) >= NEAR_DUPLICATE * (len(first) + len(second))


@lru_cache(maxsize=8192)
def content_words(step: str) -> Words:
    """Return the content words of a step, each with how often it came before; all its words if none is a content word.

    Words are the runs of letters, marks and digits of any script; of a text without any, what stands between blanks.
    """
    all_words = words(step)
    content = [_singular(word) for word in all_words if word not in FUNCTION_WORDS] or all_words
    seen: Counter[str] = Counter()
    words_with_counts = []
    for word in content:
        words_with_counts.append((word, seen[word]))
        seen[word] += 1
    return frozenset(words_with_counts)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


@one_turn
def icl(question: Question) -> Turns:
    """Ask for one sequence; the answer is its steps."""
    (reply,) = yield [Request(messages=opening(question))]
    steps = read_sequence(question, reply)
    if steps is None:
        return Transcript(unparseable_reply([reply]))
    return Transcript((yield from compose_answer(question, reply, steps)))


@one_turn
def multseq(question: Question) -> Turns:
    """Ask for `sequences` sequences side by side; the answer is what `merge_sequences` puts together of them.

    The note of an exchange says whether a sequence could be read (`kept`), and how many steps it has.
    """
    replies = yield sample_requests(question, whole_setting(question, "sequences"))
    sequences = [read_sequence(question, reply) for reply in replies]
    notes = [{"kept": steps is not None, "steps": len(steps or ())} for steps in sequences]
    readable = [steps for steps in sequences if steps is not None]
    if not readable:
        return Transcript(unparseable_reply(replies), notes=notes)
    reply = yield from compose_answer(question, replies[0], merge_sequences(readable))
    return Transcript(reply, notes=notes)


def step_sequences(question: Question) -> Generator[list[Request], list[Reply], list[list[str]] | Reply]:
    """Ask for as many sequences as `question.episode_settings["sequences"]` says, and return the steps of each.

    One is asked for as ICL does, several as MultSeq does. Sequences that cannot be read are left out.

    Returns:
        The steps of each sequence; the first reply as it came if no sequence can be read.
    """
    number = whole_setting(question, "sequences")
    replies = yield [Request(messages=opening(question))] if number == 1 else sample_requests(question, number)
    sequences = [steps for reply in replies if (steps := read_sequence(question, reply)) is not None]
    return sequences or unparseable_reply(replies)


def sample_requests(question: Question, number: int) -> list[Request]:
    """Return the requests for so many sequences, which differ in their repetition alone, from 1."""
    messages = opening(question)
    return [
        Request(messages=messages, settings={"temperature": TEMPERATURE}, repetition=repetition)
        for repetition in range(1, number + 1)
    ]


def read_sequence(question: Question, reply: Reply) -> list[str] | None:
    """Return the steps that a reply lists; None if it lists none, declines, or a filter or the token limit cut it."""
    if reply.cut_off:  # half a list is scored as if it were the whole one
        return None
    given = read_answer(replace(question, form=TASK_GRAPH.name), reply)
    steps = given.get("steps") if isinstance(given, dict) else None
    return [str(step) for step in steps] if isinstance(steps, list) and steps else None


def unparseable_reply(replies: Sequence[Reply]) -> Reply:
    """Return what is scored where no reply can be parsed: the first one as the model wrote it.

    Raises:
        ProviderError: if a reply was cut off at the token limit.
    """
    if any(reply.cut_off for reply in replies):
        raise ProviderError("truncated", "the reply was cut off at the token limit before its end; allow more tokens")
    return replies[0]


def compose_answer(
    question: Question,
    reply: Reply,
    steps: Sequence[str],
    dependencies: Sequence[tuple[int, int]] = (),
    unread: Sequence[tuple[int, int]] | None = None,
) -> Generator[list[Request], list[Reply], Reply]:
    """Return the reply that is scored, with the similarity of its steps to gold if an embedder measures it.

    Args:
        question: The question.
        reply: One of the replies, whose source it keeps.
        steps: The steps of the answer.
        dependencies: Pairs of indices of steps.
        unread: See `compose_reply`.
    """
    similarity = yield from measure_similarity(question, steps)
    return compose_reply(reply, steps, dependencies, similarity, unread)


def compose_reply(
    reply: Reply | None,
    steps: Sequence[str],
    dependencies: Sequence[tuple[int, int]] = (),
    similarity: list[Json] | None = None,
    unread: Sequence[tuple[int, int]] | None = None,
) -> Reply:
    """Return the reply that is scored: the text of an answer that an episode put together of what a model wrote.

    Args:
        reply: One of the replies, whose source it keeps; None where nothing was asked.
        steps: The steps.
        dependencies: Pairs of indices of steps.
        similarity: The similarity of steps and gold steps, if it was measured.
        unread: Pairs that were asked about without a reply that can be read; None if no replies are about dependencies.
    """
    answer: dict[str, Json] = {"steps": [*steps], "dependencies": [[*pair] for pair in dependencies]}
    if unread is not None:
        answer["unread"] = [[*pair] for pair in unread]
    text = write_graph(answer if similarity is None else answer | {"similarity": similarity})
    return Reply(text, source="" if reply is None else reply.source)


def whole_setting(question: Question, name: str) -> int:
    """Return a whole number of the episode's settings.

    Raises:
        UsageError: if there is no such number above 0.
    """
    value = question.episode_settings.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UsageError(f"question {question.id}: episode_settings[{name!r}] is {value!r}; expected a number above 0")
    return value
