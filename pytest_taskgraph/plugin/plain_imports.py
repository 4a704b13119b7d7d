"""Import of this package's modules without pytest's rewriting of assertions.

pytest rewrites every module of a distribution that has a plugin. Rewritten modules have compiled files of their own;
where Python may not write such files, as in many container images, each run would parse and rewrite hundreds of modules
again, although pip compiled them. No module of this package checks tests with `assert`.
"""

from __future__ import annotations

import atexit
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Final

_PREFIX: Final = __name__.partition(".")[0] + "."


class PlainImports(MetaPathFinder):
    """Finder of the modules of this package, as Python's own finder finds them."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module of this package; None for any other."""
        return PathFinder.find_spec(fullname, path, target) if fullname.startswith(_PREFIX) else None


def import_plainly() -> None:
    """Put the finder before pytest's own, once in a process."""
    if not any(isinstance(finder, PlainImports) for finder in sys.meta_path):
        sys.meta_path.insert(0, PlainImports())
        atexit.register(_remove_finder)


def _remove_finder() -> None:
    """Remove the finder: while it is there, Python visits all objects once more when it ends."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, PlainImports)]
