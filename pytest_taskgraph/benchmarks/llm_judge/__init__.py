"""What a judge is told about an open answer, and how its verdict is read.

After G-Eval (Liu et al. 2023): criteria, evaluation steps, a score from 1 to 5; without their weighting by token
probabilities, which most providers do not give. The answer is hostile text: it stands between marks that are made of
its own digest, so that it cannot close them, and only what the judge replies is read for a score.
"""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

from ...errors import UsageError
from ..templates import render, source_of, template, undeclared_names

FILE = "judge.jinja"
BEST = 5
_FIELDS = {"asked", "question", "reference", "answer", "fence"}  # what the template sees
_SCORE = re.compile(r"\bscore\b[\s*_]{0,8}:", re.IGNORECASE)
_NUMBER = re.compile(r"[\s*_`]{0,8}([1-5])(?:[ \t]?/[ \t]?5)?(?![^\W_]|[.,/]\d|[ \t]?/|[-–]\d)")


def judge_template(folder: str = "") -> str:
    """The template of the prompt: `judge.jinja` of the folder if it holds one, else ours.

    Raises UsageError if it is no template, or shows the judge no answer.
    """
    own = Path(folder, FILE) if folder else None
    path = own if own is not None and own.is_file() else Path(__file__).with_name(FILE)
    source = source_of(path, "the judge's template")
    template(source, str(path))
    used = undeclared_names(source)
    if used <= _FIELDS and "answer" not in used:  # a name that is not known is reported when it is rendered
        raise UsageError(f"{path}: the template does not show {{{{ answer }}}} to the judge")
    return source


def judge_prompt(source: str, question: str, reference: str, answer: str, asked: str = "a question") -> str:
    """The prompt for the judge. Raises UsageError where the template fails.

    The template sees `question`, `reference`, `answer`, `fence`, a mark that stands in none of them, and `asked`, which
    says what kind of question it is.
    """
    fields = {"question": question, "reference": reference, "answer": answer}
    return render(source, fields | {"asked": asked, "fence": _fence("\0".join(fields.values()))}, FILE)


def verdict(reply: str) -> float | None:
    """The last "Score: N" of a judge's reply, N a whole number from 1 to 5, as 0.0 to 1.0; None if there is no such."""
    heads = list(_SCORE.finditer(reply))
    found = _NUMBER.match(reply, heads[-1].end()) if heads else None
    return (int(found[1]) - 1) / (BEST - 1) if found else None


def _fence(text: str) -> str:
    made = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    while made in text:
        made = sha256(made.encode()).hexdigest()[:16]
    return made
