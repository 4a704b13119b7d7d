"""From a clause to the action that it states: "The clerk checks the order" is "check the order" by "clerk"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from .verb_lexicon import (
    gerund_base,
    is_base,
    is_participle,
    names_things,
    participle_base,
    third_base,
    verb_of,
    word_set,
)

LONGEST_ACTION: Final = 300  # characters
LONGEST_SUBJECT: Final = 9  # words
MOST_ACTORS: Final = 100
_MODALS = word_set("must should shall will would can could may might")
_BE = word_set("is are was were be been being gets get")
_DETERMINERS = word_set(
    "the a an this that these those its their his her your my our each every all any some both no another such "
    "one two three four five six seven eight nine ten several many enough more"
)
_PRONOUNS = word_set("he she they it you we i one who")
_PLURALS = word_set("they we you i children people men women staff police parents both all")
_NOBODY = word_set("you we i one who")
_PREPOSITIONS = word_set(
    "of for in on at to from with by into onto about after before under over as per via through without until against "
    "between within during out up down off back"
)
_PARTICLES = word_set("up out off back down")
_OPENS_NOUN = (_DETERMINERS - word_set("that this all both each")) | (_PREPOSITIONS - _PARTICLES)
_ADVERBS = word_set("also then not again first next finally now either both just please once simply always")
_PHRASAL = re.compile(
    r"(?:(?:has|have|had|needs?|wants?|decides?|proceeds?|continues?|starts?|begins?|(?:is|are) (?:required|asked|able|"
    r"allowed|expected|obliged|supposed|advised|instructed|told)|(?:is|are)) to|(?:is|are) responsible for|"
    r"(?:starts?|begins?) by|makes? sure to|ought to)\s+",
    re.I,
)
_WISH = re.compile(r"(?:want|wish|like|need|have|decide|choose) to\s+\w", re.I)
_AGENT = re.compile(
    r"\bby\s+(?P<agent>(?:(?:the|an?|our|your|their)\s+)?[^\W\d_][\w'’&/-]*(?:\s+[\w'’&/-]+){0,3}?)"
    r"(?=$|,|\s+(?:in|on|at|to|for|from|with|who|which|using|and|within|before|after|via)\b)"
)
_MEANS = word_set("email e-mail mail post phone fax hand car train card cash letter default using means way")
_DETERMINER = re.compile(r"(?:the|an?|this|that|each|every|our|your|their|its|his|her|both|all|any)\s+", re.I)
_EDGES = " ,;:.!?\"“”‘’'`()[]"


@dataclass(slots=True)
class Subject:
    """Who acted last, for verbs and pronouns without a subject of their own.

    Args:
        heading: The actor of the heading above, who does what no sentence says otherwise.
        actor: The last actor that a sentence names, to whom pronouns refer.
        speaker: That actor within a sentence, for verbs without a subject.
        patient: What is acted on: the subject of the last passive clause, such as "the order".
        actors: The actors so far, each once.
    """

    heading: str = ""
    actor: str = ""
    speaker: str = ""
    patient: str = ""
    actors: dict[str, None] = field(default_factory=dict)

    def name(self, actor: str) -> str:
        """Take an actor for the last one, and return the name; names in other letters are the same."""
        by_key = {known_actor.casefold(): known_actor for known_actor in self.actors}
        actor = by_key.get(actor.casefold(), actor)
        if len(self.actors) < MOST_ACTORS:
            self.actors[actor] = None
        self.actor = self.speaker = actor
        return actor


@dataclass(frozen=True, slots=True)
class ActionPhrase:
    """An action, its actor, and whether words of the clause name that actor."""

    text: str
    actor: str = ""
    names_actor: bool = False


def bare_actor(text: str) -> str:
    """Return an actor without an article."""
    text = text.strip(_EDGES)
    match = _DETERMINER.match(text)
    return text[match.end() :].strip() if match else text


def opens_action(text: str, carried: bool = False, passive: bool = False) -> bool:
    """Return True if a text begins with a verb, as the second of two coordinated actions does.

    Args:
        text: The text.
        carried: Whether a subject stands before, so that "checks" may begin it.
        passive: Whether that subject is acted on, so that "packed" may.
    """
    words = _skip_adverbs(text.split()[:12])
    if not words:
        return False
    verb = verb_of(words[0].strip(_EDGES))
    if verb is None:
        return False
    following = words[1].strip(_EDGES).lower() if len(words) > 1 else ""
    if verb[1] == "past" or (passive and is_participle(words[0])):
        return passive
    if verb[1] == "base" or (verb[1] == "third" and carried):
        if not names_things(words[0].strip(_EDGES)):
            return True
        return bool(following) and following not in _BE and following not in {"of", "and", "or"}
    return False


def opens_clause(text: str) -> bool:
    """Return True if a text begins like a main clause: with an action, or a subject and its verb."""
    words = text.split()[: LONGEST_SUBJECT + 3]
    if not words:
        return False
    if opens_action(text) or _unknown_imperative(words):
        return True
    return next(_predicates(words), None) is not None


def read_action(text: str, subject: Subject) -> ActionPhrase | None:
    """Return the action that a clause states; None for a state, such as "the order is large", and for no words.

    Args:
        text: The clause, without cue words and conditions.
        subject: Who acted last; it is brought up to date.
    """
    words = [word for word in text[:LONGEST_ACTION].strip(_EDGES).split() if word.strip(_EDGES)]
    words = _skip_adverbs(words)
    if not words or words[0].lower() in _MODALS | _BE:
        return None
    if _imperative(words) or _unknown_imperative(words):
        return ActionPhrase(_phrase(words[0].lower(), words[1:]), subject.speaker or subject.heading)
    carried = _with_carried_subject(words, subject)
    if carried is not None:
        return carried
    for at in _predicates(words):
        return _with_subject(words, at, subject)
    _, comma, clause = " ".join(words).partition(", ")
    if comma and opens_clause(clause):
        return read_action(clause, subject)  # behind a time or a place, such as "every Monday"
    if not _is_state(words):
        gerund = gerund_base(words[0])
        first = gerund if gerund and len(words) > 1 else words[0]
        return ActionPhrase(_phrase(_lower_word(first), words[1:]), subject.speaker or subject.heading)
    return None


def as_imperative(text: str) -> str:
    """Return an action that a text refers to, as an imperative: "packing the order" and "pack the order" alike."""
    action = read_action(
        re.sub(r"^(?:the\s+)?(?:action|step|task|activity)(?:\s+of)?\s+", "", text, flags=re.I), Subject()
    )
    return action.text if action else text.strip(_EDGES)


def _imperative(words: list[str]) -> bool:
    first = words[0].strip(_EDGES)
    if not is_base(first):
        return False
    if not names_things(first):
        return True
    near = [word.strip(_EDGES).lower() for word in words[1:4]]
    return not any(word in _BE or word in _MODALS for word in near) and (len(words) > 1 or not first[:1].isupper())


def _unknown_imperative(words: list[str]) -> bool:
    """Return True if a word that is no known verb stands like one, as in "Julienne the carrots"."""
    first = words[0].strip(_EDGES).lower()
    if len(words) < 2 or not first.isalpha() or first in _DETERMINERS | _PRONOUNS | _PREPOSITIONS | _BE | _MODALS:
        return False
    if verb_of(first) is not None or first in {"if", "when", "while", "otherwise", "there", "and", "or", "but"}:
        return False
    return words[1].strip(_EDGES).lower() in _DETERMINERS - {"that", "no"}


def _with_carried_subject(words: list[str], subject: Subject) -> ActionPhrase | None:
    """Return the action of a verb that has its subject in the clause before, as in "checks the order and packs it"."""
    verb = verb_of(words[0].strip(_EDGES))
    if verb is None or (len(words) > 1 and words[1].lower() in _BE | _MODALS):
        return None
    if verb[1] == "third" and opens_action(" ".join(words), carried=True):
        return ActionPhrase(_phrase(verb[0], words[1:]), subject.speaker or subject.heading)
    if verb[1] == "past" and subject.patient:
        return _passive(subject.patient.split(), words, subject)
    return None


def _predicates(words: list[str]) -> Iterator[int]:
    """Yield where a predicate may begin, behind a subject of up to nine words."""
    for at in range(1, min(len(words), LONGEST_SUBJECT)):
        word, before = words[at].strip(_EDGES).lower(), words[at - 1].strip(_EDGES).lower()
        if before in _OPENS_NOUN:
            continue
        if words[at - 1].endswith((",", ";", ":")) and before not in _PRONOUNS:
            return
        if (
            word in _MODALS
            or word in _BE - {"get", "gets"}
            or _PHRASAL.match(" ".join(words[at : at + 4]) + " ")
            or _finite(words, at)
        ):
            yield at


def _finite(words: list[str], at: int) -> bool:
    """Return True if the word is a verb with the words before it as its subject."""
    word = words[at].strip(_EDGES)
    verb, before = verb_of(word), words[at - 1].strip(_EDGES).lower()
    following = words[at + 1].strip(_EDGES).lower() if at + 1 < len(words) else ""
    opens_object = following in _DETERMINERS or following in _PREPOSITIONS or following in _PRONOUNS | {"him", "them"}
    if verb is None:
        unknown = word.endswith("s") and not word.endswith(("ss", "'s", "us")) and at > 1
        last = at == len(words) - 1 and words[0].lower() in _DETERMINERS
        return unknown and (following in _DETERMINERS or last)
    match verb[1]:
        case "third":
            if following in _BE or following in _MODALS:
                return False
            return not names_things(word) or opens_object or before in _PRONOUNS or not words[at].endswith(",")
        case "base":
            plural = before in _PLURALS or (before.endswith("s") and not before.endswith("ss"))
            return plural and (not names_things(word) or opens_object)
        case "past":
            return following in _DETERMINERS and before not in _BE
    return False


def _with_subject(words: list[str], at: int, subject: Subject) -> ActionPhrase | None:
    """Return the action of a clause whose predicate begins at a word."""
    who, predicate = [word for word in words[:at] if word.lower() not in _ADVERBS] or words[:1], words[at:]
    rest = " ".join(predicate)
    phrasal = _PHRASAL.match(rest)
    first = predicate[0].strip(_EDGES).lower()
    if phrasal is not None:
        predicate, first = rest[phrasal.end() :].split(), ""
    elif first in _MODALS:
        predicate, first = predicate[1:], ""
    predicate = _skip_adverbs(predicate)
    wish = _WISH.match(" ".join(predicate))
    predicate = predicate[2:] if wish else predicate
    if not predicate:
        return None
    verb = predicate[0].strip(_EDGES).lower()
    if verb in _BE - {"get", "gets"} or (
        verb in {"gets", "get"} and len(predicate) > 1 and is_participle(predicate[1])
    ):
        tail = predicate[1:]
        while tail and (tail[0].lower() in _BE | _ADVERBS or tail[0].lower().endswith("ly")):
            tail = tail[1:]
        if not tail or not is_participle(tail[0].strip(_EDGES)):
            return None
        return _passive(who, tail, subject)
    actor = _actor_of(who, subject)
    base = gerund_base(verb) or (third_base(verb) if first else verb)
    known_verb = verb_of(verb)
    if known_verb is not None and known_verb[1] == "past":
        base = known_verb[0]
    return ActionPhrase(_phrase(base, predicate[1:]), actor, names_actor=who[0].lower() not in _NOBODY)


def _passive(patient: list[str], tail: list[str], subject: Subject) -> ActionPhrase:
    """Return the action of a passive clause: what is acted on, the participle and what follows, perhaps who acts."""
    rest = " ".join(tail[1:])
    agent = ""
    match = _AGENT.search(rest)
    if match is not None:
        words = match["agent"].split()
        if words[0].lower() not in _MEANS and words[-1].lower() not in _MEANS and gerund_base(words[0]) is None:
            agent = bare_actor(match["agent"])
            rest = f"{rest[: match.start()].rstrip()} {rest[match.end() :].lstrip()}".strip()
    subject.patient = " ".join(patient)
    if agent:
        agent = subject.name(agent)
    lowered = [_lower_word(patient[0]), *patient[1:]]
    return ActionPhrase(
        _phrase(participle_base(tail[0].strip(_EDGES)), [*lowered, *rest.split()]),
        agent or subject.heading,
        bool(agent),
    )


def _actor_of(who: list[str], subject: Subject) -> str:
    """Return the actor that the subject of a clause names, or to whom its pronoun refers."""
    name = " ".join(who).strip(_EDGES)
    if name.lower() in _NOBODY:
        subject.speaker = ""
        return subject.heading
    if name.lower() in _PRONOUNS:
        subject.speaker = subject.actor
        return subject.actor or subject.heading
    return subject.name(bare_actor(name))


def _skip_adverbs(words: list[str]) -> list[str]:
    """Return the words from the first one that is no adverb or "please" on."""
    at = 0
    while at < len(words) - 1:
        word = words[at].strip(_EDGES).lower()
        if word not in _ADVERBS and not (word.endswith("ly") and verb_of(word) is None and len(word) > 4):
            break
        at += 1
    return words[at:]


def _is_state(words: list[str]) -> bool:
    """Return True if a clause says how things are."""
    lower = [word.strip(_EDGES).lower() for word in words]
    return lower[0] in _PRONOUNS | {"there", "this", "that", "these"} or any(word in _BE for word in lower)


def _phrase(verb: str, rest: list[str]) -> str:
    return " ".join((verb, *rest)).strip(_EDGES)


def _lower_word(word: str) -> str:
    """Return a word in lower case if only its first letter is a capital."""
    return word[:1].lower() + word[1:] if word[1:] == word[1:].lower() else word
