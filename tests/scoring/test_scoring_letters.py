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
        "B", "b", "(B)", "(b)", "[B]", "**B**", "_B_", "`B`", "'B'", "“B”", "B.", "B!", "B,", "- B", "> B", "1. B",
        "Option B", "option b.", "Choice (b)", "Option (B)", "letter b", "Letter: B", "B. Add the pasta",
        "b) add the pasta",
        "**B.** Add the pasta", "B: Add the pasta to the boiling water", "B - Add the pasta", "B – Add the pasta",
        "B (Add the pasta)", "Add the pasta (B)", "Add the pasta (option B).", "Add the pasta", "add the  PASTA.",
        '"Add the pasta."', "Answer: b", "Answer:B", "Answer - B", "Answer (B)", "The answer is B.",
        "The answer is (B)",
        "The answer is \"B\".", "The answer is **B. Add the pasta.**", "My answer would be B because the water boils.",
        "Final answer: B", "**Final Answer: B**", "The final answer is B", "### Answer\n\n**B**",
        "Answer:\n\nB. Add the pasta",
        "<answer>B</answer>", '{"answer": "B"}', r"\boxed{B}", r"The answer is $\boxed{\text{B}}$.",
        "Definitely B!", "Yes, B", "Probably B", "It's B.", "It’s B", "Hence B", "I'd go with B.", "I choose: B",
        "let's pick B", "The correct option is **B**", "Best option: B", "B is correct.", "B makes the most sense.",
        "B would be the next logical step", "B comes next.", "Next step: B", "The next step is to add the pasta.",
        "You should add the pasta next.", "Next, add the pasta.", "The letter of the next step is B.",
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
        ("B, not A", "B"),
        ("B rather than A", "B"),
        ("It is not A but B.", "B"),
        ("B is correct and A is wrong.", "B"),
        ("A is too early. B", "B"),
        ("The answer isn't A; it's B.", "B"),
        ("The answer cannot be A, so it must be B.", "B"),
        ("Option A makes more sense than option B.", "A"),
        ("Between A and B, B is more plausible.", "B"),
        ("If you choose A, the pasta is raw. Choose B.", "B"),
        ("Because A requires cooked pasta, B is the next step.", "B"),
        ("Step 1 boils water. Option A would be premature. Option B is the logical next step.", "B"),
        ("The other option is A. The answer is B.", "B"),
        ("Do not toss well yet. Add the pasta.", "B"),
        ("Let me see.\n1. Water boils.\n2. A: toss well needs pasta.\n3. B: adds it.\nTherefore the answer is B", "B"),
        ("The answer could be A.\n\nFinal answer: B", "B"),
        ("The answer is A. No: the answer is B.", "B"),
        ("The answer is A. No other step fits.", "A"),
        ("B (not A)", "B"),
        ("B. Not A, for that is the end.", "B"),
        ("A", "A"),
        ("a", "A"),
        ("(a)", "A"),
        ("A, as the salad is done", "A"),
        ("A is the next step.", "A"),
        ("A would be the next step", "A"),
        ("The answer is a", "A"),
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
        "", "C", "Yes", "AB", "Perhaps", "I do not know.", "A or B", "A/B", "A, B", "A,B", "A & B", "A B", "A\nB",
        "B\nA",
        "Both A and B.", "Neither A nor B", "Either A or B works", "A then B", "B before A", "Not A.", "It can't be B",
        "The answer is not B.", "B is wrong", LISTS, "Toss well\nAdd the pasta", "Toss well or add the pasta",
        "B. Toss well",
        "Toss well (B)", "The answer is A. The answer is B.", "I would pick A. I would pick B.", "tie",
        "A good next step would be to boil water.", "a pinch of salt", "A pinch of salt", "The answer is a good step.",
        "Vitamin B is healthy.", "I cannot decide between A and B.",
        "A: tossing makes no sense before the pasta is in.\nB: this follows from boiling water.",
    ],
)  # fmt: skip
def test_letter_reply_that_leaves_it_open_is_unparseable(text: str) -> None:
    assert answer(text) == "unparseable"


@pytest.mark.parametrize(
    "reply",
    [
        "Rule out {}.", "I would not choose {}.", "Don't pick {}.", "The wrong answer is {}.", "Anything but {}.",
        "{} is out.", "{} is the distractor.", "{} is a later step.", "{} is the last step.", "{} makes no sense.",
        "{} (wrong)", "{}: no", "{} - incorrect", "I doubt {} is right.", "It is unlikely to be {}.", "No, {} is wrong",
        "{} cannot be done yet.", "The next step is not {}.", "I can rule {} out.", "{} would be premature.",
        "If it were hot, {} might do.", "{} ❌", "Neither; {} least of all, for it is last of all steps there.",
    ],
)  # fmt: skip
@pytest.mark.parametrize("letter", ["A", "B"])
def test_letter_reply_that_rules_one_option_out_decides_on_none(letter: str, reply: str) -> None:
    assert answer(reply.format(letter)) == "unparseable"


@pytest.mark.parametrize(
    "reply",
    [
        "{y} is tempting, but {x} is right.", "{y}? No. {x}.", "{y}: no\n{x}: yes", "{y} ✗\n{x} ✓",
        "Is it {y}? No, it's {x}.",
        "It's tempting to answer {y}. The right answer is {x}.", "Incorrect: {y}. Correct: {x}", "{x} over {y}.",
        "Don't choose {y}; choose {x}.", "Eliminate {y}. That leaves {x}.", "Instead of {y}, do {x}.",
        "{y} - incorrect\n{x} - correct",
        "{y} depends on {x}, so {x} comes first.", "{x} happens before {y}, therefore {x}.", "Answer: {x}, not {y}",
        "The question asks whether {y} or {x} is next. It's {x}.", "Answer ({y} or {x}): {x}",
        "Options: {y}, {x}. Answer: {x}",
        "50/50 between {x} and {y}; I'd go with {x}.", "{x} is more likely than {y}.", "{y} cannot be done yet. {x}.",
    ],
)  # fmt: skip
@pytest.mark.parametrize(("x", "y"), [("A", "B"), ("B", "A")])
def test_letter_reply_that_rules_one_option_out_decides_on_the_other(x: str, y: str, reply: str) -> None:
    assert answer(reply.format(x=x, y=y)) == x


@pytest.mark.parametrize(
    "reply",
    [
        "The answer is {y}... wait, actually {x}.", "{y}, which comes later, is not it. {x}.", "{x} precedes {y}.",
        "{x} first, then {y}.", "{x} > {y}", "At first I thought {y}, but {x}.", "After {x} comes {y}.",
        "If the sauce were done, the answer would be {y}. It is not, so the answer is {x}.", "{x} → {y}",
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
