"""Verdicts: the "yes" or "no" of a statement, or of a sentence that restates the question.

A verdict has the question as its object. Offers ("Yes, I can help"), conditions ("Yes, if ...") and verdicts about
parts do not count.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .answering_sentences import NEGATION, content_words, names_of, restates, split_sentences

_WORD = re.compile(r"\b_*+(yes|no)_*\b", re.IGNORECASE)
_CHOICE = re.compile(
    r"\byes\W{0,4}(?:/|\bor\b|\|)\W{0,4}(?:a )?no\b|\bno\W{0,4}(?:/|\bor\b|\|)\W{0,4}yes\b", re.IGNORECASE
)
_BOTH = re.compile(r"\b(?:yes\W{1,4}and\W{1,4}no|no\W{1,4}and\W{1,4}yes)\b", re.IGNORECASE)
_SUBJECT = re.compile(
    r"[\s*_`]*+(?:$|[^\w\s*_`]|\n|(?:it|its|they|there|this|that|these|the|because|since|as|for|in|if|and|but|not|we|i|a|an"
    r"|every|all|each|you)\b)",
    re.IGNORECASE,
)
_ALONE_BEFORE = re.compile(r"(?:^|[^\w\s*_`\"'“‘({$]|\n)[\s*_`\"'“‘({$]*$")
_ALONE_AFTER = re.compile(r"[*_`\"'”’)}$]*+\s*+(?:$|[.,:;!\n–—-])")
_NEGATED = re.compile(
    r"\b(?:(?:not|n['’]t|never|people|some|many|others|one)(?: an?| (?:could |would |might )?(?:say|think|said))?"
    r"|usually|mostly|often)[\s*_`\"'“‘]*$",
    re.IGNORECASE,
)  # or said by others
_NEAR = 40  # characters of context before a word


def find_verdict(text: str, reason: bool = False) -> re.Match[str] | None:
    """Return the match of the word that is the verdict, its group 1.

    A "no" before a noun ("no doubt", "no task") is not a verdict, nor is the choice "yes or no". The first verdict
    counts. It is contradicted if the opposite word stands alone between punctuation after it. None without a verdict,
    or if it is contradicted.

    Args:
        text: The answer.
        reason: True if a reason follows, in which the other word may stand.
    """
    if _BOTH.search(text):
        return None
    text = _CHOICE.sub(lambda choice: " " * len(choice[0]), text)
    verdicts = [word for word in _WORD.finditer(text) if word[1].lower() == "yes" or _SUBJECT.match(text, word.end())]
    if not verdicts or _NEGATED.search(text[max(0, verdicts[0].start() - _NEAR) : verdicts[0].start()]):
        return None
    first = verdicts[0]
    others = [word for word in verdicts if not reason and word[1].lower() != first[1].lower()]
    return None if any(_stands_alone(text, word) for word in others) else first


def _stands_alone(text: str, word: re.Match[str]) -> bool:
    before = text[max(0, word.start() - _NEAR) : word.start()]
    return bool(_ALONE_BEFORE.search(before) and _ALONE_AFTER.match(text, word.end()))


_TRUTH = re.compile(r"[\s*_`\"'(]*+(true|false|correct|incorrect)\b[\s*_`\"'.)]*+(?:$|[:,;\n–—-])", re.IGNORECASE)
_OFFERED = re.compile(
    r"[\s*_`\"'.,!:;–—-]*+(?:of course|sure|absolutely)?[\s,!.]*+"
    r"(?:i (?:can|could|will|would|am|think i)\b|i['’](?:d|ll|m)\b|let me\b|let['’]s\b"
    r"|please\b|you can\b|problem\b|gladly\b|happily\b|with pleasure\b|(?:good|great|nice|interesting) question\b"
    r"|(?:these |such )?[a-z]{1,20}s are (?:an?|one|often|usually|common|typical|important|interesting|fun)\b)",
    re.IGNORECASE,
)
_CONDITIONED = re.compile(
    r"[\s*_`\"',;:(–—-]*+(?:but )?(?:only )?(?:if|unless|provided|assuming|depending|when|as long as)\b|[\s*_]*+\?",
    re.IGNORECASE,
)
_LED = re.compile(
    r"(?:\banswer\b[^.!?\n]{0,60}?\b(?:is|be|:)|^|[.!?:,\n])[\s*_`\"'“(:]*+(?:so|thus|therefore|hence)?[\s,]*+$",
    re.IGNORECASE,
)
_REASON_LINE = re.compile(r"\A([\W_]*+(?:yes|no)[\W_]*?)\n\s*+(?:\W{0,4}reason\w*\W{0,4}:)?", re.IGNORECASE)
_CONCLUDED = re.compile(r"\b(?:so|thus|hence|therefore)\b[\s,:]*+(yes|no)(?=[\s*_`]*+[,.;:!])", re.IGNORECASE)
_SUPPOSED = re.compile(
    r"(?:^|[.;:!?\n])\s*(?:with|if|when|for|unless|provided|as long as)\b[^.;:!?\n]*,\s*[*_`\"'“]*$", re.IGNORECASE
)
_ASKED = re.compile(r"(?:^|(?<=[.!?\n]))([^.!?\n]++)\?[\s*_`\"']{0,6}+(yes|no)\b", re.IGNORECASE)
_PART = re.compile(r"[ \t]*+(?:[-*+•·–—✅❌✓✗][ \t]|\(?\d{1,9}[.)][ \t])")
_COVERED = 0.6  # share of the question's words that a sentence has to restate
_STEP_WORDS = frozenset(
    {"candidat", "reason", "sensibl", "plausibl", "logical", "suitabl", "appropriat", "satisfactor", "consider"}
)


def reduce_verdict(statement: str, question: str, names: Sequence[str], reason: bool = False) -> str:
    """Return the statement from its verdict on: "yes" or "no", with what follows; the statement if it states none.

    Args:
        statement: The statement of a reply.
        question: The text of the question.
        names: The known names.
        reason: True if a reason follows, in which the other word may stand.
    """
    statement = _REASON_LINE.sub(r"\1: ", statement)
    if _lists_parts(statement):
        return ""
    if truth := _TRUTH.match(statement):
        word = "yes" if truth[1].lower() in ("true", "correct") else "no"
        return word + statement[truth.end(1) :]
    statement = _ASKED.sub(lambda asked: _without_part(asked, question, names), statement)
    match = find_verdict(statement, reason)
    if match is None:
        return _restated_verdict(statement, question, names)
    concluded = [*_CONCLUDED.finditer(statement)]
    if concluded and len(split_sentences(statement[concluded[-1].end() :])) <= 1:
        return statement[concluded[-1].start(1) :]
    if _SUPPOSED.search(statement[max(0, match.start() - _NEAR * 2) : match.start()]):
        return ""
    if _OFFERED.match(statement, match.end(1)) or _CONDITIONED.match(statement, match.end(1)):
        return ""
    return statement if _is_about_question(statement, match) else ""


def _without_part(asked: re.Match[str], question: str, names: Sequence[str]) -> str:
    """Return a question of the reply and its verdict; without the verdict, if it is about another question."""
    same = names_of(asked[1], names) == names_of(split_sentences(question)[0], names) or not names_of(asked[1], names)
    wanted, said = content_words(question, names), content_words(asked[1], names)
    return asked[0] if same and said <= wanted else asked[0][: asked.start(2) - asked.start()]


def _lists_parts(statement: str) -> bool:
    """Return True if several items of a list have a verdict each."""
    items = [line for line in statement.split("\n") if _PART.match(line)]
    return sum(_WORD.search(item) is not None for item in items) > 1


def _is_about_question(statement: str, match: re.Match[str]) -> bool:
    """Return True if the verdict leads a sentence, is stated as the answer, or stands in the last sentence."""
    before, after = statement[: match.start()], statement[match.end(1) :]
    lead = before[-100:]
    if _LED.search(lead) and not re.search(r",[\s*_`\"'“(]*+(?:so|thus|therefore|hence)?[\s,]*+$", lead):
        return True
    return len(split_sentences(after)) <= 1


def _restated_verdict(statement: str, question: str, names: Sequence[str]) -> str:
    """Return "yes" or "no" for a last sentence that restates the question without these words; else ""."""
    sentences = split_sentences(statement)
    asked = split_sentences(question)
    if not sentences or not asked or NEGATION.search(asked[0].partition(",")[0]) or sentences[-1].endswith("?"):
        return ""
    last = sentences[-1]
    is_step = "next step" in question.lower()
    whole = f"{question} {' '.join(_STEP_WORDS)} candidate reasonable" if is_step else question
    if not restates(last, whole, names):
        return ""
    wanted = content_words(re.split(r",? that is\b", asked[0])[0], names)
    said = content_words(last, names)
    if not is_step and len(said & wanted) < max(2, _COVERED * len(wanted)):
        return ""
    if is_step and "next" not in said:
        return ""
    return "no" if len(NEGATION.findall(last)) % 2 else "yes"
