"""One trial in full as printable lines: question, prompt, exchanges, reply, score and drawings."""

from __future__ import annotations

from collections.abc import Iterator

from ..diagram import Diagram, DiagramPair, unpack
from ..scoring.trial_explanation import explain_trial
from ..trial import Trial
from .drawing.answer_marks import MarkedSubject
from .drawing.diagram_text import diagram_lines
from .drawing.gantt import gantt_lines, schedule_charts
from .drawing.svg_pair import difference_marks
from .escape import one_line, quote_lines
from .failure import exchange_texts, exchange_title, expected_answer, given_answer, shown_exchanges
from .trial_columns import trial_facts
from .wording import number

IN_REPLY = "(the reply below)"


def trial_lines(trial: Trial) -> list[str]:
    """Return all that a record holds of a trial, without shortening; texts from outside stand after a vertical bar."""
    question = trial.question
    about = {"family": question.family, "section": question.section, "group": question.group, **question.labels}
    return [
        one_line(f"{question.id} ({trial.model}): {trial.outcome}{_score_text(trial)}"),
        one_line(", ".join(f"{name} {value}" for name, value in about.items() if value != "")),
        *_section("question", question.text),
        *_section("system prompt", question.system),
        *_section("prompt", question.prompt),
        *_exchange_lines(trial),
        *(_section("reasoning", trial.reply.reasoning) if trial.reply is not None else []),
        *(_section("reply", trial.reply.text or "(an empty reply)") if trial.reply is not None else []),
        *_section("expected", expected_answer(trial)),
        *_outcome_lines(trial),
        "",
        *(one_line(f"{name}: {value}") for name, value in trial_facts(trial)),
        *_drawing_lines(trial),
    ]


def _score_text(trial: Trial) -> str:
    return "" if trial.score is None else f", score {number(trial.score.value)}"


def _section(title: str, text: str) -> list[str]:
    return ["", f"{title}:", *quote_lines(text).split("\n")] if text else []


def _exchange_lines(trial: Trial) -> Iterator[str]:
    texts = exchange_texts(trial, IN_REPLY, longest=None)
    for at, (exchange, text) in enumerate(zip(shown_exchanges(trial), texts, strict=True), 1):
        yield from ("", one_line(f"exchange {at}: {exchange_title(exchange)}"))
        yield from quote_lines(text).split("\n") if text else []


def _outcome_lines(trial: Trial) -> Iterator[str]:
    """Yield the parsed answer and the reason for the outcome."""
    score = trial.score
    if score is None:
        yield from _section("no score", trial.failure_text or "no reply")
        return
    if score.status == "read":
        yield from _section("parsed answer", given_answer(trial))
    for title, names in (("missing", score.missing), ("extra", score.extra)):
        if names:
            yield from _section(f"{title} ({len(names)})", "\n".join(names))
    if score.status == "read":
        yield from _section("why", "\n".join([*filter(None, [score.remark]), *explain_trial(trial)]))
    else:
        yield from _section(score.status, score.remark or "no answer found")
    if trial.outcome == "wrong":
        threshold = number(trial.question.pass_threshold)
        yield from ("", f"wrong: score {number(score.value)}, below the pass threshold {threshold}")


def _drawing_lines(trial: Trial) -> Iterator[str]:
    if trial.diagram:
        diagram = Diagram.from_json(unpack(trial.diagram))
        answer = MarkedSubject(diagram).marks(trial)
        beside = [f"(beside a mark: {answer.tags})"] if answer.tags else []
        unplaced = [f"(not in the drawing: {answer.unplaced_text})"] if answer.unplaced else []
        yield from ("", "drawing:", *diagram_lines(diagram, answer.marks), *beside, *unplaced)
    if trial.diagram_pair:
        pair = DiagramPair.from_json(unpack(trial.diagram_pair))
        missing, extra = difference_marks(pair)
        yield from ("", "drawing of the expected answer:", *diagram_lines(pair.expected, missing))
        yield from ("", "drawing of the parsed answer:", *diagram_lines(pair.given, extra))
    for chart in schedule_charts(trial) or ():
        yield from ("", *gantt_lines(chart))
