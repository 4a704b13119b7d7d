"""The record as one HTML file that stands alone: verdict, tables, curves, and every question with its reply.

Nothing in it is fetched, and a policy in the page forbids it. Replies are hostile: what is told of them went through
`printable` and is escaped by Jinja, or stands in JSON whose `<`, `>` and `&` are escapes and which the script shows as
text only. The page is a pure function of the record.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ...results.record import about_of, tally_of
from ...results.tables import FEW
from ..drawing.svg import STYLE
from ..drawing.svg_pair import DrawnPair
from ..escape import printable
from ..gate_lines import gates_of, reason, state
from ..headline import facts, verdict
from .changes import changes
from .charts import confusions, curves
from .embedded_data import deflated, embedded, shown_text
from .question_view import FIRST, blank, drawings, pairs, questions, views
from .table_view import across, families

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from ...results.comparison import RunComparison


def html(record: dict[str, Any], comparison: RunComparison | None = None) -> str:
    """The page, a whole HTML document; with a `comparison` what changed since another run too.

    The record is one that `results.record.build` or `load` returns. The same record gives the same text. Raises
    UsageError for a record that is damaged.
    """
    tally, about = tally_of(record), about_of(record)
    changed = changes(comparison) if comparison is not None else None
    found = questions(tally, record, changed)
    drawn, drawn_pairs = drawings(record, found), pairs(found)
    script, shown = _asset("script.js"), families(tally)
    return (
        _environment()
        .get_template("report.jinja")
        .render(
            verdict=verdict(record, tally, about, comparison),
            facts=facts(tally, about),
            gates=[_gate(one, len(about.models) > 1) for one in gates_of(record)],
            changes=changed,
            families=shown,
            across=across(tally),
            results=f"{shown[0].group}s".capitalize() if len(shown) == 1 else "Results",
            curves=curves(tally),
            confusions=confusions(tally),
            questions=found,
            first=[one.whole(record["texts"], drawn, drawn_pairs.get(at)) for at, one in enumerate(found[:FIRST])],
            blank=blank(),
            filters=views(found, tally, changed is not None),
            index=embedded([one.line for one in found]),
            details=embedded({"texts": _printable_texts(record), "questions": [one.detail for one in found]}),
            drawings=embedded({cluster: deflated(svg) for cluster, svg in drawn.items()}),
            pairs=embedded({str(at): _packed(pair) for at, pair in drawn_pairs.items()}),
            undrawn=sum(bool(one.pair) for one in found) - len(drawn_pairs),
            few=FEW,
            style=_asset("style.css") + (STYLE if drawn or drawn_pairs else ""),
            script=script,
            script_hash=b64encode(sha256(script.encode()).digest()).decode(),
        )
    )


def _gate(gate: Mapping[str, Any], several: bool) -> dict[str, str]:
    """A line of the table of verdicts over the whole run; with the model where there are several and no name tells."""
    name, model = str(gate.get("name") or ""), str(gate.get("model") or "")
    apart = model if several and not name.endswith(f"[{model}]") else ""
    return {"name": name, "model": apart, "outcome": state(gate), "reason": reason(gate)}


def _packed(pair: DrawnPair) -> list[str]:
    """Return the parts of the pair in the order of PAIR, the drawings made small."""
    return [deflated(pair.expected), deflated(pair.given), pair.missing, pair.extra, pair.same]


def _printable_texts(record: Mapping[str, Any]) -> dict[str, str]:
    """The texts of prompts; those of other messages are shown with their exchanges."""
    needed = dict.fromkeys(digest for one in record["trials"] for digest in one["question"]["prompt"])
    return {digest: shown_text(record["texts"][digest]) for digest in needed}


@cache
def _asset(name: str) -> str:
    return files(__package__).joinpath("page", name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    """Jinja that escapes all but what is marked as safe, and lets nothing through that does not print."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        autoescape=True,
        loader=FunctionLoader(_asset),
        finalize=lambda value: shown_text(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["breaking"] = _breaking
    return environment


def _breaking(name: str) -> Markup:
    """The name, escaped, with a place for a line break after each underscore."""
    from markupsafe import Markup

    return Markup("_<wbr>").join(printable(name).split("_"))
