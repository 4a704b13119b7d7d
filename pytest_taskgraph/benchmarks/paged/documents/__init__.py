"""Documents written from procedural graphs (Du et al. 2024, section 3.2): units, fragments, groups, sentences."""

from __future__ import annotations

from .units import CONSTRAINING as CONSTRAINING
from .units import LINKING as LINKING
from .units import PARALLEL as PARALLEL
from .units import SPOKEN as SPOKEN
from .units import Unit as Unit
from .units import UnitKind as UnitKind
from .units import decompose as decompose
from .units import is_split as is_split
from .units import recompose as recompose
