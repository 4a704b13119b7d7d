"""Configuration of Sphinx, which builds the pages of this folder as a site.

    python -m sphinx -W --keep-going -b html docs OUT

The build needs no network and the site loads nothing from elsewhere: no web fonts, no scripts of other hosts.
"""

from __future__ import annotations

import re
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING

from pygments.lexers.data import JsonLexer
from pygments.lexers.special import TextLexer

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "pytest-taskgraph"
author = "The pytest-taskgraph developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "index"
nitpicky = False

myst_heading_anchors = 4  # the anchors that GitHub gives to headings
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["myst.header"]  # an included page starts with a heading of its own

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
default_role = "code"  # docstrings mark code with single backticks
python_use_unqualified_type_names = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False

html_theme = "furo"
html_title = "pytest-taskgraph"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_show_sphinx = False

_LINK = re.compile(r"\]\(([^)#:\s]+)\.md\)")


def _append_navigation(_app: Sphinx, docname: str, source: list[str]) -> None:
    """Append a hidden table of contents to an index page: the pages that it links to, in this order.

    So the pages are listed once, in links that GitHub shows too, and the strict build fails for a page that no index
    page links to.
    """
    if docname != "index" and not docname.endswith("/index"):
        return
    linked = [normpath(join(dirname(docname), target)) for target in _LINK.findall(source[0])]
    # The front page may link to a page below a section; it stands in the navigation of its section.
    own = [name for name in dict.fromkeys(linked) if dirname(name) == dirname(docname) or name.endswith("/index")]
    entries = "\n".join(f"/{name}" for name in own if name != docname and name != "index")
    source[0] += f"\n\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the navigation and the languages of code blocks that Pygments does not know."""
    app.connect("source-read", _append_navigation)
    app.add_lexer("jsonl", JsonLexer)
    for language in ("wadl", "mermaid"):
        app.add_lexer(language, TextLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
