"""The questions of the page: a short line each for the list, and the details that are shown when one is opened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from ...diagram import unpack
from ...results.tally import Tally
from ...trial import PROMPT, Trial
from ..drawing.svg import svg
from ..drawing.svg_pair import DrawnPair, draw_pair
from ..failure import exchange_texts, exchange_title, expected_answer, given_answer, shown_exchanges
from ..trial_facts import trial_facts
from ..wording import number
from .embedded_data import shown_text

if TYPE_CHECKING:
    from .changes import Changes

FIRST = 20  # questions that stand in the page itself, for those who read it without its script
MOST_PAIRS = 5_000  # answers that are drawn; each takes about 5 KB of the page and 5 ms
SHORT = 300  # characters of an answer in the list
_ORDER = {"graded": 1, "right": 2, "skipped": 3}  # what is not right comes first
_FILTERS = {  # names, titles
    "section": "",
    "group": "",
    "model": "Model",
    "prompt_template": "Prompt",
    "outcome": "Outcome",
    "change": "Compared",
}
PAIR = ("pair_expected", "pair_given", "pair_missing", "pair_extra", "pair_same")  # the parts of a DrawnPair
_LISTS = ("facts", "missing", "extra", "exchanges", "labels")


@dataclass(frozen=True, slots=True)
class View:
    """A question with its reply as the page shows it, all texts printable."""

    line: dict[str, str]  # what the list shows and filters look at
    detail: dict[str, Any]  # the rest; its prompt is a list of digests
    pair: str  # the diagrams of the expected and the given answer, packed; none where empty

    def whole(self, texts: Mapping[str, str], drawn: Mapping[str, str], pair: DrawnPair | None) -> dict[str, Any]:
        """Line and detail in one, the prompt as text and the drawings as SVG that may be put into the page."""
        from markupsafe import Markup

        prompt = "".join(texts[digest] for digest in self.detail["prompt"])
        drawing = Markup(
            drawn.get(self.detail["cluster"], "")
        )  # written by reports/drawing/svg.py, as are those of the pair
        told = dict(zip(PAIR, astuple(pair) if pair else [""] * len(PAIR), strict=True))
        both = {"pair": pair is not None, **{name: Markup(told[name]) for name in PAIR[:2]}}
        return {**self.line, **self.detail, "prompt": prompt, "drawing": drawing, **told, **both, "blank": False}


def blank() -> dict[str, Any]:
    """A question without texts, with one entry in each list: the mould from which the script makes all others."""
    lines = dict.fromkeys((*_FILTERS, "id", "score", "text", "expected", "given"), "")
    detail = dict.fromkeys(("error", "remark", "reply", "system", "prompt", "before", "drawing", *PAIR), "")
    lists = {name: [("", "")] if name in ("facts", "labels", "exchanges") else [""] for name in _LISTS}
    return {**lines, **detail, **lists, "blank": True}


def questions(tally: Tally, record: Mapping[str, Any], changed: Changes | None = None) -> list[View]:
    """All trials: those that are not right first, then graded and right ones, then what was not asked; each by id and
    model.

    `changed` tells which answers flipped since another run.
    """
    prompts = {(one["question"]["id"], one["model"]): one["question"]["prompt"] for one in record["trials"]}
    found = [_view(one, prompts[one.question.id, one.model], changed) for one in tally]
    return sorted(found, key=lambda one: _ORDER.get(one.line["outcome"], 0))


def _view(trial: Trial, prompt: Sequence[str], changed: Changes | None) -> View:
    question, score = trial.question, trial.score
    flip = changed.flip(question.id, trial.model) if changed else None
    line = {
        "id": question.id,
        "group": question.group,
        "section": question.section,
        "model": trial.model,
        "prompt_template": str(question.labels.get(PROMPT, "")),
        "outcome": trial.outcome,
        "score": "" if score is None else number(score.value),
        "text": question.text,
        "expected": expected_answer(trial)[:SHORT],
        "given": "" if score is None or score.status != "read" else given_answer(trial)[:SHORT],
        "change": flip.change if flip else "",
    }
    detail = {
        "facts": trial_facts(trial),
        "labels": [[name, str(value)] for name, value in sorted(question.labels.items())],
        "missing": [] if score is None else score.missing,
        "extra": [] if score is None else score.extra,
        "remark": "" if score is None else score.remark,
        "error": trial.failure_text,
        "reply": "" if trial.reply is None else trial.reply.text or "(an empty reply)",
        "system": question.system,
        "exchanges": [*zip(map(exchange_title, shown_exchanges(trial)), exchange_texts(trial), strict=True)],
        "before": flip.told_before if flip else "",
        "cluster": question.cluster,
        "prompt": list(prompt),
    }
    if len(line["expected"]) == SHORT or len(line["given"]) == SHORT:
        given = "" if score is None or score.given is None else given_answer(trial)
        detail |= {"whole_expected": expected_answer(trial), "whole_given": given}
    return View(_printable(line), _printable(detail), trial.diagram_pair)


def _printable(value: Any) -> Any:  # noqa: ANN401
    """The value with all its texts made printable."""
    if isinstance(value, str):
        return shown_text(value)
    if isinstance(value, Mapping):
        return {name: _printable(one) for name, one in value.items()}
    return [_printable(one) for one in value] if isinstance(value, (list, tuple)) else value


def views(found: Sequence[View], tally: Tally, compared: bool) -> list[dict[str, Any]]:
    """The filters, each with its name, title and values; no filter for what is the same everywhere."""
    filters = []
    words = {name: tally.word(name).capitalize() for name in ("group", "section")}
    for name, title in (_FILTERS | words).items():
        values = _once(one.line[name] for one in found if one.line[name])
        if len(values) > 1 or (name == "change" and compared and values):
            filters.append({"name": name, "title": title, "values": values})
    return filters


def _once(values: Iterable[str]) -> list[str]:
    return sorted(dict.fromkeys(values))


def drawings(record: Mapping[str, Any], found: Sequence[View]) -> dict[str, str]:
    """The drawing of what each question is about, as SVG, by cluster; none where the record has none."""
    diagrams = record.get("diagrams")
    if not isinstance(diagrams, dict) or not diagrams:
        return {}
    clusters = dict.fromkeys(one.detail["cluster"] for one in found)
    return {cluster: svg(diagrams[cluster], style=False) for cluster in clusters if cluster in diagrams}


def pairs(found: Sequence[View]) -> dict[int, DrawnPair]:
    """Return the drawings of the first MOST_PAIRS expected and given answers, by the number of the question."""
    drawn = islice(((at, one.pair) for at, one in enumerate(found) if one.pair), MOST_PAIRS)
    return {at: draw_pair(unpack(pair), style=False) for at, pair in drawn}
