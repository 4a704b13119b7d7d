"""The verifiers of Du et al. (2024), section 4.3.

The parallel verifier: what acts on one object does not run in parallel. Actions of different objects that follow each
other could, which is the milder half of the feedback.

What an action acts on is the noun phrase behind its verb, found by a simple rule: "carefully check the signed form with
a lamp" acts on "signed form", "wash and peel the carrots and the apples" on "carrot" and "apple".

The condition verifier: exclusive gateways have conflicting conditions. If the conditions of a gateway conflict, at most
one can be met, and the gateway should be exclusive; if they do not, it should be inclusive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations, islice
from typing import Final

from ....workflow.procedural_graph import ProceduralGraph, ProceduralNode
from ..extraction_rules.verb_lexicon import is_base, names_things, verb_of, word_set
from .conflict_rules import ConflictRule, ConflictVerdict, find_guard_conflict, means_other_cases
from .verifier_feedback import Slab, VerifierFeedback, find_slabs, gateway_feedback

LONGEST_ACTION: Final = 300  # characters that are read
_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|,")
_DETERMINERS: Final = word_set(
    "the a an this that these those its their his her your my our each every all any some both no another such more "
    "one two three four five six seven eight nine ten several many enough"
)
_PRONOUNS: Final = word_set(
    "it them him her this that these those everything something anything nothing all both us me"
)
_TAIL: Final = word_set(
    "of for in on at to from with by into onto about after before under over as per via through without until against "
    "between within during than that which who whose if when while where because so using based according out up off "
    "down back away together again once twice first next finally now then or but immediately"
)
_JOINING: Final = word_set("and ,")
_NO_PLURAL: Final = ("ss", "us", "is")
MOST_SEQUENTIAL: Final = 2  # pairs of actions that might run in parallel, of a graph
MOST_OBJECTS: Final = 2  # of a gateway that feedback names
MOST_CONDITIONS: Final = 8  # of a gateway that are compared with each other
MOST_SPLITS: Final = 100  # gateways whose conditions are compared, the smallest first


@lru_cache(maxsize=4096)
def find_objects(action: str) -> frozenset[str]:
    """Return the things that an action acts on, in lower case, without determiners, in the singular.

    Nothing is known of a pronoun or of an action without an object: the set is then empty.
    """
    words = _WORD.findall(action[:LONGEST_ACTION].lower())
    objects: set[str] = set()
    phrase: list[str] = []
    for word in [*words[_behind_verbs(words) :], ","]:
        ends = word in _TAIL or _is_adverb(word)
        if (word in _JOINING or ends) and phrase:
            objects.add(_singular(phrase))
            phrase = []
        if ends:
            break
        if word not in _JOINING and word not in _DETERMINERS:
            phrase.append(word)
    return frozenset(objects - _PRONOUNS)


def _behind_verbs(words: list[str]) -> int:
    """Return where the object begins: behind adverbs, the verb or verbs, and a particle or preposition."""
    at = 0
    while at < len(words) - 1 and _is_adverb(words[at]):
        at += 1
    at += 1
    while at + 1 < len(words) and words[at] in _JOINING and _is_verb(words[at + 1]):
        at += 2
    return at + 1 if at < len(words) and words[at] in _TAIL else at


def _is_verb(word: str) -> bool:
    return is_base(word) and not names_things(word)


def _is_adverb(word: str) -> bool:
    return len(word) > 4 and word.endswith("ly") and verb_of(word) is None


def _singular(phrase: list[str]) -> str:
    """Return a noun phrase with its last word in the singular."""
    *before, last = phrase
    if last.endswith("ies") and len(last) > 4:
        last = f"{last[:-3]}y"
    elif last.endswith(("ches", "shes", "sses", "xes", "zes")):
        last = last[:-2]
    elif last.endswith("s") and not last.endswith(_NO_PLURAL) and len(last) > 3:
        last = last[:-1]
    return " ".join([*before, last])


def verify_parallel(graph: ProceduralGraph) -> list[VerifierFeedback]:
    """Return feedback on parallel gateways whose branches act on one object, the smallest first.

    The actions of one branch run in sequence, and may have the same object.
    """
    slabs = [slab for slab in find_slabs(graph) if slab.part.split.sort == "parallel"]
    return [gateway_feedback("parallel", slab, shared) for slab in slabs for shared in _sharing(slab)]


def verify_sequences(graph: ProceduralGraph) -> list[VerifierFeedback]:
    """Return feedback on the first pairs of actions in sequence that act on different objects.

    Not on those that pass data on, or speak of what the action before them acts on. An action stands in one pair.
    """
    hints: list[VerifierFeedback] = []
    paired: set[ProceduralNode] = set()
    for first, second in _adjacent(graph):
        if len(hints) >= MOST_SEQUENTIAL:
            break
        if paired.isdisjoint((first, second)) and _are_independent(graph, first, second):
            paired.update((first, second))
            hints.append(VerifierFeedback("sequential", "", "", (first.text, second.text)))
    return hints


def _sharing(slab: Slab) -> Iterator[tuple[str, ...]]:
    """Yield the actions of different branches that act on one object, for the first objects."""
    by_object: dict[str, dict[ProceduralNode, int]] = {}
    for number, actions in enumerate(slab.actions):
        for action in actions:
            for object_name in sorted(find_objects(action.text)):
                by_object.setdefault(object_name, {}).setdefault(action, number)
    shared = (actions for actions in by_object.values() if len({*actions.values()}) > 1)
    texts = dict.fromkeys(tuple(dict.fromkeys(action.text for action in actions)) for actions in shared)
    yield from islice(texts, MOST_OBJECTS)


def _adjacent(graph: ProceduralGraph) -> Iterator[tuple[ProceduralNode, ProceduralNode]]:
    """Yield the actions of which one follows directly on the other and on nothing else, in the order of the flows."""
    for flow in graph.flows:
        if flow.sort != "sequence" or (flow.source.sort, flow.target.sort) != ("action", "action"):
            continue
        ways = [way for way in graph.outgoing(flow.source) if way.sort != "constraint"]
        back = [way for way in graph.incoming(flow.target) if way.sort != "constraint"]
        if len(ways) == len(back) == 1 and flow.source != flow.target:
            yield flow.source, flow.target


def _are_independent(graph: ProceduralGraph, first: ProceduralNode, second: ProceduralNode) -> bool:
    """Return True if two actions have objects, none in common, and the second does not need what the first makes."""
    objects, others = find_objects(first.text), find_objects(second.text)
    if not objects or not others or not objects.isdisjoint(others):
        return False
    words = set(second.text.lower().split())
    if any(word in words for object_name in objects for word in object_name.split()):
        return False
    produced = {flow.target for flow in graph.outgoing(first) if flow.target.sort == "data"}
    return produced.isdisjoint(flow.source for flow in graph.incoming(second))


def verify_gateways(graph: ProceduralGraph, rule: ConflictRule) -> Iterator[VerifierFeedback | None]:
    """Yield feedback on each gateway with conditions, the smallest first; None if it is of the right type.

    Args:
        graph: The graph.
        rule: What decides whether conditions in prose conflict.
    """
    slabs = [slab for slab in find_slabs(graph) if slab.part.split.sort in ("exclusive", "inclusive")]
    yield from (_feedback(slab, rule) for slab in slabs[:MOST_SPLITS])


def find_gateway_conflict(conditions: list[str], rule: ConflictRule) -> tuple[ConflictVerdict, tuple[str, ...]]:
    """Return whether the conditions of a gateway conflict, and those that decide it.

    They conflict if every two do, and do not if some two do not. Beside several others, "otherwise" decides nothing,
    for both types of gateways may have it; beside one, it conflicts with that. A branch without a condition says less:
    nothing is known of it.

    Args:
        conditions: The condition of each branch; empty for none.
        rule: What decides about conditions in prose.
    """
    stated = [condition for condition in conditions if not means_other_cases(condition)][:MOST_CONDITIONS]
    others = [condition for condition in conditions if condition and means_other_cases(condition)]
    if len(stated) == 1 and others:
        return "conflict", (stated[0], others[0])
    if len(stated) < 2:
        return "unknown", ()
    verdicts: set[ConflictVerdict] = set()
    for first, second in combinations(stated, 2):
        verdict = find_guard_conflict(first, second) or rule.find_conflict(first, second)
        if verdict == "no conflict":
            return verdict, (first, second)
        verdicts.add(verdict)
    return ("conflict", tuple(stated)) if verdicts == {"conflict"} else ("unknown", ())


def _feedback(slab: Slab, rule: ConflictRule) -> VerifierFeedback | None:
    """Return feedback on a gateway if it is not of the type that its conditions show."""
    verdict, deciding = find_gateway_conflict([flow.condition for flow in slab.part.ways], rule)
    sort = slab.part.split.sort
    if sort == "exclusive" and verdict == "no conflict":
        return gateway_feedback("exclusive", slab, deciding)
    if sort == "inclusive" and verdict == "conflict":
        return gateway_feedback("inclusive", slab, deciding)
    return None
