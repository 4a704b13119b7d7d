"""Questions of the page: a short line each for the list, and the details that an opened question shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

from ...diagram import unpack
from ...results.tally import Tally
from ...scoring.trial_explanation import explain_trial
from ...trial import PROMPT, Trial
from ..drawing.answer_marks import AnswerMarks
from ..drawing.marks import MARK_LOOKS
from ..drawing.svg_pair import DrawnPair, draw_pair
from ..failure import expected_answer, given_answer
from ..trial_facts import trial_facts
from ..wording import count, number
from .embedded_data import permalink, printable_text
from .marked_drawings import MarkedDrawings
from .name_tables import NameTables
from .transcript import TranscriptView, blank_turn, reasoning_title, transcript

if TYPE_CHECKING:
    from .changes import Changes

FIRST = 20  # questions in the page itself, shown if its script does not run
SHORT = 300  # characters of an answer in the list
MOST_REASONS = 10  # sentences about one answer
_FILTERS = {  # names, titles
    "section": "",
    "group": "",
    "model": "Model",
    "prompt_template": "Prompt",
    "outcome": "Outcome",
    "change": "Compared",
}
PAIR = ("pair_expected", "pair_given", "pair_missing", "pair_extra", "pair_same")  # the parts of a DrawnPair
_LISTS = ("facts", "why", "missing", "extra", "labels")


@dataclass(frozen=True, slots=True)
class View:
    """A question with its reply as the page shows it, all texts printable."""

    line: dict[str, str]  # what the list shows and filters look at
    detail: dict[str, Any]  # the rest; its prompt is a list of digests
    pair: str  # the diagrams of the expected and the given answer, packed; empty if they are not drawn
    marks: AnswerMarks  # of the answer, in the drawing of what the question is about
    transcript: TranscriptView

    def whole(self, texts: Mapping[str, str], subjects: MarkedDrawings, pair: DrawnPair | None) -> dict[str, Any]:
        """Return line and details in one, with the prompt as text and the drawings as safe SVG markup."""
        from markupsafe import Markup

        prompt = "".join(texts[digest] for digest in self.detail["prompt"])
        # Safe markup: reports/drawing/svg.py wrote it, and the drawings of the pair.
        drawing, counts = subjects.drawing(self.detail["cluster"], self.marks)
        subject = {"drawing": Markup(drawing), "mark_counts": counts, "tags": "", "unplaced": "", "undrawn": ""}
        parts = dict(zip(PAIR, astuple(pair) if pair else [""] * len(PAIR), strict=True))
        both = {"pair": pair is not None, **{name: Markup(parts[name]) for name in PAIR[:2]}}
        link = permalink(self.line["id"], self.line["model"])
        final = {f"turn_{name}": self.detail.get(name, "") for name in ("reply", "reasoning", "reasoning_title")}
        own = {"prompt": prompt, "link": link, "turns": self.transcript.whole(final), "blank": False}
        absent = dict.fromkeys(("requests", "reasoning", "reasoning_title"), "")
        return {**absent, **self.line, **subject, **self.detail, **own, **parts, **both}


def blank_question() -> dict[str, Any]:
    """Return a question without texts and with one entry in each list, the template of the page's script."""
    lines = dict.fromkeys((*_FILTERS, "id", "score", "text", "expected", "given"), "")
    texts = (
        *("error", "reply", "reasoning", "reasoning_title", "requests", "system", "prompt", "before"),
        *("drawing", "tags", "unplaced", "undrawn", *PAIR),
    )
    lists = {name: [("", "")] if name in ("facts", "labels") else [""] for name in _LISTS}
    own = {"turns": [blank_turn()], "mark_counts": dict.fromkeys(MARK_LOOKS, ""), "link": "#questions", "blank": True}
    return {**lines, **dict.fromkeys(texts, ""), **lists, **own}


def question_views(
    trials: Iterable[Trial],
    record: Mapping[str, Any],
    names: NameTables,
    changed: Changes | None,
    subjects: MarkedDrawings,
) -> list[View]:
    """Return the views of the trials, in the same order.

    Args:
        trials: The trials.
        record: The record that holds them.
        names: The tables of names, which the names of the questions are added to.
        changed: The comparison with another run, which knows the answers that flipped.
        subjects: The drawings of the page, in which answers are marked.
    """
    prompts = {(row["question"]["id"], row["model"]): row["question"]["prompt"] for row in record["trials"]}
    return [
        _view(trial, prompts[trial.question.id, trial.model], names.place(trial.question), changed, subjects)
        for trial in trials
    ]


def _view(trial: Trial, prompt: Sequence[str], names: int, changed: Changes | None, subjects: MarkedDrawings) -> View:
    question, score, shown_transcript = trial.question, trial.score, transcript(trial)
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
        "why": _reasons(trial),
        "error": trial.failure_text,
        **_reply_detail(trial, shown_transcript),
        "system": question.system,
        "before": flip.before_text if flip else "",
        "prompt": list(prompt),
        "names": names,  # the number of the table
    }
    if score is not None and trial.outcome == "wrong":
        detail["score"] = f"{number(score.value)}; pass threshold {number(question.pass_threshold)}"
    if len(line["expected"]) == SHORT or len(line["given"]) == SHORT:
        given = "" if score is None or score.given is None else given_answer(trial)
        detail |= {"whole_expected": expected_answer(trial), "whole_given": given}
    marks, pair = subjects.marks(trial), subjects.pair(trial)
    detail |= subjects.detail(trial, marks)
    return View(_printable(line), _printable(detail), pair, marks, shown_transcript)


def _reply_detail(trial: Trial, shown_transcript: TranscriptView) -> dict[str, Any]:
    """Return the reply, its reasoning if it has any, and the requests if there are several."""
    reply, turns = trial.reply, shown_transcript.turns
    detail: dict[str, Any] = {"reply": "" if reply is None else reply.text or "(an empty reply)"}
    if reply is not None and reply.reasoning:
        detail |= {"reasoning": reply.reasoning, "reasoning_title": reasoning_title(reply.tokens_reasoning)}
    return detail | ({"turns": turns, "requests": count(len(turns), "request")} if turns else {})


def _reasons(trial: Trial) -> list[str]:
    """Return sentences about what is wrong with the answer, the most important first; none for a right answer."""
    score = trial.score
    if score is None:
        return []
    remark = score.remark or ("" if score.status == "read" else "the reply has no answer that can be parsed")
    reasons = explain_trial(trial)
    if len(reasons) > MOST_REASONS:
        reasons = [*reasons[:MOST_REASONS], f"and {count(len(reasons) - MOST_REASONS, 'further reason')}"]
    return [*reasons, *([remark] if remark else [])]


def _printable(value: Any) -> Any:  # noqa: ANN401
    """Return the value with all its texts printable."""
    if isinstance(value, str):
        return printable_text(value)
    if isinstance(value, Mapping):
        return {name: _printable(member) for name, member in value.items()}
    return [_printable(member) for member in value] if isinstance(value, (list, tuple)) else value


def question_filters(views: Sequence[View], tally: Tally, compared: bool) -> list[dict[str, Any]]:
    """Return the filters, each with its name, title and values; none for what is the same everywhere."""
    filters = []
    words = {name: tally.word(name).capitalize() for name in ("group", "section")}
    for name, title in (_FILTERS | words).items():
        values = _distinct(view.line[name] for view in views if view.line[name])
        if len(values) > 1 or (name == "change" and compared and values):
            filters.append({"name": name, "title": title, "values": values})
    return filters


def _distinct(values: Iterable[str]) -> list[str]:
    return sorted(dict.fromkeys(values))


def pairs(views: Sequence[View]) -> dict[int, DrawnPair]:
    """Return the drawings of expected and given answers, by the number of the question."""
    return {at: draw_pair(unpack(view.pair), style=False) for at, view in enumerate(views) if view.pair}
