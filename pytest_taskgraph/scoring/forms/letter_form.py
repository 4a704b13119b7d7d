"""The answer form `letter`: one of a few options, by the letter that stands before it.

The known names are the letters, and further words that an answer may be, such as "tie". A known name of three parts
holds the text of an option: its letter, a tab, its text (`option_names`). An answer that is exactly a known name is
always that name; `letter_verdicts` parses the sentences of any other answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Final

from ...errors import UnparseableError
from ...trial import Json, Parsing
from ..extraction import unbox_answer
from ..name_lists import quote_start
from .form import Form, collapse_spaces

_AROUND: Final = " \t\r\n\"'“”‘’«»()[]{}."


def option_names(spellings: Mapping[str, str]) -> list[str]:
    """Return known names that hold the text of each option: its letter, a tab, its text."""
    return [f"{letter}\t{collapse_spaces(text)}" for text, letter in spellings.items()]


def letters_of(names: Sequence[str]) -> list[str]:
    """Return the letters among the known names; all capital letters if no name is known."""
    return [name for name in names if len(name) == 1 and name.isalpha()] if names else [*ascii_uppercase]


def _options_of(names: Sequence[str], letters: Sequence[str]) -> list[tuple[str, str]]:
    """Return text and letter of the options among the known names."""
    parts = (name.partition("\t") for name in names)
    return [(text, letter) for letter, tab, text in parts if tab and letter in letters]


def _read(text: str, names: Sequence[str], parsing: Parsing) -> Json:
    """Return the known name that the answer is; strict parsing allows only quotes, brackets and dots around it.

    Leniently, it is also the letter that the answer decides on. An answer that decides on two letters, or on none, is
    unparseable.
    """
    letters = letters_of(names)
    options = _options_of(names, letters)
    whole = {*letters, *names} - {f"{letter}\t{option}" for option, letter in options}
    bare = text.strip()
    for alone in (bare, bare.strip(_AROUND)):
        if alone in whole:
            return alone
    decided = _find_letters(unbox_answer(text, [*whole]), letters, options) if parsing == "lenient" else []
    if len(decided) != 1:
        raise UnparseableError(
            f"expected {_join_letters(letters) or 'one of the known names'}, found {quote_start(text)}"
        )
    return decided[0]


def _find_letters(text: str, letters: Sequence[str], options: Sequence[tuple[str, str]]) -> list[str]:
    # Imported when it is first needed, for its patterns take as long to compile as thirty modules to load.
    from ..letter_verdicts import find_letters

    return find_letters(text, letters, options)


def _join_letters(letters: Sequence[str]) -> str:
    """Return the letters as a choice, such as "A, B or C"; empty for none, or for the whole alphabet."""
    if not letters or letters == [*ascii_uppercase]:
        return ""
    return " or ".join(filter(None, (", ".join(letters[:-1]), letters[-1])))


def _write(answer: Json, names: Sequence[str]) -> str:
    return str(answer)


def _other_letter(reference: Json, names: Sequence[str]) -> Json:
    """Return another letter than the reference, or another known word or an unknown letter if there is none."""
    letters = letters_of(names)
    words = [name for name in names if name not in letters and "\t" not in name]
    others: list[str] = [name for name in (*letters, *words, *ascii_uppercase) if name != reference]
    return others[0]


def _ask(names: Sequence[str]) -> str:
    choice = _join_letters(letters_of(names))
    return f"The answer is one letter: {choice}." if choice else "The answer is the letter of one option."


LETTER = Form("letter", _ask, _read, _write, "choice_accuracy", wrong=_other_letter, self_delimiting=True)
