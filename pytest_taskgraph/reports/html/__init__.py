"""Record of a run as one self-contained HTML file: verdict, tables, curves, and every question with its reply.

The page fetches nothing, and a policy in it forbids requests. Replies are untrusted: they pass `printable` and are
escaped by Jinja, or stand in JSON whose `<`, `>` and `&` are escapes and which the script shows as text only. The
page is a pure function of the record.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ...results.record import about_of, tally_of
from ...results.tables import FEW
from ..drawing.marks import MARK_LOOKS
from ..drawing.svg import STYLE
from ..drawing.svg_pair import DrawnPair
from ..escape import printable
from ..gate_lines import gate_reason, gate_state, sorted_gates
from ..headline import provenance_facts, run_facts, verdict
from ..spending_line import RUN
from ..wording import model_name
from .changes import changes
from .charts import confusions, curves
from .embedded_data import NameTables, deflate, embed_json, printable_text
from .heat_map import heat_maps
from .marked_drawings import MarkedDrawings, select_drawn, sort_trials
from .question_view import FIRST, View, blank_question, pairs, question_filters, question_grid, question_views
from .table_view import families, scoreboard_view, tables_across_families

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from ...results.comparison import RunComparison


STYLES = (  # of the page, in this order
    "style.css",
    "drawing.css",
    "transcript.css",
    "highlight.css",
    "curves.css",
    "scoreboard.css",
    "heat_map.css",
    "grid.css",
    "sorting.css",
    "comparison.css",
)
SCRIPTS = (  # each a function of its own, run once the page is read
    "sorting.js",
    "drawing.js",
    "highlight.js",
    "questions.js",
    "comparison.js",
)
_BREAKS = re.compile("([_:/])")
MOST_GATES = 4  # gates that are all shown; of more, those that passed or were left out are folded
_FIRST_FACTS = ("model", "answered", "date", "duration", RUN)  # several models stand in the scoreboard


def html(record: dict[str, Any], comparison: RunComparison | None = None) -> str:
    """Return the page, a whole HTML document. The same record gives the same text.

    Args:
        record: A record that `results.record.build` or `load` returns.
        comparison: The comparison with another run, if there is one.

    Raises:
        UsageError: if the record is damaged.
    """
    tally, about = tally_of(record, diagrams=False), about_of(record)
    changed = changes(comparison) if comparison is not None else None
    trials, diagrams = sort_trials(tally), record["diagrams"]
    subjects, names = MarkedDrawings(diagrams, select_drawn(trials, diagrams)), NameTables(diagrams)
    views = question_views(trials, record, names, changed, subjects)
    svgs, svg_pairs = subjects.drawings(), pairs(views)
    script, tables, grid = _join_assets(SCRIPTS), families(tally), question_grid(views)
    return (
        _environment()
        .get_template("report.jinja")
        .render(
            verdict=verdict(record, tally, about, comparison),
            **_facts([*run_facts(tally, about), *provenance_facts(about)]),
            gates=_gates([_gate_row(gate, len(about.models) > 1) for gate in sorted_gates(record)]),
            changes=changed,
            families=tables,
            across=tables_across_families(tally),
            board=scoreboard_view(tally),
            heat_maps=heat_maps(tally),
            results=f"{tables[0].group}s".capitalize() if len(tables) == 1 else "Results",
            curves=curves(tally),
            confusions=confusions(tally),
            questions=views,
            first=[view.whole(record["texts"], subjects) for view in views[:FIRST]],
            blank=blank_question(),
            filters=question_filters(views, tally, changed is not None),
            grid=embed_json(grid) if grid else "",
            index=embed_json([view.line for view in views]),
            details=embed_json(_details(record, views, names)),
            drawings=embed_json({cluster: deflate(svg) for cluster, svg in svgs.items()}),
            pairs=embed_json({str(at): _pack_pair(pair) for at, pair in svg_pairs.items()}),
            undrawn=sum("undrawn" in view.detail for view in views),
            drawn=len(svgs) + len(svg_pairs),
            few=FEW,
            style=_join_assets(STYLES) + (STYLE if svgs or svg_pairs else ""),
            script=script,
            script_hash=b64encode(sha256(script.encode()).digest()).decode(),
        )
    )


def _gates(rows: list[dict[str, str]]) -> dict[str, list[dict[str, str]]]:
    """Return the gates that the page shows at once, and those that it folds."""
    folded = [row for row in rows if row["outcome"] in ("passed", "skipped")] if len(rows) > MOST_GATES else []
    return {"shown": [row for row in rows if row not in folded], "folded": folded}


def _facts(facts: list[tuple[str, str]]) -> dict[str, list[tuple[str, str]]]:
    """Return the facts of the run in two lists: the first ones, and the rest, which the page folds."""
    first = [(name, value) for name, value in facts if name in _FIRST_FACTS]
    return {"first_facts": first, "further_facts": [fact for fact in facts if fact not in first]}


def _gate_row(gate: Mapping[str, Any], several: bool) -> dict[str, str]:
    """Return a row of the table of gates, with the model if there are several and the name does not contain it."""
    name, model = str(gate.get("name") or ""), str(gate.get("model") or "")
    shown_model = model if several and not name.endswith(f"[{model}]") else ""
    return {"name": name, "model": shown_model, "outcome": gate_state(gate), "reason": gate_reason(gate)}


def _pack_pair(pair: DrawnPair) -> list[str]:
    """Return the parts of the pair in the order of PAIR, the drawings compressed."""
    return [deflate(pair.expected), deflate(pair.given), pair.missing, pair.extra, pair.same, pair.broken]


def _details(record: Mapping[str, Any], views: Sequence[View], names: NameTables) -> dict[str, Any]:
    """Return what the page shows of opened questions; names are compressed, for many tables are alike."""
    return {
        "texts": _printable_texts(record, views),
        "names": deflate(json.dumps(names.tables, separators=(",", ":"))),
        "questions": [view.detail for view in views],
    }


def _printable_texts(record: Mapping[str, Any], views: Iterable[View]) -> dict[str, str]:
    """Return the texts of prompts, and those of messages that transcripts show."""
    needed = dict.fromkeys(digest for trial in record["trials"] for digest in trial["question"]["prompt"])
    texts = {digest: record["texts"][digest] for digest in needed}
    for view in views:
        texts |= view.transcript.texts
    return {digest: printable_text(text) for digest, text in texts.items()}


@cache
def _join_assets(names: tuple[str, ...]) -> str:
    return "".join(map(_asset, names))


@cache
def _asset(name: str) -> str:
    return files(__package__).joinpath("page", name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    """Return a Jinja environment that escapes all but safe markup, and lets only printable text through."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        autoescape=True,
        loader=FunctionLoader(_asset),
        finalize=lambda value: printable_text(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["mark_looks"] = MARK_LOOKS
    environment.filters["breaking"] = _break_in_names
    environment.filters["model"] = model_name
    environment.filters["arguments"] = _keep_arguments_whole
    return environment


def _keep_arguments_whole(command: str) -> Markup:
    """Return the command, escaped; lines break between arguments, and within those alone that are wider than a line."""
    from markupsafe import Markup, escape

    parts = printable(command).split(" ")
    return Markup(" ").join(Markup('<span class="argument">{}</span>').format(escape(part)) for part in parts)


def _break_in_names(name: str) -> Markup:
    """Return the name, escaped, with a place for a line break after each underscore, colon and slash."""
    from markupsafe import Markup, escape

    return Markup(_BREAKS.sub(r"\1<wbr>", str(escape(printable(name)))))  # escapes have none of these characters
