"""Documents written from procedural graphs (Du et al. 2024, section 3.2): units, fragments, groups, sentences.

units             the units that a graph is decomposed into
unit_templates    the fragment that states a unit
procedure_parts   the sub-procedures of a graph
unit_grouping     groups of units, in the order of the text
aggregation       the sentences of the groups
document_phrases  how texts of a graph become clauses, conditions and names
part_words        the words that open, continue and end sub-procedures
written_document  all of this in a row, or the fragments alone
"""

from __future__ import annotations

from ..paged_options import QUALITIES as QUALITIES
from ..paged_options import DocumentQuality as DocumentQuality
from .aggregation import DocumentSentence as DocumentSentence
from .aggregation import aggregate as aggregate
from .unit_grouping import UnitGroup as UnitGroup
from .unit_grouping import UnitGrouping as UnitGrouping
from .unit_grouping import group_by_part as group_by_part
from .unit_templates import Fragment as Fragment
from .unit_templates import fragment_text as fragment_text
from .unit_templates import fragments_of as fragments_of
from .units import CONSTRAINING as CONSTRAINING
from .units import LINKING as LINKING
from .units import PARALLEL as PARALLEL
from .units import SPOKEN as SPOKEN
from .units import Unit as Unit
from .units import UnitKind as UnitKind
from .units import decompose as decompose
from .units import is_split as is_split
from .written_document import Document as Document
from .written_document import write_document as write_document
