"""The guide to an Argo manifest: the sentences that state the rules by which it was read."""

from __future__ import annotations

from dataclasses import dataclass

from ..notation import EXCEPTIONAL_LINKS


@dataclass(slots=True)
class Rules:
    """The rules that were applied to a manifest."""

    dag: bool = False
    steps: bool = False
    depends: bool = False
    when: bool = False
    loops: bool = False
    composite: bool = False  # a task that uses a template with tasks
    inline: bool = False  # a task with an inline template that has tasks
    failing: bool = False  # a task that is reached if another one fails
    clashes: bool = False  # templates of one name in several documents
    single: bool = False  # a document without a template that has tasks


def write_guide(rules: Rules) -> tuple[str, ...]:
    """Return the sentences that state the rules."""
    sentences = {
        "The workflow is an Argo Workflows manifest.": True,
        "Each template with `dag` or `steps` is a workflow, whose name is that of the template.": rules.dag
        or rules.steps,
        "A template whose name several documents have is called `document.template`, after the name in the `metadata` "
        "of its document.": rules.clashes,
        "The entries of its `dag.tasks` are its tasks; a task comes directly after the tasks that its `dependencies` "
        "or `depends` name, and waits for all of them; a task that names none begins with its workflow.": rules.dag,
        "A result such as `.Succeeded` in `depends` is no part of the name of a task.": rules.depends,
        "The entries of its `steps` are its tasks: the tasks of one group (`- -` begins a group) run in parallel, and "
        "each of them comes directly after every task of the group before.": rules.steps,
        "A task that uses a template with `dag` or `steps` is a composite task with that workflow inside it; "
        "any other task is atomic, and the template that it uses is no task.": rules.composite,
        "A task with an `inline` template that has `dag` or `steps` is a composite task with these inside it.": (
            rules.inline
        ),
        "`when` is the condition of each link that leads to its task; a task whose condition does not hold is skipped, "
        "and what waits for it goes on all the same.": rules.when,
        "A task with `withItems`, `withParam` or `withSequence` counts as one task, which has at least one item.": (
            rules.loops
        ),
        "A document without such a template is a workflow with the name in its `metadata`, whose only task is its "
        "`entrypoint`, or what its `workflowTemplateRef` names.": rules.single,
        f"A task that depends on `.Failed` of another is reached from it by an exceptional link. {EXCEPTIONAL_LINKS}": (
            rules.failing
        ),
        "Questions about runs are about runs in which no task fails.": not rules.failing,
    }
    return tuple([sentence for sentence, applies in sentences.items() if applies])
