"""Draws how the tasks of a workflow are shared out among its levels."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from .recipe import Recipe, demanded, least_own

LONGEST_CHAIN = 4  # of sub-workflows that refer to one another: patterns.md, S24


@dataclass(slots=True)
class Share:
    """The number of tasks directly in a level, and the shares of the sub-workflows of some of them."""

    own: int
    inner: list[Share] = field(default_factory=list)
    referred: bool = False


def share_out(recipe: Recipe, rng: Random) -> Share:
    """The share of the whole workflow, exactly `recipe.tasks` in all.

    References form chains of 1 to 4 sub-workflows each; inline sub-workflows are drawn besides where "hierarchy" is
    demanded for itself, or there are no references.
    """
    spare = recipe.tasks - least_own(recipe)
    root = Share(recipe.tasks)
    wanted = demanded(recipe)
    if "references" in wanted:
        for _ in range(_times(root, rng)):
            if room := _room(root, spare):
                spare = _give(root, _chain(1 + _large(_most(room), rng), rng), spare)
    if "hierarchy" in (recipe.features if root.inner else wanted):
        for _ in range(_times(root, rng)):
            if room := _room(root, spare):
                spare = _give(root, _nest(1 + rng.randrange(_most(room)), recipe.depth - 1, rng), spare)
    return root


def _times(root: Share, rng: Random) -> int:
    """How many sub-workflows a level gets, if there is room: mostly several, of large levels more."""
    return 1 + _large(3 + root.own // 12, rng)


def _room(root: Share, spare: int) -> int:
    """How many tasks a further sub-workflow may have, so that the level keeps tasks that are not composite."""
    return max(0, min(spare, root.own - 3 * (len(root.inner) + 1))) if root.inner else spare


def _large(count: int, rng: Random) -> int:
    """Draw a number below the count, large ones more often."""
    return max(rng.randrange(count), rng.randrange(count))


def _most(spare: int) -> int:
    """The most that one sub-workflow gets: not all of a large workflow is to be inside one task."""
    return max(1, min(spare, 2 + spare // 2))


def _give(outer: Share, inner: Share, spare: int) -> int:
    """What is left to spare when tasks of the outer share have become those of an inner one."""
    outer.inner.append(inner)
    outer.own -= size(inner)
    return spare - size(inner)


def size(share: Share) -> int:
    """The number of tasks in it, at any depth."""
    return share.own + sum(size(inner) for inner in share.inner)


def _chain(tasks: int, rng: Random) -> Share:
    """A chain of sub-workflows, each referred to by a task of the one before."""
    length = 1 + _large(min(LONGEST_CHAIN, tasks), rng)
    cuts = sorted(rng.sample(list(range(1, tasks)), length - 1))
    parts = [end - start for start, end in zip([0, *cuts], [*cuts, tasks], strict=True)]
    share = Share(parts[-1], referred=True)
    for part in reversed(parts[:-1]):
        share = Share(part, [share], referred=True)
    return share


def _nest(tasks: int, depth: int, rng: Random) -> Share:
    """An inline sub-workflow of that many tasks in all, with another in one of its tasks at times."""
    share = Share(tasks)
    if depth > 0 and tasks >= 3 and rng.random() > 0.5:
        _give(share, _nest(1 + rng.randrange(tasks // 2), depth - 1, rng), tasks)
    return share
