"""The order between the steps of a task: from one order, from each pair, from scored orders, or from a whole graph."""

from __future__ import annotations

from .dependency_methods import METHODS as METHODS
