"""The site that Sphinx builds from docs/, where the extra `docs` is installed."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import bounded_process
import pytest

import pytest_taskgraph
from pytest_taskgraph.hookspec import pytest_taskgraph_register

ROOT = Path(__file__).parents[1]
_LOADED = re.compile(
    r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=[\"']?(?:https?:)?//[^>]*>|url\([\"']?https?://"
)
_LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)")
_FENCED = re.compile(r"^(`{3,}).*?^\1$", re.MULTILINE | re.DOTALL)
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; the build fails at a warning."""
    for package in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(package)
    folder = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-d",
        folder / "doctrees",
        "docs",
        folder / "html",
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    build = bounded_process.run([str(word) for word in command], cwd=ROOT, env=environment)
    assert build.returncode == 0, build.stdout + build.stderr
    return folder / "html"


def test_site_every_page_has_a_file(site: Path) -> None:
    pages = [page.relative_to(ROOT / "docs").with_suffix(".html") for page in (ROOT / "docs").rglob("*.md")]
    assert [str(page) for page in pages if not (site / page).is_file()] == []


def test_site_pages_load_nothing_from_other_hosts(site: Path) -> None:
    files = [*site.rglob("*.html"), *site.rglob("*.css")]
    assert len(files) > 40
    assert {file.name: loaded for file in files if (loaded := _LOADED.findall(file.read_text(encoding="utf-8")))} == {}


def test_api_page_documents_every_public_name() -> None:
    page = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    names = {*re.findall(r"\bpytest_taskgraph\.(\w+)", page)}
    public = re.findall(
        r"import (\w+) as \1$", Path(pytest_taskgraph.__file__).read_text(encoding="utf-8"), re.MULTILINE
    )
    assert {name for name in public if name not in {*names, "__version__"}} == set()
    assert f".. autofunction:: pytest_taskgraph.hookspec.{pytest_taskgraph_register.__name__}" in page


@pytest.mark.parametrize(
    "name", ["suite", "pattern", "Trial", "Question", "Workflow", "Registry", "Family", "Settings", "Form"]
)
def test_site_documents_public_name(site: Path, name: str) -> None:
    assert f'id="pytest_taskgraph.{name}"' in (site / "reference" / "api.html").read_text(encoding="utf-8")


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub and MyST give to the headings of a page."""
    text = _FENCED.sub("", page.read_text(encoding="utf-8"))
    headings = [re.sub(r"[`*]|\]\([^)]*\)|\[", "", heading) for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_of_pages_lead_to_files_and_headings() -> None:
    """GitHub shows the pages as well, where a link leads to a file."""
    links = [
        (page, target, anchor)
        for page in PAGES
        for target, anchor in _LINK.findall(_FENCED.sub("", page.read_text(encoding="utf-8")))
    ]
    assert len(links) > 300
    headings = {page: anchors(page) for page in PAGES}
    broken = []
    for page, target, anchor in links:
        file = (page.parent / target).resolve() if target else page
        if not file.exists() or (anchor and anchor not in headings.get(file, ())):
            broken.append(f"{page.relative_to(ROOT)}: {target}#{anchor}")
    assert broken == []
