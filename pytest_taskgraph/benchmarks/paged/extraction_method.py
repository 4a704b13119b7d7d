"""A method of PAGED: how a procedural graph is asked for; a row of its tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...trial import Place

if TYPE_CHECKING:
    from ...asking import Episode
    from ...trial import Json
    from .document_sets import DocumentPair
    from .paged_options import PagedSettings


@dataclass(frozen=True, slots=True)
class ExtractionMethod:
    """One way to ask for the graph of a document.

    Args:
        name: The name in options, gates and tables.
        title: What it does, in a few words, for the documentation.
        prompt: From the document and the settings to the text of the first request.
        place: Where the graph stands in the reply.
        episode: How a question is put; None for one prompt and one reply.
        settings: From the document and the settings to what the episode needs beside the prompt.
        check: Checks, before anything is asked, that the settings can be met. Raises UsageError.
    """

    name: str
    title: str
    prompt: Callable[[DocumentPair, PagedSettings], str]
    place: Place
    episode: Episode | None = None
    settings: Callable[[DocumentPair, PagedSettings], dict[str, Json]] = lambda pair, settings: {}
    check: Callable[[PagedSettings], None] = lambda settings: None
