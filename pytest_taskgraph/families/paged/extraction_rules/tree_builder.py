"""From what a text says of a procedure, mention by mention, to the procedure as blocks within each other.

`extract_graph` is the rule-based extractor. It reads English as a person skims it: "if", "otherwise", "then", "at the
same time", "note that", subjects and headings as actors. It understands no more than that, and is a baseline for models
that do. In other languages it finds little. `document_sentences` divides a document, `clause_reader` reads its
sentences, and the rules here build a graph of what they say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, Literal

from ....workflow.procedural_graph import ProceduralFlow, ProceduralGraph, ProceduralNode
from .clashing_conditions import are_opposites, exclude_each_other
from .clause_reader import read_mentions
from .document_sentences import (
    ActionMention,
    ChoiceMention,
    ConditionMention,
    ConstraintMention,
    EndMention,
    Mention,
    ParallelMention,
    ReturnMention,
    StatementMention,
    StepMention,
    read_sentences,
)
from .procedure_tree import (
    END,
    BackTo,
    KnownActions,
    TreeBlock,
    TreeSequence,
    graph_of_tree,
    join_common_targets,
    leads_out_of,
    left_later,
)
from .verb_lexicon import OTHERWISE

DEEPEST: Final = 12  # blocks within each other; further ones stand in the innermost
LOOK_AHEAD: Final = 30  # statements


def build_graph(mentions: Sequence[Mention]) -> ProceduralGraph:
    """Return the procedural graph of what a text says, by these rules.

    - An action follows the action before it. An action that was mentioned before is the same one, and what is said next
      goes on from there.
    - Conditions of statements in a row are branches of one gateway; so is a later condition that excludes one of them,
      and "otherwise". The gateway is exclusive if any two exclude each other or there is only one, else inclusive.
    - A statement without a condition stands behind the branches, unless the text comes back to their gateway later.
    - A constraint belongs to the action that it names, else to the action before it.
    """
    builder = _TreeBuilder([mention for mention in mentions if isinstance(mention, StatementMention)])
    constraints: list[tuple[ConstraintMention, ProceduralNode | None]] = []
    for mention in mentions:
        if isinstance(mention, ConstraintMention):
            constraints.append((mention, builder.last_action))
        else:
            builder.read_statement(mention)
    for root in builder.roots:
        join_common_targets(root)
    graph = graph_of_tree(builder.roots)
    return ProceduralGraph.of([*graph.flows, *_constraint_flows(constraints, builder.known, graph)])


def _constraint_flows(
    constraints: list[tuple[ConstraintMention, ProceduralNode | None]],
    known_actions: KnownActions,
    graph: ProceduralGraph,
) -> Iterator[ProceduralFlow]:
    """Yield the flows of constraints to and from their actions; a constraint without any action is dropped."""
    actions = graph.nodes_of("action")
    for mention, before in constraints:
        action = known_actions.similar(mention.about, mention.actor) if mention.about else None
        action = action or before or (actions[0] if actions else None)
        if action is None:
            continue
        node = ProceduralNode(mention.sort, mention.text)
        if mention.sort == "notice" or mention.produced:
            yield ProceduralFlow(action, node)
        else:
            yield ProceduralFlow(node, action)


@dataclass(slots=True)
class _Placed:
    """What the last statement put where: the sequence, and from which item on."""

    sequence: TreeSequence
    start: int


class _TreeBuilder:
    """Reads statements in their order; all of them are known from the start, to look ahead."""

    def __init__(self, statements: Sequence[StatementMention]) -> None:
        self._statements = statements
        self._at = -1
        self.known = KnownActions()
        self.roots = [TreeSequence()]
        self._cursor = self.roots[0]
        self._open: TreeBlock | None = None  # the outermost choice to which the statement before added a branch
        self._placed: _Placed | None = None
        self.last_action: ProceduralNode | None = None
        self._continued: set[ProceduralNode] = set()  # actions with another one behind them in the same statement

    def read_statement(self, statement: StatementMention) -> None:
        """Add what a statement says."""
        self._at += 1
        steps, conditions = list(statement.steps), list(statement.conditions)
        if statement.lead == "start" and statement.opens_section and self.known:
            self.roots.append(TreeSequence())
            self._cursor, self._open = self.roots[-1], None
        if conditions and (conditions[0].occasion or conditions[0].completed):
            steps, conditions = self._without_occasion(steps, conditions)
        beside = statement.lead == "parallel" and self._go_beside(steps)
        if beside:
            self._open = None
        elif statement.lead in ("join", "done"):
            self._close(statement.lead == "done")
            self._open = None
        if conditions:
            self._branch(conditions, statement, inside=beside or statement.lead == "within")
        elif not beside:
            self._leave(statement, steps)
        if not conditions:
            self._open = None
        if statement.lead == "split" and not conditions:
            self._cursor = self._add_block("parallel").add()
        self._placed = _Placed(self._cursor, len(self._cursor.items))
        self._place(steps, new_branch=bool(conditions) or beside)

    def _without_occasion(
        self, steps: list[StepMention], conditions: list[ConditionMention]
    ) -> tuple[list[StepMention], list[ConditionMention]]:
        """Take "when" for a time: if it names a known action, opens the procedure, or is about what happens anyway."""
        action = conditions[0].occasion
        if action is None or (self.known and self.known.similar(action.text, least=0.7) is None):
            alone = conditions[0].completed and not self._has_alternative(conditions[0])
            return steps, conditions[1:] if alone else conditions
        return [replace(action, recalled=True), *steps], conditions[1:]

    def _has_alternative(self, condition: ConditionMention) -> bool:
        """Return True if the condition before or after a condition is an alternative to it."""
        around = [*self._statements[max(0, self._at - 1) : self._at], *self._statements[self._at + 1 : self._at + 2]]
        others = [statement.conditions[0] for statement in around if statement.conditions]
        return any(other.otherwise or exclude_each_other(other.text, condition.text) for other in others)

    # Where a statement goes on

    def _leave(self, statement: StatementMention, steps: list[StepMention]) -> None:
        """Go behind the blocks to which the text does not come back."""
        first = steps[0] if steps else None
        if isinstance(first, ActionMention) and self._find(first, resumes=len(steps) > 1) is not None:
            return
        if statement.lead == "within" and not self._cursor.ends:
            return
        if self._open is not None and self._open_waits():
            return
        self._climb()

    def _open_waits(self) -> bool:
        """Return True if a condition without any action stands before: what follows is under it."""
        before = self._statements[self._at - 1]
        return not before.steps and not self._cursor.items

    def _close(self, all_done: bool) -> None:
        """Go behind the block of which the text says that its branches are done: the innermost of the kind that fits.

        Args:
            all_done: Whether several branches were taken, as in "once all are done".
        """
        last = self._cursor.items[-1] if self._cursor.items else None
        if isinstance(last, TreeBlock) and last.is_choice != all_done:
            last.closed = True
            return
        blocks = list(self._cursor.enclosing())
        fitting = [block for block in blocks if leads_out_of(block, all_done)]
        if blocks:
            block = (fitting or blocks)[0]
            block.closed = True
            self._cursor = block.parent

    def _climb(self) -> None:
        """Leave the blocks to which the text does not come back, as far as no later words lead out of them."""
        left = left_later(list(self._cursor.enclosing()), self._following())
        while self._cursor.block not in (None, left) and not self._comes_back(self._cursor.block):
            self._cursor = self._cursor.block.parent

    def _following(self) -> Sequence[StatementMention]:
        """Return the next statements, as far as a reader looks ahead."""
        return self._statements[self._at + 1 : self._at + 1 + LOOK_AHEAD]

    def _comes_back(self, block: TreeBlock) -> bool:
        """Return True if a later statement is about a block: another branch of it, or an action in one."""
        inner = 0
        for later in self._following():
            first = later.steps[0] if later.steps else None
            if not later.conditions:
                if isinstance(first, ActionMention) and (node := self._find(first)) is not None:
                    home = self.known.home(node)
                    if block in home.enclosing():
                        return True
                continue
            condition = later.conditions[0]
            if later.lead == "also" and not condition.otherwise:
                if inner == 0 and block.is_choice and not block.is_full:
                    return True
            elif condition.otherwise:
                if inner == 0 and block.is_choice and not block.is_full:
                    return True
                inner = max(0, inner - (condition.text == OTHERWISE))
            elif block.is_choice and any(are_opposites(branch.condition, condition.text) for branch in block.branches):
                return not block.is_full
            else:
                inner = 1
        return False

    def _branch(self, conditions: list[ConditionMention], statement: StatementMention, *, inside: bool) -> None:
        """Go to the branch of a condition, and within it to those of the others.

        Args:
            conditions: The conditions.
            statement: Their statement.
            inside: Whether the first one is about what happens where the text is, not about a branch before.
        """
        before = self._open
        self._cursor = self._new_block(conditions[0], "choice") if inside else self._enter(conditions[0], statement)
        if self._cursor.block is not before or before is None:
            self._open = self._cursor.block
        for condition in conditions[1:]:
            last = self._cursor.items[-1] if self._cursor.items else None
            if isinstance(last, TreeBlock) and last.is_choice and self._fits(last, condition):
                self._cursor = last.add(condition.text, condition.otherwise)
            else:
                self._cursor = self._new_block(condition, "choice")

    def _enter(self, condition: ConditionMention, statement: StatementMention) -> TreeSequence:
        enclosing = [block for block in self._cursor.enclosing() if block.is_choice]
        last = self._cursor.items[-1] if self._cursor.items else None
        if isinstance(last, TreeBlock) and last.is_choice and not last.closed:
            enclosing.insert(0, last)
        alternative = self._alternative_in(enclosing, condition)
        if alternative is not None:
            return alternative
        if enclosing and statement.lead == "also" and not enclosing[0].is_full:
            enclosing[0].sort = "inclusive"
            return enclosing[0].add(condition.text)
        if condition.otherwise and condition.text == OTHERWISE:
            return self._cursor  # an alternative to nothing
        if self._open is not None and self._goes_on(self._open, condition):
            return self._open.add(condition.text)
        if self._open is not None and self._is_complete(self._open):
            self._cursor = self._open.parent
        self._climb()
        return self._new_block(condition, "exclusive" if statement.lead == "exclusive" else "choice")

    def _alternative_in(self, blocks: list[TreeBlock], condition: ConditionMention) -> TreeSequence | None:
        """Return the branch of a condition in the first block where it stands already, or is an alternative."""
        for block in blocks:
            same = next((branch for branch in block.branches if _same(branch.condition, condition.text)), None)
            if same is not None and not condition.otherwise:
                return same
            if self._fits(block, condition) and not (
                condition.otherwise and self._fits_another(blocks, block, condition)
            ):
                return block.add(condition.text, condition.otherwise)
        return None

    def _fits_another(self, blocks: list[TreeBlock], block: TreeBlock, condition: ConditionMention) -> bool:
        """Return True if "otherwise, if ..." is rather about a block further out, by what it says."""
        if condition.text == OTHERWISE or _is_excluded(block, condition):
            return False
        return any(_is_excluded(other, condition) for other in blocks[blocks.index(block) + 1 :])

    def _fits(self, block: TreeBlock, condition: ConditionMention) -> bool:
        """Return True if a condition is an alternative to those of a block; further away it must be an opposite."""
        if block.is_full:
            return False
        exclude = exclude_each_other if self._open is not None else are_opposites
        return condition.otherwise or any(exclude(branch.condition, condition.text) for branch in block.branches)

    def _goes_on(self, block: TreeBlock, condition: ConditionMention) -> bool:
        """Return True if a condition right behind those of a block, which excludes none of them, is another branch.

        It is not if those are complete, for two exclude each other, or if the next one excludes it.
        """
        if block.sort == "exclusive":
            return not block.is_full
        if self._is_complete(block):
            return False
        following = next(iter(self._statements[self._at + 1 : self._at + 2]), None)
        if following is None or not following.conditions:
            return True
        return not exclude_each_other(condition.text, following.conditions[0].text)

    def _is_complete(self, block: TreeBlock) -> bool:
        """Return True if the conditions of a block leave no further case: two of them exclude each other."""
        return block.is_full or (len(block.branches) > 1 and block.sort != "exclusive" and block.is_exclusive)

    def _new_block(self, condition: ConditionMention, sort: Literal["exclusive", "choice"]) -> TreeSequence:
        return self._add_block(sort).add(condition.text, condition.otherwise)

    # What a statement adds

    def _go_beside(self, steps: list[StepMention]) -> bool:
        """Go to a new branch beside the branch around, or the statement before; return False if there is none."""
        if any(isinstance(step, ActionMention) and self._find(step) is not None for step in steps):
            return False
        block = next((block for block in self._cursor.enclosing() if not block.is_choice), None)
        if block is None and self._placed is not None:
            sequence, start = self._placed.sequence, self._placed.start
            moved = sequence.items[start:]
            if not moved or sequence.ends:
                return False
            self._cursor = sequence
            last = moved[-1]
            if isinstance(last, TreeBlock) and not last.is_choice and len(moved) == 1:
                block = last
            else:
                del sequence.items[start:]
                block = self._add_block("parallel")
                self._move(moved, block.add())
        if block is None:
            return False
        self._cursor = block.add()
        return True

    def _add_block(self, sort: Literal["parallel", "exclusive", "inclusive", "choice"]) -> TreeBlock:
        """Add a block at the cursor; in a sequence that ends, or too deep, further out."""
        if self._cursor.ends:
            self._cursor = self._reachable(self._cursor)
        if sum(1 for _ in islice(self._cursor.enclosing(), DEEPEST)) >= DEEPEST:
            while self._cursor.block is not None:
                self._cursor = self._cursor.block.parent
        block = TreeBlock(sort, self._cursor)
        self._cursor.items.append(block)
        return block

    def _move(self, items: list[ProceduralNode | TreeBlock | BackTo], to: TreeSequence) -> None:
        for item in items:
            to.items.append(item)
            if isinstance(item, TreeBlock):
                item.parent = to
            elif isinstance(item, ProceduralNode):
                self.known.put(item, to)

    def _place(self, steps: Sequence[StepMention], *, new_branch: bool = False) -> None:
        """Add steps at the cursor, and leave it behind the last.

        Args:
            steps: The steps.
            new_branch: Whether a known action in front is where the branch goes on, not where the text resumes.
        """
        for at, step in enumerate(steps):
            match step:
                case ActionMention():
                    self._place_action(step, resume=at == 0 and not new_branch, goes_on=len(steps) > 1, starts=at == 0)
                case EndMention():
                    self._end()
                case ReturnMention():
                    self._return(step)
                case ParallelMention() | ChoiceMention():
                    self._place_block(step)

    def _end(self) -> None:
        if not self._cursor.ends:
            self._cursor.items.append(END)

    def _return(self, step: ReturnMention) -> None:
        target = self.known.similar(step.text, least=0.6)
        if target is None:
            self._place_action(step.action, resume=False)
        elif not self._cursor.ends:
            self._cursor.items.append(BackTo(target))
            self.last_action = target

    def _place_action(
        self, mention: ActionMention, *, resume: bool, goes_on: bool = False, starts: bool = True
    ) -> None:
        node = self._find(mention, resumes=resume and goes_on)
        if node is None:
            node = ProceduralNode("action", mention.text, mention.actor)
            if self._cursor.ends:
                self._cursor = self._reachable(self._cursor)
            self._cursor.items.append(node)
            self.known.put(node, self._cursor)
            if not starts and self.last_action is not None:
                self._continued.add(self.last_action)
        elif not resume:
            self._go_to(node)
        else:
            self._cursor = self.known.home(node)
            if goes_on:
                self._make_room(node)
        self.last_action = node

    def _make_room(self, node: ProceduralNode) -> None:
        """Let what a statement adds behind a known action follow it at once.

        What stands there without words such as "then" goes behind the branch; in the whole procedure it stays.
        """
        items, block = self._cursor.items, self._cursor.block
        at = items.index(node) + 1
        following = items[at] if at < len(items) else None
        if block is None or not isinstance(following, ProceduralNode) or following == END or node in self._continued:
            return
        moved = items[at:]
        del items[at:]
        place = block.parent.items.index(block) + 1
        behind = block.parent.items[place:]
        del block.parent.items[place:]
        self._move(moved, block.parent)
        block.parent.items.extend(behind)

    def _reachable(self, sequence: TreeSequence) -> TreeSequence:
        """Return the innermost sequence around one that ends here from which the procedure goes on."""
        while sequence.block is not None and sequence.ends:
            sequence = sequence.block.parent
        if sequence.ends:
            sequence.items.pop()  # the text goes on, and so does the procedure
        return sequence

    def _go_to(self, node: ProceduralNode) -> None:
        """Go on at a known action: it follows here already, or the branch joins it, or goes back to it."""
        home = self.known.home(node)
        if home is self._cursor and self.last_action is not None and self._follows(self.last_action, node):
            return
        if not self._cursor.ends and self._cursor.items[-1:] != [node]:
            self._cursor.items.append(BackTo(node))
        self._cursor = home

    def _follows(self, before: ProceduralNode, node: ProceduralNode) -> bool:
        items = self._cursor.items
        return before in items and node in items and items.index(before) < items.index(node)

    def _place_block(self, mention: ParallelMention | ChoiceMention) -> None:
        if isinstance(mention, ParallelMention) and self._widen(mention):
            return
        block = self._add_block("parallel" if isinstance(mention, ParallelMention) else mention.sort)
        parent = block.parent
        for steps in mention.branches:
            self._cursor = block.add()
            self._place(steps, new_branch=True)
        self._cursor = parent

    def _widen(self, mention: ParallelMention) -> bool:
        """Put branches beside the action in front of the cursor, if the first branch is this action."""
        first = mention.branches[0][0] if mention.branches and mention.branches[0] else None
        node = self._find(first) if isinstance(first, ActionMention) else None
        if node is None or self._cursor is not self.known.home(node) or self._cursor.items[-1:] != [node]:
            return False
        parent = self._cursor
        block = TreeBlock("parallel", parent)
        parent.items[-1:] = [block]
        branch = block.add()
        self._move([node], branch)
        self._cursor = branch
        self._place(mention.branches[0][1:])
        for steps in mention.branches[1:]:
            self._cursor = block.add()
            self._place(steps, new_branch=True)
        self._cursor = parent
        return True

    def _find(self, mention: ActionMention, *, resumes: bool = False) -> ProceduralNode | None:
        """Return the known action that a mention names, or none.

        Args:
            mention: The mention.
            resumes: Whether more follows in its statement: below another heading it is then the same action.
        """
        action = self.known.find(mention.text, mention.actor)
        if action is None and resumes and mention.by_heading:
            action = self.known.find(mention.text)
        if action is None and mention.recalled:
            action = self.known.similar(mention.text, least=0.6)
        return action


def _is_excluded(block: TreeBlock, condition: ConditionMention) -> bool:
    return not block.is_full and any(exclude_each_other(branch.condition, condition.text) for branch in block.branches)


def _same(first: str, other: str) -> bool:
    return bool(first) and " ".join(first.lower().split()) == " ".join(other.lower().split())


def extract_graph(document: str) -> ProceduralGraph:
    """Return the procedural graph of a document; an empty one if it states no action.

    The work is bounded: of a longer document the first 100,000 characters are read, and 1,000 sentences at most.
    """
    return build_graph(read_mentions(read_sentences(document)))
