"""The tokens of a text: words in lower case, numbers and punctuation marks."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_TOKEN: Final = re.compile(
    r"\d+(?:[.,/\u2044]\d+)*"  # a number, a decimal fraction, a fraction with a slash or the fraction slash
    r"|[^\W\d_]+(?:['’][^\W\d_]+)*"  # a word, with apostrophes between its letters
    r"|[^\w\s]|_"  # any other character but white space
)


def word_tokens(text: str) -> list[str]:
    """Return the tokens of a text, in their order.

    The text is first brought to compatible characters (Unicode NFKC) and lower case. A token is

    - a run of letters, with single apostrophes between them: "don't" is one word, "medium-high" is two words and a
      hyphen;
    - a run of digits, with single points, commas and slashes between them: "350", "1,000", "2.5", "1/2"; numbers are
      kept as they are, and "350f" is a number and a word;
    - any other character that is no white space, by itself.

    White space separates tokens and is in none; every other character is in exactly one.
    """
    return _TOKEN.findall(unicodedata.normalize("NFKC", text).lower())
