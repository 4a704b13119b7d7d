"""The failure of one wrong answer of each answer form, as pytest prints it at each verbosity and width.

    python perf/failures.py [FORM...]

Each block is the section of failures of a run of its own: -q, no flag, -v, -vv and --tb=line at 80 and 150 columns.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OPTIONS = ("-q", "", "-v", "-vv", "--tb=line")
WIDTHS = (80, 150)

CONFTEST = '''
from pytest_taskgraph import Family, Question, QuestionReference
from pytest_taskgraph.scoring.forms import FORMS

NAMES = ["Check stock", "Cook pasta", "Heat sauce", "Invite guests", "Set table", "Serve"]
TEXT = """The guests are invited. Then the pasta is cooked and, at the same time, the sauce is heated, if m > 10; the
table is set meanwhile. At the end the meal is served."""
CHAIN = {"tasks": NAMES[1:], "before": [[0, 4], [1, 4], [2, 0], [2, 1], [3, 4]]}
REASONS = {"tasks": ["Heat sauce", "Serve"], "reasons": {"Heat sauce": "The sauce is frozen.", "Serve": "Nobody eats."}}
PASTA = {"steps": ["boil water", "add the pasta", "drain the pasta", "eat"], "dependencies": [[0, 1], [1, 2], [2, 3]]}
OTHER = {"steps": ["boil some water", "drain the pasta", "add the pasta", "sing"],
         "dependencies": [[0, 1], [1, 2], [2, 3]]}

def flows(*lines):
    return "\\n".join(lines)

CASES = {  # form: question, reference, wrong answer or text of the reply
    "yes-no": ("Can 'Cook pasta' and 'Heat sauce' run in parallel?", "yes", "no"),
    "task": ("Which task comes first?", "Invite guests", "Serve"),
    "task-set": ("Which tasks run before 'Serve'?", NAMES[1:5], ["Cook pasta", "Check stock", "Heat sauces"]),
    "groups": ("Which tasks run side by side? One group a line.", [NAMES[1:3], [NAMES[4]]], [[NAMES[1]], NAMES[2:5:2]]),
    "task-order": ("List all tasks in an order in which they can run.", CHAIN, ["Serve", *NAMES[1:5]]),
    "number": ("How many tasks are there?", 5, 8),
    "condition": ("When is the sauce heated?",
                  {"condition": "m > 10", "domains": {"m": {"kind": "integer", "low": 0, "high": 20}}}, "m >= 10"),
    "letter": ("Which step comes next?  A: Serve  B: Sleep", "A", "B"),
    "text": ("What is the workflow for?", "It cooks a meal for guests and serves it.", "Something with a stock."),
    "task-reasons": ("Which tasks are described wrongly, and why?", REASONS,
                     {"tasks": ["Set table"], "reasons": {"Set table": "There is no table."}}),
    "pair-reason": ("Which two descriptions contradict each other, and why?",
                    {"tasks": ["Cook pasta", "Heat sauce"], "reasons": {"": "Both need the only pot."}},
                    {"tasks": ["Cook pasta", "Serve"], "reasons": {"": "Serving needs no pot."}}),
    "yes-no-reason": ("Is the workflow sound, and why?", {"answer": "yes", "reason": "Each task is reached."},
                      {"answer": "no", "reason": "A task is never reached."}),
    "task-graph": ("Write the steps and their order.", PASTA, OTHER),
    "procedural-graph": ("Write the procedural graph of the text.", None, None),
}

class Shown(Family):
    name = "shown"

    def references(self, settings, options):
        return [QuestionReference(form, form, {"form": form}) for form in FORMS if form in CASES]

    def question(self, reference, settings):
        form = FORMS[reference.payload["form"]]
        text, answer, _ = case(form)
        prompt = f"{TEXT}\\n\\n{text}\\n\\n{form.instruct(NAMES)}\\nWrite it after \\"Final answer:\\"."
        names = ["A", "B"] if form.name == "letter" else NAMES
        return Question(form.name, self.name, form.name, "", text, prompt, form.name, answer, form.metric,
                        names=names, pass_threshold=1.0, system="You answer questions about workflows.",
                        spellings={"Serve": "A", "Sleep": "B"} if form.name == "letter" else {})

    def metrics(self, group, settings):
        return (FORMS[group].metric,)

def case(form):
    text, reference, wrong = CASES[form.name]
    if form.name == "procedural-graph":
        reference = form.read(flows("For cook:", "Start -> Cook pasta", "Cook pasta -> Serve", "Serve -> End"), [],
                              "lenient")
        wrong = form.read(flows("For waiter:", "Start -> Cook pasta", "Cook pasta -> Sing", "Sing -> End"), [],
                          "lenient")
    return text, reference, wrong

def answer(prompt):
    form = next(form for form in FORMS.values() if form.name in CASES and f"\\n{CASES[form.name][0]}\\n" in prompt)
    thoughts = "The guests come first.\\n" * 40 if form.name == "task-order" else "I read the text.\\n"
    return f"{thoughts}Final answer: {form.write(case(form)[2], NAMES)}"

SHOWN = Shown()

def pytest_taskgraph_register(registry):
    registry.family(SHOWN)
    registry.model("mistaken", answer)
'''
SUITE = """
from conftest import SHOWN
from pytest_taskgraph import suite

@suite(SHOWN)
def test_forms(trial):
    trial.check()
"""


def failures(folder: str, option: str, width: int) -> dict[str, str]:
    """Return the failure of the wrong answer of each form, as a run of pytest prints it."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "--model=mistaken"]
    variables = os.environ | {"COLUMNS": str(width), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*command, *filter(None, [option])], cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    section = re.search(r"^=+ FAILURES =+$\n(.*?)^=+ ", done.stdout, re.MULTILINE | re.DOTALL)
    if section is None:
        raise SystemExit(done.stdout + done.stderr)
    start = r"^(?=\S+\.py:\d+: )" if option == "--tb=line" else r"^(?=_+ test_forms\[\S+\] _+$)"
    texts = re.split(start, section[1], flags=re.MULTILINE)[1:]
    return {re.split(r"\[|\]|: ", text)[1]: text for text in texts}


def main() -> None:
    """Print the failures of all forms, or of those that the command line names."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "conftest.py").write_text(CONFTEST, encoding="utf-8")
        Path(folder, "test_forms.py").write_text(SUITE, encoding="utf-8")
        shown = {(option, width): failures(folder, option, width) for option in OPTIONS for width in WIDTHS}
    for form in sys.argv[1:] or shown["", WIDTHS[0]]:
        for (option, width), texts in shown.items():
            print(f"##### {form}, {option or 'no flag'}, {width} columns\n{texts[form]}")


if __name__ == "__main__":
    main()
