"""The cue words of procedures: how a clause begins, what divides clauses, where a condition ends."""

from __future__ import annotations

import re
from typing import Final

from .action_phrases import opens_action, opens_clause
from .document_sentences import ActionMention, ConditionMention, Lead
from .verb_lexicon import OTHERWISE, negate_condition, word_set

_PROCESS: Final = r"(?:procedure|process|workflow|whole thing)"
_LEADS: Final[tuple[tuple[Lead, str], ...]] = (
    ("start", r"(?:right )?(?:in|at) the (?:very )?(?:beginning|start|outset)|(?:at )?first(?:ly| of all)?|initially|"
              r"to (?:begin|start)(?: with)?|as a first step|in a first step"),
    ("join", r"in (?:any|either|both|all|every|each)(?: of (?:the|these))? (?:cases?|events?)|either way|"
             r"regardless(?: of [^,]{1,80})?|whether or not [^,]{1,120}|no matter [^,]{1,80}"),
    ("done", r"(?:once|after|when|as soon as) (?:both|all|everything|either|each)\b[^,]{0,60}?\b"
             r"(?:done|finished|complete|completed|over|ready|carried out|performed|through)"),
    ("split", r"on (?:the )?one hand"),
    ("within", r"(?:in|for|on|within|under) (?:this|that|such a) (?:case|part|branch|path|event|situation|stage|phase|"
               r"way|instance)|there"),
    ("parallel", r"on the other(?: hand)?|(?:and )?at the same time|meanwhile|in the meantime|"
                 r"in parallel(?: (?:to|with) (?:this|that))?|simultaneously|concurrently|"
                 r"while this (?:happens|is done|goes on)"),
    ("next", r"then|next|after (?:that|this|which)|afterwards?|thereafter|subsequently|later(?: on)?|"
             r"following (?:this|that)|"
             r"finally|lastly|last|in the end|at the end|eventually|as a (?:next|last|final|second|third) step|"
             r"in (?:a|the) (?:next|last|final|second|third) step|second(?:ly)?|third(?:ly)?|fourth(?:ly)?|from there|"
             rf"the {_PROCESS} (?:then )?(?:continues|proceeds|goes on) (?:with|by)"),
    ("start", rf"the {_PROCESS} (?:starts|begins|is started|is triggered) (?:with|by|when|as soon as|once|if|after)"),
    ("exclusive", r"depending on [^,:]{1,100}|"
                  r"exactly one of the following(?: \w+){0,3}(?: (?:is|are) (?:done|performed))?"),
    ("also", r"also|additionally|moreover|in addition|furthermore|besides|as well"),
    ("", r"and|but|so|however|therefore|thus|hence|now|here|"
         r"as a result|accordingly|instead"),
)  # fmt: skip
_LEAD = tuple((lead, re.compile(rf"(?:{pattern})(?:\s*[,:]\s*|\s+|$)", re.I)) for lead, pattern in _LEADS)
MOST_LEADS: Final = 6

_OTHERWISE = re.compile(
    r"(?:otherwise|or else|else|if not|in (?:the|any|all|every) other cases?|in all remaining cases)\b\s*[,:]?\s*", re.I
)
_CONDITION = re.compile(
    r"(?P<cue>only if|even if|if|in (?:the )?(?:case|event)(?: that| of)?|provided(?: that)?|assuming(?: that)?|"
    r"as long as|supposing|should|unless|whenever|when|where|for (?=(?:orders|cases|customers|items)\b))\s+",
    re.I,
)
_RECALL = re.compile(
    r"(?P<cue>immediately after|right after|shortly after|after|once|as soon as|upon|on|following|having)\s+", re.I
)
_BEFORE = re.compile(r"(?:before|prior to)\s+(?=\w)", re.I)
_PURPOSE = re.compile(r"(?:in order )?to\s+(?=\w)", re.I)
_WHILE = re.compile(r"(?:while|whilst|as)\s+(?=\w)", re.I)
_TRAILING = re.compile(
    r",?\s+(?P<cue>(?:but )?only if|if|unless|in case(?: that| of)?|in the case (?:that|of)|provided(?: that)?|"
    r"as long as)\s+",
    re.I,
)
_ASKS = word_set(
    "check checks checking see sees verify verifies determine determines decide decides ask asks know knows as even "
    "find out test tests examine examines what evaluate evaluates assess assesses clarify clarifies"
)
_NEW_CONDITION = re.compile(
    r"(?:[,;:]\s*(?:(?:and|but|or|while|whereas|then)\s+)?|\s+(?:and|but|while|whereas)\s+)"
    r"(?=(?:if|in case|in the case|in the event|unless|provided|should|otherwise|or else|else\b|when)\b)",
    re.I,
)
_OTHERWISE_INSIDE = re.compile(r"[,;]?\s+(?:and |but |or )?(?=(?:otherwise|or else|if not,)\b)", re.I)
_COMMA = re.compile(r"\s*[,:]\s*|\s+(?=then\b)", re.I)
_COMPLETED = re.compile(
    r"\b(?:(?:has|have|had) (?:been )?\w+|arrives?|receives?|is (?:done|ready|finished|completed?|over|reached))\b",
    re.I,
)
_THEN = re.compile(r"then\b\s*,?\s*", re.I)
_ENDS = re.compile(
    rf"(?:this|the (?:whole )?{_PROCESS}|everything)\s+(?:then\s+|thus\s+|also\s+)?"
    r"(?:ends?|terminates?|finish(?:es)?|stops?|"
    r"concludes?|is (?:then )?(?:over|finished|completed?|done|ended|terminated|closed|aborted)|comes to an end|"
    rf"has ended)\b|(?:end|stop|finish|terminate|abort)s? (?:the|this) {_PROCESS}\b|"
    rf"(?:this|that|which) (?:ends|concludes|completes|finishes) the {_PROCESS}\b",
    re.I,
)

_NOTHING = re.compile(
    r"(?:there is )?(?:nothing|no(?: further| other)? (?:actions?|steps?|activity|work))\b"
    r".{0,40}\b(?:done|needed|required|necessary|taken|performed|happens|to do|changes)$",
    re.I,
)


def read_lead(text: str) -> tuple[Lead, str]:
    """Return how a clause begins, and the clause without the cue words."""
    strongest: Lead = ""
    for _ in range(MOST_LEADS):
        for lead, pattern in _LEAD:
            match = pattern.match(text)
            if match is not None and _is_cue(lead, match[0], text[match.end() :]):
                strongest = _stronger(strongest, lead)
                text = text[match.end() :]
                break
        else:
            break
    return strongest, text


def read_closing(text: str) -> tuple[Lead, str]:
    """Return whether words lead out of branches before other cue words follow, and the text behind the former."""
    for _ in range(2):
        for lead, pattern in _LEAD:
            match = pattern.match(text)
            if match is None or not _is_cue(lead, match[0], text[match.end() :]):
                continue
            rest = text[match.end() :]
            if lead in ("join", "done"):
                return (lead, rest) if read_lead(rest)[0] not in ("", "next") else ("", text)
            if lead != "next":
                return "", text
            text = rest
            break
    return "", text


def _stronger(first: Lead, other: Lead) -> Lead:
    """Return which of two cues in a row says more: "then, in any case" is "in any case"."""
    return other if first in ("", "start", "next") and other else first


def _is_cue(lead: Lead, cue: str, rest: str) -> bool:
    """Return True unless the words belong to what follows, such as the first two of "first aid is given"."""
    word = cue.strip(" ,:").lower()
    if word in {"first", "second", "third", "last", "next", "now", "later", "here", "there"} and "," not in cue:
        return opens_clause(rest) or not rest
    return True


def ends_procedure(text: str) -> bool:
    """Return True if a clause says that the procedure ends."""
    return _ENDS.match(text) is not None


def does_nothing(text: str) -> bool:
    """Return True if a clause says that nothing is to be done."""
    return _NOTHING.match(text) is not None


def read_condition(text: str) -> tuple[ConditionMention, str] | None:
    """Return the condition with which a clause begins, and the rest of the clause; None if it begins with none."""
    match = _OTHERWISE.match(text)
    if match is not None:
        rest = text[match.end() :]
        inner = read_condition(rest) if not _OTHERWISE.match(rest) else None
        if inner is not None:
            return ConditionMention(inner[0].text, otherwise=True), inner[1]
        return ConditionMention(OTHERWISE, otherwise=True), rest
    match = _CONDITION.match(text)
    if match is None:
        return None
    cue = match["cue"].lower()
    condition, rest = _split(text[match.end() :])
    if not condition:
        return None
    if cue in {"when", "whenever"}:
        completed = _COMPLETED.search(condition) is not None
        return ConditionMention(condition, occasion=ActionMention(condition), completed=completed), rest
    return ConditionMention(negate_condition(condition) if cue == "unless" else condition), rest


def read_recalled(text: str) -> tuple[str, str] | None:
    """Return the action that "after", "once" or "upon" recalls at the beginning of a clause, and the rest."""
    match = _RECALL.match(text)
    if match is None:
        return None
    recalled, rest = _split(text[match.end() :])
    return (recalled, rest) if rest else None


def read_postponed(text: str) -> tuple[str, str] | None:
    """Return the action before which the rest of a clause is done, and that rest."""
    match = _BEFORE.match(text)
    if match is None:
        return None
    later, rest = _split(text[match.end() :])
    return (later, rest) if rest else None


def read_while(text: str) -> tuple[str, str] | None:
    """Return what is done while the rest of a clause is done, and that rest."""
    match = _WHILE.match(text)
    if match is None:
        return None
    other, rest = _split(text[match.end() :])
    return (other, rest) if rest else None


def without_purpose(text: str) -> str:
    """Return a clause without the purpose in front of it, such as "to borrow a book"."""
    match = _PURPOSE.match(text)
    if match is None or not (opens_action(text[match.end() :]) or opens_clause(text[match.end() :])):
        return text
    _, rest = _split(text[match.end() :])
    return rest or text


def split_statement(text: str) -> tuple[str, str]:
    """Return a main clause, and what follows under another condition."""
    cuts = []
    match = _OTHERWISE_INSIDE.search(text)
    if match is not None:
        cuts.append((match.start(), match.end()))
    for match in _NEW_CONDITION.finditer(text):
        rest = text[match.end() :]
        condition = read_condition(rest)
        if match.start() and condition is not None and (condition[1] or condition[0].otherwise):
            cuts.append((match.start(), match.end()))
            break
    semicolon = text.find(";")
    if semicolon > 0:
        cuts.append((semicolon, semicolon + 1))
    if not cuts:
        return text, ""
    start, end = min(cuts)
    return text[:start].strip(), text[end:].strip(" ,;")


def split_trailing_condition(text: str) -> tuple[str, ConditionMention | None]:
    """Return a main clause without the condition behind it, and that condition."""
    for match in _TRAILING.finditer(text):
        before = text[: match.start()].split()
        if not before or before[-1].lower().strip(",") in _ASKS or not opens_clause(text[: match.start()]):
            continue
        condition = text[match.end() :].strip(" ,")
        if condition:
            unless = match["cue"].lower() == "unless"
            return text[: match.start()], ConditionMention(negate_condition(condition) if unless else condition)
    return text, None


def _split(text: str) -> tuple[str, str]:
    """Return a subordinate clause and what follows it.

    It ends at the first comma, or "then", behind which a main clause, a cue word or another condition begins; if there
    is none, at the first comma.
    """
    first: tuple[int, int] | None = None
    for match in _COMMA.finditer(text):
        rest = text[match.end() :]
        if not match.start() or not rest:
            continue
        first = first or match.span()
        then = _THEN.match(rest)
        if then is not None:
            return text[: match.start()].strip(" ,"), rest[then.end() :]
        if _begins_main(rest):
            return text[: match.start()].strip(" ,"), rest
    if first is None:
        return text.strip(" ,:"), ""
    return text[: first[0]].strip(" ,"), text[first[1] :]


def _begins_main(rest: str) -> bool:
    """Return True if a main clause begins here, not the next of several conditions, objects or times."""
    _, bare = read_lead(rest)
    if ends_procedure(bare) or _CONDITION.match(bare) or _OTHERWISE.match(bare):
        return True
    if _RECALL.match(bare) or _WHILE.match(bare):
        return opens_clause(bare)
    words = bare.split(maxsplit=2)
    if len(words) > 1 and words[1].lower() == "or" and opens_action(words[2] if len(words) > 2 else ""):
        return False
    return opens_clause(bare) and not rest.lower().startswith(("and ", "or "))
