"""Variations: the same question in a way that must not change its answer.

Each variation changes a question. Where the changed workflow has the same case, its answer is computed again and must
agree with the original one.
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
from .own_files import projects
from .own_files.choices import text_of
from .patterns import catalogue
from .patterns.pattern import Case, Pattern
from .patterns.scope import Scope, cases, scopes, use_own_name
from .questions.examples import shots_of, unsupported_by_examples
from .questions.ingredients import (
    PatternQuestion,
    PatternReference,
    known_names,
    own_path,
    unvaried_question,
    write_workflow,
)
from .questions.left_out import recipe_features
from .questions.phrasings import apply_phrasings
from .questions.sample import USUAL
from .renaming import RESERVED, Change, names_of, random_renaming, with_texts
from .understanding_settings import UnderstandingSettings

DISTRACTOR_TASKS = 8
ORDERS = 8  # maximum number of attempts


def check(relations: Iterable[str]) -> None:
    """Validate the names of variations.

    Raises:
        UnknownNameError: if a name is unknown.
    """
    for name in relations:
        if name not in RELATIONS:
            raise UnknownNameError("relation (--taskgraph-vary)", name, RELATIONS)


def vary_question(relation: str, posed: PatternQuestion, rng: Random) -> PatternQuestion:
    """Return a variation of a question.

    Raises:
        NoCaseError: if the variation is not possible; the message states the reason.
    """
    features_held = features(posed.workflow)
    if reason := obstacle(relation, posed.pattern, posed.phrasings, features_held, posed.notation):
        raise NoCaseError(reason)
    return RELATIONS[relation](posed, rng)


def obstacle(relation: str, pattern: Pattern, phrasings: int, features_held: frozenset[str], notation_name: str) -> str:
    """Return why no question of a pattern about workflows with these features can be varied so; empty if some can."""
    hindrances = {
        "names": pattern.planted and "names are what the question is about",
        "notation": not _other_notations(features_held, notation_name)
        and f"no notation but {notation_name} supports the workflow",
        "phrasing": phrasings < 2 and "the pattern has one phrasing",
    }
    return hindrances.get(relation) or ""


def _other_notations(features_held: frozenset[str], notation_name: str) -> list[str]:
    """Return the other notations that support these features; variants of the given one only if no other does."""
    supporting = [
        candidate.name
        for candidate in NOTATIONS.values()
        if candidate.name != notation_name and not features_held & candidate.unsupported
    ]
    return [name for name in supporting if name.partition("-")[0] != notation_name.partition("-")[0]] or supporting


def rename_everything(posed: PatternQuestion, rng: Random) -> PatternQuestion:
    """Rename tasks, data, gateways, parameters and workflows wherever their names occur."""
    names = names_of(posed.workflow)
    if reserved := sorted(RESERVED.intersection(name.lower() for name in names)):
        raise NoCaseError(f"the name {reserved[0]!r} is also a word of conditions or answers")
    change = random_renaming(names, frozenset(names), rng)
    project = with_texts(posed.workflow, change)
    places = [scope.place for scope in scopes(posed.workflow)]
    return _move_case(posed, project, places.index(posed.scope.place), _rename_case(posed.case, change))


def reorder_declarations(posed: PatternQuestion, rng: Random) -> PatternQuestion:
    """Declare everything in another order, at any depth.

    Of a few orders, the first is taken in which the case has the same words, if there is one.
    """
    orders = [shuffle_declarations(posed.workflow, rng) for _ in range(ORDERS)]
    same = (order for order in orders if posed.pattern.planted or _has_case(posed, order))
    return _at_same_level(posed, next(same, orders[0]))


def add_distractor(posed: PatternQuestion, rng: Random) -> PatternQuestion:
    """Add a workflow to the project whose names occur nowhere else."""
    usual = USUAL - notation(posed.notation).unsupported
    recipes = [Recipe(tasks=DISTRACTOR_TASKS, features=usual), Recipe(tasks=DISTRACTOR_TASKS)]
    distractor = build(next(recipe for recipe in recipes if least_tasks(recipe) <= DISTRACTOR_TASKS), rng)
    change = random_renaming(names_of(distractor), frozenset({*names_of(posed.workflow), *names_of(distractor)}), rng)
    other = replace(with_texts(distractor, change), package=posed.workflow.package)
    return _at_same_level(posed, replace(posed.workflow, others=(*posed.workflow.others, other)))


def change_notation(posed: PatternQuestion, rng: Random) -> PatternQuestion:
    """Write the workflow in another notation; in a variant of the same one only if no other supports it."""
    return replace(posed, notation=rng.choice(_other_notations(features(posed.workflow), posed.notation)))


def change_phrasing(posed: PatternQuestion, rng: Random) -> PatternQuestion:
    """Use the other phrasing; of several others, the next."""
    return replace(posed, phrasing=(posed.phrasing + 1) % posed.phrasings)


def _has_case(posed: PatternQuestion, project: Workflow) -> bool:
    """Return True if the project has the case at the same level, in the same words."""
    return any(
        _find_case(posed.pattern, scope, posed.case) for scope in scopes(project) if scope.place == posed.scope.place
    )


def _find_case(pattern: Pattern, scope: Scope, original: Case) -> Case | None:
    """Return the case with the same fields, with the answer that holds there."""
    return next((candidate for candidate in cases(pattern, scope) if candidate.fields == original.fields), None)


def _at_same_level(posed: PatternQuestion, project: Workflow) -> PatternQuestion:
    """Return the case about the corresponding level of another project."""
    places = [scope.place for scope in scopes(project)]
    if posed.scope.place not in places:
        raise NoCaseError(f"the variation has no {posed.scope.place}")
    return _move_case(posed, project, places.index(posed.scope.place), posed.case)


def _move_case(posed: PatternQuestion, project: Workflow, index: int, original: Case) -> PatternQuestion:
    """Return the original case about a level of another project, with its answer computed there.

    Built-in patterns can word a case differently, as a pair in another order or as another situation; their answers do
    not depend on names and order. About the user's own patterns nothing can be assumed.
    """
    scope = scopes(project)[index]
    case = original
    if not posed.pattern.planted:
        new_case = _find_case(posed.pattern, scope, original)
        if new_case is None and posed.pattern.category == "custom":
            raise NoCaseError("the variation has no such case")
        if new_case is not None and not same_answer(posed.pattern, new_case.answer, original.answer, project, scope):
            raise NoCaseError("the answer changes")
        case = original if new_case is None else replace(original, answer=new_case.answer)
    return replace(posed, workflow=project, scope=scope, case=case)


def same_answer(pattern: Pattern, answer: Json, expected: Json, project: Workflow, scope: Scope) -> bool:
    """Return True if an answer equals the expected one, or if an ideal reply with it is right by the expected one."""
    if answer == expected:
        return True
    names, shape = known_names(project, scope.workflow), form(pattern.form)
    measure = METRICS.get(pattern.metric or shape.metric)
    return measure is not None and measure(shape.read(shape.write(answer, names), names, "lenient"), expected) == 1.0


def _rename_case(case: Case, change: Change) -> Case:
    return replace(case, answer=_rename_answer(case.answer, change), fields=with_texts(case.fields, change))


def _rename_answer(answer: Json, change: Change) -> Json:
    """Return the answer with the new names; sorted lists are sorted again, except those that refer to positions."""
    if isinstance(answer, dict):
        if "before" in answer:
            return {key: with_texts(value, change) for key, value in answer.items()}
        return {change(key): _rename_answer(value, change) for key, value in answer.items()}
    if isinstance(answer, list):
        new = [_rename_answer(part, change) for part in answer]
        return sorted(new, key=repr) if answer == sorted(answer, key=repr) else new
    return change(answer) if isinstance(answer, str) else answer


RELATIONS: Mapping[str, Callable[[PatternQuestion, Random], PatternQuestion]] = {
    "names": rename_everything,
    "order": reorder_declarations,
    "notation": change_notation,
    "phrasing": change_phrasing,
    "distractor": add_distractor,
}


def resolve_reference(reference: PatternReference, settings: UnderstandingSettings) -> PatternQuestion:
    """Return the question of a reference.

    Raises:
        NoCaseError: if the variation of the reference is not possible.
    """
    question = unvaried_question(reference, settings)
    return _vary_by_reference(question, reference, settings) if reference.relation else question


def add_variations(
    references: Iterable[PatternReference], settings: UnderstandingSettings
) -> Iterator[PatternReference]:
    """Yield each reference, followed by those of its possible variations."""
    for reference in references:
        yield reference
        yield from (
            variation
            for variation in _variations_of(reference, settings.vary)
            if not variation_obstacle(variation, settings)
        )


def variation_obstacle(reference: PatternReference, settings: UnderstandingSettings) -> str:
    """Return why a question cannot be varied so; empty if it can."""
    pattern = catalogue()[reference.pattern]
    if reference.source < 0 and pattern.category != "custom" and not shots_of(settings):
        features_held, phrasings = (
            recipe_features(pattern, reference.tasks),
            len(apply_phrasings(pattern, settings.templates).templates),
        )
        return obstacle(reference.relation, pattern, phrasings, features_held, reference.notation)
    # Keys of the cache: patterns and files can change within a process.
    own = projects.load(own_path(reference, settings)).digest if reference.source >= 0 else ""
    return _attempt_obstacle(reference, settings, pattern, own)


def variation_notices(references: Iterable[PatternReference], settings: UnderstandingSettings) -> Iterator[str]:
    """Yield a line for each variation that is not possible for some of the questions."""
    all_references = list(references)
    for relation in dict.fromkeys(settings.vary):
        reasons = [
            variation_obstacle(variation, settings)
            for reference in all_references
            for variation in _variations_of(reference, [relation])
        ]
        if obstacles := list(filter(None, reasons)):
            yield f"{len(obstacles)} of {len(reasons)} questions have no variation in {relation}: {obstacles[0]}"


def _variations_of(reference: PatternReference, relations: Iterable[str]) -> Iterator[PatternReference]:
    for relation in dict.fromkeys(relations):
        yield replace(reference, id=f"{reference.id}-vary-{relation}", relation=relation, twin=reference.id)


@catalog_cache
@lru_cache(maxsize=1 << 16)
def _attempt_obstacle(reference: PatternReference, settings: UnderstandingSettings, pattern: Pattern, own: str) -> str:
    try:
        resolve_reference(reference, settings)
    except NoCaseError as error:
        return str(error)
    return ""


def _vary_by_reference(
    question: PatternQuestion, reference: PatternReference, settings: UnderstandingSettings
) -> PatternQuestion:
    """Return the question in the variation of its reference.

    Raises:
        NoCaseError: if the variation is not possible.
    """
    verbatim = reference.source >= 0 and not settings.convert
    if verbatim and reference.relation != "phrasing":
        raise NoCaseError("own files are shown verbatim; add --taskgraph-notation to convert them")
    rng = Random(f"{reference.relation}|{question.pattern.name}|{reference.tasks}|{settings.seed}|{reference.ordinal}")
    variation = vary_question(reference.relation, question, rng)
    if shots_of(settings) and unsupported_by_examples(question.pattern, variation.notation):
        raise NoCaseError(f"no example in {variation.notation}")
    if verbatim:
        return variation
    text = write_workflow(variation.workflow, variation.notation)
    if variation.edit:
        text = text_of(own_path(reference, settings), variation.workflow, notation(variation.notation), variation.edit)
    scope = use_own_name(variation.scope, variation.workflow, text) if question.scope.own_name else variation.scope
    return replace(variation, text=text, scope=scope)
