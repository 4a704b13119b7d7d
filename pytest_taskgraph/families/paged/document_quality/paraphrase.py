"""Paraphrases of documents by a model (Du et al. 2024, section 3.2 and appendix A), and what they lose.

The model gets the sentences group by group, with the mark `<SEP>` between groups, and the names that must survive. If
the paraphrase lost some of those that the document covers, the model is asked once more, with the lost ones named.
Unlike in the paper no person corrects the result: what is lost in the end is reported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ....errors import NotAskedError, ProviderError, UnparseableError
from ....notations.procedural_lines import THOUGHTS_END
from ....trial import Json, Request
from ..documents.written_document import Document
from ..prompts import PROMPTS
from .quality_metrics import GraphName, NameCoverage, coverage_of, name_coverage

if TYPE_CHECKING:
    from ....asking import Model
    from ....benchmarks.settings import Settings
    from ....workflow.procedural_graph import ProceduralGraph

SEPARATOR: Final = "<SEP>"
LONGEST_REPLY: Final = 200_000  # characters that are read
_MARK: Final = re.compile(r"<[ \t]{0,3}/?[ \t]{0,3}SEP[ \t]{0,3}/?[ \t]{0,3}>", re.IGNORECASE)
_FENCE: Final = re.compile(r"[ \t]*(?:```|~~~)")
_HEADING: Final = re.compile(
    r"[ \t*#]*(?:(?:sure|certainly|of course|here is|here's|below is)\b[^\n]{0,120}"
    r"|(?:the )?(?:(?:rewritten|revised|paraphrased) )?(?:document|version|text))[ \t*]*:[ \t*]*",
    re.IGNORECASE,
)
_EMPTY: Final = "(no text)"  # providers refuse a message without any
_WRONG: Final = "The procedure is carried out as usual."


@dataclass(frozen=True, slots=True)
class ParaphraseText:
    """A paraphrase as a model wrote it: its parts, one for each group of the document if the model kept the marks."""

    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        """The parts in a row."""
        return " ".join(self.parts)


@dataclass(frozen=True, slots=True)
class Paraphrase:
    """A paraphrase of a document, and what it lost.

    Args:
        text: The paraphrase.
        coverage: The names of the graph that it covers, and those that it does not.
        lost: The names that the document covers and the paraphrase does not.
        groups: The number of groups of the document, and that of the parts of the paraphrase.
        attempts: The number of requests that were answered, 1 or 2; the paraphrase that lost less is kept.
        failure: Why the second request has no reply, if it was sent and has none.
    """

    text: str
    coverage: NameCoverage
    lost: tuple[GraphName, ...]
    groups: tuple[int, int]
    attempts: int = 1
    failure: str = ""


def sentence_groups(document: Document) -> tuple[str, ...]:
    """Return the text of each group of a document's sentences, in order."""
    groups: list[tuple[int, list[str]]] = []
    for sentence in document.sentences:
        if groups and groups[-1][0] == sentence.group:
            groups[-1][1].append(sentence.text)
        else:
            groups.append((sentence.group, [sentence.text]))
    return tuple(" ".join(texts) for _, texts in groups)


def paraphrase_request(
    groups: Sequence[str], names: Sequence[GraphName], settings: Settings, options: Mapping[str, Json] | None = None
) -> Request:
    """Return the request to rewrite a document.

    Args:
        groups: The text of each group of its sentences.
        names: The names that must survive.
        settings: Their folder of templates may replace the prompt.
        options: The settings of the request, such as its temperature.
    """
    document = f"\n{SEPARATOR}\n".join(groups)
    fields = {"document": document, "groups": len(groups), "names": names, "lost": ()}
    messages = [{"role": "user", "content": _prompt(fields, settings)}]
    return _request(messages, options, document)


def retry_request(first: Request, reply: str, groups: int, lost: Sequence[GraphName], settings: Settings) -> Request:
    """Return the request to write a paraphrase again that lost some names.

    Args:
        first: The request that was answered.
        reply: What the model wrote.
        groups: The number of groups of the document.
        lost: The lost names, which the message lists.
        settings: Their folder of templates may replace the prompt.
    """
    fields = {"document": "", "groups": groups, "names": (), "lost": lost}
    messages = [
        *first.messages,
        {"role": "assistant", "content": reply[:LONGEST_REPLY].strip() or _EMPTY},
        {"role": "user", "content": _prompt(fields, settings)},
    ]
    return _request(messages, first.settings, first.right)


def _request(messages: list[dict[str, Any]], options: Mapping[str, Json] | None, right: Json) -> Request:
    return Request(messages, role="paraphraser", settings=dict(options or {}), right=right, wrong=_WRONG)


def _prompt(fields: Mapping[str, Any], settings: Settings) -> str:
    return PROMPTS.render("paraphrase", fields, settings)


def read_paraphrase(reply: str) -> ParaphraseText:
    """Return the paraphrase that a reply holds, without thoughts, a heading, fences and marks between parts.

    Raises:
        UnparseableError: if no text is left.
    """
    lines = _outside_fences(reply[:LONGEST_REPLY].rpartition(THOUGHTS_END)[2].splitlines())
    first = next((at for at, line in enumerate(lines) if line.strip()), len(lines))
    if first < len(lines) and _HEADING.fullmatch(lines[first].strip()[:200]):
        lines = lines[first + 1 :]
    texts = (" ".join(part.split()) for part in _MARK.split("\n".join(lines)))
    parts = tuple(part for part in texts if part)
    if not parts:
        raise UnparseableError("the reply holds no document; expected the rewritten document")
    return ParaphraseText(parts)


def _outside_fences(lines: list[str]) -> list[str]:
    """Return what the first and the last fence enclose, if that is a text; else all lines that are no fences."""
    fences = [at for at, line in enumerate(lines) if _FENCE.match(line)]
    inner = lines[fences[0] : fences[-1]] if fences else []
    for part in (inner, lines):
        unfenced = [line for line in part if not _FENCE.match(line)]
        if any(map(str.strip, unfenced)):
            return unfenced
    return []


async def paraphrase_document(
    model: Model,
    graph: ProceduralGraph,
    groups: Sequence[str],
    settings: Settings,
    options: Mapping[str, Json] | None = None,
) -> Paraphrase:
    """Ask a model to rewrite a document, and once more if names were lost.

    Args:
        model: The model of the role "paraphraser".
        graph: The graph that the document describes.
        groups: The text of each group of the document's sentences; a document without known groups is one.
        settings: Their folder of templates may replace the prompt.
        options: The settings of the requests, such as their temperature.

    Raises:
        ProviderError: if the first request has no reply.
        NotAskedError: if the first request is not sent.
        UnparseableError: if no reply holds a text.
    """
    names = name_coverage(graph, " ".join(groups)).covered
    request = paraphrase_request(groups, names, settings, options)
    reply = await model.answer(request)
    first = _judge(reply.text, graph, names, len(groups))
    lost = names if first is None else first.lost
    if first is not None and not lost:
        return first
    failure, attempts, again = "", 1, None
    try:
        second = await model.answer(retry_request(request, reply.text, len(groups), lost, settings))
        again, attempts = _judge(second.text, graph, names, len(groups)), 2
    except (ProviderError, NotAskedError) as error:
        failure = str(error)
    best = min(
        (attempt for attempt in (first, again) if attempt is not None),
        key=lambda attempt: len(attempt.lost),
        default=None,
    )
    if best is None:
        raise UnparseableError(f"{attempts} replies hold no document; expected the rewritten document")
    return Paraphrase(best.text, best.coverage, best.lost, best.groups, attempts, failure)


def _judge(reply: str, graph: ProceduralGraph, names: Sequence[GraphName], groups: int) -> Paraphrase | None:
    """Return the paraphrase of a reply with what it lost; None if the reply holds none."""
    try:
        paraphrase = read_paraphrase(reply)
    except UnparseableError:
        return None
    text = paraphrase.text
    return Paraphrase(text, name_coverage(graph, text), coverage_of(names, text).lost, (groups, len(paraphrase.parts)))
