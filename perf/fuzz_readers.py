"""Hostile texts for the readers: guards, and the replies of models in every answer form.

    python perf/fuzz_readers.py [--minutes 10] [--seed 1] [--only guard:17]

In each round, a generator makes a text from seed, kind and number of the round, so that `--only` repeats it.
Requirements: no reader raises an undocumented exception or takes more than LONGEST seconds of CPU; `read_guard` and
`parse_guard` accept exactly what an independent recogniser does, which was written from the text of the grammar alone;
an accepted guard is read back unchanged once written; and all scores are 0 to 1. Exit code 1, with the first texts of
each kind of failure, if one is violated.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeVar

from pytest_taskgraph.errors import OrderTooWideError, ProviderError, ReadError, UnparseableError
from pytest_taskgraph.scoring.extraction import list_names
from pytest_taskgraph.scoring.forms import FORMS
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.scoring.statements import find_statement
from pytest_taskgraph.trial import Json, Parsing, Place, Question, Reply
from pytest_taskgraph.workflow.guards.solver import write_guard
from pytest_taskgraph.workflow.guards.syntax import MAX_LENGTH, parse_guard, read_guard

LONGEST = 1.0  # seconds of CPU a call
MOST = 20_000  # characters of a text
MOST_SHOWN = 5  # texts of each kind of failure
SAME_LETTER = {"ſ": "s", "ı": "i", "İ": "i"}  # equal except for case, by Unicode, which `lower` does not cover

Failures = dict[str, list[str]]
T = TypeVar("T")


# --- A naive recogniser of guards: one function per rule, each from a position to the position after the rule. ---


class NotAGuardError(Exception):
    """The text is no guard."""


def is_guard(text: str) -> bool:
    """Return True if the text is in the language of guards."""
    if len(text) > MAX_LENGTH:
        return False
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)  # for the recogniser only: the readers must work with the usual limit
    try:
        at = blanks(text, 0)
        end = word(text, at, "otherwise")
        end = either(text, at) if end is None else blanks(text, end)
    except NotAGuardError:
        return False
    finally:
        sys.setrecursionlimit(limit)
    return end == len(text)


def blanks(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def is_letter(text: str, at: int) -> bool:
    return at < len(text) and (text[at].isalnum() or text[at] == "_")


def word(text: str, at: int, wanted: str) -> int | None:
    """Return the position after a keyword, in any case, that no letter follows; None if it is not there."""
    end = at + len(wanted)
    letters = "".join(SAME_LETTER.get(letter, letter.lower()) for letter in text[at:end])
    return end if letters == wanted and not is_letter(text, end) else None


def either(text: str, at: int) -> int:
    return joined(text, at, "or", lambda text, at: joined(text, at, "and", term))


def joined(text: str, at: int, keyword: str, part: Callable[[str, int], int]) -> int:
    at = blanks(text, part(text, at))
    while (after := word(text, at, keyword)) is not None:
        at = blanks(text, part(text, blanks(text, after)))
    return at


def term(text: str, at: int) -> int:
    after = word(text, at, "not")
    if after is not None:
        return term(text, blanks(text, after))
    if text.startswith("(", at):
        end = blanks(text, either(text, blanks(text, at + 1)))
        if not text.startswith(")", end):
            raise NotAGuardError
        return end + 1
    return comparison(text, at)


def comparison(text: str, at: int) -> int:
    if text.startswith("`", at):
        return stated(text, at)
    begins_with_name = is_letter(text, at) and not text[at].isdecimal()
    at, sign = operator(text, blanks(text, name(text, at) if begins_with_name else number(text, at)))
    if begins_with_name:
        return number(text, at) if sign == "order" or is_number(text, at) else constant(text, at)
    end = name(text, at)
    try:
        last, second = operator(text, blanks(text, end))
    except NotAGuardError:
        return end
    if sign != "order" or second != "order":
        raise NotAGuardError
    return number(text, last)


def stated(text: str, at: int) -> int:
    end = text.find("`", at + 1) + 1
    if end <= at + 2:
        raise NotAGuardError
    try:
        after, sign = operator(text, blanks(text, end))
    except NotAGuardError:
        return end
    if sign != "equal":
        raise NotAGuardError
    return number(text, after) if is_number(text, after) else constant(text, after)


def operator(text: str, at: int) -> tuple[int, str]:
    for sign in ("==", "!=", "<=", ">=", "=", "≠", "<", ">", "≤", "≥"):
        if text.startswith(sign, at):
            return blanks(text, at + len(sign)), "equal" if sign in ("==", "!=", "=", "≠") else "order"
    raise NotAGuardError


def name(text: str, at: int) -> int:
    if not is_letter(text, at) or text[at].isdecimal() or any(word(text, at, taken) for taken in ("not", "otherwise")):
        raise NotAGuardError
    return dotted(text, at)


def dotted(text: str, at: int) -> int:
    while is_letter(text, at):
        at += 1
    goes_on = text.startswith(".", at) and is_letter(text, at + 1) and not text[at + 1].isdecimal()
    return dotted(text, at + 1) if goes_on else at


def is_number(text: str, at: int) -> bool:
    return at < len(text) and (text[at].isdecimal() or text[at] == "-")


def number(text: str, at: int) -> int:
    at = digits(text, at + text.startswith("-", at))
    if text.startswith(".", at) and at + 1 < len(text) and text[at + 1].isdecimal():
        at = digits(text, at + 1)
    if is_letter(text, at) or text[at : at + 1] in (".", "%"):
        raise NotAGuardError
    return at


def digits(text: str, at: int) -> int:
    end = at
    while end < len(text) and text[end].isdecimal():
        end += 1
    if not 1 <= end - at <= 100:
        raise NotAGuardError
    return end


def constant(text: str, at: int) -> int:
    mark = text[at : at + 1]
    if mark not in ('"', "'"):
        return name(text, at)
    end = text.find(mark, at + 1)
    if end < 0:
        raise NotAGuardError
    return end + 1


# --- Texts ---

ODD = (
    "\ud800", "\u202e", "\u200b", "\x00", "\x1b[31m", "\x85", "\xa0", "\u2028", "ſ", "İ", "ß", "²", "٣", "é", "e\u0301",
    "👍🏽", "\ufeff", "\r\n", "\r", "\t", "\n\n", "\\", "%", "{{", "]]>", "\uff0c", "…",
)  # fmt: skip
GUARD_PIECES = (
    "n", "mode", "a.b", "_x", "or", "and", "not", "otherwise", "OR", "And", "nOt", "Otherwise", "orb", "notn", "é",
    "n2", "1", "-3", "0.5", "007", "1.", ".5", "--1", "9" * 101, "1e3", "5%", '"fast"', "'slow go'", '"', "'", "''",
    "=", "==", "!=", "<", "<=", ">", ">=", "≤", "≥", "≠", "(", ")", "((", "))", "=<", "<>", ".", ",", " ", "  ", "\n",
    "\t",
)  # fmt: skip
REPLY_PIECES = (
    "Final answer:", "final answer :", "**Final Answer**: ", "FINAL ANSWER", "answer:", "yes", "no", "Yes.", "_no_",
    "none", "empty", "[]", "n/a", "Mix", "Bake", "Cool down", "a,b", "Mix.Bake", "- ", "* ", "1. ", "(2) ", "```\n",
    "~~~", "`", "**", "_", "[", "]", "{", '"', "'", ",", ";", "|", ", ", ":", ": ", "\n", "\n\n", "->", "-->", "→",
    "=>", "7", "-7", "1,000", "3.5", "9" * 30, "n > 1", "and", "or", "not", "(", ")", "otherwise", "if ", "Condition: ",
    "&&", "because it runs first", "I'm sorry, but I can't help with that", "As an AI language model, I cannot", " ",
    "    ",
)  # fmt: skip
NAMES: tuple[list[str], ...] = (
    ["Mix", "Bake", "Serve"],
    ["Mix", "Bake", "none", "no", "yes"],
    ["a,b", "Cool down", "- Mix", "1. Bake", "Mix.Bake", "**", "`"],
    [f"Task{at}" for at in range(60)],
    ["a" * at for at in range(1, 60)],
    ["a;b", "c|d", "e,f"],
    [],
)


def soup(rng: Random, pieces: Sequence[str]) -> str:
    between = rng.choice(("", " ", " "))
    size = rng.choice((3, 8, 20, 60))
    chosen = [rng.choice(ODD) if rng.random() < 0.03 else rng.choice(pieces) for _ in range(rng.randint(0, size))]
    return between.join(chosen)


def random_guard(rng: Random, depth: int) -> str:
    """Return a text that is in the language of guards most of the time."""
    if depth == 0 or rng.random() < 0.3:
        names = ("n", "mode", "a.b", "or", "not", "otherwise", "nothing", "_1", "é", "and")
        signs = ("<", "<=", ">", ">=", "=", "==", "!=", "≤", "≥", "≠")
        numbers = ("1", "-3", "0.50", "9" * 100, "0.1" + "0" * 90, "٣")
        words = ('"fast"', "'a  b'", "slow", "not", "or", '"or"', "''", '"\n"', "'\"'")
        blank = rng.choice(("", " ", "\n\t"))
        shape = rng.choice(("nsv", "nsv", "nsw", "vsn", "vsnsv"))
        pools = {"n": names, "s": signs, "v": numbers, "w": words}
        return blank.join(rng.choice(pools[kind]) for kind in shape)
    parts = [random_guard(rng, depth - 1) for _ in range(rng.randint(1, 3))]
    text = rng.choice((" and ", " or ", ")or(", ") AND (")).join(parts)
    return rng.choice(("{}", "({})", "not {}", "not({})", "(({}))")).format(text)


def mutate(rng: Random, text: str) -> str:
    for _ in range(rng.choice((0, 0, 1, 2, 5))):
        at = rng.randint(0, len(text))
        text = text[:at] + rng.choice(("", *ODD, *GUARD_PIECES)) + text[at + rng.randint(0, 2) :]
    return text


def guard_text(rng: Random) -> str:
    draw = rng.random()
    if draw < 0.3:
        return soup(rng, GUARD_PIECES)
    if draw < 0.95:
        return mutate(rng, random_guard(rng, rng.randint(0, 4)))
    opened = repeat(
        rng, rng.choice(("(", "not ", "n=1 and ", "(n=1)or ", '"', "1", "n<", "a.", " ", "not(", "(n=1 or "))
    )
    return opened + "n=1" + ")" * (opened.count("(") - opened.count(")"))


def reply_text(rng: Random) -> str:
    draw = rng.random()
    if draw < 0.1:
        return rng.choice(("", "Final answer: ")) + guard_text(rng)
    if draw < 0.7:
        return soup(rng, REPLY_PIECES)[:MOST]
    if draw < 0.9:
        return (soup(rng, REPLY_PIECES) + repeat(rng, soup(rng, REPLY_PIECES)) + soup(rng, REPLY_PIECES))[:MOST]
    return "Final answer: " + repeat(rng, rng.choice((*REPLY_PIECES, *ODD, "a", "aaaa,", "(" * 40)))


def repeat(rng: Random, piece: str) -> str:
    size = rng.choice((20, 100, 300, 480, 900, MOST - 20))
    return piece * (size // max(len(piece), 1))


# --- Requirements ---

ANSWERS: dict[str, tuple[Json, ...]] = {  # form -> right answers
    "yes-no": ("yes", "no"),
    "letter": ("Mix", "A"),
    "task": ("Mix", "a,b", "Task7", "yes"),
    "task-set": (["Bake", "Mix"], [], ["a,b"]),
    "groups": ([["Bake", "Mix"], ["Serve"]], []),
    "task-order": (
        {"tasks": ["Mix", "Bake", "Serve"], "before": [[0, 1]]},
        {"tasks": ["Mix", "Mix", "Bake"], "before": [[0, 1], [1, 2]]},
        {"tasks": [], "before": []},
    ),
    "number": (7, 0),
    "condition": (
        {"condition": "n > 1", "domains": {"n": {"kind": "integer", "low": 0, "high": 9}}},
        {"condition": "mode = fast or n < 3", "domains": {"mode": {"kind": "words", "words": ["fast"]}, "n": None}},
    ),
    "text": ("Mix first, because the dough must rest.", ""),
    "task-reasons": (
        {"tasks": ["Bake", "Mix"], "reasons": {"Mix": "it is first", "Bake": "it is hot"}},
        {"tasks": [], "reasons": {}},
    ),
    "pair-reason": ({"tasks": ["Bake", "Mix"], "reasons": {"": "they are alike"}}, {"tasks": [], "reasons": {}}),
    "yes-no-reason": ({"answer": "yes", "reason": "it rests"}, {"answer": "no", "reason": ""}),
}  # fmt: skip
PLACES: tuple[Place, ...] = ("whole", "marker", "first-line")
PARSINGS: tuple[Parsing, ...] = ("lenient", "strict")
FINISHED = ("stop", "stop", "length", "content_filter")


class RequirementError(Exception):
    """A requirement is violated."""


class Clock:
    """The CPU seconds of the slowest call, by the name of the call; raises RequirementError above LONGEST."""

    def __init__(self) -> None:
        self.slowest: dict[str, float] = {}

    def __call__(self, what: str, call: Callable[[], T]) -> T:
        """Return the value of the call."""
        begun = time.process_time()
        try:
            return call()
        finally:
            took = time.process_time() - begun
            self.slowest[what] = max(took, self.slowest.get(what, 0.0))
            if took > LONGEST:
                raise RequirementError(f"{what} takes more than {LONGEST} seconds")


def make_guard(rng: Random) -> dict[str, Any]:
    return {"text": guard_text(rng)}


def check_guard(clock: Clock, counts: Counter[str], text: str) -> None:
    """Check that a text for a guard is read correctly.

    Raises:
        RequirementError: if it is not.
    """
    parsed = clock("parse_guard", lambda: parse_guard(text))
    try:
        guard = clock("read_guard", lambda: read_guard(text, "guard"))
    except ReadError as error:
        if not (error.line >= 1 and error.column >= 1 and error.expected):
            raise RequirementError("an error without place or expectation") from error
        guard = None
    if guard != parsed:
        raise RequirementError("read_guard and parse_guard differ")
    if (guard is not None) != is_guard(text):
        raise RequirementError(
            "forbidden by the grammar, yet accepted" if guard else "a guard by the grammar, yet prose"
        )
    counts["guards refused" if guard is None else "guards accepted"] += 1
    if guard is not None:
        text_written = write_guard(guard)
        if len(text_written) > MAX_LENGTH:
            counts["guards too long once written"] += 1
        elif parse_guard(text_written) != guard:
            raise RequirementError("not the same guard once written")


def make_reply(rng: Random) -> dict[str, Any]:
    shape = FORMS[rng.choice(sorted(ANSWERS.keys() & FORMS.keys()))]
    question = Question(
        "q", "f", "p", "c", "?", "?", shape.name, rng.choice(ANSWERS[shape.name]), shape.metric, list(shape.further),
        names=list(rng.choice(NAMES)), place=rng.choice(PLACES), parsing=rng.choice(PARSINGS),
    )  # fmt: skip
    return {"question": question, "finished": rng.choice(FINISHED), "text": reply_text(rng)}


def check_reply(clock: Clock, counts: Counter[str], question: Question, finished: str, text: str) -> None:
    """Check that a reply is scored correctly.

    Raises:
        RequirementError: if it is not.
    """
    form = question.form
    try:
        score = clock(f"grade {form}", lambda: grade(question, Reply(text, finish_reason=finished)))
    except (ProviderError, OrderTooWideError) as error:
        counts[f"replies {type(error).__name__}"] += 1
        return
    if not all(0.0 <= value <= 1.0 for value in (score.value, *score.metrics.values()) if value is not None):
        raise RequirementError(f"{form}: a score outside 0 to 1")
    if score.status != "read" and score.value != 0:
        raise RequirementError(f"{form}: a score for an answer that was not read")
    counts[f"replies {score.status}, {form}"] += 1


def make_extract(rng: Random) -> dict[str, Any]:
    return {
        "place": rng.choice(PLACES),
        "parsing": rng.choice(PARSINGS),
        "lines": rng.random() < 0.5,
        "cuts": rng.choice((",\n", ",", ";|", "\t")),
        "names": rng.choice(NAMES),
        "text": reply_text(rng),
    }


def check_extract(
    clock: Clock,
    counts: Counter[str],
    place: Place,
    parsing: Parsing,
    lines: bool,
    cuts: str,
    names: list[str],
    text: str,
) -> None:
    """Check that an answer and its names are extracted correctly.

    Raises:
        RequirementError: if they are not.
    """
    try:
        answer = clock("find_statement", lambda: find_statement(text, place, parsing, lines, names))
        counts["extracts read"] += 1
        if not isinstance(answer, str):
            raise RequirementError("an answer that is no text")
    except UnparseableError:
        counts["extracts unparseable"] += 1
    names_found = clock("names_in", lambda: list_names(text, names, cuts))
    if any(not found_name or found_name not in text for found_name in names_found):
        raise RequirementError("a name that does not stand in the text")


KINDS: dict[str, tuple[Callable[[Random], dict[str, Any]], Callable[..., None]]] = {
    "guard": (make_guard, check_guard),
    "reply": (make_reply, check_reply),
    "extract": (make_extract, check_extract),
}


def play(
    seed: int, kind: str, number: int, clock: Clock, counts: Counter[str], most: int = 300
) -> tuple[str, str] | None:
    """Return the kind of failure and its text, in at most `most` characters; None if all requirements hold."""
    make, hold = KINDS[kind]
    arguments = make(Random(f"{seed}|{kind}|{number}"))
    try:
        hold(clock, counts, **arguments)
    except RequirementError as error:
        failure = str(error)
    except Exception as error:  # an undocumented exception of a reader
        failure = f"{type(error).__name__}: {str(error)[:80]!a}"
    else:
        return None
    description = ", ".join(f"{name}={value!a}" for name, value in vars_of(arguments).items())
    short = description if len(description) <= most else f"{description[: most - 100]} ... {description[-100:]}"
    return f"{kind}: {failure}", short


def vars_of(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a round, with the fields of the question listed."""
    question: Question | None = arguments.get("question")
    if question is None:
        return arguments
    fields = ("form", "place", "parsing", "reference", "names")
    return {
        **{name: getattr(question, name) for name in fields},
        "finished": arguments["finished"],
        "text": arguments["text"],
    }


def fuzz(seed: int, minutes: float, clock: Clock, counts: Counter[str]) -> Failures:
    """Return the failures by kind, the first few of each, after that many minutes."""
    failures: Failures = {}
    number, end, next_report = 0, time.monotonic() + minutes * 60, time.monotonic() + 60
    while time.monotonic() < end:
        number += 1
        for kind in KINDS:
            if (failure := play(seed, kind, number, clock, counts)) is not None:
                counts[f"FAILED {failure[0]}"] += 1
                texts = failures.setdefault(failure[0], [])
                if len(texts) < MOST_SHOWN:
                    texts.append(f"{kind}:{number}  {failure[1]}")
                    print(f"{failure[0]}\n  {texts[-1]}", flush=True)
        if time.monotonic() > next_report:
            next_report += 60
            print(f"{number} rounds, {len(failures)} kinds of failure", flush=True)
    print(f"{number} rounds of {len(KINDS)} texts")
    return failures


def main() -> int:
    """Return the exit code: 1 if a requirement is violated."""
    parser = argparse.ArgumentParser(description="Hostile texts for the readers of guards and replies.")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", metavar="KIND:ROUND", help="one round again, with all of its text")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    for kind in KINDS:  # late imports do not count as a reader's time
        for number in range(-200, 0):
            play(options.seed, kind, number, Clock(), Counter())
    if options.only:
        kind, _, number = options.only.partition(":")
        failure = play(options.seed, kind, int(number), Clock(), counts, 10 * MOST)
        print("holds" if failure is None else "\n".join(failure))
        return int(failure is not None)
    print(f"seed {options.seed}, {options.minutes:g} minutes", flush=True)
    clock = Clock()
    failures = fuzz(options.seed, options.minutes, clock, counts)
    for name, count in sorted(counts.items()):
        print(f"{count:9}  {name}")
    for name, took in sorted(clock.slowest.items()):
        print(f"{took:9.3f}  seconds of CPU, the slowest {name}")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
