"""The answer form `letter`: which replies decide on an option, and which leave it open."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.scoring.forms import FORMS, form
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.scoring.letter_verdicts import LONGEST
from pytest_taskgraph.trial import Parsing, Place, Question, Reply

OPTIONS = {"Toss well": "A", "Add the pasta.": "B"}
LISTS = "A. Toss well\nB. Add the pasta."


def answer(
    text: str,
    parsing: Parsing = "lenient",
    place: Place = "whole",
    names: tuple[str, ...] = ("A", "B"),
    options: dict[str, str] | None = None,
) -> str:
    """Return the letter that is parsed from a reply, or the status of a reply without one."""
    score = grade(
        Question(
            "q", "tests", "g", "s", "?", "?", "letter", "B", "choice_accuracy", names=[*names], place=place,
            parsing=parsing, spellings=OPTIONS if options is None else options,
        ),
        Reply(text),
    )  # fmt: skip
    return str(score.given) if score.status == "read" else score.status


@pytest.mark.parametrize(
    "text",
    [
        "B", "b", "(B)", "option b.", "letter b", "B (Add the pasta)", "Add the pasta (B)",
        "My answer would be B because the water boils.", "B makes the most sense.",
        "B would be the next logical step", "B comes next.",
        "You should add the pasta next.", "Next, add the pasta.", "The letter of the next step is B.",
        "Option B", "B. Add the pasta", "The answer is **B. Add the pasta.**", "Final answer: B", r"\boxed{B}",
        '{"answer": "B"}', "<answer>B</answer>", "It’s B", "Hence B", "I'd go with B.", "The correct option is **B**",
        "B is correct.", "The next step is to add the pasta.",
    ],
)  # fmt: skip
def test_letter_reply_that_decides_on_b_is_b(text: str) -> None:
    assert answer(text) == "B"


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("I think A, because B needs boiling water first.", "A"),
        ("B\n\nExplanation: option A requires the pasta, so A comes later.", "B"),
        ("B. Toss well comes after the pasta.", "B"),
        ("B rather than A", "B"),
        ("A is too early. B", "B"),
        ("Option A makes more sense than option B.", "A"),
        ("Between A and B, B is more plausible.", "B"),
        ("If you choose A, the pasta is raw. Choose B.", "B"),
        ("Step 1 boils water. Option A would be premature. Option B is the logical next step.", "B"),
        ("Do not toss well yet. Add the pasta.", "B"),
        ("The answer is A. No: the answer is B.", "B"),
        ("A is the next step.", "A"),
        ("A would be the next step", "A"),
        ("B, not A", "B"),
        ("The answer isn't A; it's B.", "B"),
        ("A", "A"),
        ("a", "A"),
    ],
)
def test_letter_reply_that_weighs_both_options_is_the_one_it_decides_on(text: str, letter: str) -> None:
    assert answer(text) == letter


@pytest.mark.parametrize(
    ("verdict", "letter"),
    [("B", "B"), ("The answer is A.", "A"), ("Answer: b", "B"), ("I pick B.", "B"), ("Option B is correct", "B")],
)
@pytest.mark.parametrize("quote", [LISTS, f"Options:\n{LISTS}\n", "Option A: Toss well\nOption B: Add the pasta.\n"])
def test_letter_reply_that_quotes_both_options_is_the_verdict_behind_them(
    quote: str, verdict: str, letter: str
) -> None:
    assert answer(f"{quote}\n{verdict}") == letter


@pytest.mark.parametrize(
    "text",
    [
        "", "C", "Yes", "A or B", "It can't be B", LISTS, "B. Toss well", "Toss well (B)",
        "A: tossing makes no sense before the pasta is in.\nB: this follows from boiling water.",
        "AB", "A B", "Neither A nor B", "Not A.", "The answer is A. The answer is B.", "tie", "a pinch of salt",
        "Vitamin B is healthy.",
    ],
)  # fmt: skip
def test_letter_reply_that_leaves_it_open_is_unparseable(text: str) -> None:
    assert answer(text) == "unparseable"


@pytest.mark.parametrize(
    "reply",
    [
        "Rule out {}.", "I would not choose {}.", "Don't pick {}.", "The wrong answer is {}.", "Anything but {}.",
        "{} (wrong)", "{}: no", "{} - incorrect", "I doubt {} is right.", "It is unlikely to be {}.",
        "{} is the last step.", "{} ❌",
    ],
)  # fmt: skip
@pytest.mark.parametrize("letter", ["A", "B"])
def test_letter_reply_that_rules_one_option_out_decides_on_none(letter: str, reply: str) -> None:
    assert answer(reply.format(letter)) == "unparseable"


@pytest.mark.parametrize(
    "reply",
    [
        "{y} is tempting, but {x} is right.", "{y}? No. {x}.", "{y}: no\n{x}: yes", "{y} ✗\n{x} ✓",
        "Incorrect: {y}. Correct: {x}", "{x} over {y}.", "Eliminate {y}. That leaves {x}.", "Instead of {y}, do {x}.",
        "{y} - incorrect\n{x} - correct", "{y} depends on {x}, so {x} comes first.", "Answer ({y} or {x}): {x}",
        "{x} happens before {y}, therefore {x}.", "{x} is more likely than {y}.", "{y} cannot be done yet. {x}.",
        "Answer: {x}, not {y}",
    ],
)  # fmt: skip
@pytest.mark.parametrize(("x", "y"), [("A", "B"), ("B", "A")])
def test_letter_reply_that_rules_one_option_out_decides_on_the_other(x: str, y: str, reply: str) -> None:
    assert answer(reply.format(x=x, y=y)) == x


@pytest.mark.parametrize(
    "reply",
    [
        "The answer is {y}... wait, actually {x}.", "{y}, which comes later, is not it. {x}.", "{x} precedes {y}.",
        "{x} first, then {y}.",
    ],
)  # fmt: skip
@pytest.mark.parametrize(("x", "y"), [("A", "B"), ("B", "A")])
def test_letter_reply_that_takes_something_back_is_never_the_other_option(x: str, y: str, reply: str) -> None:
    assert answer(reply.format(x=x, y=y)) in ("unparseable", x)


@pytest.mark.parametrize("text", ["A good next step is B", "A reasonable choice is B.", "A step that fits: option B"])
def test_letter_article_before_a_letter_is_not_the_letter_a(text: str) -> None:
    assert answer(text) == "B"


def test_letter_reply_that_declines_is_refused() -> None:
    assert answer("I'm sorry, but I can't help you choose between A and B.") == "refused"
    assert answer("I'm sorry, but I can't provide reasons.\nThe answer is B.") == "B"


@pytest.mark.parametrize("text", ["B", " B.\n", "(B)", '"B"', "[B].", "“B”"])
def test_letter_strict_parsing_takes_the_letter_alone(text: str) -> None:
    assert answer(text, "strict") == "B"


@pytest.mark.parametrize(
    "text", ["b", "**B**", "B. Add the pasta.", "Option B", "Add the pasta.", "The answer is B", ""]
)
def test_letter_strict_parsing_takes_nothing_else(text: str) -> None:
    assert answer(text, "strict") == "unparseable"


def test_letter_answer_behind_the_marker_is_read_despite_letters_before() -> None:
    assert answer("The answer is A, or so it seems.\nFinal answer: **B**", place="marker") == "B"
    assert answer("B\n\nThe answer is A", place="first-line") == "B"


def test_letter_other_known_word_counts_as_the_whole_answer_only() -> None:
    names = ("A", "B", "tie")
    assert answer("tie", names=names) == "tie"
    assert answer("Tie the roast: B", names=names, options={"Tie the roast": "B"}) == "B"
    assert answer("Tie the roast", names=names, options={"Tie the roast": "B"}) == "B"
    assert answer("tie it", names=names) == "unparseable"


def test_letter_texts_of_options_are_matched_whole() -> None:
    nested = {"Add the pasta": "A", "Add the pasta and stir": "B"}
    assert answer("Add the pasta and stir", options=nested) == "B"
    assert answer("Add the pasta", options=nested) == "A"
    assert answer("Stir", options={"Stir": "A", "stir.": "B"}) == "unparseable"  # the same text twice
    assert answer("A", options={"A": "B", "C": "A"}) == "A"  # a task is called like a letter
    assert answer("C", options={"A": "B", "C": "A"}) == "A"
    assert answer("`add_pasta`", options={"add_pasta": "A", "toss__": "B"}) == "A"
    assert answer("Boil for 5 min.* (covered)", options={"Boil for 5 min.* (covered)": "B"}) == "B"


def test_letter_known_names_of_other_letters_are_read() -> None:
    assert answer("The answer is (d).", names=tuple("ABCD"), options={}) == "D"
    assert answer("I, since it is first", names=tuple("HI"), options={}) == "I"
    assert answer("I would say H.", names=tuple("HI"), options={}) == "H"
    assert answer("Option Q", names=(), options={}) == "Q"


def test_letter_instruction_names_the_letters() -> None:
    ask = form("letter").instruct
    assert ask(["A", "B", "tie"]) == "The answer is one letter: A or B."
    assert ask(["A", "B", "C"]) == "The answer is one letter: A, B or C."
    assert ask([]) == ask(["Boil", "Brew"]) == "The answer is the letter of one option."


@pytest.mark.parametrize(
    ("names", "reference", "wrong"),
    [
        (["A", "B", "tie"], "A", "B"), (["A", "B", "tie"], "B", "A"), (["tie", "A", "B"], "tie", "A"),
        (["A", "tie"], "A", "tie"), (["A"], "A", "B"), ([], "A", "B"), (["A", "B", "A\tToss"], "B", "A"),
    ],
)  # fmt: skip
def test_letter_wrong_answer_is_another_letter_before_any_other_word(
    names: list[str], reference: str, wrong: str
) -> None:
    make_wrong = FORMS["letter"].wrong
    assert make_wrong is not None
    assert make_wrong(reference, names) == wrong


PIECES = [
    "A", "B", "Toss well", "Add the pasta", "the answer is ", "option ", "not ", "(", ")", ".", ", ", "\n", " or ",
    "so ",
    "'", "_", "*", "<", "\\boxed{", "}", "\ue100", "\ue0ff", "it's ", "a", "I ", "next step ", ": ", "is ", "correct ",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_letter_any_reply_is_a_letter_or_unparseable(text: str) -> None:
    assert answer(text) in ("A", "B", "unparseable", "refused")


@pytest.mark.parametrize(
    "piece", ["\n", " ", "_", "A ", "A or ", "B/", "not ", "it's the ", "*'", "<a", "(A) ", "is to "]
)
def test_letter_long_reply_is_read_at_both_ends(piece: str) -> None:
    middle = piece * (3 * LONGEST // len(piece))
    assert answer(f"The answer is B.\n{middle}") in ("B", "unparseable")
    assert answer(f"{'so on. ' * LONGEST}\nThe answer is B.") == "B"
