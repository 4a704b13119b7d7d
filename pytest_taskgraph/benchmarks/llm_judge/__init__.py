"""The prompt of the LLM judge for open answers, and how its verdict is parsed.

After G-Eval (Liu et al., 2023, section 2): criteria, evaluation steps, a score from 1 to 5; without the weighting by
token probabilities, which most providers do not give. The answer is untrusted text: it is placed between marks made of
its own digest, so that it cannot close them, and the score is parsed from the judge's reply only.
"""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

from ...errors import UsageError
from ..templates import render, source_of, template, undeclared_names

FILE = "judge.jinja"
BEST = 5
_FIELDS = {"asked", "question", "reference", "answer", "fence"}  # variables of the template
_SCORE = re.compile(r"\bscore\b[\s*_]{0,8}:", re.IGNORECASE)
_NUMBER = re.compile(r"[\s*_`]{0,8}([1-5])(?:[ \t]?/[ \t]?5)?(?![^\W_]|[.,/]\d|[ \t]?/|[-–]\d)")


def judge_template(folder: str = "") -> str:
    """Return the template of the prompt: `judge.jinja` of the folder if it holds one, else the built-in one.

    Raises:
        UsageError: if it is no template, or does not show the answer to the judge.
    """
    own = Path(folder, FILE) if folder else None
    path = own if own is not None and own.is_file() else Path(__file__).with_name(FILE)
    source = source_of(path, "the judge's template")
    template(source, str(path))
    used = undeclared_names(source)
    if used <= _FIELDS and "answer" not in used:  # rendering reports an unknown name
        raise UsageError(f"{path}: the template does not show {{{{ answer }}}} to the judge")
    return source


def judge_prompt(source: str, question: str, reference: str, answer: str, asked: str = "a question") -> str:
    """Return the prompt for the judge.

    The template sees `question`, `reference`, `answer`, `asked`, and `fence`, a mark that occurs in none of them.

    Args:
        source: The source of the template.
        question: The text of the question.
        reference: The reference answer.
        answer: The answer to judge.
        asked: What kind of question it is.

    Raises:
        UsageError: if the template fails.
    """
    fields = {"question": question, "reference": reference, "answer": answer}
    return render(source, fields | {"asked": asked, "fence": _fence("\0".join(fields.values()))}, FILE)


def verdict(reply: str) -> float | None:
    """Return the last "Score: N" of a judge's reply, N an integer from 1 to 5, scaled to 0.0 … 1.0.

    None if the reply holds no such score.
    """
    heads = list(_SCORE.finditer(reply))
    score = _NUMBER.match(reply, heads[-1].end()) if heads else None
    return (int(score[1]) - 1) / (BEST - 1) if score else None


def _fence(text: str) -> str:
    mark = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    while mark in text:
        mark = sha256(mark.encode()).hexdigest()[:16]
    return mark
