"""Clauses about an action that are no actions: the data that it needs or produces, and what is to be noted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .action_phrases import Subject, as_imperative, bare_actor, opens_action, read_action
from .document_sentences import ConstraintMention
from .verb_lexicon import gerund_base, is_base

LONGEST_CLAUSE: Final = 600  # characters; a longer clause states no constraint
_EDGES: Final = " ,;:.\"“”‘’'`()[]"
_NEEDS = r"(?:requires?|needs?|relies on|depends on|makes? use of|takes as input)"
_MAKES = r"(?:produces?|yields?|generates?|results? in|creates?|outputs?|gives|leads? to|delivers)"
_NOTE = (
    r"(?:(?:please\s+note|"
    r"(?:please\s+|you should\s+|always\s+|it is important to\s+|also\s+|be sure to\s+)*"
    r"(?:take\s+note|notice(?=\s+that\b)|note(?=\s+that\b|\s*[:,])|remember|keep in mind|bear in mind|"
    r"pay (?:close |special )?attention|be (?:careful|aware|mindful|cautious|sure)|take care|make sure|watch out|"
    r"beware|mind))\b(?:\s+(?:that|to that|to the fact that|to|of|for|about))?"
    r"|it (?:is|should be|must be) (?:important|essential|crucial|noted|vital|remembered)\b(?:\s+(?:that|to|for))?"
    r"|(?:attention|caution|warning|important|note|notice|hint|tip|nb)\s*:|(?=(?:do not|don['’]t|never)\b)"
    r"|(?:paying|taking) (?:attention|care)(?:\s+(?:that|to that|to))?)"
)
_THIS = r"(?:this|that|it|which|these|the (?:same )?(?:action|step|task|activity)|this (?:action|step|task|activity))"
_NOTICE = re.compile(rf"{_NOTE}\s*[,:]?\s*(?P<notice>\S.*)", re.I)
_ABOUT_NOTICE = re.compile(
    rf"(?:for|when|while|in order to|to|with|before|in|during)\s+(?P<about>\S.*?),\s*"
    rf"{_NOTE}\s*[,:]?\s*(?P<notice>\S.*)",
    re.I,
)
_NEED_CLAUSE = re.compile(rf"(?P<about>\S.*?)\s+(?:also\s+|then\s+)?{_NEEDS}\s+(?:access to\s+)?(?P<data>\S.*)", re.I)
_MAKE_CLAUSE = re.compile(rf"(?P<about>\S.*?)\s+(?:also\s+|then\s+)?{_MAKES}\s+(?P<data>\S.*)", re.I)
_TO_DO = re.compile(
    rf"(?:in order to|to|for)\s+(?P<about>\S.*?),\s*"
    rf"(?:(?P<actor>[^,]{{1,60}}?)\s+(?:{_NEEDS}|(?:must|should|have to|has to) have)\s+"
    r"(?:access to\s+)?(?P<data>\S.*)|"
    r"(?:access to\s+)?(?P<passive>\S.*?)\s+(?:is|are)\s+(?:needed|required|necessary|used))$",
    re.I,
)
_NEEDED = re.compile(
    r"(?:access to\s+)?(?P<data>\S.*?)\s+(?:is|are)\s+(?:needed|required|necessary)"
    r"(?:\s+(?:to|for|in order to)\s+(?P<about>\S.*))?$",
    re.I,
)
_PRODUCED = re.compile(
    r"(?:as a result,?\s+)?(?P<data>\S.*?)\s+(?:is|are)\s+(?:produced|generated|created|the result|the output)"
    r"(?:\s+(?:by|of)\s+(?P<about>\S.*))?$",
    re.I,
)
_BEHIND = re.compile(
    rf"(?:\s*[,;:(–—]\s*|\s+-\s+)(?:(?:and|but)\s+)?(?=(?:{_NOTE}|{_THIS}\s+(?:{_NEEDS}|{_MAKES}))\s)", re.I
)
_BOTH = re.compile(rf"\s*,?\s+and\s+(?:(?:it|this)\s+)?(?=(?:{_NEEDS}|{_MAKES})\s)", re.I)
_LIST = re.compile(r"[\"”’']\s*(?:,\s*and|,|and)\s+[\"“‘']")
_INFINITIVE = re.compile(r"^to\s+", re.I)
_PURPOSE = re.compile(r"\s+(?:in order )?to\s+(?=\w)", re.I)


def split_constraints(text: str) -> tuple[str, list[str]]:
    """Return a sentence without the constraints that stand behind its main clauses, and those."""
    if len(text) <= LONGEST_CLAUSE and _ABOUT_NOTICE.match(text):
        return text, []
    cuts = [match.span() for match in _BEHIND.finditer(text) if match.start() > 3]
    if not cuts:
        return text, []
    ends = [start for start, _ in cuts[1:]] + [len(text)]
    return text[: cuts[0][0]], [text[cut[1] : end].strip(_EDGES) for cut, end in zip(cuts, ends, strict=True)]


def read_constraints(text: str, subject: Subject) -> list[ConstraintMention]:
    """Return the constraints that a clause states; none if it states an action or anything else.

    Args:
        text: The clause, without conditions.
        subject: Who acted last.
    """
    if len(text) > LONGEST_CLAUSE:
        return []
    return read_notices(text) or list(_data(text, subject))


def read_notices(text: str) -> list[ConstraintMention]:
    """Return the notice that a clause states, if there is one."""
    if len(text) > LONGEST_CLAUSE:
        return []
    match = _ABOUT_NOTICE.match(text)
    if match is not None and len(match["about"]) < 200:
        return [ConstraintMention("notice", _clean(match["notice"]), _about(match["about"]))]
    match = _NOTICE.match(text)
    if match is None:
        return []
    notice = _clean(match["notice"])
    for cue in (" when ", " while "):  # "note that it is hot when opening the oven"
        before, cue_found, about = notice.rpartition(cue)
        if cue_found and before and gerund_base(about.split()[0]):
            return [ConstraintMention("notice", before, _about(about))]
    return [ConstraintMention("notice", notice)] if notice else []


def _data(text: str, subject: Subject) -> Iterator[ConstraintMention]:
    match = _TO_DO.match(text)
    if match is not None and (is_base(_first(match["about"])) or gerund_base(_first(match["about"]))):
        yield from _each(match["data"] or match["passive"], _about(match["about"]), False)
        return
    pieces = _BOTH.split(text)
    about, actor = "", ""
    for at, piece in enumerate(pieces):
        clause = piece if at == 0 else f"this {piece}"
        read = _read_data_clause(clause, subject)
        if read is None:
            return
        if at == 0:
            about, actor = read[1], read[3]
        yield from _each(read[0], about, read[2], actor)


def _read_data_clause(text: str, subject: Subject) -> tuple[str, str, bool, str] | None:
    """Return the data of a clause, what it is about, whether it is produced, and who acts; None if it states none."""
    for pattern, produced in ((_NEED_CLAUSE, False), (_MAKE_CLAUSE, True)):
        match = pattern.match(text)
        if match is None or _first(match["data"]).lower() in {"to", "that", "if", "by"}:
            continue
        about = match["about"].strip()
        if re.fullmatch(_THIS, about, re.I):
            return match["data"], "", produced, ""
        if _is_action(about):
            actor = read_action(about.strip(_EDGES), Subject())
            return match["data"], _about(about), produced, actor.actor if actor else ""
        if not produced and len(about.split()) <= 5 and not match["data"].lower().startswith("help"):
            purpose = _PURPOSE.search(match["data"])
            if purpose is not None:
                return (
                    match["data"][: purpose.start()],
                    _about(match["data"][purpose.end() :]),
                    False,
                    bare_actor(about),
                )
            return match["data"], "", False, bare_actor(about)
    for pattern, produced in ((_NEEDED, False), (_PRODUCED, True)):
        match = pattern.match(text)
        if match is not None and (not produced or match["about"] or text.lower().startswith("as a result")):
            return match["data"], _about(match["about"] or ""), produced, ""
    return None


def _each(data: str, about: str, produced: bool, actor: str = "") -> Iterator[ConstraintMention]:
    """Yield a mention for each of the data that are quoted apart, else one."""
    for piece in _LIST.split(data)[:20]:
        text = bare_actor(_clean(piece))
        if text:
            yield ConstraintMention("data", text, about, produced, actor)


def _is_action(text: str) -> bool:
    """Return True if the subject of a clause is an action: quoted, in the imperative or a gerund."""
    if text[:1] in "\"“'‘" or _INFINITIVE.match(text):
        return True
    first = _first(text)
    if gerund_base(first) is not None and len(text.split()) > 1:
        return True
    words = text.split()
    return len(words) > 1 and opens_action(text) and words[-1][:1] != ","


def _about(text: str) -> str:
    """Return the action that a constraint is about; empty for "this" and the like."""
    text = _INFINITIVE.sub("", text.strip(_EDGES))
    return "" if not text or re.fullmatch(_THIS, text, re.I) else as_imperative(text)


def _first(text: str) -> str:
    return text.split(maxsplit=1)[0].strip(_EDGES) if text.strip() else ""


def _clean(text: str) -> str:
    return " ".join(text.split())[:300].strip(_EDGES)
