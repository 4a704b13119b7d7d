"""The episodes of STEPS: Yes or No distinguished by log-probabilities or by text, and two queries by their perplexity.

An episode goes on in another way only where a model cannot score texts, or where a replay holds no reply to the score
request, as the model could not be asked that way then. Any other failure ends the question.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, fsum, inf, isclose, isnan, log
from typing import Final, get_args

from ...asking import Episode, Transcript, Turns, one_turn
from ...benchmarks.episodes import opening
from ...errors import CannotScoreError, NoLogprobsError, ProviderError, UsageError
from ...scoring.metrics.class_shares import TIE
from ...trial import Json, Question, Reply, Request, TextScore
from .steps_options import AnswerKind

WORDS: Final = ("Yes", "No")
"""The words that are scored, unless `episode_settings["words"]` states others."""
_SAME: Final = 1e-9  # relative; summing the same tokens in another order differs by less, up to millions of tokens
_ZERO: Final = 1e-12
_DIGITS: Final = 6  # of perplexities in the record
# What simulated models reply: the log-probability of a token in the text that they choose, and in any other.
_LIKELY: Final = -0.25
_UNLIKELY: Final = -2.0

Logprobs = tuple[float | None, float | None]
"""The log-probability of Yes and that of No; None is less probable than any number."""
_Failure = CannotScoreError | ProviderError


@dataclass(frozen=True, slots=True)
class _Way:
    """A score request that distinguishes Yes and No, and how to read its reply."""

    name: str
    request: Request
    read: Callable[[Reply], Logprobs]


def next_step(question: Question) -> Turns:
    """Ask whether a candidate is the next step, and take the more probable one of Yes and No, or the reply.

    `episode_settings["answer"]` is "logprobs" (first of the words behind the prompt, else of the listed tokens in a
    chat), "text" (the reply is read), or "auto": by log-probabilities if the model gives them for Yes or No, else by
    text. Words that are equally probable make the text "tie", as does a list of tokens without either of them.

    Raises:
        CannotScoreError: if only log-probabilities count, and the model gives none.
        ProviderError: if a request fails for any other reason.
        UsageError: if the settings are malformed.
    """
    answer = _answer_kind(question)
    notes: list[dict[str, Json]] = []
    failures: list[_Failure] = []
    unlisted: Reply | None = None
    for way in () if answer == "text" else (_score_behind_prompt(question), _score_in_chat(question)):
        scored = yield from _try_score(way.request)
        notes.append({})
        if not isinstance(scored, Reply):
            failures.append(scored)
        elif (logprobs := way.read(scored)) == (None, None):
            unlisted = scored
        else:
            notes[-1] = {
                "answered_by": way.name,
                "logprob": {"yes": _json_number(logprobs[0]), "no": _json_number(logprobs[1])},
            }
            return _logprob_answer(_more_probable(*logprobs), scored, notes)
    if answer == "logprobs":
        if unlisted is None:
            raise _unscored_failure(failures)
        return _logprob_answer(TIE, unlisted, notes)
    return (yield from _ask_for_text(question, notes))


@one_turn
def next_step_by_text(question: Question) -> Turns:
    """Ask whether a candidate is the next step, and take the text of the reply."""
    return (yield from _ask_for_text(question, []))


def _ask_for_text(question: Question, notes: Sequence[Mapping[str, Json]]) -> Turns:
    """Ask for a reply whose text is read, after requests with these notes."""
    (reply,) = yield [Request(messages=opening(question))]
    return Transcript(reply, parts={"by_logprobs": [0.0, 1.0]}, notes=[*notes, {"answered_by": "text"}])


@one_turn
def lowest_perplexity(question: Question) -> Turns:
    """Choose the query whose whole text has the lowest perplexity for the model.

    The perplexity is exp(-mean of the log-probabilities of all tokens that have one), as in Wang et al. (2023). Means
    are compared; two that differ by less than a billionth are a tie, and so are two without a value. A reply in which
    no token at all has a log-probability counts as no answer.
    `episode_settings["queries"]` are pairs of a letter and a text.

    Raises:
        CannotScoreError: if the model gives no log-probabilities.
        ProviderError: if the request fails for any other reason.
        UsageError: if the settings are malformed.
    """
    queries = _stated_queries(question)
    texts = [text for _, text in queries]
    right, wrong = _simulated_choice(queries, question.reference)
    context = f"{question.system}\n\n" if question.system else ""
    (reply,) = yield [Request(kind="score", context=context, texts=texts, right=right, wrong=wrong)]
    if not reply.logprobs:
        raise _no_scores(reply)
    scores = _checked_scores(reply, len(queries))
    if not any(score.tokens for score in scores):
        raise _no_scores(reply)
    means = [_mean_logprob(score) for score in scores]
    letters = [letter for letter, _ in queries]
    chosen = _only_highest(letters, means)
    note: dict[str, Json] = {
        "perplexity": dict(zip(letters, (_json_number(score.perplexity) for score in scores), strict=True)),
        "mean_logprob": dict(zip(letters, map(_json_number, means), strict=True)),
    }
    return Transcript(Reply(chosen, source=reply.source), notes=[note])


def _logprob_answer(text: str, reply: Reply, notes: Sequence[Mapping[str, Json]]) -> Transcript:
    """Return what an answer by log-probabilities comes to: WORDS or TIE, as the text of a reply."""
    parts = {"by_logprobs": [1.0, 1.0], "ties": [float(text == TIE), 1.0]}
    return Transcript(Reply(text, source=reply.source), parts=parts, notes=notes)


def _more_probable(yes: float | None, no: float | None) -> str:
    return _only_highest(WORDS, [-inf if value is None else value for value in (yes, no)])


def _only_highest(names: Sequence[str], values: Sequence[float]) -> str:
    """Return the name of the highest of several values; TIE if more than one has it."""
    highest = max(values)
    equal = [name for name, value in zip(names, values, strict=True) if _is_same(value, highest)]
    return equal[0] if len(equal) == 1 else TIE


def _is_same(first: float, second: float) -> bool:
    return isclose(first, second, rel_tol=_SAME, abs_tol=_ZERO)


def _try_score(request: Request) -> Generator[list[Request], list[Reply], Reply | _Failure]:
    """Ask a score request, and return its reply, or why there is none if another way can be gone."""
    try:
        (reply,) = yield [request]
    except CannotScoreError as error:
        return error
    except ProviderError as error:
        if error.kind != "not-stored":
            raise
        return error
    return reply if reply.logprobs else _no_scores(reply)


def _no_scores(reply: Reply) -> NoLogprobsError:
    return NoLogprobsError(f"the model {reply.source} cannot score texts: its reply holds no log-probabilities")


def _unscored_failure(failures: Sequence[_Failure]) -> _Failure:
    """Return the error that says why no way of scoring could be gone: each reason, or what a replay lacks."""
    if lacking := [failure for failure in failures if isinstance(failure, ProviderError)]:
        return lacking[-1]
    error = CannotScoreError("; ".join(dict.fromkeys(failure.message for failure in failures)))
    error.kind = next((failure.kind for failure in failures if failure.kind != error.kind), error.kind)
    return error


def _score_behind_prompt(question: Question) -> _Way:
    """Return the way for models of text: the words behind the prompt, each with its space."""
    texts = [f" {word}" for word in _words(question)]
    context = "\n\n".join(filter(None, (question.system, question.prompt)))
    right, wrong = _simulated_words(question, 1, 1)
    request = Request(kind="score", context=context, texts=texts, right=right, wrong=wrong)
    return _Way("words behind the prompt", request, _logprob_reader(1, 1))


def _score_in_chat(question: Question) -> _Way:
    """Return the way for models of chats: the words among the listed tokens, with a capital letter and without."""
    yes, no = (sorted({word, word.lower(), word.capitalize()}) for word in _words(question))
    right, wrong = _simulated_words(question, len(yes), len(no))
    request = Request(opening(question), kind="score", texts=[*yes, *no], right=right, wrong=wrong)
    return _Way("listed tokens", request, _logprob_reader(len(yes), len(no)))


def _logprob_reader(yes: int, no: int) -> Callable[[Reply], Logprobs]:
    """Return what reads a reply with so many scores of spellings of Yes, then of No."""

    def read(reply: Reply) -> Logprobs:
        scores = [score.logprob if score.tokens else None for score in _checked_scores(reply, yes + no)]
        return _log_of_sum(scores[:yes]), _log_of_sum(scores[yes:])

    return read


def _log_of_sum(logprobs: Sequence[float | None]) -> float | None:
    """Return the log-probability of any of several texts; None if none of them has one."""
    numbers = [value for value in logprobs if value is not None]
    highest = max(numbers, default=None)
    if highest is None or highest == -inf:
        return highest
    return highest + log(fsum(exp(value - highest) for value in numbers))


def _checked_scores(reply: Reply, number: int) -> list[TextScore]:
    """Return the scores of a reply.

    Raises:
        ProviderError: if they are not one for each text, or one of them is no number.
    """
    scores = reply.scores
    if len(scores) != number:
        raise ProviderError("malformed", f"expected log-probabilities of {number} texts, got {len(scores)}")
    if any(score.logprob is not None and isnan(score.logprob) for score in scores):
        raise ProviderError("malformed", "expected log-probabilities, got one that is no number")
    return scores


def _mean_logprob(score: TextScore) -> float:
    """Return the mean log-probability of a token; -inf for no token."""
    return -inf if score.logprob is None or not score.tokens else score.logprob / score.tokens


def _json_number(value: float | None) -> float | None:
    """Return a value as the record holds it: JSON knows no infinite numbers."""
    return None if value is None or abs(value) == inf else round(value, _DIGITS)


def _simulated_words(question: Question, yes: int, no: int) -> tuple[list[Json], list[Json]]:
    """Return what simulated models reply, rightly and wrongly, about so many spellings of Yes and of No."""
    says_yes: list[Json] = [*[_LIKELY] * yes, *[_UNLIKELY] * no]
    says_no: list[Json] = [*[_UNLIKELY] * yes, *[_LIKELY] * no]
    return (says_yes, says_no) if question.reference == "yes" else (says_no, says_yes)


def _simulated_choice(queries: Sequence[tuple[str, str]], reference: Json) -> tuple[list[Json], list[Json]]:
    """Return the log-probabilities that simulated models give the queries: the chosen one has the lower perplexity."""
    right: list[Json] = []
    wrong: list[Json] = []
    for letter, text in queries:
        tokens = len(text.split())
        right.append(tokens * (_LIKELY if letter == reference else _UNLIKELY))
        wrong.append(tokens * (_UNLIKELY if letter == reference else _LIKELY))
    return right, wrong


def _answer_kind(question: Question) -> str:
    kind = question.episode_settings.get("answer", "auto")
    if kind not in get_args(AnswerKind):
        raise UsageError(
            f"question {question.id}: episode_settings['answer'] is {kind!r}; expected one of "
            + ", ".join(get_args(AnswerKind))
        )
    return str(kind)


def _words(question: Question) -> tuple[str, str]:
    words = question.episode_settings.get("words", [*WORDS])
    if not isinstance(words, list) or len(words) != 2 or not all(isinstance(word, str) and word for word in words):
        raise UsageError(f"question {question.id}: episode_settings['words'] is {words!r:.80}; expected two words")
    return str(words[0]), str(words[1])


def _stated_queries(question: Question) -> list[tuple[str, str]]:
    stated = question.episode_settings.get("queries")
    queries = [
        (str(pair[0]), str(pair[1]))
        for pair in (stated if isinstance(stated, list) else [])
        if isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) and part.strip() for part in pair)
    ]
    letters = {letter for letter, _ in queries}
    if not isinstance(stated, list) or len(letters) != len(stated) or len(stated) < 2:
        raise UsageError(
            f"question {question.id}: episode_settings['queries'] is {stated!r:.80}; expected pairs of a letter and a "
            "text, at least two"
        )
    return queries


EPISODES: Final[Mapping[str, Episode]] = {
    "next_step": next_step,
    "next_step_by_text": next_step_by_text,
    "lowest_perplexity": lowest_perplexity,
}
