"""From the sentences of a document to what they say of the procedure: actions, conditions, cues and constraints."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, Literal

from .action_phrases import ActionPhrase, Subject, opens_action, opens_clause, read_action
from .clause_cues import (
    does_nothing,
    ends_procedure,
    read_closing,
    read_condition,
    read_lead,
    read_postponed,
    read_recalled,
    read_while,
    split_statement,
    split_trailing_condition,
    without_purpose,
)
from .constraint_clauses import read_constraints, read_notices, split_constraints
from .document_sentences import (
    ActionMention,
    ChoiceMention,
    ConditionMention,
    EndMention,
    Lead,
    Mention,
    NothingMention,
    ParallelMention,
    ReadSentence,
    ReturnMention,
    StatementMention,
    StepMention,
)
from .verb_lexicon import gerund_base, names_things, verb_of, word_set

MOST_CONDITIONS: Final = 6  # of one statement, within each other
MOST_STATEMENTS: Final = 40  # of one sentence
MOST_ITEMS: Final = 20  # of a list
_JOINT = re.compile(
    r"(?P<next>[,;]?\s+(?:and\s+)?then\b\s*,?\s*|"
    r"[,;]\s*(?:and\s+)?(?:after that|after which|afterwards?|subsequently|finally|next|thereafter|followed by|"
    r"following which|before)\b\s*,?\s*|"
    r"\s+(?:and\s+)?(?:after that|after which|afterwards|subsequently|followed by)\b\s*,?\s*|"
    r"\s+and (?:finally|next)\b\s*,?\s*|\s+before\s+)"
    r"|(?P<parallel>[,;]?\s+(?:(?:and|but|while)\s*,?\s+)?(?:at the same time|meanwhile|in the meantime|simultaneously|"
    r"concurrently|in parallel)\b\s*,?\s*|,?\s+(?:while|whilst|as well as)\s+)",
    re.I,
)
_AND = re.compile(r"\s*,\s*(?:(?:and|but)\s+)?|\s+and\s+", re.I)
_OR = re.compile(r"\s*,?\s+(?P<both>and/or|or)\s+", re.I)
_TOGETHER = re.compile(r"\s*,?\s*\b(?:at the same time|in parallel|simultaneously|concurrently|in any order)$", re.I)
_RETURN = re.compile(
    r"(?:(?:goe?s?|going|gets?|jumps?|comes?|returns?|moves?|steps?|loops?) back (?:to|and)|returns? to|repeats?|"
    r"restarts? (?:with|at|from)|(?:continues?|resumes?) (?:with|at|from))\s+"
    r"(?:the\s+(?:step|action|task)s?\s*(?:of\s+)?)?",
    re.I,
)
_AGAIN = re.compile(r"\s*,?\s+(?:once\s+)?(?:again|once more)$", re.I)
_ANY_OF = re.compile(
    r"(?P<before>.{0,60}?)\b(?P<sort>(?:one|any) or (?:more|several|all|both)|at least one|any|some|"
    r"(?:exactly |only )?one) of\s+(?:(?:the|these)\s+)?(?:following(?:\s+\w+){0,2}\s*)?:?\s*(?P<items>.*)",
    re.I,
)
_EITHER = re.compile(r"(?P<before>.{0,80}?)\beither\s+(?P<first>\S.*)", re.I)
_OR_BOTH = re.compile(r"\s*,?\s+or (?:both|all)(?: of them)?$", re.I)
_WITHOUT_OBJECT = word_set(
    "wait sit stop pause go come leave arrive begin start end finish continue talk walk agree rise"
)
_ANNOUNCES = re.compile(r"\b(?:in parallel|at the same time|simultaneously|in any order|concurrently)\b", re.I)


def read_mentions(sentences: Sequence[ReadSentence]) -> list[Mention]:
    """Return what the sentences say, in their order."""
    mentions: list[Mention] = []
    subject = Subject()
    at = 0
    while at < len(sentences):
        sentence = sentences[at]
        if sentence.opens_section:
            subject.actor = ""
        subject.heading, subject.patient, subject.speaker = sentence.actor, "", ""
        items = _items(sentences, at)
        list_mention = _read_list(sentence, items, subject) if items else None
        if list_mention is not None:
            mentions.append(list_mention)
            at += 1 + len(items)
            continue
        mentions += _read_sentence(sentence, subject)
        at += 1
    return mentions


def _items(sentences: Sequence[ReadSentence], at: int) -> list[ReadSentence]:
    """Return the items of the list that a sentence introduces."""
    if not sentences[at].introduces_list:
        return []
    end = at + 1
    while end < len(sentences) and sentences[end].is_item and end - at <= MOST_ITEMS:
        end += 1
    return list(sentences[at + 1 : end])


def _read_list(head: ReadSentence, items: list[ReadSentence], subject: Subject) -> StatementMention | None:
    """Return the statement of a list whose items are alternatives, or are done in parallel; None for other lists."""
    if len(items) < 2 or any(read_condition(read_lead(item.text)[1]) for item in items):
        return None
    any_of = _ANY_OF.match(head.text)
    parallel = _ANNOUNCES.search(head.text)
    if any_of is None and parallel is None:
        return None
    conditions, _, _ = _read_openings(head.text)
    branches = tuple(steps for item in items if (steps := tuple(_steps(read_lead(item.text)[1], subject))))
    step: StepMention = ParallelMention(branches)
    if parallel is None and any_of is not None:
        step = ChoiceMention(_sort_of(any_of["sort"]), branches)
    return StatementMention((step,), conditions, opens_section=head.opens_section)


def _read_sentence(sentence: ReadSentence, subject: Subject) -> Iterator[Mention]:
    """Yield what a sentence says: its statements, and the constraints behind them."""
    opens = sentence.opens_section
    text, behind = split_constraints(sentence.text)
    _, plain = read_lead(text)
    whole = read_notices(plain) or ([] if read_condition(plain) else read_constraints(plain, subject))
    if whole:
        yield from whole
    else:
        for statement in _statements(text, subject):
            yield replace(statement, opens_section=opens) if isinstance(statement, StatementMention) else statement
            opens = False
    for constraint in behind:
        yield from read_constraints(constraint, subject)


def _statements(text: str, subject: Subject) -> Iterator[Mention]:
    """Yield the statements of a sentence."""
    for _ in range(MOST_STATEMENTS):
        closing, text = read_closing(text)
        if closing:
            yield StatementMention(lead=closing)
        conditions, lead, rest = _read_openings(text)
        conditions = _with_occasions(conditions, subject)
        steps: list[StepMention] = []
        recalled = read_recalled(rest)
        if recalled is not None and _recalls(recalled[0]):
            steps += _recalled_steps(recalled[0], subject)
            more, _, rest = _read_openings(recalled[1])
            conditions += more
            if more:
                yield StatementMention(tuple(steps), (), lead)
                steps, lead = [], ""
        main, text = split_statement(rest)
        constraints = read_constraints(main, subject) if main else []
        if constraints:
            yield from constraints
        else:
            main, trailing = split_trailing_condition(main)
            conditions += (trailing,) if trailing else ()
            steps += _main_steps(main, subject)
            if steps or conditions or lead in ("join", "done"):
                yield StatementMention(tuple(steps), conditions, lead)
        if not text:
            return


def _read_openings(text: str) -> tuple[tuple[ConditionMention, ...], Lead, str]:
    """Return the conditions with which a clause begins, its first cue, and the rest."""
    conditions: list[ConditionMention] = []
    lead, text = read_lead(text)
    text = without_purpose(text)
    while len(conditions) < MOST_CONDITIONS:
        opening = read_condition(text)
        if opening is None:
            break
        conditions.append(opening[0])
        later, text = read_lead(opening[1])
        lead = lead or ("" if later == "next" else later)
    return tuple(conditions), lead, text


def _with_occasions(conditions: tuple[ConditionMention, ...], subject: Subject) -> tuple[ConditionMention, ...]:
    """Read what "when" names as an action; of other conditions, let pronouns refer to a subject that acted before."""
    read = []
    for condition in conditions:
        if condition.occasion is not None:
            action = read_action(condition.text, subject) if opens_clause(condition.text) else None
            condition = replace(condition, occasion=_mention(action) if action else None)
        read.append(condition)
        words = condition.text.lower()
        for actor in subject.actors:
            if re.match(rf"(?:the |an? )?{re.escape(actor.lower())}\b", words):
                subject.actor = actor
    return tuple(read)


def _mention(action: ActionPhrase, recalled: bool = False) -> ActionMention:
    return ActionMention(action.text, action.actor, recalled, not action.names_actor and bool(action.actor))


def _recalls(text: str) -> bool:
    """Return True if words recall an action: a clause or a gerund, not a time such as "ten minutes"."""
    return opens_clause(text) or gerund_base(text.split()[0]) is not None


def _recalled_steps(text: str, subject: Subject) -> list[StepMention]:
    action = read_action(text, subject)
    return [_mention(action, recalled=True)] if action else []


def _main_steps(text: str, subject: Subject) -> list[StepMention]:
    """Return what a main clause says is done, the clauses with "before" and "while" in front of it included."""
    postponed = read_postponed(text)
    if postponed is not None and _recalls(postponed[0]):
        first = _main_steps(postponed[1], subject)
        return [*first, *_recalled_steps(postponed[0], subject)]
    during = read_while(text)
    if during is not None and _recalls(during[0]):
        other = _steps(during[0], subject)
        main = _steps(read_lead(during[1])[1], subject)
        return [ParallelMention((tuple(other), tuple(main)))] if other and main else main
    return _steps(text, subject)


def _steps(text: str, subject: Subject) -> list[StepMention]:
    """Return what is done in sequence, with what is done at the same time together."""
    text = text.strip(" ,;:")
    if ends_procedure(text):
        return [EndMention()]
    if does_nothing(text):
        return [NothingMention()]
    together = _TOGETHER.search(text)
    body = text[: together.start()] if together else text
    groups: list[list[list[StepMention]]] = []
    start, joint = 0, "next"
    matches = [match for match in _JOINT.finditer(body) if _divides(body, match)]
    for match in [*matches, None]:
        piece = _part(body[start : match.start() if match else len(body)], subject)
        if piece:
            if joint == "parallel" and groups:
                groups[-1].append(piece)
            else:
                groups.append([piece])
        if match is not None:
            start, joint = match.end(), match.lastgroup or "next"
    if together and groups:
        groups[-1] = [[step] for piece in groups[-1] for step in piece]
    steps: list[StepMention] = []
    for group in groups:
        steps += [ParallelMention(tuple(map(tuple, group)))] if len(group) > 1 else group[0]
    return steps


def _divides(text: str, joint: re.Match[str]) -> bool:
    """Return True if a cue divides clauses, and is no part of one, such as "before" in "before noon"."""
    if not joint.start() or joint.end() == len(text):
        return False
    if joint[0].strip().lower() == "then" and not opens_clause(text[: joint.start()].rpartition(",")[2].strip()):
        return False  # between a subject and its verb
    return "before" not in joint[0].lower() or _recalls(text[joint.end() :])


def _part(text: str, subject: Subject) -> list[StepMention]:
    """Return what a part of a clause without cue words inside of it says is done."""
    _, text = read_lead(text.strip(' ,;:"“”'))
    if not text:
        return []
    if ends_procedure(text):
        return [EndMention()]
    choice = _choice(text, subject)
    if choice is not None:
        return [choice]
    steps: list[StepMention] = []
    for piece in _sharing_object(list(_split_coordination(text, subject))):
        steps += [EndMention()] if ends_procedure(piece) else _piece(piece, subject)
    return steps


def _piece(text: str, subject: Subject) -> list[StepMention]:
    alternatives = _sharing_object(_alternatives(text))
    if len(alternatives) > 1:
        sort: Literal["exclusive", "inclusive"] = "inclusive" if _is_inclusive(text) else "exclusive"
        branches = tuple((step,) for alternative in alternatives if (step := _action(alternative, subject)) is not None)
        return (
            [ChoiceMention(sort, branches)] if len(branches) > 1 else [step for branch in branches for step in branch]
        )
    action = _action(text, subject)
    return [action] if action is not None else []


def _action(text: str, subject: Subject) -> StepMention | None:
    action = read_action(text, subject)
    if action is None:
        return None
    back = _RETURN.match(action.text)
    if back is not None and back.end() < len(action.text):
        target = read_action(action.text[back.end() :], Subject())
        if target is not None:
            return ReturnMention(target.text, _mention(action))
    again = _AGAIN.search(action.text)
    if again is not None and again.start():
        return ReturnMention(action.text[: again.start()], _mention(action))
    return _mention(action)


def _split_coordination(text: str, subject: Subject) -> Iterator[str]:
    """Yield the clauses that "and" and commas join; objects that are joined stay together."""
    start, passive = (
        0,
        re.search(r"\b(?:is|are|be|been|was|were|gets?)\s+(?:\w+ly\s+)?\w+(?:ed|en|t)\b", text) is not None,
    )
    carried = not opens_action(text)
    for match in _AND.finditer(text):
        rest = text[match.end() :]
        if match.start() <= start or not rest:
            continue
        joined = "and" in match[0].lower()
        if rest.lower().startswith(("or ", "and ")):
            continue
        if opens_action(rest, carried, passive and carried) or ends_procedure(rest) or (joined and _own_subject(rest)):
            yield text[start : match.start()]
            start = match.end()
    yield text[start:]


def _own_subject(rest: str) -> bool:
    """Return True if a clause with its own subject and verb begins here."""
    return opens_clause(rest) and not opens_action(rest)


def _alternatives(text: str) -> list[str]:
    """Return the actions between which "or" stands; the text itself if it joins objects."""
    text = _OR_BOTH.sub("", text)
    alternatives, start = [], 0
    for match in _OR.finditer(text):
        if match.start() > start and opens_action(text[match.end() :], carried=not opens_action(text)):
            alternatives.append(text[start : match.start()])
            start = match.end()
    return [*alternatives, text[start:]]


def _sharing_object(clauses: list[str]) -> list[str]:
    """Give the object of the last clause to those before it that are a verb alone: "sign or reject the form"."""
    words = clauses[-1].split()
    if len(clauses) < 2 or len(words) < 2 or not opens_action(clauses[-1], carried=True):
        return clauses
    completed = []
    for clause in clauses[:-1]:
        last = clause.split()[-1:]
        verb = verb_of(last[0]) if last else None
        alone = verb is not None and verb[0] not in _WITHOUT_OBJECT and len(clause.split()) <= 3
        with_subject = verb is not None and verb[1] == "third" and not names_things(last[0])
        completed.append(
            f"{clause.strip()} {' '.join(words[1:])}" if alone and (clause.split() == last or with_subject) else clause
        )
    return [*completed, clauses[-1]]


def _is_inclusive(text: str) -> bool:
    return "and/or" in text.lower() or _OR_BOTH.search(text) is not None


def _choice(text: str, subject: Subject) -> ChoiceMention | None:
    """Return the alternatives of "either ... or ..." and of "one or more of ..."; None if the text has none."""
    match = _EITHER.match(text)
    if match is not None:
        before = match["before"].strip()
        options = _alternatives(match["first"])
        if len(options) < 2:
            return None
        options = _sharing_object(_list_items(", ".join(options[:-1])) + options[-1:])
        texts = [f"{before} {option}" if before and not opens_clause(option) else option for option in options]
        return _choice_of("inclusive" if _is_inclusive(text) else "exclusive", texts, subject)
    match = _ANY_OF.match(text)
    if match is None:
        return None
    items = _list_items(match["items"])
    if len(items) < 2 or not all(opens_action(item) or gerund_base(item.split()[0]) for item in items):
        return None
    return _choice_of(_sort_of(match["sort"]), items, subject)


def _choice_of(sort: Literal["exclusive", "inclusive"], texts: list[str], subject: Subject) -> ChoiceMention | None:
    branches = tuple((step,) for text in texts if (step := _action(text, subject)) is not None)
    return ChoiceMention(sort, branches) if len(branches) > 1 else None


def _list_items(text: str) -> list[str]:
    """Return the items of a list in a sentence."""
    pieces = re.split(r"\s*[,;]\s*(?:and/or|and|or)?\s*|\s+(?:and/or|and|or)\s+", text)
    items: list[str] = []
    for piece in pieces[:MOST_ITEMS]:
        if not piece.strip():
            continue
        if items and not (opens_action(piece) or gerund_base(piece.split()[0])):
            items[-1] += f" and {piece.strip()}"
        else:
            items.append(piece.strip())
    return items


def _sort_of(words: str) -> Literal["exclusive", "inclusive"]:
    return "exclusive" if words.lower() in {"one", "exactly one", "only one"} else "inclusive"
