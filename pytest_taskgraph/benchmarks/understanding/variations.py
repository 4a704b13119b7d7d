"""Variations: the same question asked once more in a way that must not change its answer.

Each relation takes a question as it is posed, and gives it varied. The answer is computed anew on the varied workflow
wherever the same case is found there, and must agree with the one that was known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from random import Random

from ...catalog import catalog_cache
from ...errors import NoCaseError, UnknownNameError
from ...generation.builder import build, shuffle_declarations
from ...generation.recipe import Recipe, least_tasks
from ...notations import NOTATIONS, notation
from ...scoring.forms import form
from ...scoring.metrics import METRICS
from ...trial import Json
from ...workflow.features import features
from ...workflow.model import Workflow
from .family_options import UnderstandingSettings
from .own_files import projects
from .own_files.choices import text_of
from .patterns import catalogue
from .patterns.pattern import Case, Pattern
from .patterns.scope import Scope, cases, scopes, use_own_name
from .questions.examples import shots_of, unsupported_by_examples
from .questions.ingredients import PatternQuestion, PatternReference, known_names, unvaried_question, write_workflow
from .questions.left_out import recipe_features
from .questions.phrasings import apply_phrasings
from .questions.sample import USUAL
from .renaming import RESERVED, Change, names_of, renaming, with_texts

DISTRACTOR_TASKS = 8
ORDERS = 8  # that are tried


def check(relations: Iterable[str]) -> None:
    """Nothing, if all relations are known. Raises UnknownNameError."""
    for name in relations:
        if name not in RELATIONS:
            raise UnknownNameError("relation (--taskgraph-vary)", name, RELATIONS)


def varied(relation: str, posed: PatternQuestion, rng: Random) -> PatternQuestion:
    """The question varied in that relation. Raises NoCaseError where it cannot be had, with the reason."""
    held = features(posed.workflow)
    if reason := hindrance(relation, posed.pattern, posed.phrasings, held, posed.notation):
        raise NoCaseError(reason)
    return RELATIONS[relation](posed, rng)


def hindrance(relation: str, pattern: Pattern, phrasings: int, held: frozenset[str], shown: str) -> str:
    """Why no question of a pattern, about workflows that hold these features, can be varied so; empty if some can."""
    hindrances = {
        "names": pattern.planted and "names are what the question is about",
        "notation": not _able(held, shown) and f"no notation but {shown} can say the workflow",
        "phrasing": phrasings < 2 and "the pattern has one phrasing",
    }
    return hindrances.get(relation) or ""


def _able(held: frozenset[str], shown: str) -> list[str]:
    """The other notations that can say these features; variants of the one that is shown only where no other can."""
    able = [one.name for one in NOTATIONS.values() if one.name != shown and not held & one.unsupported]
    return [name for name in able if name.partition("-")[0] != shown.partition("-")[0]] or able


def renamed(posed: PatternQuestion, rng: Random) -> PatternQuestion:
    """With other names for tasks, data, gateways, parameters and workflows, the same wherever the old ones stood."""
    names = names_of(posed.workflow)
    if reserved := sorted(RESERVED.intersection(name.lower() for name in names)):
        raise NoCaseError(f"the name {reserved[0]!r} is also a word of conditions or answers")
    change = renaming(names, frozenset(names), rng)
    project = with_texts(posed.workflow, change)
    places = [scope.place for scope in scopes(posed.workflow)]
    return _in(posed, project, places.index(posed.scope.place), _changed(posed.case, change))


def reordered(posed: PatternQuestion, rng: Random) -> PatternQuestion:
    """With everything declared in another order, at any depth: one in which the case is told in the same words, where
    one of a few orders has it so.
    """
    orders = [shuffle_declarations(posed.workflow, rng) for _ in range(ORDERS)]
    same = (one for one in orders if posed.pattern.planted or _told_in(posed, one))
    return _same_place(posed, next(same, orders[0]))


def beside_another(posed: PatternQuestion, rng: Random) -> PatternQuestion:
    """With a workflow more in the project, of which no name stands in the others."""
    usual = USUAL - notation(posed.notation).unsupported
    recipes = [Recipe(tasks=DISTRACTOR_TASKS, features=usual), Recipe(tasks=DISTRACTOR_TASKS)]
    made = build(next(recipe for recipe in recipes if least_tasks(recipe) <= DISTRACTOR_TASKS), rng)
    change = renaming(names_of(made), frozenset({*names_of(posed.workflow), *names_of(made)}), rng)
    other = replace(with_texts(made, change), package=posed.workflow.package)
    return _same_place(posed, replace(posed.workflow, others=(*posed.workflow.others, other)))


def rewritten(posed: PatternQuestion, rng: Random) -> PatternQuestion:
    """In another notation, a variant of the same one only where no other can say the workflow."""
    return replace(posed, notation=rng.choice(_able(features(posed.workflow), posed.notation)))


def rephrased(posed: PatternQuestion, rng: Random) -> PatternQuestion:
    """In the other phrasing; of several others, the next."""
    return replace(posed, phrasing=(posed.phrasing + 1) % posed.phrasings)


def _told_in(posed: PatternQuestion, project: Workflow) -> bool:
    return any(
        _found(posed.pattern, scope, posed.case) for scope in scopes(project) if scope.place == posed.scope.place
    )


def _found(pattern: Pattern, scope: Scope, wanted: Case) -> Case | None:
    """The case about the same, with the answer that holds there."""
    return next((one for one in cases(pattern, scope) if one.fields == wanted.fields), None)


def _same_place(posed: PatternQuestion, project: Workflow) -> PatternQuestion:
    """The case about the level of the same place in another project."""
    places = [scope.place for scope in scopes(project)]
    if posed.scope.place not in places:
        raise NoCaseError(f"{posed.scope.place} is not found again")
    return _in(posed, project, places.index(posed.scope.place), posed.case)


def _in(posed: PatternQuestion, project: Workflow, index: int, wanted: Case) -> PatternQuestion:
    """The wanted case about a level of another project, its answer computed there.

    Our own patterns may tell what a case is about in another order, a pair or a situation; their answers are known
    not to depend on names and order. Of the user's own patterns nothing is known.
    """
    scope = scopes(project)[index]
    case = wanted
    if not posed.pattern.planted:
        found = _found(posed.pattern, scope, wanted)
        if found is None and posed.pattern.category == "custom":
            raise NoCaseError("the same case is not found again")
        if found is not None and not same_answer(posed.pattern, found.answer, wanted.answer, project, scope):
            raise NoCaseError("the answer changes")
        case = wanted if found is None else replace(wanted, answer=found.answer)
    return replace(posed, workflow=project, scope=scope, case=case)


def same_answer(pattern: Pattern, found: Json, known: Json, project: Workflow, scope: Scope) -> bool:
    """Return True if an answer is the known one, or if an ideal answer to the one is right by the other."""
    if found == known:
        return True
    names, shape = known_names(project, scope.workflow), form(pattern.form)
    measure = METRICS.get(pattern.metric or shape.metric)
    return measure is not None and measure(shape.read(shape.write(found, names), names, "lenient"), known) == 1.0


def _changed(case: Case, change: Change) -> Case:
    return replace(case, answer=_in_answer(case.answer, change), fields=with_texts(case.fields, change))


def _in_answer(answer: Json, change: Change) -> Json:
    """The answer in the new names; what was in alphabetical order is so again, but for what is told by its place."""
    if isinstance(answer, dict):
        if "before" in answer:
            return {key: with_texts(value, change) for key, value in answer.items()}
        return {change(key): _in_answer(value, change) for key, value in answer.items()}
    if isinstance(answer, list):
        new = [_in_answer(item, change) for item in answer]
        return sorted(new, key=repr) if answer == sorted(answer, key=repr) else new
    return change(answer) if isinstance(answer, str) else answer


RELATIONS: Mapping[str, Callable[[PatternQuestion, Random], PatternQuestion]] = {
    "names": renamed,
    "order": reordered,
    "notation": rewritten,
    "phrasing": rephrased,
    "distractor": beside_another,
}


def asked(reference: PatternReference, settings: UnderstandingSettings) -> PatternQuestion:
    """What a reference stands for. Raises NoCaseError where it cannot be had in the relation of the reference."""
    found = unvaried_question(reference, settings)
    return _varied(found, reference, settings) if reference.relation else found


def with_varied(made: Iterable[PatternReference], settings: UnderstandingSettings) -> Iterator[PatternReference]:
    """Each question, and after it the same varied in each relation that can be had."""
    for one in made:
        yield one
        yield from (again for again in _twins(one, settings.vary) if not refusal(again, settings))


def refusal(reference: PatternReference, settings: UnderstandingSettings) -> str:
    """Why a question cannot be varied so; empty if it can."""
    pattern = catalogue()[reference.pattern]
    if reference.source < 0 and pattern.category != "custom" and not shots_of(settings):
        held, ways = (
            recipe_features(pattern, reference.tasks),
            len(apply_phrasings(pattern, settings.templates).templates),
        )
        return hindrance(reference.relation, pattern, ways, held, reference.notation)
    # What a cached verdict hangs on besides: patterns and files may change within a process.
    own = projects.load(settings.workflows[reference.source]).digest if reference.source >= 0 else ""
    return _tried(reference, settings, pattern, own)


def not_varied(made: Iterable[PatternReference], settings: UnderstandingSettings) -> Iterator[str]:
    """A line for each relation in which some of the questions cannot be varied."""
    ones = list(made)
    for relation in dict.fromkeys(settings.vary):
        reasons = [refusal(again, settings) for one in ones for again in _twins(one, [relation])]
        if told := list(filter(None, reasons)):
            yield f"{len(told)} of {len(reasons)} questions are not asked varied in {relation}: {told[0]}"


def _twins(reference: PatternReference, relations: Iterable[str]) -> Iterator[PatternReference]:
    for relation in dict.fromkeys(relations):
        yield replace(reference, id=f"{reference.id}-vary-{relation}", relation=relation, twin=reference.id)


@catalog_cache
@lru_cache(maxsize=1 << 16)
def _tried(reference: PatternReference, settings: UnderstandingSettings, pattern: Pattern, own: str) -> str:
    try:
        asked(reference, settings)
    except NoCaseError as error:
        return str(error)
    return ""


def _varied(found: PatternQuestion, reference: PatternReference, settings: UnderstandingSettings) -> PatternQuestion:
    """The question in the relation of its reference. Raises NoCaseError where that cannot be had."""
    verbatim = reference.source >= 0 and not settings.convert
    if verbatim and reference.relation != "phrasing":
        raise NoCaseError("own files are shown as they are; --taskgraph-notation has them written anew")
    rng = Random(f"{reference.relation}|{found.pattern.name}|{reference.tasks}|{settings.seed}|{reference.ordinal}")
    again = varied(reference.relation, found, rng)
    if shots_of(settings) and unsupported_by_examples(found.pattern, again.notation):
        raise NoCaseError(f"no example in {again.notation}")
    if verbatim:
        return again
    text = write_workflow(again.workflow, again.notation)
    if again.edit:
        path = settings.workflows[reference.source]
        text = text_of(path, again.workflow, notation(again.notation), again.edit)
    scope = use_own_name(again.scope, again.workflow, text) if found.scope.own_name else again.scope
    return replace(again, text=text, scope=scope)
