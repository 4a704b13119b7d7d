"""Configuration of Sphinx, which builds the pages of this folder as a site.

    python -m sphinx -W --keep-going -b html docs OUT

The build needs no network and the site loads nothing from elsewhere: no web fonts, no scripts of other hosts.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING, Field, fields, is_dataclass
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING, Any

from pygments.lexers.data import JsonLexer
from pygments.lexers.special import TextLexer
from sphinx.ext.napoleon import Config, GoogleDocstring

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "pytest-taskgraph"
author = "The pytest-taskgraph developers"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = "index"

myst_heading_anchors = 4  # the anchors that GitHub gives to headings
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["myst.header"]  # an included page starts with a heading of its own

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
default_role = "code"  # docstrings mark code with single backticks
python_use_unqualified_type_names = True
autodoc_type_aliases = {
    name: name for name in ("Episode", "Json", "Metric", "Opener", "Outcome", "Parsing", "Place", "Result")
}
maximum_signature_line_length = 88
smartquotes = False  # options keep their two dashes

html_theme = "furo"
html_title = "pytest-taskgraph"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_show_sphinx = False

_ALIAS = re.compile(r"TypeAliasForwardRef\('(\w+)'\)")
_FILE_NAME = re.compile(r"\[[\w./-]+\.md\]\(([\w./-]+\.md(?:#[\w-]+)?)\)")
_FIELD = re.compile(r"^    (\w+): .*?  #:? (.*)$", re.MULTILINE)  # a field with its comment
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


def _read_google_style(app: Sphinx, kind: str, name: str, value: object, options: object, lines: list[str]) -> None:
    """Convert a docstring in Google style, as the extension napoleon does.

    It would take the words before a colon in the docstring of a property for its type. Fields of a dataclass are
    described by the comments behind them, where the docstring describes none.
    """
    kind = "method" if kind in ("property", "attribute", "data") else kind
    lines[:] = GoogleDocstring(lines, Config(), app, kind, name, value, options).lines()
    if isinstance(value, type) and is_dataclass(value) and not any(line.startswith(":param") for line in lines):
        described = dict(_FIELD.findall(inspect.getsource(value)))
        lines += ["", *(f":param {name}: {text}" for name, text in described.items())]


def _write_signature(
    _app: Sphinx, _kind: str, _name: str, value: object, _options: object, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """Return the signature with the types of dataclass fields as the source states them, and names of types short."""
    if isinstance(value, type) and is_dataclass(value):
        return f"({', '.join(_parameter_of(field) for field in fields(value) if field.init)})", None
    short = [text and _ALIAS.sub(r"\1", text) for text in (signature, returned)]
    return short[0], short[1]


def _parameter_of(field: Field[Any]) -> str:
    if field.default_factory is not MISSING:
        return f"{field.name}: {field.type} = {field.default_factory()!r}"
    if field.default is MISSING:
        return f"{field.name}: {field.type}"
    return f"{field.name}: {field.type} = {'...' if callable(field.default) else repr(field.default)}"


def _name_links(_app: Sphinx, _docname: str, source: list[str]) -> None:
    """Replace the file name in the text of a link, which GitHub shows, by the title of the page."""
    source[0] = _FILE_NAME.sub(r"[](\1)", source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the navigation and the languages of code blocks that Pygments does not know."""
    app.connect("source-read", _append_navigation)
    app.connect("source-read", _name_links)
    app.connect("autodoc-process-docstring", _read_google_style)
    app.connect("autodoc-process-signature", _write_signature)
    app.add_lexer("jsonl", JsonLexer)
    for language in ("wadl", "mermaid"):
        app.add_lexer(language, TextLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
