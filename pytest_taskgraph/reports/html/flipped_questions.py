"""Questions whose verdict changed between two runs, with both replies side by side."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...scoring.forms import show_answer
from ...scoring.trial_explanation import explain_trial
from ...trial import Json, Question, Trial
from ..escape import one_line
from ..wording import count, number
from .embedded_data import permalink, printable_text

if TYPE_CHECKING:
    from ...results.comparison import Flip

SHORT = 200  # columns of an answer
MOST_REASONS = 5
MOST_LINES = 80  # lines of a changed prompt
LONGEST_PROMPT = 2_000  # lines of a prompt that are compared


@dataclass(frozen=True, slots=True)
class FlipSide:
    """What one of the runs got."""

    run: str  # "Before" or "After"
    outcome: str
    score: str
    answer: str
    reasons: list[str]  # what is wrong with the answer, in words
    reply: str
    reasoning: str


@dataclass(frozen=True, slots=True)
class FlipView:
    """A question with another outcome than before; what few questions show is computed when it is read."""

    flip: Flip
    id: str
    model: str  # "" if each run has one model
    change: str  # "worse" or "better"

    @property
    def question(self) -> str:
        """Return the question alone."""
        return self.flip.question

    @property
    def expected(self) -> str:
        """Return the expected answer in a line."""
        return _answer_text(self.flip.form, self.flip.expected)

    @property
    def before(self) -> FlipSide:
        """Return what the run before got."""
        flip, trial = self.flip, self.flip.trials and self.flip.trials[0]
        return _side("Before", flip, flip.before_outcome, flip.before_score, flip.before_answer, trial)

    @property
    def after(self) -> FlipSide:
        """Return what the run after got."""
        flip, trial = self.flip, self.flip.trials and self.flip.trials[1]
        return _side("After", flip, flip.after_outcome, flip.after_score, flip.after_answer, trial)

    @property
    def prompt_lines(self) -> list[str]:
        """Return what changed in the prompt: lines that begin with "-", "+" or " "; empty if nothing did."""
        return _prompt_lines(*(trial.question for trial in self.flip.trials)) if self.flip.trials else []

    @property
    def link(self) -> str:
        """Return the address of the question in the list of the page."""
        after = self.flip.trials[1] if self.flip.trials else None
        question, model = (after.question.id, after.model) if after else (self.id, self.model)
        return permalink(printable_text(question), printable_text(model))

    @property
    def before_text(self) -> str:
        """Return the former outcome and answer in a line."""
        flip = self.flip
        answer = _answer_text(flip.form, flip.before_answer)
        return f"{flip.before_outcome}, score {number(flip.before_score)}: {answer}"


def flip_view(flip: Flip) -> FlipView:
    """Return what the page shows of a flipped question."""
    return FlipView(flip, flip.id, flip.model, "worse" if flip.lost else "better")


def _side(run: str, flip: Flip, outcome: str, score: float, answer: Json, trial: Trial | None) -> FlipSide:
    reasons = [] if trial is None else explain_trial(trial)
    if trial is not None and trial.score is not None and trial.score.remark:
        reasons = [*reasons, trial.score.remark]
    if len(reasons) > MOST_REASONS:
        reasons = [*reasons[:MOST_REASONS], f"{count(len(reasons) - MOST_REASONS, 'further reason')}."]
    reply = None if trial is None else trial.reply
    text = "" if reply is None else reply.text or "(an empty reply)"
    reasoning = "" if reply is None else reply.reasoning
    shown_score = number(score)
    if trial is not None and trial.score is not None and number(trial.score.value) != shown_score:
        shown_score += ", the mean of the repetitions"  # the reply is one of them
    return FlipSide(run, outcome, shown_score, _answer_text(flip.form, answer), reasons, text, reasoning)


def _answer_text(form: str, answer: Json) -> str:
    return "no answer" if answer is None else one_line(show_answer(form, answer), SHORT)


def _prompt_lines(before: Question, after: Question) -> list[str]:
    """Return the lines that changed in the system prompt and in the prompt, with a line around each change."""
    texts = {"system prompt": (before.system, after.system), "prompt": (before.prompt, after.prompt)}
    changed = {name: _changed_lines(*both) for name, both in texts.items() if both[0] != both[1]}
    titled = "system prompt" in changed
    lines = [line for name, part in changed.items() for line in ([f" {name}:", *part] if titled else part)]
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f" … and {count(len(lines) - MOST_LINES, 'line')} more"]
    return lines


def _changed_lines(before: str, after: str) -> list[str]:
    old, new = (text.splitlines()[:LONGEST_PROMPT] for text in (before, after))
    both = difflib.unified_diff(old, new, lineterm="", n=1)
    lines = [" …" if line.startswith("@@") else line for line in both][2:]  # without the names of files
    return lines[1:] if lines[:1] == [" …"] else lines
