"""Documents that a model paraphrases, as many side by side as its limits allow, and what each of them lost."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from ....errors import TaskgraphError
from ....trial import Json
from ...asked_models import Ask, AskedResults, ask_stated_model, in_command_words
from ...settings import Settings
from ..document_quality.paraphrase import Paraphrase, paraphrase_document
from ..document_sets.document_set import DocumentPair
from ..prompts import PROMPTS
from .document_checks import listed_names


@dataclass(frozen=True, slots=True)
class ParaphraseTask:
    """A document to paraphrase: the pair of it and its graph, and the text of each group of its sentences."""

    pair: DocumentPair
    groups: tuple[str, ...]


def add_template_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option that states the user's own prompts to a parser."""
    parser.add_argument(
        "--templates", metavar="DIR", default="", help="a folder whose paged/paraphrase.jinja replaces the prompt"
    )


def paraphrase_documents(options: argparse.Namespace, tasks: Sequence[ParaphraseTask]) -> AskedResults[Paraphrase]:
    """Return the paraphrase of each document, or why there is none.

    Args:
        options: The options of the command, which state the model and what stands around it.
        tasks: The documents.

    Raises:
        UsageError: if the model or the user's prompt cannot be used.
        KeyboardInterrupt: if the user interrupts; replies that arrived are in the store.
    """
    settings = Settings(templates=options.templates)
    PROMPTS.check(settings)
    return ask_stated_model(options, [_ask(task, settings) for task in tasks])


def _ask(task: ParaphraseTask, settings: Settings) -> Ask[Paraphrase]:
    return lambda model: paraphrase_document(model, task.pair.graph, task.groups, settings)


def failure_lines(tasks: Sequence[ParaphraseTask], results: Sequence[Paraphrase | TaskgraphError]) -> list[str]:
    """Return a line for each document that has no paraphrase."""
    return [
        f"{task.pair.id}: no paraphrase: {in_command_words(str(result))}"
        for task, result in zip(tasks, results, strict=True)
        if not isinstance(result, Paraphrase)
    ]


def loss_line(id: str, found: Paraphrase) -> str:
    """Return a line on what a paraphrase lost: names, and marks between its parts; empty if it lost nothing."""
    before, after = found.groups
    faults = [f"lost {listed_names(found.lost)}"] if found.lost else []
    faults += [f"{after} parts of {before}"] if before != after else []
    if faults and found.failure:
        faults.append(f"not asked again ({in_command_words(found.failure)})")
    return f"{id}: {'; '.join(faults)}" if faults else ""


def paraphrase_to_json(id: str, found: Paraphrase) -> dict[str, Json]:
    """Return what a paraphrase lost, as JSON."""
    before, after = found.groups
    return {
        "id": id,
        "lost": [{"sort": name.sort, "text": name.text} for name in found.lost],
        "requests": found.attempts,
        "parts": {"document": before, "paraphrase": after},
        "failure": in_command_words(found.failure),
    }
