"""Questions of the page: a short line each for the list, and the details that an opened question shows.

Transcript of a trial with several requests: messages, reasoning, tool calls with their results, replies, usage.

Texts of messages are given as digests: a page holds each text once, however many trials have it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ...results.record.exchanges import message_texts
from ...results.scoreboard import is_baseline
from ...results.tally import Tally
from ...scoring.trial_explanation import explain_trial
from ...trial import PROMPT, Trial
from ...usage import AMOUNTS, usage_of
from ..drawing.answer_marks import AnswerMarks
from ..drawing.marks import MARK_LOOKS
from ..drawing.svg_pair import DrawnPair
from ..failure import expected_answer, given_answer, score_lines, shown_exchanges
from ..spending_line import tokens_texts
from ..trial_columns import trial_facts
from ..wording import count, model_name, number
from .embedded_data import NameTables, permalink, printable_text
from .marked_drawings import MarkedDrawings

if TYPE_CHECKING:
    from .changes import Changes

ROLES: Final = {"subject": "model under test"}  # others are words that a person knows: judge, embedder
SPEAKERS: Final = {"user": "asked", "system": "system prompt", "assistant": "model", "tool": "tool result"}
SHOWN_PROMPT, SHOWN_SYSTEM = "(the prompt, shown below)", "(the system prompt, shown below)"
_EXCHANGE_FIELDS = {  # of an exchange; anything else is a remark of the episode, which is shown by its name
    *("role", "messages", "kind", "failure", "final", "text", "reasoning", "stored", "source", "finish_reason"),
    *("logprobs", "calls", "metric", "value", *AMOUNTS),
}
_TEXTS = tuple(
    f"turn_{name}" for name in ("title", "usage", "reasoning", "reasoning_title", "reply", "failure", "scores")
)
_TURN_LISTS = ("turn_messages", "turn_calls", "turn_notes")
_CALL_TEXTS = ("call_name", "call_status", "call_result")
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
PAIR = ("pair_expected", "pair_given", "pair_missing", "pair_extra", "pair_same", "pair_broken")  # of a DrawnPair
_LISTS = ("facts", "why", "missing", "extra", "labels")


@dataclass(frozen=True, slots=True)
class TranscriptView:
    """The requests of a trial as the page shows them, and the texts that they name by digest."""

    turns: list[dict[str, Any]] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)

    def whole(self, replies: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return the turns with the texts in place of their digests, and what `replies` names in the final turn."""
        return [self._with_texts(turn, replies) for turn in self.turns]

    def _with_texts(self, turn: Mapping[str, Any], replies: Mapping[str, str]) -> dict[str, Any]:
        turn = {**dict.fromkeys(_TEXTS, ""), **dict.fromkeys(_TURN_LISTS, ()), **turn}
        calls = [
            {**dict.fromkeys(_CALL_TEXTS, ""), "call_arguments": (), "blank": False, **call}
            for call in turn["turn_calls"]
        ]
        calls = [{**call, "call_result": self.texts.get(call["call_result"], "")} for call in calls]
        messages = [[who, self.texts.get(key, key)] for who, key in turn["turn_messages"]]
        final = replies if turn.get("turn_final") else {}
        return {**turn, "turn_calls": calls, "turn_messages": messages, **final, "blank": False}


def blank_turn() -> dict[str, Any]:
    """Return a turn without texts and with one entry in each list, the template of the page's script."""
    call = {**dict.fromkeys(_CALL_TEXTS, ""), "call_arguments": [["", ""]], "blank": True}
    lists = {"turn_messages": [["", ""]], "turn_calls": [call], "turn_notes": [["", ""]]}
    return {**dict.fromkeys(_TEXTS, ""), **lists, "blank": True}


def transcript(trial: Trial) -> TranscriptView:
    """Return the transcript; without turns if the trial has one prompt and its reply alone."""
    exchanges = [_complete(exchange, trial) for exchange in shown_exchanges(trial)]
    if not exchanges:
        return TranscriptView()
    texts = message_texts(trial)
    messages = list(_new_messages(exchanges))
    used, turns = dict[str, str](), []
    for at, exchange in enumerate(exchanges):
        after = messages[at + 1] if at + 1 < len(exchanges) else []
        calls = _calls(exchange, _tool_results(after))
        own_messages = _shown_messages(
            messages[at], texts, trial, answered=at > 0 and bool(exchanges[at - 1].get("calls"))
        )
        used |= {key: texts[key] for _, key in own_messages if key in texts}
        used |= {key: texts[key] for call in calls if (key := call.get("call_result")) in texts}
        turns.append(_turn(exchange, at, len(exchanges), own_messages, calls))
    return TranscriptView(turns, used)


def _complete(exchange: Mapping[str, Any], trial: Trial) -> Mapping[str, Any]:
    """Return the exchange, the final one with what stands in the reply of the trial."""
    if not exchange.get("final") or trial.reply is None:
        return exchange
    return {**exchange, "logprobs": trial.reply.logprobs, "finish_reason": trial.reply.finish_reason}


def reasoning_title(tokens: int | None) -> str:
    """Return the line above the text of a reasoning."""
    return "Reasoning" if tokens is None else f"Reasoning, {count(tokens, 'token')}"


def _turn(
    exchange: Mapping[str, Any], at: int, of: int, messages: list[list[str]], calls: list[dict[str, Any]]
) -> dict[str, Any]:
    final, reasoning = bool(exchange.get("final")), str(exchange.get("reasoning") or "")
    values = {
        "turn_title": f"Request {at + 1} of {of}: {_role(exchange)}",
        "turn_usage": _usage(exchange),
        "turn_messages": messages,
        "turn_reasoning": reasoning,
        "turn_reasoning_title": reasoning_title(exchange.get("tokens_reasoning")) if reasoning else "",
        "turn_reply": "" if final else str(exchange.get("text") or ""),  # the final one is that of the question
        "turn_final": final,
        "turn_calls": calls,
        "turn_failure": str(exchange.get("failure") or ""),
        "turn_scores": "\n".join(score_lines(exchange)),
        "turn_notes": [[name, _text(value)] for name, value in exchange.items() if name not in _EXCHANGE_FIELDS],
    }
    return {name: value for name, value in values.items() if value}


def _role(exchange: Mapping[str, Any]) -> str:
    role = str(exchange.get("role") or "model")
    measurement = f", {exchange['metric']} {_text(exchange.get('value'))}" if "metric" in exchange else ""
    return ROLES.get(role, role) + measurement


def _usage(exchange: Mapping[str, Any]) -> str:
    """Return tokens, cost and latency in a line; what is unknown is left out."""
    usage, finish = usage_of(exchange), exchange.get("finish_reason")
    parts = [
        *tokens_texts(usage),
        "" if usage.cost is None else f"${usage.cost:,.6f}",
        "" if usage.latency is None else f"{usage.latency:.2f} s",
        "from the store" if usage.stored else "",
        f"ended by {finish}" if finish not in (None, "", "stop") and not exchange.get("calls") else "",
    ]
    return ", ".join(filter(None, parts))


def _new_messages(exchanges: Sequence[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Yield the messages of each exchange that the last one of its role did not begin with."""
    last: dict[str, list[Mapping[str, Any]]] = {}
    for exchange in exchanges:
        messages, role = list(exchange["messages"]), str(exchange.get("role"))
        before = last.get(role, [])
        same = next((at for at, pair in enumerate(zip(before, messages, strict=False)) if pair[0] != pair[1]), None)
        yield messages[min(len(before), len(messages)) if same is None else same :]
        last[role] = messages


def _tool_results(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the digests of the results of tools among the messages that follow calls."""
    return [message["digest"] for message in messages if message["role"] == "tool"]


def _shown_messages(
    messages: Sequence[Mapping[str, Any]], texts: Mapping[str, str], trial: Trial, answered: bool
) -> list[list[str]]:
    """Return speaker and digest of each message; what stands elsewhere is named, or left out.

    Args:
        messages: The new messages of the exchange.
        texts: Texts by digest.
        trial: The trial.
        answered: True if the exchange before it called tools: it shows these calls with their results.
    """
    elsewhere = {trial.question.prompt: SHOWN_PROMPT, trial.question.system: SHOWN_SYSTEM}
    rows = []
    for message in messages:
        role, key = str(message["role"]), message["digest"]
        if key not in texts or (answered and role in ("assistant", "tool")):
            continue
        rows.append([SPEAKERS.get(role, role), elsewhere.get(texts[key], key)])
    return rows


def _calls(exchange: Mapping[str, Any], results: Sequence[str]) -> list[dict[str, Any]]:
    calls = exchange.get("calls")
    calls = calls if isinstance(calls, list) else []
    matched = results if len(results) == len(calls) else [""] * len(calls)
    return [_call(call, result) for call, result in zip(calls, matched, strict=True)]


def _call(call: object, result: str) -> dict[str, Any]:
    """Return name, arguments, status and the digest of the result of a tool call, whatever its shape."""
    fields = dict(call) if isinstance(call, Mapping) else {"call": call}
    name = fields.pop("name", None) or fields.pop("tool", None) or "(no name)"
    status = fields.pop("answer", None) or fields.pop("status", None) or ""
    arguments = _arguments(fields.pop("arguments", None))
    values = {
        "call_name": _text(name),
        "call_arguments": [*arguments, *([str(key), _text(value)] for key, value in fields.items())],
        "call_status": "" if status == "ok" else _text(status),
        "call_result": result,
    }
    return {name: value for name, value in values.items() if value}


def _arguments(sent: object) -> list[list[str]]:
    """Return the arguments as names and values; as one text if they are no JSON object."""
    value = sent
    if isinstance(sent, str):
        try:
            value = json.loads(sent or "{}")
        except (ValueError, RecursionError):
            value = sent
    if isinstance(value, Mapping):
        return [[str(name), _text(member)] for name, member in value.items()]
    return [] if value is None else [["arguments", _text(sent)]]


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return number(value)
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return repr(value)


@dataclass(frozen=True, slots=True)
class View:
    """A question with its reply as the page shows it, all texts printable."""

    line: dict[str, str]  # what the list shows and filters look at
    detail: dict[str, Any]  # the rest; its prompt is a list of digests
    pair: DrawnPair | None  # the expected and the given answer; None if they are not drawn
    marks: AnswerMarks  # of the answer, in the drawing of what the question is about
    transcript: TranscriptView

    def whole(self, texts: Mapping[str, str], subjects: MarkedDrawings) -> dict[str, Any]:
        """Return line and details in one, with the prompt as text and the drawings as safe SVG markup."""
        from markupsafe import Markup

        prompt = "".join(texts[digest] for digest in self.detail["prompt"])
        # Safe markup: reports/drawing/svg.py wrote it, and the drawings of the pair.
        drawing, counts = subjects.drawing(self.detail["cluster"], self.marks)
        subject = {"drawing": Markup(drawing), "mark_counts": counts, "tags": "", "unplaced": "", "undrawn": ""}
        parts = dict(zip(PAIR, astuple(self.pair) if self.pair else [""] * len(PAIR), strict=True))
        both = {"pair": self.pair is not None, **{name: Markup(parts[name]) for name in PAIR[:2]}}
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
    if model_name(trial.model) != trial.model:
        line["who"] = model_name(trial.model)
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


def question_grid(views: Sequence[View]) -> dict[str, Any] | None:
    """Return the questions by model and prompt template; None if there is a single one of each.

    A column is a model, its prompt template, and its shown name; baselines come last. A row is the id of a question,
    without the template, and for each column the number of the question in the list, -1 if it was not asked.
    """
    several = len({view.line["prompt_template"] for view in views} - {""}) > 1
    keys = [(view.line["model"], view.line["prompt_template"] if several else "") for view in views]
    columns = sorted(dict.fromkeys(keys), key=lambda key: (is_baseline(key[0]), *key))
    if len(columns) < 2:
        return None
    rows: dict[str, list[int]] = {}
    for at, (view, key) in enumerate(zip(views, keys, strict=True)):
        name = _without_template(view.line["id"], key[1]) if several else view.line["id"]
        rows.setdefault(name, [-1] * len(columns))[columns.index(key)] = at
    return {
        "columns": [[model, template, model_name(model)] for model, template in columns],
        "rows": [[name, *cells] for name, cells in rows.items()],
    }


def _without_template(question: str, template: str) -> str:
    """Return the id of a question without the name of its prompt template, as families write it into ids."""
    head, found, tail = question.rpartition("-" + re.sub(r"[^\w.-]", "_", template))
    return head + tail if found and template and tail[:1] in ("", "-") else question


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
    return {at: view.pair for at, view in enumerate(views) if view.pair}
