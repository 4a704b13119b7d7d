"""Documents that a model paraphrases, as many side by side as its limits allow, and what each of them lost."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ....benchmarks.asked_models import Ask, AskResults, ask_stated_model, with_command_options
from ....benchmarks.settings import Settings
from ....errors import TaskgraphError, UsageError
from ....trial import Request
from ..document_quality.paraphrase import Paraphrase, paraphrase_document, paraphrase_request, retry_request
from ..document_quality.quality_metrics import GraphName
from ..document_sets.document_set import DocumentPair
from ..prompts import PROMPTS
from .document_checks import listed_names

_PROBE: Final = ("Every quiet otter must fold seven paper boats.", "Then it sails them.")
_LOST: Final = GraphName("action", "fold seven paper boats")


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


def paraphrase_documents(options: argparse.Namespace, tasks: Sequence[ParaphraseTask]) -> AskResults[Paraphrase]:
    """Return the paraphrase of each document, or why there is none.

    Args:
        options: The options of the command, which state the model and what stands around it.
        tasks: The documents.

    Raises:
        UsageError: if the model or the user's prompt cannot be used.
        KeyboardInterrupt: if the user interrupts; replies that arrived are in the store.
    """
    settings = Settings(templates=options.templates)
    check_paraphrase_prompt(settings)
    return ask_stated_model(options, [_ask(task, settings) for task in tasks])


def check_paraphrase_prompt(settings: Settings) -> None:
    """Check the user's prompt before anything is asked.

    Raises:
        UnknownNameError: if there is no prompt of a template's name.
        UsageError: if a template cannot be read or rendered, or leaves out the document or the lost names.
    """
    PROMPTS.check(settings)
    if not settings.templates:
        return
    where = f"--templates={settings.templates}: {PROMPTS.name}/paraphrase.jinja"
    request = paraphrase_request(_PROBE, [_LOST], settings)
    if not all(sentence in _last_message(request) for sentence in _PROBE):
        raise UsageError(f"{where} does not show the document; add {{{{ document }}}}")
    again = retry_request(request, _PROBE[0], len(_PROBE), [_LOST], settings)
    if _LOST.text not in _last_message(again):
        raise UsageError(
            f"{where} does not name what a paraphrase lost; add {{% if lost %}} with a loop over lost, of which each "
            "has a sort and a text"
        )


def _last_message(request: Request) -> str:
    return str(request.messages[-1]["content"])


def _ask(task: ParaphraseTask, settings: Settings) -> Ask[Paraphrase]:
    return lambda model: paraphrase_document(model, task.pair.graph, task.groups, settings)


def failure_lines(tasks: Sequence[ParaphraseTask], results: Sequence[Paraphrase | TaskgraphError]) -> list[str]:
    """Return a line for each document that has no paraphrase."""
    return [
        f"{task.pair.id}: no paraphrase: {with_command_options(str(result))}"
        for task, result in zip(tasks, results, strict=True)
        if not isinstance(result, Paraphrase)
    ]


def loss_line(document_id: str, paraphrase: Paraphrase) -> str:
    """Return a line on what a paraphrase lost: names, and marks between its parts; empty if it lost nothing."""
    before, after = paraphrase.groups
    faults = [f"lost {listed_names(paraphrase.lost)}"] if paraphrase.lost else []
    faults += [f"{after} parts of {before}"] if before != after else []
    if faults and paraphrase.failure:
        faults.append(f"not asked again ({with_command_options(paraphrase.failure)})")
    return f"{document_id}: {'; '.join(faults)}" if faults else ""
