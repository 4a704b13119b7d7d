r"""The workflow DSL of Töpfer et al. (2025), files `.xxp`, in three variants: one grammar, one reader, three writers.

- `wadl` (assembled): one file per workflow, each task in one block, sub-workflows by name.
- `wadl-separate`: abstract workflows (`define task`) and workflows derived `from` them that only `configure`.
- `wadl-expanded`: one workflow; a composite task contains the tasks and links of its sub-workflow.

The language is specified in docs/reference/workflow-language.md. A text may hold several files, one after another::

    package pantry;                          // a comment; items come in any order
    workflow Meal from pantry.Base {         // derived: everything of Base, filled in by `configure`
      description "A meal";
      define task Cook;                      // declared; `configure task Cook { … }` describes it
      task Taste { implementation "file://taste.py"; param cooks = 2; }
      task Plate { subworkflow Plating; data Dish = Soup; }     // Plating's data Dish is the Soup of this level
      define data Soup { schema "file://soup.schema"; }
      START -> Cook -> PARALLEL_1;           // fork and join; the number pairs them; they are no tasks
      PARALLEL_1 -> Taste -> PARALLEL_END_1;
      PARALLEL_1 -> Plate -> PARALLEL_END_1;
      PARALLEL_END_1 -> END;
      Cook ?-> Cook { condition "n < 3"; }   // a conditional link
      Cook !-> Taste;                        // an exceptional link: taken if Cook fails
      Cook --> Soup --> Taste;               // data flow
    }

A `configure` of a task or data that the same file declares is merged into the declaration. In a composite task with
its sub-workflow in its block, `define data A = B;` declares A inside and binds it to the outer B. A `param` there
belongs to the task.

Extensions of this package (the grammar is `wadl.lark`); the writers use each only where the language cannot express the
content otherwise::

    package main;                            // `main` is the empty package; a package of that name is "main" in quotes
    workflow Tea {
      task "Boil water" {                    // a name in quotes: blanks, words of the language, START, PARALLEL_1, …
        kind "user";
        description "He says \"now\"\nand waits";     // \" \\ \n are escapes; any other backslash is itself
        param litres = 0.5 in real 0 .. 2;            // a domain, ends included; either end may be left out
        param heat = "low" in { "low", "high" };
        param cups in integer;                        // without a value
        param lid = true;
        effect cups = "cups + 1";                     // what the task does to a parameter
        duration 5 minutes;                           // what it takes: seconds, minutes, hours or days
      }
      task Brew {
        subworkflow { description "Steeping"; param minutes = 4; }     // of the sub-workflow, not of the task
        task Steep {}
        START -> Steep -> END;
      }
      data Leaves { description "green"; }
      START -> "Boil water" -> EXCLUSIVE_1;           // EXCLUSIVE_n, EXCLUSIVE_END_n, INCLUSIVE_n, INCLUSIVE_END_n
      EXCLUSIVE_1 ?-> Brew { condition "cups > 0"; }
      EXCLUSIVE_1 ?-> END { condition "otherwise"; }
      Brew -> END;
    }

A qualified name may stand after `subworkflow`, numbers may be negative, and a task may be declared without a block. A
text with several files is read in order; `heading` is a comment line.
"""

from __future__ import annotations

from ...workflow.features import FEATURES
from ...workflow.model import Workflow
from ..notation import WAYS_OUT, Notation
from .write_wadl import heading, render_assembled, render_expanded, render_separate

_FLOW = (
    "`A -> B;` is control flow: B comes directly after A. START and END are no tasks. PARALLEL_n forks into branches"
    " that run in parallel and PARALLEL_END_n joins them; EXCLUSIVE_n and INCLUSIVE_n choose exactly one branch, or one"
    ' or more. `A ?-> B { condition "c"; }` is followed only if c holds; "otherwise" means that no other condition'
    f" holds. {WAYS_OUT} `A --> B;` is data flow: a task reads the data before it and writes the data after it."
)

_EXCEPTIONAL = "`A !-> B;` is an exceptional link of the control flow from A to B."
_DURATION = "`duration 30 minutes;` in the block of a task says how long it takes."


def _parse(text: str, where: str = "") -> tuple[Workflow, ...]:
    from .read_wadl import parse  # imported here because most runs only write

    return parse(text, where)


WADL = Notation(
    name="wadl",
    title="workflow DSL (assembled)",
    phrase="in a workflow DSL (assembled)",
    suffixes=(".xxp",),
    says=FEATURES - {"derivation"},
    exceptional_guide=_EXCEPTIONAL,
    duration_guide=_DURATION,
    guide=f"Each `task` block describes a task; `subworkflow S;` says that the workflow S details it. {_FLOW}",
    render=render_assembled,
    parse=_parse,
    heading=heading,
    is_joined=True,
)

WADL_SEPARATE = Notation(
    name="wadl-separate",
    title="workflow DSL (separate files with inheritance)",
    phrase="in a workflow DSL (separate files with inheritance)",
    suffixes=(".xxp",),
    says=FEATURES,
    exceptional_guide=_EXCEPTIONAL,
    duration_guide=_DURATION,
    guide="`workflow W from p.B` has everything of the workflow B in the package p. `define task` declares a task and"
    " `configure task` fills in what is known about it, also inside the sub-workflow of a task. `subworkflow S;` says"
    f" that the workflow S details the task. {_FLOW}",
    render=render_separate,
    parse=_parse,
    heading=heading,
    is_joined=True,
)

WADL_EXPANDED = Notation(
    name="wadl-expanded",
    title="workflow DSL (expanded)",
    phrase="in a workflow DSL (expanded)",
    suffixes=(".xxp",),
    says=FEATURES - {"derivation", "references"},
    exceptional_guide=_EXCEPTIONAL,
    duration_guide=_DURATION,
    guide="Each `task` block describes a task; a composite task contains the tasks and links of its sub-workflow."
    f" {_FLOW}",
    render=render_expanded,
    parse=_parse,
    heading=heading,
    is_joined=True,
)
