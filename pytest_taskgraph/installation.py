"""Detection of another project that is installed over this project.

This project's distribution is named pytest-taskgraph-bench. The name pytest-taskgraph belongs to another project on the
package index, a plugin for tests of CI task graphs with the same import package: both install
`pytest_taskgraph/__init__.py`, and whichever is installed or uninstalled last determines the file.
"""

from __future__ import annotations

import sys
from importlib.metadata import Distribution, PackageNotFoundError

from .errors import UsageError

DISTRIBUTION = "pytest-taskgraph-bench"
OTHER = "pytest-taskgraph"
_REINSTALL = f"`pip install --force-reinstall {DISTRIBUTION}`"


def check_installation() -> None:
    """Check that the import package holds the files of this project alone.

    It costs one lookup among the names of installed distributions, which pytest has read before.

    Raises:
        UsageError: if the other project is installed, or the package's own `__init__.py` is not this project's.
    """
    if (other := _other_project()) is not None:
        raise UsageError(
            f"{OTHER} {other.version} is installed in {other.locate_file('')}: another project with the same import "
            f"package, pytest_taskgraph, where {DISTRIBUTION} is expected; run `pip uninstall {OTHER}`, then "
            f"{_REINSTALL}"
        )
    package = sys.modules[__package__]
    if "__version__" not in vars(package):
        raise UsageError(
            f"{next(iter(package.__path__))}: __init__.py is missing or belongs to another project; run {_REINSTALL}"
        )


def _other_project() -> Distribution | None:
    """Return the installed distribution of the other project; None if there is none.

    During development this project had the other's name: a distribution that declares this plugin is this project.
    """
    try:
        distribution = Distribution.from_name(OTHER)
    except PackageNotFoundError:
        return None
    if not (distribution.read_text("METADATA") or distribution.read_text("PKG-INFO")):  # left by a failed uninstall
        return None
    ours = any(point.value.startswith(f"{__package__}.plugin") for point in distribution.entry_points)
    return None if ours else distribution
