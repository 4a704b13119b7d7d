"""List the mutations: each has a name, records what it did as a Flaw, and leaves a well-formed workflow."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from ...workflow.model import Workflow
from .description_flaws import (
    hide_description,
    hide_purpose,
    keep_purpose,
    misdescribe,
    misname,
    rename_foreign,
    repeat_name,
    swap_purpose,
)
from .domain_flaws import contradict_goal, stray_task, swap_order
from .flow_flaws import back_link, cross_condition, disconnect, drop_link, forward_link, keep_connected
from .guard_flaws import exclude_guards, overlap_guards
from .reference_cycles import close_cycle, cut_cycle
from .stretches import nest_block

Mutation = Callable[[Workflow, Random], Workflow]

MUTATIONS: dict[str, Mutation] = {
    "drop-link": drop_link,
    "disconnect": disconnect,
    "keep-connected": keep_connected,
    "back-link": back_link,
    "forward-link": forward_link,
    "cross-condition": cross_condition,
    "repeat-name": repeat_name,
    "nest-block": nest_block,
    "exclude-guards": exclude_guards,
    "overlap-guards": overlap_guards,
    "close-cycle": close_cycle,
    "cut-cycle": cut_cycle,
    "hide-description": hide_description,
    "hide-purpose": hide_purpose,
    "misdescribe": misdescribe,
    "misname": misname,
    "rename-foreign": rename_foreign,
    "keep-purpose": keep_purpose,
    "swap-purpose": swap_purpose,
    "stray-task": stray_task,
    "contradict-goal": contradict_goal,
    "swap-order": swap_order,
}
