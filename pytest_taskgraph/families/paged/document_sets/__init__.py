"""The documents of PAGED with their graphs: generated ones, or the user's own.

document_set         a set and its splits, and the numbers of Table 4
generated_documents  documents of generated graphs
documents_folder     the user's documents with their graphs, and graphs alone, for which the command writes documents
published_pairs      the files that the authors of PAGED published
pair_texts           the user's texts made fit for use, or what is wrong with them
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..paged_options import DATA
from .document_set import DocumentPair, DocumentSet

if TYPE_CHECKING:
    from ..paged_settings import PagedSettings

__all__ = ["DocumentPair", "DocumentSet", "load"]


def load(settings: PagedSettings, renew: bool = True) -> DocumentSet:
    """Return the documents of the source that the settings name. It is kept: data are read once a process.

    Generated documents are new for every seed; the split that is asked about has at least as many as the settings have
    instances.

    Args:
        settings: The settings.
        renew: Whether the user's files are read again if one of them was changed.

    Raises:
        UsageError: if the user's data are not stated, or hold no pair that can be used.
    """
    if settings.source == "own":
        from .documents_folder import read_documents, recall_documents

        path = settings.data_path(DATA)
        return read_documents(path) if renew else recall_documents(path)
    from .generated_documents import generate_documents

    return generate_documents(settings.seed, settings.instances, settings.split, settings.quality)
